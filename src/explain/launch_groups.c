/* Owns the grouping of a profile's launches. */
#include "explain/launch_groups.h"

#include <string.h>

enum { MOST_NAME = 40 };

static bool same_launch(const struct launch_config *a, const struct launch_config *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && memcmp(a->grid, b->grid, sizeof(a->grid)) == 0 &&
           memcmp(a->block, b->block, sizeof(a->block)) == 0;
}

static double launch_time(const struct profile *profile, unsigned launch)
{
    return counters_get(&profile->launches[launch], METRIC_TIME_NS);
}

static double all_time(const struct profile *profile)
{
    double sum = 0;

    for (unsigned i = 0; profile->configs && i < profile->nr_launches; i++) {
        sum += profile->configs[i].kernel ? launch_time(profile, i) : 0;
    }
    return sum;
}

static const char *group_name(
    const struct profile *profile, struct arena *arena, const struct launch_group *group)
{
    const char *kernel = profile->configs[group->longest].kernel;

    if (profile->nr_launches == 1) {
        return NULL;
    }
    return group->nr > 1 ? arena_printf(arena, "each of %u %.*s", group->nr, MOST_NAME, kernel)
                         : arena_printf(arena, "%.*s", MOST_NAME, kernel);
}

unsigned launch_groups(const struct profile *profile, struct arena *arena,
    struct launch_group *groups, unsigned most, double least_share)
{
    const double all_ns = all_time(profile);
    unsigned nr = 0, kept = 0;

    for (unsigned i = 0; all_ns > 0 && i < profile->nr_launches; i++) {
        unsigned at = 0;

        while (
            at < nr && !same_launch(&profile->configs[groups[at].longest], &profile->configs[i])) {
            at++;
        }
        if (at == nr && nr == most) {
            continue;
        }
        if (at == nr) {
            groups[nr++] = (struct launch_group){.longest = i};
        }
        groups[at].nr++;
        groups[at].share += launch_time(profile, i) / all_ns;
        if (launch_time(profile, i) > launch_time(profile, groups[at].longest)) {
            groups[at].longest = i;
        }
    }
    for (unsigned i = 0; i < nr; i++) {
        if (groups[i].share >= least_share) {
            groups[kept] = groups[i];
            groups[kept].name = group_name(profile, arena, &groups[i]);
            kept++;
        }
    }
    return kept;
}
