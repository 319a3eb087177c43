/* Replays a recorded space of tuning parameters: the tuner's surrogate, and random sampling, on
 * points whose times are known. Prints, for each seed, the best time after each evaluation.
 *
 *   spaces_bench surrogate|random NR_SEEDS NR_EVALUATIONS < TABLE
 *
 * TABLE: a line with the number of parameters and their numbers of values, then a line for each
 * valid point: the places of its values, and its time, or - where it failed. */
#include "base/mem.h"
#include "base/rng.h"
#include "propose/tune/surrogate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
    struct tune_space space;
    struct tune_point *points;
    double *times; /* NaN: failed */
    size_t nr, cap;
};

static bool read_table(struct table *t)
{
    char word[64];

    if (scanf("%u", &t->space.nr_params) != 1 || t->space.nr_params > TUNE_MAX_PARAMS)
        return false;
    for (unsigned i = 0; i < t->space.nr_params; i++)
        if (scanf("%u", &t->space.nr_values[i]) != 1)
            return false;
    for (;; t->nr++) {
        struct tune_point point = {{0}};

        for (unsigned i = 0; i < t->space.nr_params; i++) {
            unsigned at;

            if (scanf("%u", &at) != 1)
                return i == 0 && t->nr > 0;
            point.at[i] = (uint8_t)at;
        }
        if (t->nr == t->cap) {
            t->cap = t->cap ? 2 * t->cap : 1024;
            t->points = xrealloc(t->points, t->cap * sizeof(*t->points));
            t->times = xrealloc(t->times, t->cap * sizeof(*t->times));
        }
        if (scanf("%63s", word) != 1)
            return false;
        t->points[t->nr] = point;
        t->times[t->nr] = strcmp(word, "-") == 0 ? NAN : strtod(word, NULL);
    }
}

static void replay(const struct table *t, bool learns, uint64_t seed, size_t nr_evaluations)
{
    struct tune_point *left = xcalloc(t->nr, sizeof(*left));
    size_t *of = xcalloc(t->nr, sizeof(*of)), nr_left = t->nr;
    struct tune_result *results = xcalloc(nr_evaluations, sizeof(*results));
    double best = INFINITY;
    struct rng rng;

    rng_seed(&rng, seed, 1);
    for (size_t i = 0; i < t->nr; i++)
        of[i] = i;
    memcpy(left, t->points, t->nr * sizeof(*left));
    for (size_t n = 0; n < nr_evaluations && nr_left > 0; n++) {
        const size_t at = n > 0 && learns
                              ? surrogate_choose(&t->space, results, n, left, nr_left, seed)
                              : (size_t)rng_below(&rng, nr_left);
        const double time = t->times[of[at]];

        results[n] = (struct tune_result){
            .point = left[at], .failed = isnan(time), .cost = isnan(time) ? 0 : log2(time)};
        best = fmin(best, isnan(time) ? INFINITY : time);
        printf("%.9g%c", best, n + 1 < nr_evaluations ? ' ' : '\n');
        nr_left--;
        left[at] = left[nr_left];
        of[at] = of[nr_left];
    }
    free(left);
    free(of);
    free(results);
}

int main(int argc, char **argv)
{
    struct table t = {.nr = 0};

    if (argc != 4 || !read_table(&t)) {
        fprintf(stderr, "spaces_bench surrogate|random NR_SEEDS NR_EVALUATIONS < TABLE\n");
        return 2;
    }
    for (uint64_t seed = 1; seed <= strtoull(argv[2], NULL, 10); seed++)
        replay(&t, strcmp(argv[1], "surrogate") == 0, seed, strtoull(argv[3], NULL, 10));
    free(t.points);
    free(t.times);
    return 0;
}
