/* `keet-opt explain OLD.cu NEW.cu`: both are checked and profiled, and compared. With --sweep
 * N=256,512,...: one kernel with other values of a size or tuning parameter. */
#ifndef KEET_CLI_EXPLAIN_KERNELS_H
#define KEET_CLI_EXPLAIN_KERNELS_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

bool explain_kernels(const struct options *options, struct err *err);

#endif
