/* Numbers that a file with host code does not give: chosen, and tried on the emulator. */
#ifndef KEET_INFER_INFER_SIZES_H
#define KEET_INFER_INFER_SIZES_H

#include "base/arena.h"
#include "base/err.h"
#include "intake/intake.h"
#include "run/workbench.h"

#include <stdbool.h>
#include <stdint.h>

/* Serves a contract that lacks nothing but numbers. Sizes are chosen. The extent of an array is
 * found by running the original with more and more room until no access leaves the array; the
 * extent then becomes the least product of sizes that suffices. A contract without outputs gets the
 * arrays that a run is seen to write.
 *
 * The numbers enter the contract only if the original passes the check with them; each such line
 * says that its number was assumed, and why. Else the contract stays as it was, and in->note says
 * what was tried.
 *
 * *insts: thread instructions that all trials may take; on return, what is left of them, and 0
 * where no further trial can succeed. False: broken environment. */
bool infer_sizes(struct intake *in, struct arena *arena, const struct workbench_options *options,
    uint64_t *insts, struct err *err);

#endif
