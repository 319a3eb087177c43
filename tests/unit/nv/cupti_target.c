/* Tests of CUPTI's target half against a stand-in that refuses calls out of order: counters by
 * replay, activity records, samples of the program counter, and every failure of every call. */
#include "fake/fake_cupti.h"
#include "nv/cupti.h"
#include "nv/cupti_sample.h"
#include "nv/cupti_trace.h"
#include "nv/metrics_map.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fake_functions fake;
static struct cupti *cupti;
static int a_context;

enum { NR_LAUNCHES = 4 };
static const char *const three[] = {
    "sm__inst_executed.sum", "dram__bytes.sum", "sm__cycles_elapsed.max"};

/* ---- work ---- */

struct fake_work {
    struct cupti_work base;
    unsigned nr_launched, nr_restored, nr_loaded;
    unsigned fail_at;    /* launch number that fails; UINT_MAX: none */
    unsigned kernels_of; /* kernels per launch */
    double now_ns, gap_ns, long_ns;
    bool fail_load;
};

static bool launch(struct cupti_work *base, unsigned i, struct err *err)
{
    struct fake_work *work = (struct fake_work *)base;

    if (i == work->fail_at)
        return err_set(err, "the kernel broke");
    for (unsigned k = 0; k < work->kernels_of; k++) {
        work->now_ns += work->gap_ns;
        fake.fake_launch(k % 2 ? "odd" : "even", work->now_ns, work->now_ns + work->long_ns);
        work->now_ns += work->long_ns;
    }
    work->nr_launched++;
    return true;
}

static bool restore(struct cupti_work *base, struct err *err)
{
    (void)err;
    ((struct fake_work *)base)->nr_restored++;
    return true;
}

static bool load(struct cupti_work *base, struct err *err)
{
    struct fake_work *work = (struct fake_work *)base;

    work->nr_loaded++;
    return !work->fail_load || err_set(err, "the module does not load");
}

static struct fake_work make_work(void)
{
    return (struct fake_work){.base = {.launch = launch, .restore = restore, .load = load},
        .fail_at = UINT32_MAX,
        .kernels_of = 1,
        .now_ns = 1000,
        .gap_ns = 10,
        .long_ns = 100};
}

static int setup(void **state)
{
    (void)state;
    fake.fake_reset();
    return 0;
}

/* Nothing was called out of order, and nothing is left switched on. */
static void assert_clean(void)
{
    if (fake.fake_violations()[0])
        print_message("%s", fake.fake_violations());
    assert_string_equal(fake.fake_violations(), "");
    assert_int_equal(fake.fake_active(), 0);
}

/* ---- counters ---- */

static bool count(enum cupti_replay replay, struct fake_work *work, double values[NR_LAUNCHES][3],
    struct err *err)
{
    struct cupti_config *config = cupti_config_create(cupti, "GH100", three, 3, err);
    uint8_t *image;
    size_t bytes;
    bool ok;

    if (!config)
        return false;
    ok = cupti_collect(config, &a_context, replay, NR_LAUNCHES, &work->base, &image, &bytes, err);
    for (unsigned i = 0; ok && i < NR_LAUNCHES; i++)
        ok = cupti_evaluate(config, image, bytes, i, values[i], err);
    if (ok || image)
        free(image);
    cupti_config_destroy(config);
    return ok;
}

static void test_replay(void **state)
{
    const enum cupti_replay replays[] = {CUPTI_REPLAY_KERNEL, CUPTI_REPLAY_USER};
    struct err err;

    (void)state;
    for (unsigned r = 0; r < 2; r++) {
        const unsigned passes = r == 0 ? 1 : FAKE_PASSES;
        struct fake_work work = make_work();
        double values[NR_LAUNCHES][3];

        fake.fake_reset();
        if (!count(replays[r], &work, values, &err))
            fail_msg("%s", err.text);
        assert_int_equal(work.nr_launched, passes * NR_LAUNCHES);
        assert_int_equal(work.nr_restored, r == 0 ? 0 : passes);
        for (unsigned i = 0; i < NR_LAUNCHES; i++) {
            for (unsigned m = 0; m < 3; m++)
                assert_true(values[i][m] == fake_value(three[m], i));
        }
        assert_clean();
    }
}

/* The order by the headers' documentation, in full, for two launches of one kernel each. */
static void test_order(void **state)
{
    static const char expected[] = "cuptiRangeProfilerEnable\n"
                                   "cuptiRangeProfilerGetCounterDataSize\n"
                                   "cuptiRangeProfilerCounterDataImageInitialize\n"
                                   "cuptiRangeProfilerSetConfig\n"
                                   "cuptiRangeProfilerStart\n"
                                   "cuptiRangeProfilerStop\n"
                                   "cuptiRangeProfilerDecodeData\n"
                                   "cuptiRangeProfilerGetCounterDataInfo\n"
                                   "cuptiRangeProfilerDisable\n";
    struct fake_work work = make_work();
    struct cupti_config *config;
    struct err err;
    uint8_t *image;
    size_t bytes;

    (void)state;
    config = cupti_config_create(cupti, "GH100", three, 3, &err);
    assert_non_null(config);
    fake.fake_reset();
    assert_true(cupti_collect(
        config, &a_context, CUPTI_REPLAY_KERNEL, 2, &work.base, &image, &bytes, &err));
    assert_string_equal(fake.fake_log(), expected);
    free(image);
    cupti_config_destroy(config);
}

/* A launch that is more kernels than it should be has more ranges than there is room for; one that
 * is none has fewer. Neither gives numbers. */
static void test_ranges_that_do_not_match(void **state)
{
    double values[NR_LAUNCHES][3];
    struct fake_work work = make_work();
    struct err err;

    (void)state;
    work.kernels_of = 2;
    assert_false(count(CUPTI_REPLAY_KERNEL, &work, values, &err));
    assert_non_null(strstr(err.text, "dropped the counters of 4 of 4"));
    assert_clean();
    work.kernels_of = 0;
    assert_false(count(CUPTI_REPLAY_KERNEL, &work, values, &err));
    assert_non_null(strstr(err.text, "counted 0 launches of 4"));
    assert_clean();
}

static void test_a_kernel_that_breaks(void **state)
{
    const enum cupti_replay replays[] = {CUPTI_REPLAY_KERNEL, CUPTI_REPLAY_USER};
    double values[NR_LAUNCHES][3];
    struct err err;

    (void)state;
    for (unsigned r = 0; r < 2; r++) {
        for (unsigned at = 0; at < NR_LAUNCHES; at++) {
            struct fake_work work = make_work();

            work.fail_at = at;
            assert_false(count(replays[r], &work, values, &err));
            assert_string_equal(err.text, "the kernel broke");
            assert_clean();
        }
    }
}

static const char *const range_calls[] = {"cuptiProfilerHostGetSupportedChips",
    "cuptiProfilerHostInitialize", "cuptiProfilerHostGetBaseMetrics",
    "cuptiProfilerHostGetSubMetrics", "cuptiProfilerHostConfigAddMetrics",
    "cuptiProfilerHostGetConfigImageSize", "cuptiProfilerHostGetConfigImage",
    "cuptiProfilerHostGetNumOfPasses", "cuptiRangeProfilerEnable",
    "cuptiRangeProfilerGetCounterDataSize", "cuptiRangeProfilerCounterDataImageInitialize",
    "cuptiRangeProfilerSetConfig", "cuptiRangeProfilerStart", "cuptiRangeProfilerPushRange",
    "cuptiRangeProfilerPopRange", "cuptiRangeProfilerStop", "cuptiRangeProfilerDecodeData",
    "cuptiRangeProfilerGetCounterDataInfo", "cuptiRangeProfilerDisable",
    "cuptiProfilerHostEvaluateToGpuValues"};

/* Every call fails in turn, with every code that CUPTI has. */
static void test_every_failure_of_counting(void **state)
{
    struct err err;
    char code_text[32];

    (void)state;
    for (unsigned c = 0; c < sizeof(range_calls) / sizeof(range_calls[0]); c++) {
        for (int code = 1; code <= 47; code++) {
            double values[NR_LAUNCHES][3];
            struct fake_work work = make_work();

            fake.fake_reset();
            fake.fake_fail(range_calls[c], code == 47 ? 999 : code);
            err.text[0] = '\0';
            assert_false(count(CUPTI_REPLAY_USER, &work, values, &err));
            snprintf(code_text, sizeof(code_text), "FAKE_RESULT_%d ", code == 47 ? 999 : code);
            assert_non_null(strstr(err.text, code_text));
            if (strcmp(range_calls[c], "cuptiRangeProfilerDisable") != 0)
                assert_int_equal(fake.fake_active(), 0);
            assert_string_equal(fake.fake_violations(), "");
        }
    }
}

static void test_what_to_do(void **state)
{
    static const struct {
        int code;
        const char *advice;
    } cases[] = {{35, "NVreg_RestrictProfilingToAdminUsers=0"}, {35, "ERR_NVGPUCTRPERM"},
        {40, "enable_profiling"}, {43, "nvidia-smi -mig 0"}, {41, "confidential"},
        {26, "dcgmi profile --pause"}, {39, "another profiler"}, {8, "memory"}, {15, "driver"}};
    double values[NR_LAUNCHES][3];
    struct fake_work work = make_work();
    struct err err;

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fake.fake_reset();
        fake.fake_fail("cuptiRangeProfilerEnable", cases[i].code);
        assert_false(count(CUPTI_REPLAY_KERNEL, &work, values, &err));
        assert_non_null(strstr(err.text, cases[i].advice));
    }
}

static void test_what_a_device_supports(void **state)
{
    static const char *const why[] = {"Volta", "virtual", "confidential", "SLI", "mining", "WSL"};
    char chip[64];
    struct err err;

    (void)state;
    assert_true(cupti_chip_name(cupti, 0, chip, &err));
    assert_string_equal(chip, "GH100");
    assert_true(cupti_device_supported(cupti, 0, &err));
    for (int i = 0; i < 6; i++) {
        fake.fake_fail("cuptiProfilerDeviceSupported", -1 - i);
        assert_false(cupti_device_supported(cupti, 0, &err));
        assert_non_null(strstr(err.text, why[i]));
    }
    fake.fake_fail("cuptiProfilerDeviceSupported", 35);
    assert_false(cupti_device_supported(cupti, 0, &err));
    fake.fake_fail("cuptiDeviceGetChipName", 2);
    assert_false(cupti_chip_name(cupti, 0, chip, &err));
}

/* All metrics that the table asks for, to canonical ones. */
static void test_to_canonical_metrics(void **state)
{
    const char *names[METRICS_MAP_NAMES];
    const unsigned nr = metrics_map_names(names);
    double values[METRICS_MAP_NAMES];
    struct fake_work work = make_work();
    struct counters counters = {0};
    struct cupti_config *config;
    struct err err;
    uint8_t *image;
    size_t bytes;

    (void)state;
    config = cupti_config_create(cupti, "GH100", names, nr, &err);
    assert_non_null(config);
    assert_true(cupti_collect(
        config, &a_context, CUPTI_REPLAY_KERNEL, 2, &work.base, &image, &bytes, &err));
    assert_true(cupti_evaluate(config, image, bytes, 1, values, &err));
    metrics_map_apply(names, values, nr, &counters);
    assert_true(
        counters_get(&counters, METRIC_WARP_INST) == fake_value("sm__inst_executed.sum", 1));
    assert_int_equal(counters.metric[METRIC_WARP_INST].from, PROV_MEASURED);
    assert_false(counters_has(&counters, METRIC_REGISTERS));
    free(image);
    cupti_config_destroy(config);
}

/* ---- activity ---- */

static void test_trace(void **state)
{
    struct fake_work work = make_work();
    struct trace_span span;
    struct trace trace;
    struct err err;

    (void)state;
    work.kernels_of = 7;
    if (!cupti_trace(cupti, 7, &work.base, &trace, &err))
        fail_msg("%s", err.text);
    assert_clean();
    assert_int_equal(trace.nr, 7);
    assert_string_equal(trace.kernels[0].name, "even");
    assert_string_equal(trace.kernels[1].name, "odd");
    span = trace_span(&trace);
    assert_true(span.span_ns == 7 * 100 + 6 * 10);
    assert_true(span.busy_ns == 700);
    assert_true(span.gap_ns == 60);
    assert_true(span.longest_gap_ns == 10);
    trace_finish(&trace);
}

static void test_trace_that_is_not_whole(void **state)
{
    struct fake_work work = make_work();
    struct trace trace;
    struct err err;

    (void)state;
    assert_false(cupti_trace(cupti, 2, &work.base, &trace, &err));
    assert_non_null(strstr(err.text, "recorded 1 kernels of 2"));
    assert_clean();
    work.now_ns = -10; /* a start of 0: CUPTI had no times */
    assert_false(cupti_trace(cupti, 1, &work.base, &trace, &err));
    assert_non_null(strstr(err.text, "1 have no times"));
    work = make_work();
    fake.fake_fail("cuptiActivityGetNumDroppedRecords", -3);
    assert_false(cupti_trace(cupti, 1, &work.base, &trace, &err));
    assert_non_null(strstr(err.text, "dropped 3 activity records"));
    fake.fake_reset();
    work.fail_at = 0;
    assert_false(cupti_trace(cupti, 1, &work.base, &trace, &err));
    assert_string_equal(err.text, "the kernel broke");
    assert_clean();
}

static void test_every_failure_of_tracing(void **state)
{
    static const char *const calls[] = {"cuptiActivityRegisterCallbacks", "cuptiActivityEnable",
        "cuptiActivityFlushAll", "cuptiActivityGetNextRecord", "cuptiActivityGetNumDroppedRecords",
        "cuptiActivityDisable"};
    struct trace trace;
    struct err err;

    (void)state;
    for (unsigned c = 0; c < sizeof(calls) / sizeof(calls[0]); c++) {
        for (int code = 1; code <= 46; code++) {
            struct fake_work work = make_work();

            if (code == 12 && c == 3)
                continue; /* the end of a buffer is no failure */
            fake.fake_reset();
            fake.fake_fail(calls[c], code);
            assert_false(cupti_trace(cupti, 1, &work.base, &trace, &err));
            assert_null(trace.kernels);
            assert_clean();
        }
    }
}

/* Overlapping kernels: idle is only where none runs. By hand:
 *   A 0-100, B 50-80 (inside A), C 90-200 (overlaps), D 260-300, E 300-310. Idle: 200-260. */
static void test_spans_that_overlap(void **state)
{
    struct trace_kernel kernels[] = {
        {0, 100, "A"}, {50, 80, "B"}, {90, 200, "C"}, {260, 300, "D"}, {300, 310, "E"}};
    const struct trace trace = {.kernels = kernels, .nr = 5};
    const struct trace_span span = trace_span(&trace);
    const struct trace none = {0};

    (void)state;
    assert_true(span.span_ns == 310);
    assert_true(span.busy_ns == 250);
    assert_true(span.gap_ns == 60);
    assert_true(span.longest_gap_ns == 60);
    assert_int_equal(span.longest_gap_after, 2);
    assert_true(trace_span(&none).span_ns == 0);
}

static void test_two_clocks(void **state)
{
    (void)state;
    assert_true(trace_agrees(100e3, 4e3, 98e3));
    assert_true(trace_agrees(2e3, 0, 6e3)); /* 4 us of way to a kernel of 2 us */
    assert_false(trace_agrees(200e3, 4e3, 98e3));
    assert_false(trace_agrees(50e3, 0, 98e3));
    assert_true(trace_agrees(200e3, 100e3, 98e3)); /* gaps are of the launches, not of the graph */
}

/* ---- samples ---- */

static void test_samples(void **state)
{
    struct fake_work work = make_work();
    struct sample_line *lines;
    struct samples samples;
    unsigned nr;
    struct err err;

    (void)state;
    work.kernels_of = 2;
    if (!cupti_sample(cupti, &a_context, 7, 1, &work.base, &samples, &err))
        fail_msg("%s", err.text);
    assert_clean();
    assert_int_equal(work.nr_loaded, 1);
    assert_int_equal(work.nr_launched, 1);
    assert_true(samples.nr_total == 2 * 5 * 100);
    fake.fake_source("/elsewhere/kernel.cu");
    assert_true(cupti_sample_lines_by_cupti(
        cupti, &samples, "odd", "cubin", 5, "/tmp/kernel.cu", &lines, &nr, &err));
    /* Instructions 0 1 | 2 from a header, so of the line before it | 3 | 4: lines 10, 11, 12. They
     * wait for memory 10 i times and once at a barrier, and issue i + 1 times. */
    assert_int_equal(nr, 3);
    assert_int_equal(lines[0].line, 10);
    assert_true(lines[0].stalled[WAIT_LONG] == 10 + 20);
    assert_true(lines[0].stalled[WAIT_BARRIER] == 3);
    assert_true(lines[0].nr_stalled == 33);
    assert_true(lines[0].nr_all == 33 + 1 + 2 + 3);
    assert_int_equal(lines[1].line, 11);
    assert_true(lines[1].nr_stalled == 31 && lines[1].nr_all == 35);
    assert_int_equal(lines[2].line, 12);
    assert_true(lines[2].nr_stalled == 41 && lines[2].nr_all == 46);
    free(lines);
    /* The file in which the function begins. */
    assert_true(
        cupti_sample_lines_by_cupti(cupti, &samples, "odd", "cubin", 5, NULL, &lines, &nr, &err));
    assert_int_equal(nr, 3);
    assert_int_equal(lines[2].line, 12);
    free(lines);
    /* Another file's lines are nobody's. */
    assert_true(cupti_sample_lines_by_cupti(
        cupti, &samples, "odd", "cubin", 5, "other.cu", &lines, &nr, &err));
    assert_int_equal(nr, 1);
    assert_int_equal(lines[0].line, 0);
    free(lines);
    /* A kernel without samples has no lines. */
    assert_true(cupti_sample_lines_by_cupti(
        cupti, &samples, "none", "cubin", 5, "kernel.cu", &lines, &nr, &err));
    assert_int_equal(nr, 0);
    fake.fake_fail("cuptiGetSassToSourceCorrelation", 24);
    assert_false(cupti_sample_lines_by_cupti(
        cupti, &samples, "odd", "cubin", 5, "kernel.cu", &lines, &nr, &err));
    assert_null(lines);
    samples_finish(&samples);
}

static void test_every_failure_of_sampling(void **state)
{
    static const char *const calls[] = {"cuptiPCSamplingEnable",
        "cuptiPCSamplingGetNumStallReasons", "cuptiPCSamplingGetStallReasons",
        "cuptiPCSamplingSetConfigurationAttribute", "cuptiPCSamplingStart", "cuptiPCSamplingStop",
        "cuptiPCSamplingGetData", "cuptiPCSamplingDisable"};
    struct samples samples;
    struct fake_work work;
    struct err err;

    (void)state;
    for (unsigned c = 0; c < sizeof(calls) / sizeof(calls[0]); c++) {
        for (int code = 1; code <= 46; code++) {
            work = make_work();
            fake.fake_reset();
            fake.fake_fail(calls[c], code);
            assert_false(cupti_sample(cupti, &a_context, 7, 1, &work.base, &samples, &err));
            assert_null(samples.samples);
            assert_clean();
        }
    }
    fake.fake_reset();
    work = make_work();
    assert_false(cupti_sample(cupti, &a_context, 4, 1, &work.base, &samples, &err));
    assert_non_null(strstr(err.text, "attribute")); /* the hardware's shortest period is 2^5 */
    assert_clean();
    work.fail_load = true;
    assert_false(cupti_sample(cupti, &a_context, 7, 1, &work.base, &samples, &err));
    assert_string_equal(err.text, "the module does not load");
    assert_clean();
    work = make_work();
    work.fail_at = 0;
    assert_false(cupti_sample(cupti, &a_context, 7, 1, &work.base, &samples, &err));
    assert_clean();
}

static void test_reasons(void **state)
{
    static const struct {
        const char *name;
        bool counted;
        enum wait_reason stall;
    } cases[] = {
        {"smsp__pcsamp_warps_issue_stalled_long_scoreboard", true, WAIT_LONG},
        {"smsp__pcsamp_warps_issue_stalled_short_scoreboard", true, WAIT_SHORT},
        {"smsp__pcsamp_warps_issue_stalled_barrier", true, WAIT_BARRIER},
        {"smsp__pcsamp_warps_issue_stalled_wait", true, WAIT_FIXED},
        {"smsp__pcsamp_warps_issue_stalled_mio_throttle", true, WAIT_MIO},
        {"smsp__pcsamp_warps_issue_stalled_math_pipe_throttle", true, WAIT_MATH},
        {"smsp__pcsamp_warps_issue_stalled_lg_throttle", true, WAIT_OTHER},
        {"smsp__pcsamp_warps_issue_stalled_membar", true, WAIT_OTHER},
        {"smsp__pcsamp_warps_issue_stalled_warpgroup_arrive", true, WAIT_OTHER},
        {"smsp__pcsamp_warps_issue_stalled_selected", true, NR_WAITS},
        {"smsp__pcsamp_warps_issue_stalled_not_selected", true, NR_WAITS},
        {"smsp__pcsamp_warps_issue_stalled_wait_not_issued", false, WAIT_OTHER},
        {"smsp__pcsamp_sample_count", false, WAIT_OTHER},
        {"smsp__pcsamp_samples_data_dropped", false, WAIT_OTHER},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum wait_reason stall;

        assert_int_equal(cupti_sample_reason(cases[i].name, &stall), cases[i].counted);
        if (cases[i].counted)
            assert_int_equal(stall, cases[i].stall);
    }
    assert_int_equal(cupti_sample_period(0), 5);
    assert_int_equal(cupti_sample_period(128 << 10), 10);
    assert_int_equal(cupti_sample_period(1e30), 31);
}

static void test_a_start_that_fails(void **state)
{
    struct err err;

    (void)state;
    assert_true(cupti_start(cupti, &err));
    assert_string_equal(cupti_no_target(cupti), "");
    fake.fake_fail("cuptiProfilerInitialize", 15);
    assert_false(cupti_start(cupti, &err));
    assert_non_null(strstr(err.text, "FAKE_RESULT_15"));
    fake.fake_reset();
    assert_true(cupti_start(cupti, &err));
}

/* ---- without the library ---- */

static void test_a_library_that_is_none(void **state)
{
    struct err err;

    (void)state;
    setenv("KEET_CUPTI", "/nowhere/libcupti.so", 1);
    assert_null(cupti_open(&err));
    assert_non_null(strstr(err.text, "/nowhere/libcupti.so"));
    setenv("KEET_CUPTI", "libm.so.6", 1);
    assert_null(cupti_open(&err));
    assert_non_null(strstr(err.text, "lacks cuptiGetVersion"));
    setenv("KEET_CUPTI", FAKE_CUPTI, 1);
}

static void bind(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);

    assert_non_null(symbol);
    memcpy(function, &symbol, sizeof(symbol));
}

static int open_library(void **state)
{
    void *handle = dlopen(FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
    struct err err;

    (void)state;
    assert_non_null(handle);
    bind(handle, "fake_reset", &fake.fake_reset);
    bind(handle, "fake_fail", &fake.fake_fail);
    bind(handle, "fake_launch", &fake.fake_launch);
    bind(handle, "fake_source", &fake.fake_source);
    bind(handle, "fake_violations", &fake.fake_violations);
    bind(handle, "fake_log", &fake.fake_log);
    bind(handle, "fake_active", &fake.fake_active);
    setenv("KEET_CUPTI", FAKE_CUPTI, 1);
    cupti = cupti_open(&err);
    return cupti ? 0 : -1;
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
        cmocka_unit_test_setup(test_replay, setup),
        cmocka_unit_test_setup(test_order, setup),
        cmocka_unit_test_setup(test_ranges_that_do_not_match, setup),
        cmocka_unit_test_setup(test_a_kernel_that_breaks, setup),
        cmocka_unit_test_setup(test_every_failure_of_counting, setup),
        cmocka_unit_test_setup(test_what_to_do, setup),
        cmocka_unit_test_setup(test_what_a_device_supports, setup),
        cmocka_unit_test_setup(test_to_canonical_metrics, setup),
        cmocka_unit_test_setup(test_trace, setup),
        cmocka_unit_test_setup(test_trace_that_is_not_whole, setup),
        cmocka_unit_test_setup(test_every_failure_of_tracing, setup),
        cmocka_unit_test_setup(test_spans_that_overlap, setup),
        cmocka_unit_test_setup(test_two_clocks, setup),
        cmocka_unit_test_setup(test_samples, setup),
        cmocka_unit_test_setup(test_every_failure_of_sampling, setup),
        cmocka_unit_test_setup(test_reasons, setup),
        cmocka_unit_test_setup(test_a_start_that_fails, setup),
        cmocka_unit_test_setup(test_a_library_that_is_none, setup),
    };

    return cmocka_run_group_tests_name("cupti_target", tests, open_library, close_library);
}
