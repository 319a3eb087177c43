/* The table of a campaign: its rows as text, and the live table on a terminal. */
#ifndef KEET_CAMPAIGN_TABLE_H
#define KEET_CAMPAIGN_TABLE_H

#include "base/str.h"
#include "campaign/campaign.h"

#include <stdio.h>

/* "12 of 40 done, 2 running, 1 failed" */
void table_summary(const struct campaign *c, const struct campaign_figures *all, struct str *out);
void table_head(struct str *out);
void table_row(const struct campaign_task *t, const struct campaign_figures *f, struct str *out);

/* The live table. On a terminal the table is rewritten in place; any other file gets a line per
 * ended slice. out NULL: silent. */
struct table {
    FILE *out;
    bool live;
    unsigned nr_lines;          /* on the screen now */
    uint64_t drawn_ns, cost_ns; /* of the last drawing: when it ended, how long it took */
    char *trouble;              /* heap; NULL: none */
    struct arena *arena;        /* of one drawing */
};

void table_init(struct table *table, FILE *out);
void table_tick(struct table *table, const struct campaign *c, unsigned round);
void table_ended(struct table *table, const struct campaign *c, const struct campaign_task *t);
/* Says why the campaign cannot go on, whenever the reason changes; NULL: the campaign can go on. */
void table_trouble(struct table *table, const char *trouble);
void table_finish(struct table *table, const struct campaign *c);

#endif
