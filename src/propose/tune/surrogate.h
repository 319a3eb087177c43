/* A surrogate of a space of tuning parameters: from the points that were measured, which one to
 * measure next.
 *
 * A Gaussian process over the places of the values in their lists, with a rational quadratic kernel
 * and a length for each parameter; the point with the largest expected improvement is next
 * (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, chapters 4 and 5, where
 * the errors that leave one point out stand, too; Jones, Schonlau and Welch, J. Global Optimization
 * 13, 1998). The first points are drawn at random. Numbers only; the same results and seed give the
 * same choice on every machine: of libm, only sqrt is used. */
#ifndef KEET_PROPOSE_TUNE_SURROGATE_H
#define KEET_PROPOSE_TUNE_SURROGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TUNE_MAX_PARAMS = 16 };

/* The place of each parameter's value in the list of its values. */
struct tune_point {
    uint8_t at[TUNE_MAX_PARAMS];
};

struct tune_space {
    unsigned nr_params;
    unsigned nr_values[TUNE_MAX_PARAMS];
};

struct tune_result {
    struct tune_point point;
    bool failed; /* there is no time */
    bool hint;   /* of a relative: not quite what would be measured here */
    double cost; /* log2 of the time */
};

/* The index of the candidate to measure next; nr_candidates > 0. No candidate may be among the
 * results that are no hints. */
size_t surrogate_choose(const struct tune_space *space, const struct tune_result *results,
    size_t nr_results, const struct tune_point *candidates, size_t nr_candidates, uint64_t seed);

#endif
