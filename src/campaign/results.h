/* Results as text or as JSON: the tasks of a campaign, or the best nodes of a run. */
#ifndef KEET_CAMPAIGN_RESULTS_H
#define KEET_CAMPAIGN_RESULTS_H

#include "base/str.h"
#include "campaign/campaign.h"

#include <stdbool.h>

/* Adds the tasks of a campaign: the `top` fastest ones, fastest first; with top 0 all of them, in
 * their order. bench/score/score.py takes the rows of "tasks" in the JSON: a speedup of null means
 * that the task has no correct result. */
bool results_campaign(
    const struct campaign *c, unsigned top, bool json, struct str *out, struct err *err);

/* Adds the best nodes of a run (run 0: of the newest); nodes of equal speedup stand in the order of
 * their numbers. */
bool results_run(
    const char *db_path, int64_t run, unsigned top, bool json, struct str *out, struct err *err);

#endif
