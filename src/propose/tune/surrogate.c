/* The Gaussian process, its lengths, and expected improvement. */
#include "propose/tune/surrogate.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The results that the process stands on: a larger matrix would take longer than an evaluation. */
enum { MOST_RESULTS = 160 };
/* So many points are drawn at random before the process is asked. */
static const size_t nr_first = 4;

/* The part of the variance that a point's neighbours say nothing about. */
static const double NOISE = 1e-3, NOISE_OF_HINT = 0.05;
/* A point that failed counts as this much slower than the slowest, in log2. */
static const double FAILED = 0.5;
static const double lengths[] = {0.15, 0.3, 0.6, 1.2, 2.4, 10};
enum { NR_LENGTHS = sizeof lengths / sizeof lengths[0], FIRST_LENGTH = 2 };

struct process {
    const struct tune_space *space;
    size_t nr;
    const struct tune_point *points[MOST_RESULTS];
    double costs[MOST_RESULTS]; /* in deviations from the mean */
    double noise[MOST_RESULTS];
    double best;
    unsigned length[TUNE_MAX_PARAMS]; /* of `lengths` */
    double *inverse;                  /* of the matrix of covariances, nr x nr */
    double *weights;                  /* inverse x costs */
};

static double covariance(
    const struct process *p, const struct tune_point *a, const struct tune_point *b)
{
    double distance = 0;

    for (unsigned i = 0; i < p->space->nr_params; i++) {
        if (a->at[i] == b->at[i])
            continue;
        const double step = ((double)a->at[i] - b->at[i]) / (p->space->nr_values[i] - 1);
        const double scaled = step / lengths[p->length[i]];

        distance += scaled * scaled;
    }
    const double quadratic = 1 / (1 + distance / 4); /* alpha = 2 */

    return quadratic * quadratic;
}

/* Put the inverse of a symmetric positive matrix, by Cholesky's decomposition, in its place. */
static void invert(double *m, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++)
            for (size_t i = j; i < n; i++)
                m[i * n + j] -= m[i * n + k] * m[j * n + k];
        const double root = sqrt(fmax(m[j * n + j], 1e-12));

        for (size_t i = j; i < n; i++)
            m[i * n + j] /= root;
    }
    for (size_t j = 0; j < n; j++) { /* the inverse of the triangle */
        m[j * n + j] = 1 / m[j * n + j];
        for (size_t i = j + 1; i < n; i++) {
            double sum = 0;

            for (size_t k = j; k < i; k++)
                sum -= m[i * n + k] * m[k * n + j];
            m[i * n + j] = sum / m[i * n + i];
        }
    }
    for (size_t i = 0; i < n; i++) /* its transpose times itself */
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;

            for (size_t k = i; k < n; k++)
                sum += m[k * n + i] * m[k * n + j];
            m[i * n + j] = sum;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            m[i * n + j] = m[j * n + i];
}

/* Fit the process to the results by the lengths as they are. Returns the mean squared error of the
 * results that the others foretell. */
static double fit(struct process *p)
{
    double error = 0;

    for (size_t i = 0; i < p->nr; i++)
        for (size_t j = 0; j < p->nr; j++)
            p->inverse[i * p->nr + j] =
                covariance(p, p->points[i], p->points[j]) + (i == j ? p->noise[i] : 0);
    invert(p->inverse, p->nr);
    for (size_t i = 0; i < p->nr; i++) {
        p->weights[i] = 0;
        for (size_t j = 0; j < p->nr; j++)
            p->weights[i] += p->inverse[i * p->nr + j] * p->costs[j];
        const double residual = p->weights[i] / p->inverse[i * p->nr + i];

        error += residual * residual;
    }
    return error / (double)p->nr;
}

/* Change one length at a time as long as that lowers the error. */
static void learn_lengths(struct process *p)
{
    double least = fit(p);

    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < p->space->nr_params; i++) {
            for (int step = -1; step <= 1; step += 2) {
                for (;;) {
                    const unsigned before = p->length[i];

                    if ((int)before + step < 0 || (int)before + step >= NR_LENGTHS)
                        break;
                    p->length[i] = (unsigned)((int)before + step);
                    const double error = fit(p);

                    if (error >= least) {
                        p->length[i] = before;
                        break;
                    }
                    least = error;
                }
            }
        }
    }
    fit(p);
}

/* The results, scaled; the fastest of them where there are too many. */
static int by_cost(const void *a, const void *b)
{
    const struct tune_result *x = *(const struct tune_result *const *)a;
    const struct tune_result *y = *(const struct tune_result *const *)b;

    if (x->failed != y->failed)
        return x->failed ? 1 : -1;
    if (!x->failed && x->cost < y->cost)
        return -1;
    if (!x->failed && x->cost > y->cost)
        return 1;
    return x < y ? -1 : x > y; /* of one array */
}

static void take_results(
    struct process *p, const struct tune_result *results, size_t nr_results, double *slowest)
{
    const struct tune_result **sorted = xcalloc(nr_results, sizeof(*sorted));
    double mean = 0, deviation = 0;

    for (size_t i = 0; i < nr_results; i++)
        sorted[i] = &results[i];
    qsort(sorted, nr_results, sizeof(*sorted), by_cost);
    for (size_t i = 0; i < nr_results && !sorted[i]->failed; i++)
        *slowest = sorted[i]->cost;
    p->nr = nr_results < MOST_RESULTS ? nr_results : MOST_RESULTS;
    for (size_t i = 0; i < p->nr; i++) {
        p->points[i] = &sorted[i]->point;
        p->noise[i] = sorted[i]->hint ? NOISE_OF_HINT : NOISE;
        p->costs[i] = sorted[i]->failed ? *slowest + FAILED : sorted[i]->cost;
        mean += p->costs[i] / (double)p->nr;
    }
    free(sorted);
    for (size_t i = 0; i < p->nr; i++)
        deviation += (p->costs[i] - mean) * (p->costs[i] - mean) / (double)p->nr;
    deviation = sqrt(fmax(deviation, 1e-6));
    for (size_t i = 0; i < p->nr; i++)
        p->costs[i] = (p->costs[i] - mean) / deviation;
    p->best = p->costs[0];
}

/* exp(-x) for x >= 0, by its series and squares. */
static double exp_of_minus(double x)
{
    if (x > 700)
        return 0;
    double term = 1, sum = 1;

    for (unsigned i = 1; i < 10; i++) {
        term *= x / 64 / i;
        sum += term;
    }
    for (unsigned i = 0; i < 6; i++)
        sum *= sum;
    return 1 / sum;
}

/* By how much a normal variable is below `best`, in the mean. Its distribution function is Page's
 * approximation (Applied Statistics 26, 1977). */
static double expected_improvement(double best, double mean, double deviation)
{
    const double z = (best - mean) / deviation;
    const double slope = 1.5976 * z + 0.070566 * z * z * z;
    const double below =
        slope >= 0 ? 1 / (1 + exp_of_minus(slope)) : 1 - 1 / (1 + exp_of_minus(-slope));
    const double density = 0.3989423 * exp_of_minus(z * z / 2);

    return (best - mean) * below + deviation * density;
}

static double promise(const struct process *p, const struct tune_point *point, double *row)
{
    double mean = 0, variance = 1 + NOISE;

    for (size_t i = 0; i < p->nr; i++) {
        row[i] = covariance(p, point, p->points[i]);
        mean += row[i] * p->weights[i];
    }
    for (size_t i = 0; i < p->nr; i++) {
        const double *of = &p->inverse[i * p->nr];
        double sum = 0;

        for (size_t j = 0; j < i; j++)
            sum += of[j] * row[j];
        variance -= row[i] * (2 * sum + of[i] * row[i]);
    }
    return expected_improvement(p->best, mean, sqrt(fmax(variance, 1e-9)));
}

size_t surrogate_choose(const struct tune_space *space, const struct tune_result *results,
    size_t nr_results, const struct tune_point *candidates, size_t nr_candidates, uint64_t seed)
{
    struct process p = {.space = space};
    struct rng rng;
    size_t chosen = 0, nr_right = 0;
    double most = -1, slowest = 0;

    rng_seed(&rng, seed, nr_results);
    for (size_t i = 0; i < nr_results; i++)
        nr_right += !results[i].failed;
    if (nr_right < nr_first)
        return (size_t)rng_below(&rng, nr_candidates);
    take_results(&p, results, nr_results, &slowest);
    p.inverse = xcalloc(p.nr * p.nr, sizeof(*p.inverse));
    p.weights = xcalloc(2 * p.nr, sizeof(*p.weights));
    for (unsigned i = 0; i < space->nr_params; i++)
        p.length[i] = FIRST_LENGTH;
    learn_lengths(&p);
    const size_t first =
        (size_t)rng_below(&rng, nr_candidates); /* of equals, the first from here */

    for (size_t k = 0; k < nr_candidates; k++) {
        const size_t i = (first + k) % nr_candidates;
        const double of = promise(&p, &candidates[i], p.weights + p.nr);

        if (of > most) {
            most = of;
            chosen = i;
        }
    }
    free(p.inverse);
    free(p.weights);
    return chosen;
}
