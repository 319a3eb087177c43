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

/* The least time the chip needs for the task's `work` at the timed size; 0 when not stated. */
double explain_roofline_ns(const struct chip *chip, const struct task *task);

#endif
