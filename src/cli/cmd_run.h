/* `keet-opt run KERNEL.cu`: the kernel as it stands, once through check, profile and explain. */
#ifndef KEET_CLI_CMD_RUN_H
#define KEET_CLI_CMD_RUN_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

/* Prints to stdout. *clean is false when the kernel got a verdict other than ok. */
bool run_once(const struct options *options, bool *clean, struct err *err);

#endif
