/* Does a text about a profile say only what the profile and the source say? Every number, metric
 * name, source line and identifier in it is looked up; no model is involved.
 *
 *     struct ground ground;
 *     ground_check(&ground, arena, text, counters, source);
 *     100.0 * ground.nr_grounded / ground.nr_claims     percent grounded
 *
 * What counts as a claim, and when it holds:
 * - a metric's name (two underscores, or in backquotes): it is one of core/metrics.def's and
 * present;
 * - a number after a metric's name in the same sentence: it is that metric's value, at the
 * precision it is written in (at least 0.5%), in its unit or a multiple of it (k, M, G; us, ms; KB,
 * MB);
 * - "above", "over", "more than", "below", "under", "less than" before a number: the direction
 * holds;
 * - "line N", "lines N": the source has it; with a quoted piece of code in the sentence, it is
 * there;
 * - an identifier (in backquotes, or name followed by parentheses): the source has the word;
 * - any other number with a unit or a percent sign: some metric of that unit has the value;
 * - a bare number: some metric has the value, or the source has the number. Small whole numbers up
 *   to 16 are not claims by themselves ("two of 3 loads"). */
#ifndef KEET_EXPLAIN_GROUND_H
#define KEET_EXPLAIN_GROUND_H

#include "base/arena.h"
#include "core/counters.h"

#include <stdbool.h>
#include <stddef.h>

enum claim_kind { CLAIM_NUMBER, CLAIM_METRIC, CLAIM_LINE, CLAIM_WORD };

struct claim {
    enum claim_kind kind;
    size_t at, len; /* in the text */
    bool grounded;
    const char *why; /* not grounded: what the profile says; else NULL */
};

struct ground {
    struct claim *claims; /* arena memory, in the order of the text */
    unsigned nr_claims, nr_grounded;
};

void ground_check(struct ground *ground, struct arena *arena, const char *text,
    const struct counters *counters, const char *source);

/* The text with each claim that does not hold followed by "[?: why]", in arena memory. */
const char *ground_mark(const struct ground *ground, struct arena *arena, const char *text);

#endif
