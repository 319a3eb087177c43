/* `keet-opt campaign LIST|DIR`: the campaign's parts made from the command line; campaign/ does the
 * rest. */
#ifndef KEET_CLI_CMD_CAMPAIGN_H
#define KEET_CLI_CMD_CAMPAIGN_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

/* *complete: every task has had its budget; else it was interrupted or a limit came first. */
bool campaign_verb(const struct options *options, bool *complete, struct err *err);

/* Ask a running one to end neatly. Safe in a signal handler. */
void campaign_interrupt(void);

#endif
