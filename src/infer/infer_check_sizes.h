/* Sizes at which a file whose numbers hang together can be checked. */
#ifndef KEET_INFER_INFER_CHECK_SIZES_H
#define KEET_INFER_INFER_CHECK_SIZES_H

#include "base/arena.h"
#include "base/err.h"
#include "run/workbench.h"
#include "intake/intake.h"

#include <stdbool.h>

/* A program computes numbers from those it starts from: rows that are padded, products in loops.
 * Where the contract has them as they came out, no other sizes fit them. Then the program is read
 * again with smaller arguments and numbers of its text; all that differs gets its value there in a
 * check line, which says so. Only where without it the original is clean at no sizes, or at its own
 * after long, and passes the check with it; else *in stays as it is. `source` and args are what *in
 * was read from. False: broken environment. */
bool infer_check_sizes(struct intake *in, struct arena *arena,
    const struct workbench_options *options, const char *source, size_t bytes,
    const struct intake_args *args, struct err *err);

#endif
