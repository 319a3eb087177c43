/* `keet-opt init some.cu`: a kernel file from a CUDA file with host code. */
#ifndef KEET_CLI_CMD_INIT_H
#define KEET_CLI_CMD_INIT_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

/* Writes the kernel file to --output, or to stdout; what was inferred and what is missing to
 * stderr. --json: both as one document on stdout. */
bool init_verb(const struct options *options, struct err *err);

#endif
