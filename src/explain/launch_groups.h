/* Launches of one kernel with one grid and one block, taken together: they do the same work, and
 * one of them tells of all.
 *
 *     struct launch_group groups[8];
 *     unsigned nr = launch_groups(&c->profile, arena, groups, 8, 0.04); */
#ifndef KEET_EXPLAIN_LAUNCH_GROUPS_H
#define KEET_EXPLAIN_LAUNCH_GROUPS_H

#include "base/arena.h"
#include "core/counters.h"

struct launch_group {
    unsigned longest, nr; /* the longest of them, and how many */
    double share;         /* of the time of all launches, of all of the group */
    const char *name;     /* "f", "each of 12 f"; NULL: the profile has one launch */
};

/* The groups that take at least least_share of the time, in the order of their first launch; at
 * most `most`. 0: the launches have no times of their own. Names are arena memory. */
unsigned launch_groups(const struct profile *profile, struct arena *arena,
    struct launch_group *groups, unsigned most, double least_share);

#endif
