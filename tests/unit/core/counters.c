/* Tests of metric names and of how launches add up. Expected sums are worked by hand. */
#include "core/counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

static void names_go_both_ways(void **state)
{
    enum metric metric;

    (void)state;
    for (unsigned i = 0; i < NR_METRICS; i++) {
        assert_true(metric_parse(metric_name((enum metric)i), &metric));
        assert_int_equal(metric, i);
        assert_true(strlen(metric_unit((enum metric)i)) > 0);
    }
    assert_false(metric_parse("no such metric", &metric));
    assert_string_equal(provenance_name(PROV_SAMPLED), "sampled");
}

static void absent_is_not_zero(void **state)
{
    struct counters c = {0};

    (void)state;
    assert_false(counters_has(&c, METRIC_FLOPS));
    counters_set(&c, METRIC_FLOPS, 0, PROV_COUNTED);
    assert_true(counters_has(&c, METRIC_FLOPS));
    assert_float_equal(counters_get(&c, METRIC_FLOPS), 0, 0);
}

static void launches_add_up(void **state)
{
    struct arena *arena = arena_create();
    struct counters launches[2] = {0};
    struct line_cost first[2] = {
        {.line = 3, .warp_inst = 10, .access_bytes = 4}, {.line = 7, .warp_inst = 1}};
    struct line_cost second[1] = {{.line = 3, .warp_inst = 5, .access_bytes = 16}};
    struct profile p = {.launches = launches, .nr_launches = 2};

    (void)state;
    launches[0].lines = first;
    launches[0].nr_lines = 2;
    launches[0].blocks_run = launches[0].blocks_all = 8;
    launches[1].lines = second;
    launches[1].nr_lines = 1;
    launches[1].blocks_run = 4;
    launches[1].blocks_all = 16;
    counters_set(&launches[0], METRIC_TIME_NS, 1000, PROV_MODELLED);
    counters_set(&launches[1], METRIC_TIME_NS, 3000, PROV_MODELLED);
    counters_set(&launches[0], METRIC_WARP_INST, 11, PROV_COUNTED);
    counters_set(&launches[1], METRIC_WARP_INST, 20, PROV_SAMPLED);
    counters_set(&launches[0], METRIC_DRAM_PCT, 80, PROV_MODELLED);
    counters_set(&launches[1], METRIC_DRAM_PCT, 40, PROV_MODELLED);
    counters_set(&launches[0], METRIC_REGISTERS, 64, PROV_COUNTED);
    counters_set(&launches[1], METRIC_REGISTERS, 32, PROV_COUNTED);
    counters_set(&launches[0], METRIC_FLOPS, 5, PROV_COUNTED);

    profile_sum(&p, arena);
    assert_int_equal(p.longest, 1);
    assert_float_equal(p.time_ns, 4000, 0);
    assert_float_equal(p.time_low_ns, 4000, 0);
    assert_int_equal(p.time_from, PROV_MODELLED);
    assert_float_equal(counters_get(&p.total, METRIC_WARP_INST), 31, 0);
    assert_int_equal(p.total.metric[METRIC_WARP_INST].from, PROV_SAMPLED);
    assert_float_equal(counters_get(&p.total, METRIC_DRAM_PCT), 50, 1e-12); /* (80 + 3*40) / 4 */
    assert_float_equal(counters_get(&p.total, METRIC_REGISTERS), 32, 0);
    assert_false(counters_has(&p.total, METRIC_FLOPS)); /* one launch lacks it */
    assert_int_equal(p.total.blocks_run, 12);
    assert_int_equal(p.total.blocks_all, 24);
    assert_int_equal(p.total.nr_lines, 2);
    assert_int_equal(p.total.lines[0].line, 3);
    assert_float_equal(p.total.lines[0].warp_inst, 15, 0);
    assert_int_equal(p.total.lines[0].access_bytes, 16);
    assert_int_equal(p.total.lines[1].line, 7);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(absent_is_not_zero),
        cmocka_unit_test(launches_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
