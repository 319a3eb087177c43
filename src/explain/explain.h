/* Explain: counters become sentences, and sentences become priors.
 * Two stages: classify by roofline, then run every tool of the table in tools.c that fits. */
#ifndef KEET_EXPLAIN_EXPLAIN_H
#define KEET_EXPLAIN_EXPLAIN_H

#include "base/err.h"
#include "core/candidate.h"
#include "core/chip.h"

#include <stdbool.h>
#include <stdint.h>

/* Fills c->explanation, then turns the weights of the findings into priors of c->options (which
 * propose_options listed before). For a dead candidate the verdict becomes advice. */
bool explain_kernel(const struct chip *chip, struct candidate *c, struct err *err);

/* The times without a cause (core/cures.def) by which the tools would rank findings of c, which has
 * been profiled but for these; bits, 1 << enum cure. */
uint32_t explain_wants(const struct chip *chip, struct candidate *c);

/* The feedback that steers a search, for experiments on the worth of our explanation. Other
 * feedback than our findings keeps the advice on a dead candidate's verdict, and the roofline's
 * time.
 * - none: nothing; every move has the same prior.
 * - counters: the counters, read mechanically: each adds log2(1 + value) to the moves that its name
 *   suggests (feedback.c), whatever the value means. The summary lists the counters.
 * - generic: advice that is good for any kernel: the general usefulness of moves, and nothing of
 *   the profile.
 * - other: our explanation of another kernel's profile.
 * Advice from counters and from another kernel is blended with the general usefulness, as the
 * advice of our findings is. */
enum feedback {
    FEEDBACK_FINDINGS,
    FEEDBACK_NONE,
    FEEDBACK_COUNTERS,
    FEEDBACK_GENERIC,
    FEEDBACK_OTHER
};
bool feedback_parse(const char *name, enum feedback *feedback); /* "none", ...; not "other" */
/* Call after explain_kernel: puts another explanation and its priors in place. `other` is for
 * FEEDBACK_OTHER, else NULL: its explanation is copied into c's arena. */
void explain_instead(enum feedback feedback, const struct candidate *other, struct candidate *c);

#endif
