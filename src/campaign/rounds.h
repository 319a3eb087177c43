/* Rounds: how much budget each task gets next. A pure function of the slices that have ended.
 *
 * Rounds 1 to nr_rounds give each task its budget in equal slices. A task stops early when its run
 * says so (converged, at the roofline, exhausted, its own limit) or fails. A task rests when its
 * last two slices gained less than 1% although eight of their variants were correct (failures alone
 * prove nothing). The budget that these tasks leave goes into a pool, one of variants and one of
 * seconds. In later rounds the tasks that gained 1% or more in their last slice share the pool
 * equally, with a slice each at most; when there is no such task, the resting tasks get it, up to
 * their own budgets. With one round (--rounds 1), every task gets its budget and nothing moves.
 *
 * A slice that ended at its share of a limit on the whole campaign (tokens, cost) leaves nothing
 * for the pool: the task gets the missing budget in later rounds, as soon as the limit allows. So a
 * campaign that such a limit ended is not complete, and goes on with a higher limit. */
#ifndef KEET_CAMPAIGN_ROUNDS_H
#define KEET_CAMPAIGN_ROUNDS_H

#include "campaign/campaign.h"

/* The first round in which work is left. */
struct round {
    unsigned number;        /* 0: nothing is left, the campaign is complete */
    unsigned nr_in_round;   /* tasks with a part in the round, whether ended or not */
    unsigned nr_with_model; /* of these, the tasks that ask a model */
    double *targets;        /* [nr_tasks], arena memory: task i goes on up to this budget; 0: it has
                               no part in the round, or has ended it */
    uint64_t tokens;        /* spent by the ends of earlier rounds */
    double cost;            /* spent by the ends of earlier rounds */
};
struct round rounds_next(const struct campaign *c, struct arena *arena);

#endif
