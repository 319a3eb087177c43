/* `keet-opt calls run.db`: what models were asked, what came of it, what it cost. */
#ifndef KEET_CLI_CMD_CALLS_H
#define KEET_CLI_CMD_CALLS_H

#include "base/err.h"
#include "cli/options.h"

/* Prints to stdout: a table, or with --json everything, prompts and replies included. */
bool calls_list(const struct options *options, struct err *err);

#endif
