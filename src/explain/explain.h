/* Explain: counters become sentences, and sentences become priors.
 * Two stages: classify by roofline, then run every tool of the table in tools.c that fits. */
#ifndef KEET_EXPLAIN_EXPLAIN_H
#define KEET_EXPLAIN_EXPLAIN_H

#include "base/err.h"
#include "core/candidate.h"
#include "core/chip.h"

#include <stdbool.h>

/* Fill c->explanation, dead candidates included (their verdict becomes advice), then turn the
 * findings' weights into priors of c->options (which propose_options listed before). */
bool explain_kernel(const struct chip *chip, struct candidate *c, struct err *err);

/* What a search is steered by, for experiments that ask what our explanation is worth. All but ours
 * leave the verdict's advice of a dead candidate, and the roofline's time, as they are.
 * - none: nothing; every move has the same prior.
 * - counters: the counters as they are, read mechanically: each adds log2(1 + value) to the moves
 *   that its name brings to mind (feedback.c), whatever the value means. The summary lists them.
 * - generic: what is good advice for any kernel: the moves' general usefulness, nothing of the
 *   profile.
 * - other: our explanation, but of another kernel's profile.
 * With counters and other, what they ask for is blended with the general usefulness just as what
 * our findings ask for is. */
enum feedback {
    FEEDBACK_FINDINGS,
    FEEDBACK_NONE,
    FEEDBACK_COUNTERS,
    FEEDBACK_GENERIC,
    FEEDBACK_OTHER
};
bool feedback_parse(const char *name, enum feedback *feedback); /* "none", ...; not "other" */
/* After explain_kernel: put another explanation and its priors in place. other: for FEEDBACK_OTHER,
 * whose explanation is copied into c's arena; else NULL. */
void explain_instead(enum feedback feedback, const struct candidate *other, struct candidate *c);

/* The least time the chip needs for the task's `work` at the timed size; 0 when not stated. */
double explain_roofline_ns(const struct chip *chip, const struct task *task);

#endif
