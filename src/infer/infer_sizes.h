/* Numbers that a file with host code does not give: chosen, and tried on the emulator. */
#ifndef KEET_INFER_INFER_SIZES_H
#define KEET_INFER_INFER_SIZES_H

#include "base/arena.h"
#include "base/err.h"
#include "run/workbench.h"
#include "intake/intake.h"

#include <stdbool.h>
#include <stdint.h>

/* Where numbers are all that the contract lacks: sizes are chosen; the extent of an array is found
 * by running the original with more and more room in it until it stays inside, and is then taken
 * as the least product of sizes that is enough. Put in only if the original passes the check with
 * them; each such line says that it was assumed, and why. Else the contract stays as it was, and
 * in->note says what was tried. A contract without outputs gets those that a run is seen to write,
 * in the same way. *insts is how many thread instructions trials may take, and then what is left of
 * them; 0 where no trial can come to anything. False: broken environment. */
bool infer_sizes(struct intake *in, struct arena *arena, const struct workbench_options *options,
    uint64_t *insts, struct err *err);

#endif
