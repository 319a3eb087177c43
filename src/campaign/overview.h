/* The report of a campaign: an overview of all tasks, and a section for each, as a page or as
 * Markdown. (results_campaign writes JSON.) A pure function of the folder. */
#ifndef KEET_CAMPAIGN_OVERVIEW_H
#define KEET_CAMPAIGN_OVERVIEW_H

#include "base/str.h"
#include "campaign/campaign.h"

#include <stdbool.h>

/* live: the page is served, and keeps itself up to date. */
bool overview_html(const struct campaign *c, bool live, struct str *out, struct err *err);
bool overview_markdown(const struct campaign *c, struct str *out, struct err *err);

#endif
