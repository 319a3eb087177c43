/* Owns the hammering of the cubin reader: any bytes must give kernels or a problem, nothing else,
 * and what it gives lies within the bytes.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_cubin -max_len=20000 build/corpus tests/fuzz/cubin tests/fuzz/cubin/corpus */
#include "nv/cubin.h"
#include "nv/sass_read.h"

#include "hammer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_kernel(const struct cubin *cubin, const struct cubin_kernel *k,
    const uint8_t *bytes, size_t len, struct arena *arena)
{
    struct sass_facts facts;
    uint32_t nr = 0;

    if (memchr(k->name, 0, len - (size_t)((const uint8_t *)k->name - bytes)) == NULL)
        abort();
    if (k->code_bytes > 0 && (k->code < bytes || k->code + k->code_bytes > bytes + len))
        abort();
    for (unsigned i = 1; i < k->nr_rows; i++)
        if (k->rows[i].address < k->rows[i - 1].address)
            abort();
    if (!sass_read(cubin, k, arena, &facts))
        return;
    for (unsigned i = 0; i < facts.nr_lines; i++) {
        if (i > 0 && facts.lines[i].line <= facts.lines[i - 1].line)
            abort();
        nr += facts.lines[i].mix.nr;
    }
    if (nr != facts.all.nr || nr > k->code_bytes / 16)
        abort();
}

static void read_once(const uint8_t *bytes, size_t len)
{
    struct arena *arena = arena_create();
    const char *why = NULL;
    struct cubin cubin;

    if (!cubin_read(bytes, len, arena, &cubin, &why)) {
        if (why == NULL || cubin.nr_kernels > 0)
            abort();
    }
    for (unsigned i = 0; i < cubin.nr_kernels; i++)
        check_kernel(&cubin, &cubin.kernels[i], bytes, len, arena);
    arena_destroy(arena);
}

/* Numbers that break careless arithmetic, at any place, or some bytes from elsewhere in the file.
 */
static void mutate(uint8_t *bytes, size_t len, struct rng *rng)
{
    static const uint64_t numbers[] = {0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff,
        0x7fffffffffffffff, 0xffffffffffffffff, 0xfffffffffffffff0, 0x100, 24, 64};
    const unsigned nr = 1 + (unsigned)rng_below(rng, 4);

    for (unsigned i = 0; i < nr; i++) {
        const size_t at = (size_t)rng_below(rng, len);
        const unsigned width = 1u << rng_below(rng, 4);
        const uint64_t number = numbers[rng_below(rng, sizeof(numbers) / sizeof(numbers[0]))];

        if (at + width > len)
            continue;
        if (rng_below(rng, 3) > 0)
            memcpy(bytes + at, &number, width);
        else
            memmove(bytes + at, bytes + rng_below(rng, len - width), width);
    }
}

const struct fuzzer fuzzer = {.once = read_once, .mutate = mutate};
