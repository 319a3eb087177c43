/* Check lines for a file whose numbers depend on each other. */
#ifndef KEET_INFER_INFER_CHECK_SIZES_H
#define KEET_INFER_INFER_CHECK_SIZES_H

#include "base/arena.h"
#include "base/err.h"
#include "intake/intake.h"
#include "run/workbench.h"

#include <stdbool.h>

/* A program computes some numbers from others: padded rows, products in loops. A contract that has
 * all numbers as computed fits no other sizes. So the program is read again from smaller arguments
 * and smaller numbers of its text, and a check line gets the value of every number that changed;
 * the line says so.
 *
 * The check line is added only where the original has no check without the line, or has only a
 * check that takes long, and only if the original passes the check with the line. Else *in stays as
 * it is. `source` and `args` are what *in was read from. False: broken environment. */
bool infer_check_sizes(struct intake *in, struct arena *arena,
    const struct workbench_options *options, const char *source, size_t bytes,
    const struct intake_args *args, struct err *err);

#endif
