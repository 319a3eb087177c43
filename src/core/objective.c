/* Owns the comparison of two variants, by time and by energy. */
#include "core/objective.h"

#include <math.h>
#include <string.h>

static const double band = 0.98;
static const char *const names[NR_OBJECTIVES] = {"time", "energy", "edp"};
static const double exponents[NR_OBJECTIVES] = {0, 1, 0.5};

const char *objective_name(enum objective objective)
{
    return names[objective];
}

bool objective_parse(const char *name, enum objective *objective)
{
    for (int o = 0; o < NR_OBJECTIVES; o++) {
        if (strcmp(names[o], name) == 0) {
            *objective = (enum objective)o;
            return true;
        }
    }
    return false;
}

bool objective_is_fast(double time_ns, double fastest_ns)
{
    return fastest_ns <= 0 || time_ns * band <= fastest_ns;
}

static bool has_energy(const struct profile *profile)
{
    return counters_has(&profile->total, METRIC_ENERGY_J) &&
           counters_get(&profile->total, METRIC_ENERGY_J) > 0;
}

double objective_gain(enum objective objective, const struct profile *original,
    const struct profile *profile, double speedup)
{
    double saved; /* joules of the original / joules */

    if (objective == OBJECTIVE_TIME || !has_energy(original) || !has_energy(profile))
        return speedup;
    saved = counters_get(&original->total, METRIC_ENERGY_J) /
            counters_get(&profile->total, METRIC_ENERGY_J);
    return speedup * pow(saved / speedup, exponents[objective]);
}

/* One end of the interval of the cost (energy, or energy times delay); 0 where it is not known. */
static double cost(enum objective objective, const struct profile *profile, enum metric end)
{
    const double joules = counters_get(&profile->total, end);

    if (objective == OBJECTIVE_TIME || !has_energy(profile))
        return 0;
    return objective == OBJECTIVE_EDP ? joules * profile->time_ns * 1e-9 : joules;
}

struct objective_best objective_start(enum objective objective, const struct profile *original)
{
    return (struct objective_best){
        .fastest = 1, .speedup = 1, .cost_low = cost(objective, original, METRIC_ENERGY_LOW_J)};
}

bool objective_take(enum objective objective, struct objective_best *best,
    const struct profile *profile, double speedup, bool surely_faster)
{
    const double low = cost(objective, profile, METRIC_ENERGY_LOW_J);
    const double high = cost(objective, profile, METRIC_ENERGY_HIGH_J);
    bool taken;

    if (speedup > best->fastest && surely_faster)
        best->fastest = speedup;
    if (objective == OBJECTIVE_TIME)
        taken = speedup > best->speedup && surely_faster;
    else if (speedup < band * best->fastest)
        taken = false;
    else if (best->speedup < band * best->fastest)
        taken = true; /* the best so far is no longer fast enough beside this variant */
    else if (low <= 0 || best->cost_low <= 0)
        taken = speedup > best->speedup && surely_faster;
    else
        taken = high < best->cost_low;
    if (taken) {
        best->speedup = speedup;
        best->cost_low = low;
    }
    return taken;
}
