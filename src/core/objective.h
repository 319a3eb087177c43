/* The objective of a run: time alone, or energy as well, with speed first.
 *
 * Speed first means: a variant more than 2% slower than the fastest one so far is never the best,
 * whatever it saves, and its energy is not measured. Among the fast variants energy (or energy
 * times delay) decides, where the intervals of two energies do not overlap. Published figures have
 * the same meaning: energy saved at equal speed (KernelPro, 11.6%).
 *
 * The search is told the gain: speedup * (watts of the original / watts)^w, with w = 0 for time, 1
 * for energy (the gain is joules of the original / joules) and 1/2 for energy times delay (the
 * square root of the ratio of the products). Where energy was not measured, w is 0. */
#ifndef KEET_CORE_OBJECTIVE_H
#define KEET_CORE_OBJECTIVE_H

#include "core/counters.h"

#include <stdbool.h>

enum objective { OBJECTIVE_TIME, OBJECTIVE_ENERGY, OBJECTIVE_EDP, NR_OBJECTIVES };

const char *objective_name(enum objective objective); /* "time", "energy", "edp" */
bool objective_parse(const char *name, enum objective *objective);

/* Is a variant of this time fast enough for its energy to matter? */
bool objective_is_fast(double time_ns, double fastest_ns);

/* The gain of a variant over the original; speedup is above 0. */
double objective_gain(enum objective objective, const struct profile *original,
    const struct profile *profile, double speedup);

/* The best variant so far; at first the original. */
struct objective_best {
    double fastest;  /* largest speedup so far */
    double speedup;  /* of the best variant, which may be a little less */
    double cost_low; /* joules, or joules times seconds: lower end of the interval; 0: unknown */
};
struct objective_best objective_start(enum objective objective, const struct profile *original);

/* Takes a correct variant into account. True: it is the best now. surely_faster: the interval of
 * its speedup, where there is one, excludes 1. */
bool objective_take(enum objective objective, struct objective_best *best,
    const struct profile *profile, double speedup, bool surely_faster);

#endif
