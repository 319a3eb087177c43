/* The verbs that look at a campaign's folder or a run's database while it runs or afterwards, each
 * with --json: status, results, show, diff, watch; and stop, which asks it to end. */
#ifndef KEET_CLI_CMD_LOOK_H
#define KEET_CLI_CMD_LOOK_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

bool look_verb(const struct options *options, struct err *err);

#endif
