/* The Gaussian process, what it learns of the parameters, and expected improvement. */
#include "propose/tune/surrogate.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The results that the process stands on: a larger matrix would take longer than an evaluation. Of
 * more candidates than MOST_DRAWN about so many are looked at, and those near the best results. */
enum { MOST_RESULTS = 160, MOST_DRAWN = 1500, NR_BEST = 5, NR_ROUNDS = 2 };
/* So many points are drawn at random before the process is asked. */
static const size_t nr_first = 4;

static const double NOISE_OF_HINT = 0.05;
/* A point that failed counts as this much slower than the slowest, in log2. */
static const double FAILED = 0.5;

static const double importances[] = {0.02, 0.08, 0.25, 0.6, 1};
static const double lengths[] = {0, 0.12, 0.4, 1.2};    /* of the list; 0: no order */
static const double noises[] = {1e-3, 1e-2, 5e-2, 0.2}; /* what a point's neighbours do not tell */
enum { NR_IMPORTANCES = 5, NR_LENGTHS = 4, NR_NOISES = 4, MOST_VALUES = 256 };
enum { FIRST_IMPORTANCE = 2, FIRST_LENGTH = 2, FIRST_NOISE = 1 };

struct process {
    const struct tune_space *space;
    size_t nr;
    const struct tune_result *results[MOST_RESULTS]; /* the fastest first */
    double costs[MOST_RESULTS];                      /* in deviations from the mean */
    double best, scale;
    bool some_failed;
    uint8_t importance[TUNE_MAX_PARAMS], length[TUNE_MAX_PARAMS], noise;
    double alike[TUNE_MAX_PARAMS][MOST_VALUES]; /* the factor of values so many places apart */
    double *covariance;                         /* nr x nr, lower triangle */
    double *root;                               /* its decomposition by Cholesky, with the noise */
    double *weights;                            /* of nr results */
    double *row;                                /* nr numbers */
};

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

static unsigned places_apart(const struct tune_point *a, const struct tune_point *b, unsigned i)
{
    return (unsigned)abs((int)a->at[i] - (int)b->at[i]);
}

/* --- the process --- */

static void set_alike(struct process *p, unsigned i)
{
    const double w = importances[p->importance[i]], length = lengths[p->length[i]];

    p->alike[i][0] = 1;
    for (unsigned d = 1; d < p->space->nr_values[i] && d < MOST_VALUES; d++) {
        const double part = (double)d / (p->space->nr_values[i] - 1);

        p->alike[i][d] = 1 - w + (length > 0 ? w * exp_of_minus(part / length) : 0);
    }
}

static double covariance(
    const struct process *p, const struct tune_point *a, const struct tune_point *b)
{
    double product = 1;

    for (unsigned i = 0; i < p->space->nr_params; i++)
        product *= p->alike[i][places_apart(a, b, i)];
    return product;
}

static void set_covariances(struct process *p)
{
    for (size_t i = 0; i < p->nr; i++)
        for (size_t j = 0; j <= i; j++)
            p->covariance[i * p->nr + j] =
                covariance(p, &p->results[i]->point, &p->results[j]->point);
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum[4] = {0};
    size_t i = 0;

    for (; i + 4 <= n; i += 4)
        for (unsigned k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* y with root y = x, in place. */
static void solve(const struct process *p, double *x)
{
    for (size_t i = 0; i < p->nr; i++)
        x[i] = (x[i] - dot(&p->root[i * p->nr], x, i)) / p->root[i * p->nr + i];
}

/* Decompose the covariances. Returns a number that falls as the likelihood of the costs at their
 * best scale grows: it grows with det(covariances) scale^nr, as their logarithm does. */
static double fit(struct process *p)
{
    double mantissa = 1, exponent = 0;
    int more;

    for (size_t i = 0; i < p->nr; i++) {
        const bool hint = p->results[i]->hint;
        double *row = &p->root[i * p->nr];

        for (size_t j = 0; j <= i; j++) {
            const double left = p->covariance[i * p->nr + j] - dot(row, &p->root[j * p->nr], j);

            if (j < i)
                row[j] = left / p->root[j * p->nr + j];
            else
                row[i] = sqrt(fmax(left + noises[p->noise] + (hint ? NOISE_OF_HINT : 0), 1e-10));
        }
        p->weights[i] = p->costs[i];
    }
    solve(p, p->weights);
    p->scale = fmax(dot(p->weights, p->weights, p->nr) / (double)p->nr, 1e-12);
    for (size_t i = 0; i < p->nr; i++) {
        const double of = p->root[i * p->nr + i];

        mantissa = frexp(mantissa * of * of * p->scale, &more);
        exponent += more;
    }
    return exponent + 2 * mantissa;
}

/* Change one figure, of nr, as long as that lowers the number of fit. i: its parameter; -1: none.
 */
static void improve(struct process *p, uint8_t *figure, unsigned nr, int i, double *least)
{
    for (int step = -1; step <= 1; step += 2) {
        for (;;) {
            const uint8_t before = *figure;

            if (before + step < 0 || before + step >= (int)nr)
                break;
            *figure = (uint8_t)(before + step);
            if (i >= 0) {
                set_alike(p, (unsigned)i);
                set_covariances(p);
            }
            const double number = fit(p);

            if (number >= *least) {
                *figure = before;
                break;
            }
            *least = number;
        }
    }
    if (i >= 0) {
        set_alike(p, (unsigned)i);
        set_covariances(p);
    }
}

static void learn(struct process *p)
{
    p->noise = FIRST_NOISE;
    for (unsigned i = 0; i < p->space->nr_params; i++) {
        p->importance[i] = FIRST_IMPORTANCE;
        p->length[i] = p->space->nr_values[i] > 2 ? FIRST_LENGTH : 0;
        set_alike(p, i);
    }
    set_covariances(p);
    double least = fit(p);

    for (unsigned round = 0; round < NR_ROUNDS; round++) {
        const double before = least;

        for (unsigned i = 0; i < p->space->nr_params; i++) {
            improve(p, &p->importance[i], NR_IMPORTANCES, (int)i, &least);
            if (p->space->nr_values[i] > 2)
                improve(p, &p->length[i], NR_LENGTHS, (int)i, &least);
        }
        improve(p, &p->noise, NR_NOISES, -1, &least);
        if (least >= before)
            break;
    }
    fit(p);
    for (size_t i = p->nr; i-- > 0;) { /* the transpose of root, solved backwards */
        double left = p->weights[i];

        for (size_t k = i + 1; k < p->nr; k++)
            left -= p->root[k * p->nr + i] * p->weights[k];
        p->weights[i] = left / p->root[i * p->nr + i];
    }
}

/* --- the results --- */

/* The fastest first, then those that failed. */
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

/* The results, scaled; the fastest of them where there are too many. */
static void take_results(struct process *p, const struct tune_result *results, size_t nr_results)
{
    const struct tune_result **sorted = xcalloc(nr_results, sizeof(*sorted));
    double mean = 0, deviation = 0, slowest = 0;

    for (size_t i = 0; i < nr_results; i++)
        sorted[i] = &results[i];
    qsort(sorted, nr_results, sizeof(*sorted), by_cost);
    for (size_t i = 0; i < nr_results && !sorted[i]->failed; i++)
        slowest = sorted[i]->cost;
    p->nr = nr_results < MOST_RESULTS ? nr_results : MOST_RESULTS;
    for (size_t i = 0; i < p->nr; i++) {
        p->results[i] = sorted[i];
        p->some_failed = p->some_failed || sorted[i]->failed;
        p->costs[i] = sorted[i]->failed ? slowest + FAILED : sorted[i]->cost;
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

/* --- the next point --- */

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

/* The share of right results around the point: each counts by how near it is. */
static double share_right(const struct process *p, const struct tune_point *point)
{
    double right = 0.5, failed = 0.05;

    for (size_t k = 0; k < p->nr; k++) {
        double distance = 0;

        for (unsigned i = 0; i < p->space->nr_params; i++)
            if (p->space->nr_values[i] > 1)
                distance += (double)places_apart(point, &p->results[k]->point, i) /
                            (p->space->nr_values[i] - 1);
        *(p->results[k]->failed ? &failed : &right) += exp_of_minus(3 * distance);
    }
    return right / (right + failed);
}

static double promise(const struct process *p, const struct tune_point *point)
{
    for (size_t i = 0; i < p->nr; i++)
        p->row[i] = covariance(p, point, &p->results[i]->point);
    const double mean = dot(p->row, p->weights, p->nr);

    solve(p, p->row);
    const double variance = fmax(1 - dot(p->row, p->row, p->nr), 1e-6) * p->scale;
    const double gain = expected_improvement(p->best, mean, sqrt(variance));

    return p->some_failed ? gain * share_right(p, point) : gain;
}

static bool is_near(const struct process *p, const struct tune_point *point)
{
    for (size_t k = 0; k < NR_BEST && k < p->nr && !p->results[k]->failed; k++) {
        unsigned nr_apart = 0;

        for (unsigned i = 0; i < p->space->nr_params; i++)
            nr_apart += point->at[i] != p->results[k]->point.at[i];
        if (nr_apart <= (k == 0 ? 2 : 1))
            return true;
    }
    return false;
}

size_t surrogate_choose(const struct tune_space *space, const struct tune_result *results,
    size_t nr_results, const struct tune_point *candidates, size_t nr_candidates, uint64_t seed)
{
    struct rng rng;
    size_t chosen = 0, nr_right = 0;
    double most = -1;

    rng_seed(&rng, seed, nr_results);
    for (size_t i = 0; i < nr_results; i++)
        nr_right += !results[i].failed;
    if (nr_right < nr_first)
        return (size_t)rng_below(&rng, nr_candidates);
    struct process *p = xcalloc(1, sizeof(*p));

    p->space = space;
    take_results(p, results, nr_results);
    p->covariance = xcalloc(2 * p->nr * p->nr + 2 * p->nr, sizeof(double));
    p->root = p->covariance + p->nr * p->nr;
    p->weights = p->root + p->nr * p->nr;
    p->row = p->weights + p->nr;
    learn(p);
    const size_t first = chosen =
        (size_t)rng_below(&rng, nr_candidates); /* of equals, the first from here */

    for (size_t k = 0; k < nr_candidates; k++) {
        const size_t i = (first + k) % nr_candidates;

        if (rng_below(&rng, nr_candidates) >= MOST_DRAWN && !is_near(p, &candidates[i]))
            continue;
        const double of = promise(p, &candidates[i]);

        if (of > most) {
            most = of;
            chosen = i;
        }
    }
    free(p->covariance);
    free(p);
    return chosen;
}
