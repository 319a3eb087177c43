/* Rounds: who gets how much budget next. A pure function of the slices that have ended.
 *
 * Rounds 1 to nr_rounds give each task its budget in equal slices. A task stops early when its run
 * says so (converged, at the roofline, exhausted, its own limit) or fails; and it rests when its
 * last two slices brought less than 1% although eight of their variants were right (failures alone
 * prove nothing). What these leave goes into a pool, of variants and of seconds apart. In the
 * rounds after, the pool is shared equally by the tasks that gained 1% or more in their last slice,
 * a slice each at most; when there is none, the resting tasks get it, up to their own budgets. With
 * one round (--rounds 1), every task gets its budget and nothing is moved.
 *
 * A slice that ended at its share of a limit of the whole (tokens, cost) leaves nothing over: what
 * it lacks is the task's own in the rounds after, as soon as the limit allows. So a campaign that
 * such a limit ended is not complete, and a higher one lets it go on. */
#ifndef KEET_CAMPAIGN_ROUNDS_H
#define KEET_CAMPAIGN_ROUNDS_H

#include "campaign/campaign.h"

/* The round in which work is left: targets[i] is the budget up to which task i is to go in it, 0:
 * it has no part in it, or has ended it. 0: nothing is left, the campaign is complete.
 * nr_in_round: how many tasks have a part in the round, ended or not; spent is of the ends of
 * earlier rounds. */
struct round {
    unsigned number;
    unsigned nr_in_round, nr_with_model;
    double *targets; /* [nr_tasks], arena memory */
    uint64_t tokens;
    double cost;
};
struct round rounds_next(const struct campaign *c, struct arena *arena);

#endif
