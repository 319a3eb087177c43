/* What a run is after: time alone, or energy as well, with speed first.
 *
 * Speed first means: what is more than 2% slower than the fastest variant so far is never the best,
 * whatever it saves, and its energy is not even measured; among those that are as fast, energy (or
 * energy times delay) decides, where the intervals of two energies do not overlap. So published
 * figures are to be read as well: energy saved at equal speed (KernelPro, 11.6%).
 *
 * What the search is told is the gain: speedup * (watts of the original / watts)^w with w = 0 for
 * time, 1 for energy (that is joules of the original / joules), 1/2 for energy times delay (the
 * square root of the ratio of the products). Where energy was not measured w is 0. */
#ifndef KEET_CORE_OBJECTIVE_H
#define KEET_CORE_OBJECTIVE_H

#include "core/counters.h"

#include <stdbool.h>

enum objective { OBJECTIVE_TIME, OBJECTIVE_ENERGY, OBJECTIVE_EDP, NR_OBJECTIVES };

const char *objective_name(enum objective objective); /* "time", "energy", "edp" */
bool objective_parse(const char *name, enum objective *objective);

/* Is it fast enough for its energy to matter? Times of it and of the fastest so far. */
bool objective_is_fast(double time_ns, double fastest_ns);

/* Of a variant over the original; speedup above 0. */
double objective_gain(enum objective objective, const struct profile *original,
    const struct profile *profile, double speedup);

/* The best so far; starts as the original. */
struct objective_best {
    double fastest; /* largest speedup seen */
    double speedup; /* of the best, which may be a little less */
    double
        cost_low; /* joules, or joules times seconds: the lower end of its interval; 0: unknown */
};
struct objective_best objective_start(enum objective objective, const struct profile *original);

/* A variant that is right. True: it is the best now. Surely: the interval of its speedup, where
 * there is one, excludes 1. */
bool objective_take(enum objective objective, struct objective_best *best,
    const struct profile *profile, double speedup, bool surely_faster);

#endif
