/* Owns the hammering of the emulator: any text must load or be refused, and any kernel of it run to
 * a verdict with a reason, within its limits. Mutants keep to the words of their text, so that many
 * of them still parse.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_emu -max_len=20000 build/corpus tests/ptx tests/fuzz/emu */
#include "emu/emu.h"

#include "hammer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 16, MAX_PARAMS = 4096, STEPS = 20000 };

static void check_result(const struct emu_result *result)
{
    if (result->verdict != VERDICT_OK &&
        (!result->text[0] || !memchr(result->text, 0, sizeof(result->text))))
        abort();
}

/* All that looks like a pointer points to one buffer. */
static void run_kernel(
    struct emu *emu, const struct emu_module *module, const char *name, uint64_t buffer, bool go_on)
{
    uint64_t params[MAX_PARAMS / 8];
    const uint32_t *bytes, *offsets;
    uint32_t total = 0;
    unsigned nr = 0;
    struct arena *arena = arena_create();
    struct emu_result result = {0};
    struct err err;

    for (size_t i = 0; i < MAX_PARAMS / 8; i++)
        params[i] = buffer;
    if (emu_params(module, name, &nr, &bytes, &offsets, &total) && total <= MAX_PARAMS) {
        const struct emu_launch launch = {.kernel = name,
            .grid = {2, 1, 1},
            .block = {40, 1, 1},
            .smem_bytes = 256,
            .params = params,
            .params_bytes = total,
            .find_races = true,
            .find_uninit = true,
            .find_sync = true,
            .find_leaks = true,
            .max_reports = go_on ? 2 : 0,
            .step_limit = STEPS,
            .count = true};
        if (emu_launch(emu, module, &launch, arena, &result, &err))
            check_result(&result);
        else if (!err.text[0])
            abort();
    }
    arena_destroy(arena);
}

static void run_once(const uint8_t *bytes, size_t len)
{
    struct emu *emu = emu_create(chip_default(), 1);
    struct emu_module *module = NULL;
    struct emu_result result = {0};
    struct emu_kernel kernel;
    struct err err;
    const uint64_t buffer = emu_alloc(emu, BUFFER_BYTES, "A", &err);

    if (!buffer || !emu_fill(emu, buffer, 0, BUFFER_BYTES, true, &err))
        abort();
    err.text[0] = 0;
    if (!emu_load(emu, (const char *)bytes, len, &module, &result, &err) && !err.text[0])
        abort();
    check_result(&result);
    if (!module && result.verdict == VERDICT_OK && !err.text[0])
        abort();
    for (unsigned i = 0; module && emu_kernel(module, i, &kernel); i++) {
        if (kernel.unsupported && !kernel.unsupported[0])
            abort();
        run_kernel(emu, module, kernel.name, buffer, i % 2);
    }
    emu_unload(emu, module);
    emu_destroy(emu);
}

#include <ctype.h>

static bool in_word(uint8_t c)
{
    return isalnum(c) || c == '%' || c == '_' || c == '$';
}

/* Where a word begins, at or behind a random place; its length. */
static size_t word_at(const uint8_t *text, size_t len, struct rng *rng, size_t *length)
{
    size_t at = (size_t)rng_below(rng, len);

    while (at < len && in_word(text[at]))
        at++;
    while (at < len && !in_word(text[at]))
        at++;
    *length = 0;
    while (at + *length < len && in_word(text[at + *length]))
        ++*length;
    return at;
}

/* A word in the place of another, as far as there is room. */
static void mutate(uint8_t *text, size_t len, struct rng *rng)
{
    const unsigned nr = 1 + (unsigned)rng_below(rng, 3);

    for (unsigned i = 0; i < nr; i++) {
        size_t to_length, from_length;
        const size_t to = word_at(text, len, rng, &to_length);
        size_t from = word_at(text, len, rng, &from_length);
        for (unsigned tries = 0; from_length > to_length && tries < 20; tries++)
            from = word_at(text, len, rng, &from_length);
        if (from_length > to_length)
            continue;
        memmove(text + to, text + from, from_length);
        memset(text + to + from_length, ' ', to_length - from_length);
    }
}

const struct fuzzer fuzzer = {.once = run_once, .mutate = mutate};
