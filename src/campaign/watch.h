/* A running search or campaign, seen from outside: by its database or folder alone. `holder` is the
 * process at work there; 0: none; -1: a process on another machine (base/lock.h). `run` is the
 * number of a run in a database; 0: the newest. */
#ifndef KEET_CAMPAIGN_WATCH_H
#define KEET_CAMPAIGN_WATCH_H

#include "base/str.h"
#include "campaign/campaign.h"

#include <stdbool.h>

/* Each adds the progress of a campaign or of a run. */
bool watch_campaign_status(
    const struct campaign *c, long holder, bool json, struct str *out, struct err *err);
bool watch_run_status(
    const char *db_path, int64_t run, long holder, bool json, struct str *out, struct err *err);

/* Each adds a screen. A campaign shows its table. A run shows the path to the best node, the tree
 * and the newest nodes.
 */
bool watch_campaign(const struct campaign *c, long holder, struct str *out, struct err *err);
bool watch_run(const char *db_path, int64_t run, long holder, struct str *out, struct err *err);

#endif
