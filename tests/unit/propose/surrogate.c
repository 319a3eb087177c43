/* The surrogate: on functions whose least point is known it needs fewer evaluations than drawing at
 * random; it learns which parameter matters and where parameters add up, keeps away from what
 * failed, and repeats itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "propose/tune/surrogate.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

static const struct tune_space space = {.nr_params = 4, .nr_values = {8, 6, 5, 4}};
enum { NR_POINTS = 8 * 6 * 5 * 4 };

static struct tune_point nth(unsigned n)
{
    return (struct tune_point){
        {(uint8_t)(n % 8), (uint8_t)(n / 8 % 6), (uint8_t)(n / 48 % 5), (uint8_t)(n / 240)}};
}

/* Two parameters that act together, one that acts alone, one without effect. */
static double cost(const struct tune_point *p)
{
    const double together = p->at[0] + p->at[1] - 7.0, alone = p->at[2] - 3.0;

    return 0.05 * together * together + 0.02 * p->at[0] + 0.1 * alone * alone;
}

static bool fails(const struct tune_point *p)
{
    return p->at[0] == 7 || p->at[1] == 0;
}

/* The number of evaluations until the least cost was met. */
static unsigned evaluations(uint64_t seed, bool learns, bool some_fail, unsigned *nr_failed)
{
    struct tune_point left[NR_POINTS];
    struct tune_result results[NR_POINTS];
    struct rng rng;
    size_t nr_left = NR_POINTS, nr = 0;
    double least = INFINITY;

    rng_seed(&rng, seed, 9);
    for (unsigned n = 0; n < NR_POINTS; n++) {
        left[n] = nth(n);
        if (!(some_fail && fails(&left[n])))
            least = fmin(least, cost(&left[n]));
    }
    for (*nr_failed = 0;;) {
        const size_t at = learns ? surrogate_choose(&space, results, nr, left, nr_left, seed)
                                 : (size_t)rng_below(&rng, nr_left);
        const struct tune_point point = left[at];
        const bool failed = some_fail && fails(&point);

        results[nr++] = (struct tune_result){
            .point = point, .failed = failed, .cost = failed ? 0 : cost(&point)};
        *nr_failed += failed;
        left[at] = left[--nr_left];
        if (!failed && cost(&point) <= least)
            return (unsigned)nr;
    }
}

static void test_learns(void **state)
{
    unsigned by_it = 0, at_random = 0, ignored;

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        by_it += evaluations(seed, true, false, &ignored);
        at_random += evaluations(seed, false, false, &ignored);
    }
    if (by_it * 5 > at_random)
        fail_msg("%u evaluations, %u at random", by_it, at_random);
}

/* A third of the space fails. */
static void test_failures(void **state)
{
    unsigned nr = 0, nr_failed = 0, failed;

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        nr += evaluations(seed, true, true, &failed);
        nr_failed += failed;
    }
    assert_true(nr < 5 * 60);
    assert_true(nr_failed * 4 < nr);
}

/* Nine parameters whose parts of the cost add up, without an order of the values: a point is
 * foretold from points that are far from it, since each value was seen somewhere. */
static double added_cost(const struct tune_point *p, uint64_t seed)
{
    double sum = 0;

    for (unsigned i = 0; i < 9; i++)
        sum += (double)(rng_mix(rng_mix(seed, i), p->at[i]) % 1000) / 1000;
    return sum;
}

static void test_parts_add_up(void **state)
{
    enum { NR = 2000, NR_EVALUATIONS = 60 };
    const struct tune_space wide = {.nr_params = 9, .nr_values = {4, 4, 4, 4, 4, 4, 4, 4, 4}};
    struct tune_point left[NR];
    struct tune_result results[NR_EVALUATIONS];
    unsigned nr_best = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        double least = INFINITY, met = INFINITY;
        size_t nr_left = NR;

        for (unsigned n = 0; n < NR; n++) {
            left[n] = (struct tune_point){{0}};
            for (unsigned i = 0; i < 9; i++)
                left[n].at[i] = (uint8_t)(rng_mix(n, i) % 4);
            least = fmin(least, added_cost(&left[n], seed));
        }
        for (size_t n = 0; n < NR_EVALUATIONS; n++) {
            const size_t at = surrogate_choose(&wide, results, n, left, nr_left, seed);

            results[n] =
                (struct tune_result){.point = left[at], .cost = added_cost(&left[at], seed)};
            met = fmin(met, results[n].cost);
            left[at] = left[--nr_left];
        }
        nr_best += met <= least;
    }
    assert_true(nr_best >= 3);
}

static void test_repeats(void **state)
{
    struct tune_result results[12];
    struct tune_point candidates[40];

    (void)state;
    for (unsigned i = 0; i < 12; i++)
        results[i] = (struct tune_result){.point = nth(i * 79), .hint = i > 8, .cost = i % 5};
    for (unsigned i = 0; i < 40; i++)
        candidates[i] = nth(i * 17 + 1);
    for (uint64_t seed = 1; seed < 4; seed++)
        assert_int_equal(surrogate_choose(&space, results, 12, candidates, 40, seed),
            surrogate_choose(&space, results, 12, candidates, 40, seed));
    assert_int_equal(surrogate_choose(&space, results, 0, candidates, 1, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_parts_add_up),
        cmocka_unit_test(test_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
