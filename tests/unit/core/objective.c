/* Tests of objectives: speed first, then joules where intervals tell variants apart. */
#include "core/objective.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Joules with an interval of 1% to each side; 0: not known. */
static struct profile profile_of(double time_ns, double joules)
{
    struct profile p = {.time_ns = time_ns};

    if (joules > 0) {
        counters_set(&p.total, METRIC_ENERGY_J, joules, PROV_MEASURED);
        counters_set(&p.total, METRIC_ENERGY_LOW_J, 0.99 * joules, PROV_MEASURED);
        counters_set(&p.total, METRIC_ENERGY_HIGH_J, 1.01 * joules, PROV_MEASURED);
    }
    return p;
}

static bool take(enum objective o, struct objective_best *best, double speedup, double joules)
{
    const struct profile p = profile_of(1000 / speedup, joules);

    return objective_take(o, best, &p, speedup, true);
}

static void test_names(void **state)
{
    enum objective o;

    (void)state;
    for (int i = 0; i < NR_OBJECTIVES; i++) {
        assert_true(objective_parse(objective_name((enum objective)i), &o));
        assert_int_equal(o, i);
    }
    assert_false(objective_parse("power", &o));
}

/* Original 1000 ns and 10 J. Twice as fast at 4 J: a quarter more watts less. */
static void test_gain(void **state)
{
    const struct profile original = profile_of(1000, 10), p = profile_of(500, 4);
    const struct profile unknown = profile_of(500, 0);

    (void)state;
    assert_true(objective_gain(OBJECTIVE_TIME, &original, &p, 2) == 2);
    assert_float_equal(objective_gain(OBJECTIVE_ENERGY, &original, &p, 2), 10.0 / 4, 1e-12);
    assert_float_equal(
        objective_gain(OBJECTIVE_EDP, &original, &p, 2), sqrt(10.0 * 1000 / (4 * 500)), 1e-12);
    assert_true(objective_gain(OBJECTIVE_ENERGY, &original, &unknown, 2) == 2);
    assert_true(objective_gain(OBJECTIVE_EDP, &unknown, &p, 2) == 2);
}

static void test_time_knows_no_energy(void **state)
{
    const struct profile original = profile_of(1000, 10);
    struct objective_best best = objective_start(OBJECTIVE_TIME, &original);

    (void)state;
    assert_false(take(OBJECTIVE_TIME, &best, 0.99, 1));
    assert_true(take(OBJECTIVE_TIME, &best, 1.5, 100));
    assert_false(take(OBJECTIVE_TIME, &best, 1.5, 1));
    assert_true(take(OBJECTIVE_TIME, &best, 1.51, 100));
    assert_true(best.speedup == 1.51);
}

static void test_speed_first(void **state)
{
    const struct profile original = profile_of(1000, 10);
    struct objective_best best = objective_start(OBJECTIVE_ENERGY, &original);

    (void)state;
    /* Much slower and much thriftier: no. As fast and thriftier: yes. */
    assert_false(take(OBJECTIVE_ENERGY, &best, 0.9, 1));
    assert_true(take(OBJECTIVE_ENERGY, &best, 0.99, 9));
    /* By less than the intervals can tell: no. */
    assert_false(take(OBJECTIVE_ENERGY, &best, 1, 8.9));
    /* Faster by far, though it takes more. */
    assert_true(take(OBJECTIVE_ENERGY, &best, 2, 12));
    assert_true(best.fastest == 2);
    /* Within 2% of the fastest, and thriftier. */
    assert_true(take(OBJECTIVE_ENERGY, &best, 1.97, 8));
    assert_true(best.speedup == 1.97 && best.fastest == 2);
    /* The band hangs on the fastest, not on the best: no creeping. */
    assert_false(take(OBJECTIVE_ENERGY, &best, 1.94, 5));
    /* Not known: only speed can tell. */
    assert_false(take(OBJECTIVE_ENERGY, &best, 1.96, 0));
    assert_true(take(OBJECTIVE_ENERGY, &best, 2.01, 0));
}

/* Within the band a little faster at the same joules has the smaller product, once it is by more
 * than the interval. */
static void test_edp(void **state)
{
    const struct profile original = profile_of(1000, 10);
    struct objective_best best = objective_start(OBJECTIVE_EDP, &original);

    (void)state;
    assert_false(take(OBJECTIVE_EDP, &best, 1.01, 10));
    assert_true(take(OBJECTIVE_EDP, &best, 1.03, 10));
    assert_true(take(OBJECTIVE_EDP, &best, 1.02, 9));
    assert_false(take(OBJECTIVE_EDP, &best, 0.8, 1));
}

static void test_a_speedup_that_is_not_sure(void **state)
{
    const struct profile original = profile_of(1000, 10), p = profile_of(900, 0);
    struct objective_best best = objective_start(OBJECTIVE_ENERGY, &original);

    (void)state;
    assert_false(objective_take(OBJECTIVE_ENERGY, &best, &p, 1.1, false));
    assert_true(best.fastest == 1);
    best = objective_start(OBJECTIVE_TIME, &original);
    assert_false(objective_take(OBJECTIVE_TIME, &best, &p, 1.1, false));
    assert_true(objective_take(OBJECTIVE_TIME, &best, &p, 1.1, true));
}

static void test_what_is_fast(void **state)
{
    (void)state;
    assert_true(objective_is_fast(1000, 0));
    assert_true(objective_is_fast(1000, 990));
    assert_false(objective_is_fast(1000, 970));
    assert_true(objective_is_fast(500, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_gain),
        cmocka_unit_test(test_time_knows_no_energy),
        cmocka_unit_test(test_speed_first),
        cmocka_unit_test(test_edp),
        cmocka_unit_test(test_a_speedup_that_is_not_sure),
        cmocka_unit_test(test_what_is_fast),
    };

    return cmocka_run_group_tests_name("objective", tests, NULL, NULL);
}
