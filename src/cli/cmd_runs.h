/* `keet-opt runs run.db`: the runs that a database holds, for `--run N` of the other verbs. */
#ifndef KEET_CLI_CMD_RUNS_H
#define KEET_CLI_CMD_RUNS_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

bool cmd_runs(const struct options *options, struct err *err);

#endif
