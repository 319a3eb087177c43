/* A running search or campaign, as seen from outside: by its database or folder alone. holder is
 * the process at work there, 0: none, -1: one on another machine (base/lock.h). run is the number
 * of a run in a database, 0: the newest. */
#ifndef KEET_CAMPAIGN_WATCH_H
#define KEET_CAMPAIGN_WATCH_H

#include "base/str.h"
#include "campaign/campaign.h"

#include <stdbool.h>

/* How far it is. */
bool watch_campaign_status(
    const struct campaign *c, long holder, bool json, struct str *out, struct err *err);
bool watch_run_status(
    const char *db_path, int64_t run, long holder, bool json, struct str *out, struct err *err);

/* A screen of it: the table; of a run the way to the best, the tree and the newest nodes. */
bool watch_campaign(const struct campaign *c, long holder, struct str *out, struct err *err);
bool watch_run(const char *db_path, int64_t run, long holder, struct str *out, struct err *err);

#endif
