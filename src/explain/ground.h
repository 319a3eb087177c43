/* Grounds a text about a profile: does the text say only what the profile and the source say? Every
 * number, metric name, source line and identifier of the text is looked up; no model is involved.
 *
 *     struct ground_facts facts = {.counters = &total, .source = source, .said = our_own_findings};
 *     struct ground ground;
 *     ground_check(&ground, arena, text, &facts);
 *     100.0 * ground.nr_grounded / ground.nr_claims     percent grounded
 *
 * These are claims, and hold under these conditions:
 * - a metric's name (two underscores, or in backquotes): core/metrics.def has the name, and the
 *   metric is present;
 * - the first number after a metric's name in the same sentence: it is that metric's value, of all
 *   launches or of one, at the precision it is written in (at least 0.5%), in its unit or a
 * multiple of it (k, M, G; us, ms; KB, MB); later numbers may also be the ratio of the last two
 * metrics named, or known from elsewhere as below;
 * - "above", "over", "more than", "below", "under", "less than" before a number: the direction
 *   holds. Without a metric there is nothing to compare with, and it does not hold;
 * - "line N", "lines N, M and K": the source has them; with a quoted piece of code after it in the
 *   sentence, it is there;
 * - an identifier (in backquotes, or a name followed by parentheses): the source has the word;
 * - any other number with a unit or a percent sign: some metric of that unit has the value, or a
 *   cost of the line named in the sentence, or `said` has it;
 * - a bare number: likewise, or the source has the number. Small whole numbers up to 16 are not
 *   claims by themselves ("two of 3 loads"), and neither are names of widths ("128-bit").
 *
 * A line that begins with "Next:" holds advice: its proposals (tile sizes, functions to call) are
 * no claims about the kernel. Metric names, their values, and source lines are checked there too.
 */
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
    const char *why; /* not grounded: the profile's word on it; else NULL */
};

struct ground {
    struct claim *claims; /* arena memory, in the order of the text */
    unsigned nr_claims, nr_grounded;
};

/* The knowledge against which a text is checked; all borrowed. */
struct ground_facts {
    const struct counters *counters;
    const char *source;            /* NULL: there is none, as with profiles from elsewhere */
    const char *said;              /* another text whose numbers hold; NULL: none */
    const struct profile *profile; /* a value of one of its launches holds, too; NULL: none */
};

void ground_check(
    struct ground *ground, struct arena *arena, const char *text, const struct ground_facts *facts);

/* The text with each claim that does not hold followed by "[?: why]", in arena memory. */
const char *ground_mark(const struct ground *ground, struct arena *arena, const char *text);

#endif
