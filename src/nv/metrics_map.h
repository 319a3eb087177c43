/* How the canonical metrics come from what a Hopper counts: each is a weighted sum of hardware
 * metrics, or the quotient of such a sum by another metric. Names are those of CUPTI 13.0 for
 * GH100, each checked against the library's own list by tests/unit/nv/cupti.c.
 *
 * All of them in one configuration take 8 passes of kernel replay. Choices that keep it there:
 * speed-of-light comes from single pipes (sm__throughput alone takes 8 passes), L2's hit rate from
 * two counts (the ratio takes a pass more), and instructions on shared and local memory from the
 * sass__ metrics, which share a pass that is needed anyway.
 *
 * Not here, hence absent in measured counters: launch__* (known from the launch itself), keet__*
 * that no hardware counts. FLOPS is what SASS adds and multiplies: a division is a dozen of those
 * there and one in the emulator; with tensor instructions, whose size no metric tells, it is
 * absent. */
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

/* One of the values by its name; NaN where it is not among them. */
double metrics_map_value(
    const char *name, const char *const *names, const double *values, unsigned nr);

/* Values of names (in any order) to canonical metrics, as PROV_MEASURED. A metric stays as it is
 * where a name it needs is missing, not a number, or a divisor of zero. */
void metrics_map_apply(
    const char *const *names, const double *values, unsigned nr, struct counters *counters);

#endif
