/* Tests of the table from a Hopper's metrics to ours. */
#include "nv/metrics_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static double value(const struct counters *c, enum metric metric)
{
    assert_int_equal(c->metric[metric].from, PROV_MEASURED);
    return c->metric[metric].value;
}

static void test_every_row_is_of_another_metric(void **state)
{
    bool seen[NR_METRICS] = {false};
    unsigned nr;
    const struct metrics_map_row *rows = metrics_map_rows(&nr);

    (void)state;
    for (unsigned r = 0; r < nr; r++) {
        assert_false(seen[rows[r].metric]);
        seen[rows[r].metric] = true;
        assert_null(strstr(metric_name(rows[r].metric), "launch__"));
    }
}

static void test_apply(void **state)
{
    static const char *const names[] = {"smsp__warps_active.sum",
        "smsp__warps_issue_stalled_long_scoreboard.sum",
        "smsp__warps_issue_stalled_short_scoreboard.sum", "smsp__warps_issue_stalled_barrier.sum",
        "smsp__warps_issue_stalled_wait.sum", "smsp__warps_issue_stalled_mio_throttle.sum",
        "smsp__warps_issue_stalled_math_pipe_throttle.sum",
        "smsp__warps_issue_stalled_selected.sum", "smsp__warps_issue_stalled_not_selected.sum",
        "lts__t_sectors_lookup_hit.sum", "lts__t_sectors.sum", "gpu__time_duration.sum"};
    const double values[] = {2000, 800, 100, 0, 200, 60, 40, 300, 100, 30, 40, 12345};
    struct counters c = {0};

    (void)state;
    metrics_map_apply(names, values, 12, &c);
    assert_true(value(&c, METRIC_TIME_NS) == 12345);
    assert_true(value(&c, METRIC_L2_HIT_PCT) == 75);
    assert_true(value(&c, METRIC_STALL_LONG_PCT) == 40);
    assert_true(value(&c, METRIC_STALL_SHORT_PCT) == 5);
    assert_true(value(&c, METRIC_STALL_BARRIER_PCT) == 0);
    assert_true(value(&c, METRIC_STALL_WAIT_PCT) == 10);
    assert_true(value(&c, METRIC_STALL_MIO_PCT) == 3);
    assert_true(value(&c, METRIC_STALL_MATH_PCT) == 2);
    /* 2000 - 800 - 100 - 200 - 60 - 40 - 300 - 100 = 400 of 2000 */
    assert_float_equal(value(&c, METRIC_STALL_OTHER_PCT), 20, 1e-9);
    assert_false(counters_has(&c, METRIC_FLOPS));
    assert_false(counters_has(&c, METRIC_DRAM_BYTES));
}

static void set_all(
    double *values, const char *const *names, unsigned nr, const char *name, double value_of_it)
{
    for (unsigned i = 0; i < nr; i++) {
        if (strcmp(names[i], name) == 0)
            values[i] = value_of_it;
    }
}

static void test_flops(void **state)
{
    const char *names[METRICS_MAP_NAMES];
    double values[METRICS_MAP_NAMES] = {0};
    const unsigned nr = metrics_map_names(names);
    struct counters c = {0};

    (void)state;
    set_all(values, names, nr, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1);
    set_all(values, names, nr, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 10);
    set_all(values, names, nr, "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 100);
    set_all(values, names, nr, "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 1000);
    metrics_map_apply(names, values, nr, &c);
    assert_true(value(&c, METRIC_FLOPS) == 1 + 20 + 100 + 4000);
    /* No sectors at all: a hit rate of nothing is no number, and is not there. */
    assert_false(counters_has(&c, METRIC_L2_HIT_PCT));
    assert_true(value(&c, METRIC_INST_TENSOR) == 0);
    /* Plain f32 code on an H100: each warp moves a constant by HFMA2, on the tensor pipe. */
    c = (struct counters){0};
    set_all(values, names, nr, "sm__inst_executed_pipe_tensor.sum", 32768);
    set_all(values, names, nr, "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum", 32768);
    metrics_map_apply(names, values, nr, &c);
    assert_true(counters_has(&c, METRIC_INST_TENSOR) && value(&c, METRIC_INST_TENSOR) == 0);
    assert_true(value(&c, METRIC_FLOPS) == 1 + 20 + 100 + 4000);
    /* With tensor instructions nobody knows. */
    c = (struct counters){0};
    set_all(values, names, nr, "sm__inst_executed_pipe_tensor.sum", 32773);
    set_all(values, names, nr, "dram__bytes.sum", NAN);
    metrics_map_apply(names, values, nr, &c);
    assert_false(counters_has(&c, METRIC_FLOPS));
    assert_false(counters_has(&c, METRIC_DRAM_BYTES));
    assert_true(value(&c, METRIC_INST_TENSOR) == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_of_another_metric),
        cmocka_unit_test(test_apply),
        cmocka_unit_test(test_flops),
    };

    return cmocka_run_group_tests_name("metrics_map", tests, NULL, NULL);
}
