/* keet-opt explain PROFILE...: explain profiles from elsewhere (Nsight Compute's CSV or reports).
 * One kernel: its explanation. Two files: what changed between two versions, and what paid. Three
 * and more files of one kernel whose names differ in a number, or --sweep NAME: the kernel over
 * that parameter. Anything else: an application's kernels. `keet-opt explain KERNEL.cu` is
 * run_once's. */
#ifndef KEET_CLI_CMD_EXPLAIN_H
#define KEET_CLI_CMD_EXPLAIN_H

#include "base/err.h"
#include "base/str.h"
#include "cli/options.h"
#include "core/candidate.h"
#include "core/chip.h"
#include "explain/views/views.h" /* explain_print, for one run too */

#include <stdbool.h>

bool explain_profiles(const struct options *options, struct err *err);

/* keet-opt explain OLD.cu NEW.cu: both are checked and profiled, and compared. With --sweep
 * N=256,512,...: one kernel with other values of a size or tuning parameter. */
bool explain_kernels(const struct options *options, struct err *err);

/* Speed of light and Little's law. */
struct json_t *explain_limits_json(const struct chip *chip, const struct candidate *c);

#endif
