/* Owns the hammering of what user tools answer: whatever they say, each finding taken has a text, a
 * line of the source, a share and weights that are numbers, and each left out has a reason.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_plugin -max_len=4096 build/corpus tests/fuzz/seeds/plugin */
#include "explain/plugin.h"

#include "hammer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void check(const struct finding *f)
{
    assert(f->text[0] && strlen(f->text) < sizeof(f->text));
    assert(f->line <= 3 && f->max_gain == 0); /* a user's tool bounds nothing */
    assert(f->share >= 0 && f->share <= 0.97 && f->nr_evidence <= FINDING_MAX_EVIDENCE);
    for (unsigned i = 0; i < f->nr_weights; i++)
        assert((unsigned)f->weights[i].action < NR_ACTIONS && f->weights[i].weight > 0 &&
               f->weights[i].weight <= 10);
}

static void read_once(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct candidate c = {.arena = arena, .source = "a\nb\nc"};
    struct str notes = {0};

    counters_set(&c.profile.total, METRIC_DRAM_BYTES, 1e6, PROV_COUNTED);
    plugin_answer("tool", &c, (const char *)data, size, &notes);
    assert(c.explanation.nr_findings <= 2);
    for (unsigned i = 0; i < c.explanation.nr_findings; i++)
        check(&c.explanation.findings[i]);
    str_finish(&notes);
    arena_destroy(arena);
}

const struct fuzzer fuzzer = {.once = read_once, .marks = "{}[],:\"\\0123456789.-+eE \ntfnul"};
