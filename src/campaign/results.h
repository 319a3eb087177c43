/* What came out, as text or as JSON: of a campaign, task by task; of a run, its best nodes. */
#ifndef KEET_CAMPAIGN_RESULTS_H
#define KEET_CAMPAIGN_RESULTS_H

#include "base/str.h"
#include "campaign/campaign.h"

#include <stdbool.h>

/* The tasks, fastest first where top is not 0 (and then so many at most), else in their order.
 * The JSON's "tasks" are rows that bench/score/score.py takes: a speedup of null is a task without
 * a right result. */
bool results_campaign(
    const struct campaign *c, unsigned top, bool json, struct str *out, struct err *err);

/* The best nodes of a run (run 0: of the newest), equal ones in the order of their numbers. */
bool results_run(
    const char *db_path, int64_t run, unsigned top, bool json, struct str *out, struct err *err);

#endif
