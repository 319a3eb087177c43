/* Tests of explain/views/gate.h on counters and times made by hand; measured times above all, since
 * the tests of the program have none. */
#include "explain/views/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* How many of a limit's outcomes are broken; -1: nothing can be said. */
static int broken(const char *text, const struct explained *before, const struct explained *after)
{
    static struct gate gate;
    struct gate_limit limit;
    struct err err;

    assert_true(gate_limit_parse(&limit, text, &err));
    gate = (struct gate){
        .before = before, .after = after, .device = "a card", .limits = &limit, .nr_limits = 1};
    if (!gate_judge(&gate, &err))
        return -1;
    assert_int_equal(gate.passed, gate.nr_broken == 0);
    return (int)gate.nr_broken;
}

static void set(struct explained *e, enum metric metric, double value)
{
    counters_set(&e->c.profile.total, metric, value, PROV_COUNTED);
}

static void test_whole_numbers_are_exact(void **state)
{
    static struct explained before, after;

    for (int percent = 1; percent <= 50; percent++) {
        char at[64], below[64];

        for (int hundreds = 1; hundreds < 40; hundreds++) {
            set(&before, METRIC_WARP_INST, 100 * hundreds);
            set(&after, METRIC_WARP_INST, 100 * hundreds + percent * hundreds);
            snprintf(at, sizeof(at), "metric:smsp__inst_executed.sum=+%d%%", percent);
            snprintf(below, sizeof(below), "metric:smsp__inst_executed.sum=+%d.9%%", percent - 1);
            assert_int_equal(broken(at, &before, &after), 0);
            assert_int_equal(broken(below, &before, &after), 1);
        }
    }
    (void)state;
}

static void test_from_nothing(void **state)
{
    static struct explained before, after;
    const char *name = "metric:l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum=+50%";

    assert_int_equal(broken(name, &before, &after), -1);
    set(&before, METRIC_SHARED_LD_CONFLICTS, 0);
    assert_int_equal(broken(name, &before, &after), -1);
    set(&after, METRIC_SHARED_LD_CONFLICTS, 0);
    assert_int_equal(broken(name, &before, &after), 0);
    set(&after, METRIC_SHARED_LD_CONFLICTS, 1);
    assert_int_equal(broken(name, &before, &after), 1);
    /* a pattern passes over what is not known */
    assert_int_equal(broken("metric:l1tex__data_bank_conflicts*=0", &before, &after), 1);
    (void)state;
}

/* A card's ratio, original over candidate, with its interval. */
static void test_measured_times(void **state)
{
    static struct explained before, after;
    struct profile_timing *timing = &after.c.profile.timing;

    before.c.profile.time_ns = 1000;
    after.c.profile.time_ns = 1100;
    timing->baseline_ns = 1010;
    timing->ratio = 0.918;
    timing->ratio_low = 0.90;
    timing->ratio_high = 0.94; /* at least 6.4% slower */
    assert_int_equal(broken("slower=5%", &before, &after), 1);
    assert_int_equal(broken("slower=7%", &before, &after), 0);
    timing->ratio_high = 0.99; /* perhaps 1% slower only */
    assert_int_equal(broken("slower=5%", &before, &after), 0);
    assert_int_equal(broken("slower=0%", &before, &after), 1);
    timing->refused = true;
    timing->note = "the clock fell";
    assert_int_equal(broken("slower=5%", &before, &after), -1);
    (void)state;
}

static void test_a_broken_kernel_keeps_no_limit(void **state)
{
    static struct explained before, after;
    static struct gate gate;
    struct gate_limit limit;
    struct err err;

    assert_true(gate_limit_parse(&limit, "slower=1000%", &err));
    after.c.verdict = VERDICT_RACE;
    gate = (struct gate){
        .before = &before, .after = &after, .device = "", .limits = &limit, .nr_limits = 1};
    assert_true(gate_judge(&gate, &err));
    assert_false(gate.passed);
    assert_int_equal(gate.nr_outcomes, 0);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_numbers_are_exact),
        cmocka_unit_test(test_from_nothing),
        cmocka_unit_test(test_measured_times),
        cmocka_unit_test(test_a_broken_kernel_keeps_no_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
