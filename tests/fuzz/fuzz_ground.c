/* Owns the hammering of the grounding checker: whatever a model writes, claims lie inside the text,
 * in order, and the marked text is the text with marks. The input is the text; what was said before
 * is behind the first NUL byte.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_ground -max_len=4096 build/corpus tests/fuzz/seeds/ground */
#include "explain/ground.h"

#include "hammer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "__global__ void f(float *A)\n"
                             "{\n"
                             "    A[threadIdx.x] = 4096;\n"
                             "}\n";

static void check(const struct ground *ground, struct arena *arena, const char *text)
{
    const char *marked = ground_mark(ground, arena, text);
    size_t end = 0;
    unsigned nr = 0;

    for (unsigned i = 0; i < ground->nr_claims; i++) {
        const struct claim *claim = &ground->claims[i];

        assert(claim->len > 0 && claim->at >= end && claim->at + claim->len <= strlen(text));
        assert(claim->grounded == (claim->why == NULL));
        end = claim->at + claim->len;
        nr += claim->grounded;
    }
    assert(nr == ground->nr_grounded);
    assert((strlen(marked) > strlen(text)) == (nr < ground->nr_claims));
}

static void read_once(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct line_cost line = {.line = 3, .global_requests = 77, .stall_cycles = 1e9};
    struct counters counters = {.lines = &line, .nr_lines = 1};
    char *text = malloc(size + 2);
    struct ground_facts facts = {&counters, source, NULL, NULL};
    struct ground ground;

    counters_set(&counters, METRIC_TIME_NS, 25600, PROV_MEASURED);
    counters_set(&counters, METRIC_DRAM_PCT, 81.25, PROV_MEASURED);
    memcpy(text, data, size);
    text[size] = text[size + 1] = '\0';
    if (strlen(text) < size)
        facts.said = text + strlen(text) + 1;
    ground_check(&ground, arena, text, &facts);
    check(&ground, arena, text);
    free(text);
    arena_destroy(arena);
}

const struct fuzzer fuzzer = {
    .once = read_once, .marks = "0123456789.,%xkKMGTinsumbytewarp -+()/`*\n"};
