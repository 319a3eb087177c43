/* `keet-opt watch --web`: the report of a run or a campaign as a page that keeps itself up to date.
 */
#ifndef KEET_CLI_WATCH_WEB_H
#define KEET_CLI_WATCH_WEB_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

/* Serves on loopback until SIGINT or SIGTERM. The address goes to stdout. */
bool watch_web(const struct options *options, struct err *err);

#endif
