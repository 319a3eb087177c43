/* Private to check/: the outputs of the original without its rounding. */
#ifndef KEET_CHECK_CHECK_EXACT_H
#define KEET_CHECK_CHECK_EXACT_H

#include "check/check_run.h"

struct checker;
struct exact;

/* The outputs on one set of inputs, in f64; NULL for arrays that are not f32. NULL altogether: the
 * original cannot be run that way, or its outputs then are others than rounding explains. The
 * checker owns them, until the next call. where: a shape's number, or UINT_MAX for the timed one.
 * False: err. */
bool exact_outputs(struct checker *k, unsigned where, const struct input_set *set,
    double *const **outputs, struct err *err);

void exact_destroy(struct checker *k);

#endif
