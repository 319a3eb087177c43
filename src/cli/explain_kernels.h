/* `keet-opt explain OLD.cu NEW.cu`: checks, profiles and compares both kernels. With --sweep
 * N=256,512,...: profiles one kernel with each value of a size or tuning parameter. */
#ifndef KEET_CLI_EXPLAIN_KERNELS_H
#define KEET_CLI_EXPLAIN_KERNELS_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

bool explain_kernels(const struct options *options, struct err *err);

#endif
