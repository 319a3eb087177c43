/* The canonical metrics out of a Hopper's hardware metrics: each is a weighted sum of hardware
 * metrics, or the quotient of such a sum by another metric. Names are those of CUPTI 13.0 for
 * GH100; tests/unit/nv/cupti.c checks each against the library's own list.
 *
 * All hardware metrics in one configuration take 8 passes of kernel replay. Four choices keep the
 * number of passes there: speed-of-light comes from single pipes (sm__throughput alone takes 8
 * passes), L2's hit rate comes from two counts (the ratio takes one pass more), instructions on
 * shared and local memory come from the sass__ metrics, which share a pass with others, and a
 * warp's instructions are counted by SM (by its parts they take one pass more).
 *
 * Some metrics are not in this table, and so absent in measured counters: launch__* (known from the
 * launch itself), and keet__* that no hardware counts. FLOPS counts the additions and
 * multiplications of SASS, where a division is a dozen of them; the emulator counts a division as
 * one. With tensor instructions FLOPS is absent, since no metric tells their size. */
#ifndef KEET_NV_METRICS_MAP_H
#define KEET_NV_METRICS_MAP_H

#include "core/counters.h"

enum { METRICS_MAP_TERMS = 9, METRICS_MAP_NAMES = 96 };

struct metrics_map_term {
    const char *name; /* as CUPTI knows it; NULL ends the list */
    double weight;
};

struct metrics_map_row {
    enum metric metric;
    struct metrics_map_term terms[METRICS_MAP_TERMS];
    const char *over; /* the divisor; NULL: none */
};

const struct metrics_map_row *metrics_map_rows(unsigned *nr);

/* The distinct names that all rows need, in a fixed order; static strings. */
unsigned metrics_map_names(const char *names[METRICS_MAP_NAMES]);

/* The value of a name; NaN where the name is not among them. */
double metrics_map_value(
    const char *name, const char *const *names, const double *values, unsigned nr);

/* Sets the canonical metrics, as PROV_MEASURED, from the values of names in any order. A metric
 * stays as it is where one of its names is missing, is not a number, or is a divisor of zero. */
void metrics_map_apply(
    const char *const *names, const double *values, unsigned nr, struct counters *counters);

#endif
