/* Tests of reading Nsight Compute's CSV: fixtures written by hand from the documented format, one
 * irregularity each, and the values that a reader would take from them. */
#include "explain/import_ncu.h"
#include "tests/sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define FOLDER KEET_SOURCE_DIR "/tests/explain/ncu/"

struct expected {
    unsigned kernel;
    enum metric metric;
    double value; /* negative: must be absent */
};

static struct arena *arena;

static struct import read_file(const char *name)
{
    struct import import;
    struct err err;
    char path[512];

    snprintf(path, sizeof(path), FOLDER "%s", name);
    if (!import_ncu_file(&import, arena, path, &err))
        fail_msg("%s", err.text);
    return import;
}

static void check(const char *name, unsigned nr_kernels, const struct expected *expected, size_t nr)
{
    struct import import = read_file(name);

    if (import.nr_kernels != nr_kernels)
        fail_msg("%s: %u kernels", name, import.nr_kernels);
    for (size_t i = 0; i < nr; i++) {
        const struct counters *c = &import.kernels[expected[i].kernel].counters;
        const struct counter *counter = &c->metric[expected[i].metric];
        const char *metric = metric_name(expected[i].metric);

        if (expected[i].value < 0 && counter->from != PROV_ABSENT)
            fail_msg("%s: %s is not absent but %g", name, metric, counter->value);
        if (expected[i].value >= 0 &&
            (counter->from != PROV_MEASURED ||
                fabs(counter->value - expected[i].value) > 1e-9 * expected[i].value))
            fail_msg("%s: %s is %.12g, not %.12g", name, metric, counter->value, expected[i].value);
    }
}

#define CHECK(name, nr_kernels, ...)                                                               \
    do {                                                                                           \
        static const struct expected expected[] = {__VA_ARGS__};                                   \
        check(name, nr_kernels, expected, sizeof(expected) / sizeof(expected[0]));                 \
    } while (0)

static void test_raw(void **state)
{
    (void)state;
    CHECK("raw_plain.csv", 1, {0, METRIC_TIME_NS, 12345}, {0, METRIC_GLOBAL_LD_SECTORS, 4096},
        {0, METRIC_DRAM_BYTES, 1048576}, {0, METRIC_REGISTERS, 24}, {0, METRIC_BLOCK_THREADS, 256},
        {0, METRIC_GRID_BLOCKS, 1024}, {0, METRIC_WARPS_LAUNCHED, 8192},
        {0, METRIC_L2_HIT_PCT, -1});
    CHECK("raw_preamble.csv", 1, {0, METRIC_TIME_NS, 12345}, {0, METRIC_REGISTERS, 24});
    CHECK("raw_thousands.csv", 1, {0, METRIC_TIME_NS, 12350},
        {0, METRIC_GLOBAL_LD_SECTORS, 1234567}, {0, METRIC_DRAM_BYTES, 1048.58e6});
    CHECK("raw_decimal_comma.csv", 1, {0, METRIC_TIME_NS, 12350},
        {0, METRIC_GLOBAL_LD_SECTORS, 1234567}, {0, METRIC_DRAM_BYTES, 1048.58e6},
        {0, METRIC_DRAM_PCT, 76.214}, {0, METRIC_REGISTERS, 24});
    CHECK("raw_several.csv", 3, {0, METRIC_TIME_NS, 1000}, {1, METRIC_TIME_NS, -1},
        {1, METRIC_GLOBAL_LD_SECTORS, -1}, {1, METRIC_DRAM_BYTES, -1}, {1, METRIC_REGISTERS, 32},
        {2, METRIC_DRAM_BYTES, 960});
    CHECK("raw_short_rows.csv", 2, {0, METRIC_REGISTERS, 16}, {1, METRIC_TIME_NS, 2000},
        {1, METRIC_REGISTERS, -1}, {1, METRIC_GRID_BLOCKS, 8}, {1, METRIC_WARPS_LAUNCHED, 8});
    CHECK("raw_semicolons.csv", 1, {0, METRIC_TIME_NS, 12345.5},
        {0, METRIC_GLOBAL_LD_SECTORS, 4096}, {0, METRIC_GRID_BLOCKS, 12});
}

/* HFMA2 shares the tensor pipe; without a count of its own nobody knows what the pipe's count is.
 */
static void test_matrix_instructions(void **state)
{
    (void)state;
    CHECK("raw_tensor.csv", 4, {0, METRIC_INST_TENSOR, 0}, {0, METRIC_WARP_INST, 154664960},
        {1, METRIC_INST_TENSOR, 1048576}, {2, METRIC_INST_TENSOR, -1}, {3, METRIC_INST_TENSOR, 0});
}

static void test_details(void **state)
{
    (void)state;
    CHECK("details_plain.csv", 1, {0, METRIC_TIME_NS, 25600}, {0, METRIC_DRAM_PCT, 81.25},
        {0, METRIC_REGISTERS, 96}, {0, METRIC_GRID_BLOCKS, 1024}, {0, METRIC_SMEM_STATIC, 16380},
        {0, METRIC_OCCUPANCY_ACHIEVED_PCT, 48.5});
    CHECK("details_rules.csv", 1, {0, METRIC_TIME_NS, 25600}, {0, METRIC_OCCUPANCY_PCT, 50});
    CHECK("details_several.csv", 3, {0, METRIC_TIME_NS, 1.5e6}, {1, METRIC_TIME_NS, 640},
        {2, METRIC_TIME_NS, 2e6});
    CHECK("details_metrics.csv", 1, {0, METRIC_TIME_NS, 3140}, {0, METRIC_DRAM_BYTES, 512500},
        {0, METRIC_WARP_INST, -1});
    CHECK("details_busy.csv", 1, {0, METRIC_MEMORY_PCT, 92.1}, {0, METRIC_SM_PCT, 92.1},
        {0, METRIC_DRAM_PCT, 11.4}, {0, METRIC_DRAM_BYTES, -1});
    CHECK("details_older.csv", 1, {0, METRIC_TIME_NS, 7200}, {0, METRIC_BLOCK_THREADS, 128});
}

/* 600 of 1000 are long scoreboard, one stall reason that we do not know included. */
static void test_stalls_become_shares(void **state)
{
    (void)state;
    CHECK("raw_stalls.csv", 1, {0, METRIC_STALL_LONG_PCT, 60}, {0, METRIC_STALL_SHORT_PCT, 10},
        {0, METRIC_STALL_BARRIER_PCT, 20}, {0, METRIC_STALL_WAIT_PCT, 5});
}

static void test_names_and_counts(void **state)
{
    struct import import = read_file("raw_semicolons.csv");

    (void)state;
    assert_true(import.raw);
    assert_string_equal(import.kernels[0].name, "void reduce<float, 4>(T1 *, \"x\")");
    import = read_file("raw_several.csv");
    assert_string_equal(import.kernels[1].name, "second");
    assert_string_equal(import.kernels[2].id, "2");
    assert_int_equal(import.kernels[1].nr_unreadable, 2);
    import = read_file("details_several.csv");
    assert_false(import.raw);
    assert_int_equal(import.kernels[1].nr_other, 1);
    import = read_file("truncated.csv");
    assert_true(import.nr_kernels >= 2);
}

static void test_errors_say_what_to_do(void **state)
{
    struct import import;
    struct err err;
    char *old = strdup(getenv("PATH") ? getenv("PATH") : "");

    (void)state;
    assert_false(import_ncu_file(&import, arena, FOLDER "none.csv", &err));
    assert_non_null(strstr(err.text, "none.csv"));
    assert_non_null(strstr(err.text, "--page raw"));
    assert_false(import_ncu_file(&import, arena, FOLDER "missing.csv", &err));
    assert_non_null(strstr(err.text, "missing.csv"));
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    char report[] = "/tmp/keet_import_XXXXXX.ncu-rep";
    int fd = mkstemps(report, 8);
    assert_true(fd >= 0);
    close(fd);
    assert_false(import_ncu_file(&import, arena, report, &err));
    assert_non_null(strstr(err.text, "not in PATH"));
    assert_non_null(strstr(err.text, "--csv --page raw"));
    unlink(report);
    setenv("PATH", old, 1);
    free(old);
}

/* A stand-in for ncu that checks its arguments and prints a fixture. */
static void test_reports_go_through_ncu(void **state)
{
    char folder[] = "/tmp/keet_ncu_XXXXXX", path[600], report[600];
    const char *old = getenv("PATH") ? getenv("PATH") : "";
    char *kept = strdup(old);
    struct import import;
    struct err err;
    FILE *f;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/ncu", folder);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
        "#!/bin/sh\n[ \"$1 $3 $4 $5\" = \"--import --csv --page raw\" ] || exit 9\n"
        "while IFS= read -r l; do printf '%%s\\n' \"$l\"; done < '%s'\n",
        FOLDER "raw_preamble.csv");
    fclose(f);
    snprintf(report, sizeof(report), "%s/x.ncu-rep", folder);
    f = fopen(report, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("PATH", folder, 1);
    if (!import_ncu_file(&import, arena, report, &err))
        fail_msg("%s", err.text);
    assert_true(counters_get(&import.kernels[0].counters, METRIC_TIME_NS) > 12344);
    setenv("PATH", kept, 1);
    free(kept);
    unlink(path);
    unlink(report);
    rmdir(folder);
}

/* 300 files of four kernels with 1000 metrics each, as a full raw page has. */
static void write_large(const char *path)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs("\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\"", f);
    for (int m = 0; m < 1000; m++)
        fprintf(f, ",\"smsp__metric_%d.sum\"", m);
    fputs("\n\"\",\"\",\"\",\"us\"", f);
    for (int m = 0; m < 1000; m++)
        fputs(",\"inst\"", f);
    for (int k = 0; k < 4; k++) {
        fprintf(f, "\n\"%d\",\"1\",\"kernel_%d\",\"12.5\"", k, k);
        for (int m = 0; m < 1000; m++)
            fprintf(f, ",\"%d,%03d,%03d\"", m % 9 + 1, m, k);
    }
    fputs("\n", f);
    fclose(f);
}

static void test_many_are_quick(void **state)
{
    char path[] = "/tmp/keet_many_XXXXXX.csv";
    int fd = mkstemps(path, 4);
    clock_t start;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    write_large(path);
    start = clock(); /* of the processor: what else runs on the machine does not count */
    for (int i = 0; i < 300; i++) {
        struct import import;
        struct err err;

        assert_true(import_ncu_file(&import, arena, path, &err));
        assert_int_equal(import.nr_kernels, 4);
        assert_int_equal(import.kernels[3].nr_other, 1000);
        assert_true(counters_get(&import.kernels[3].counters, METRIC_TIME_NS) > 12499);
        arena_reset(arena);
    }
    assert_true(clock() - start < (KEET_SANITIZED ? 60 : 5) * CLOCKS_PER_SEC);
    unlink(path);
}

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_raw), cmocka_unit_test(test_details),
        cmocka_unit_test(test_matrix_instructions), cmocka_unit_test(test_stalls_become_shares),
        cmocka_unit_test(test_names_and_counts), cmocka_unit_test(test_errors_say_what_to_do),
        cmocka_unit_test(test_reports_go_through_ncu), cmocka_unit_test(test_many_are_quick)};

    return cmocka_run_group_tests(tests, setup, teardown);
}
