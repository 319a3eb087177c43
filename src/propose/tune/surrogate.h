/* A surrogate of a space of tuning parameters: from the points that were measured, which one to
 * measure next.
 *
 * A Gaussian process over the places of the values in their lists. How alike two points are is a
 * product over the parameters; a parameter has an importance w and a length l, and its factor is
 * 1 - w + w exp(-d/l), where d is the part of the list that lies between the two values, or 1 - w
 * for any two values that differ (the length 0: values without an order). So a parameter that
 * matters little leaves points alike however far apart its values are, and parameters add up as
 * well as act together (the products are the additive kernels of Duvenaud, Nickisch and Rasmussen,
 * NIPS 2011). Importances, lengths and the noise are those under which the results are likeliest,
 * with the mean taken off and the scale at its best (Rasmussen and Williams, "Gaussian Processes
 * for Machine Learning", 2006, chapter 5). The point with the largest expected improvement is next
 * (Jones, Schonlau and Welch, J. Global Optimization 13, 1998), times the share of right results
 * around it once some have failed. The first points are drawn at random. Numbers only; the same
 * results and seed give the same choice on every machine: of libm, only sqrt and frexp are used. */
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
