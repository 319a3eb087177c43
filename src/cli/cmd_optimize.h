/* `keet-opt KERNEL.cu`: the search, its progress on stderr, what the search found on stdout. */
#ifndef KEET_CLI_CMD_OPTIMIZE_H
#define KEET_CLI_CMD_OPTIMIZE_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

/* With --show-prompt: print what a model would be sent, and search nothing. */
bool cmd_optimize(const struct options *options, struct err *err);

#endif
