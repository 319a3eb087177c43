/* Tests of CUPTI's host half (no GPU needed), and of the table from its metrics to ours. */
#include "nv/cupti.h"
#include "nv/metrics_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct cupti *cupti;
static struct err why_not;

static void need_cupti(void)
{
    if (!cupti) {
        print_message("skipped: %s\n", why_not.text);
        skip();
    }
}

static void test_all_names_are_known(void **state)
{
    const char *names[METRICS_MAP_NAMES], *unknown;
    unsigned nr = metrics_map_names(names), on_chip;
    struct err err;

    (void)state;
    need_cupti();
    assert_true(cupti_chip_knows(cupti, "GH100", names, nr, &on_chip, &unknown, &err));
    if (unknown)
        print_message("unknown: %s\n", unknown);
    assert_null(unknown);
    assert_in_range(on_chip, 3000, 10000);
    print_message("CUPTI %u: GH100 has %u base metrics\n", cupti_api_version(cupti), on_chip);
}

static void test_names_that_are_not(void **state)
{
    /* A base without a rollup is no value; a rollup that the base has not is none either. */
    static const char *const wrong[] = {"sm__no_such_thing.sum", "smsp__inst_executed",
        "smsp__inst_executed.pct", "l1tex__t_sector_hit_rate.sum", "", ".sum"};
    const char *unknown;
    unsigned on_chip;
    struct err err;

    (void)state;
    need_cupti();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *names[] = {"sm__cycles_elapsed.max", wrong[i]};

        assert_true(cupti_chip_knows(cupti, "GH100", names, 2, &on_chip, &unknown, &err));
        assert_ptr_equal(unknown, wrong[i]);
        assert_null(cupti_config_create(cupti, "GH100", names, 2, &err));
        assert_non_null(strstr(err.text, "has no metric"));
        assert_non_null(strstr(err.text, wrong[i]));
    }
    assert_false(cupti_chip_knows(cupti, "GX999", NULL, 0, &on_chip, &unknown, &err));
    assert_non_null(strstr(err.text, "GX999"));
    assert_null(cupti_config_create(cupti, "GX999", wrong, 1, &err));
    assert_null(cupti_config_create(cupti, "GH100", wrong, 0, &err));
}

static void test_configuration_of_all(void **state)
{
    const char *names[METRICS_MAP_NAMES];
    const unsigned nr = metrics_map_names(names);
    struct cupti_config *config;
    const uint8_t *image;
    unsigned nr_rows;
    size_t bytes;
    struct err err;

    (void)state;
    need_cupti();
    metrics_map_rows(&nr_rows);
    config = cupti_config_create(cupti, "GH100", names, nr, &err);
    if (!config)
        print_message("%s\n", err.text);
    assert_non_null(config);
    image = cupti_config_image(config, &bytes);
    print_message("%u canonical metrics from %u of the chip's: %u passes, %zu bytes\n", nr_rows, nr,
        cupti_config_nr_passes(config), bytes);
    assert_in_range(nr, 36, METRICS_MAP_NAMES - 1);
    assert_in_range(nr_rows, 36, NR_METRICS);
    assert_in_range(cupti_config_nr_passes(config), 1, 8);
    assert_non_null(image);
    assert_in_range(bytes, 1000, 1 << 20);
    cupti_config_destroy(config);
}

/* One by one they would take a pass each; after a refusal the next configuration works. */
static void test_objects_are_independent(void **state)
{
    const char *one[] = {"smsp__inst_executed.sum"}, *bad[] = {"nonsense.sum"};
    struct cupti_config *a, *b;
    struct err err;

    (void)state;
    need_cupti();
    a = cupti_config_create(cupti, "GH100", one, 1, &err);
    assert_non_null(a);
    assert_null(cupti_config_create(cupti, "GH100", bad, 1, &err));
    b = cupti_config_create(cupti, "GH100", one, 1, &err);
    assert_non_null(b);
    assert_int_equal(cupti_config_nr_passes(a), 1);
    assert_int_equal(cupti_config_nr_passes(b), 1);
    cupti_config_destroy(a);
    cupti_config_destroy(b);
}

static void test_image_that_is_none(void **state)
{
    unsigned nr;
    struct err err;

    (void)state;
    need_cupti();
    assert_false(cupti_nr_ranges(cupti, NULL, 0, &nr, &err));
    assert_non_null(strstr(err.text, "counter data"));
}

/* ---- the table ---- */

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
    /* With tensor instructions nobody knows. */
    c = (struct counters){0};
    set_all(values, names, nr, "sm__inst_executed_pipe_tensor.sum", 5);
    set_all(values, names, nr, "dram__bytes.sum", NAN);
    metrics_map_apply(names, values, nr, &c);
    assert_false(counters_has(&c, METRIC_FLOPS));
    assert_false(counters_has(&c, METRIC_DRAM_BYTES));
    assert_true(value(&c, METRIC_INST_TENSOR) == 5);
}

/* AddressSanitizer ends a process that opens a library with RTLD_DEEPBIND, as CUPTI does. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static int open_library(void **state)
{
    (void)state;
#ifdef SANITIZED
    err_set(&why_not, "CUPTI cannot be opened under AddressSanitizer");
#else
    cupti = cupti_open(&why_not);
#endif
    return 0;
}

static int close_library(void **state)
{
    (void)state;
    cupti_close(cupti);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_names_are_known),
        cmocka_unit_test(test_names_that_are_not),
        cmocka_unit_test(test_configuration_of_all),
        cmocka_unit_test(test_objects_are_independent),
        cmocka_unit_test(test_image_that_is_none),
        cmocka_unit_test(test_every_row_is_of_another_metric),
        cmocka_unit_test(test_apply),
        cmocka_unit_test(test_flops),
    };

    return cmocka_run_group_tests_name("cupti", tests, open_library, close_library);
}
