/* Tests of explain/: which of two findings comes first, and of how many launches a finding speaks.
 */
#include "explain_fixture.h"

/* A kernel on the matrix units: its arithmetic is in them, and their fragments come from shared
 * memory. A quarter of a load for each instruction is what a warp's patch of 64 by 64 asks for. */
static void test_loads_of_fragments(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_INST_FP32, 1e6);
    set(f, METRIC_INST_TENSOR, 1e6);
    set(f, METRIC_TENSOR_PCT, 60);
    set(f, METRIC_SHARED_LD_REQUESTS, 0.25e6);
    set(f, METRIC_SHARED_LD_WAVEFRONTS, 1e6);
    set(f, METRIC_LSU_PCT, 90);
    f->lines[1].shared_requests = f->lines[1].shared_wavefronts = 1e7;
    f->lines[1].shared_wavefronts_ideal = 1e7;
    assert_false(found(explain(f), "shared_traffic"));
    set(f, METRIC_SHARED_LD_REQUESTS, 7e6);
    set(f, METRIC_SHARED_LD_WAVEFRONTS, 7e6);
    expect_first(f, "shared_traffic", 6, METRIC_INST_TENSOR, 1e6, ACTION_TENSOR_CORES);
    assert_non_null(strstr(f->c.explanation.findings[0].text, "7.0 loads of a warp"));
    assert_non_null(strstr(f->c.explanation.findings[0].text, "per tensor instruction"));
    /* On an H100 each warp of plain f32 code counted one: HFMA2, which shares the pipe. The machine
     * code knows that no matrix is multiplied. */
    set(f, METRIC_SASS_TENSOR, 0);
    set(f, METRIC_INST_FP32, 1e8);
    set(f, METRIC_TENSOR_PCT, 0);
    assert_null(strstr(explain(f)->findings[0].text, "tensor instruction"));
    expect_first(f, "shared_traffic", 6, METRIC_SHARED_LD_REQUESTS, 7e6, ACTION_REGISTER_TILE);
}

/* Integer instructions beside busy matrix units cost the issue slots that they take, not the time
 * of the units. */
static void test_overhead_beside_tensor_cores(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_INST_INTEGER, 20e7);
    set(f, METRIC_INST_CONTROL, 4e7);
    set(f, METRIC_TENSOR_PCT, 90);
    set(f, METRIC_INST_TENSOR, 1e6);
    set(f, METRIC_ISSUE_PCT, 5);
    set(f, METRIC_ALU_PCT, 5);
    assert_false(found(explain(f), "instruction_overhead"));
}

/* 82% of the wavefronts are conflicts: the loads alone would not fill the unit. */
static void test_conflicts_come_before_traffic(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_SHARED_LD_REQUESTS, 1e7);
    set(f, METRIC_SHARED_LD_WAVEFRONTS, 5.5e7);
    set(f, METRIC_SHARED_LD_CONFLICTS, 4.5e7);
    set(f, METRIC_LSU_PCT, 95);
    f->lines[1].shared_requests = 1e7;
    f->lines[1].shared_wavefronts = 5.5e7;
    f->lines[1].shared_wavefronts_ideal = 1e7;
    expect_first(f, "bank_conflicts", 6, METRIC_SHARED_LD_CONFLICTS, 4.5e7, ACTION_PAD_SHARED);
    assert_false(found(&f->c.explanation, "shared_traffic"));
}

/* A load/store unit that has time left is not what warps wait for at barriers. */
static void test_barriers_come_before_traffic(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_DRAM_PCT, 20);
    set(f, METRIC_L2_PCT, 20);
    set(f, METRIC_SHARED_LD_REQUESTS, 1e7);
    set(f, METRIC_SHARED_LD_WAVEFRONTS, 1e7);
    set(f, METRIC_LSU_PCT, 75);
    set(f, METRIC_BARRIERS, 1e5);
    set(f, METRIC_STALL_BARRIER_PCT, 60);
    f->lines[1].barriers = 1e5;
    f->lines[0].shared_requests = f->lines[0].shared_wavefronts = 1e7;
    f->lines[0].shared_wavefronts_ideal = 1e7;
    expect_first(f, "barriers", 6, METRIC_STALL_BARRIER_PCT, 60, ACTION_SHUFFLE_REDUCE);
}

/* Twelve launches of 4096 threads are not 49 thousand threads; and a launch beside them that is in
 * good order has no part in it. */
static void test_figures_are_per_launch(void **state)
{
    struct fixture *f = *state;
    struct counters launches[13];
    struct launch_config configs[13];
    const struct explanation *e;

    launches[12] = *f->n;
    configs[12] = (struct launch_config){"g", {2112, 1, 1}, {256, 1, 1}, {1, 1, 1}, 0};
    set(f, METRIC_WARPS_LAUNCHED, 128);
    set(f, METRIC_GRID_BLOCKS, 32);
    set(f, METRIC_BLOCK_THREADS, 128);
    set(f, METRIC_WAVES, 0.1);
    set(f, METRIC_GLOBAL_LD_SECTORS, 32e6);
    set(f, METRIC_GLOBAL_LD_SECTORS_IDEAL, 4e6);
    set(f, METRIC_DRAM_PCT, 20);
    set(f, METRIC_L2_PCT, 20);
    set(f, METRIC_STALL_LONG_PCT, 80);
    set(f, METRIC_GLOBAL_UNIQUE_BYTES, 128e6);
    set(f, METRIC_DRAM_BYTES, 128e6);
    f->lines[0].global_sectors = 32e6;
    f->lines[0].global_sectors_ideal = 4e6;
    for (unsigned i = 0; i < 12; i++) {
        launches[i] = *f->n;
        configs[i] = (struct launch_config){"f", {32, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0};
    }
    f->c.profile.launches = launches;
    f->c.profile.configs = configs;
    f->c.profile.nr_launches = 13;
    profile_sum(&f->c.profile, f->arena);
    f->c.profile.time_ns = 13 * 360e3;
    e = explain(f);
    assert_string_equal(e->findings[0].tool, "serial_rows");
    assert_non_null(strstr(e->findings[0].text, "Line 5: each of 12 f: 4.1k threads"));
    for (unsigned i = 0; i < e->nr_findings; i++) {
        assert_null(strstr(e->findings[i].text, " g: "));
        assert_true(e->findings[i].max_gain <= 13);
    }
}

/* One line, launched with two grids: one finding, for all of the time. */
static void test_one_line_is_one_finding(void **state)
{
    struct fixture *f = *state;
    struct counters launches[2];
    struct launch_config configs[2];
    const struct explanation *e;
    unsigned nr = 0;

    set(f, METRIC_GLOBAL_LD_SECTORS, 32e6);
    set(f, METRIC_GLOBAL_LD_SECTORS_IDEAL, 4e6);
    set(f, METRIC_GLOBAL_UNIQUE_BYTES, 128e6);
    set(f, METRIC_DRAM_BYTES, 128e6);
    f->lines[0].global_sectors = 32e6;
    f->lines[0].global_sectors_ideal = 4e6;
    for (unsigned i = 0; i < 2; i++) {
        launches[i] = *f->n;
        configs[i] = (struct launch_config){"f", {2112 + i, 1, 1}, {256, 1, 1}, {1, 1, 1}, 0};
    }
    f->c.profile.launches = launches;
    f->c.profile.configs = configs;
    f->c.profile.nr_launches = 2;
    profile_sum(&f->c.profile, f->arena);
    f->c.profile.time_ns = 720e3;
    e = explain(f);
    for (unsigned i = 0; i < e->nr_findings; i++) {
        if (strcmp(e->findings[i].tool, "coalescing") == 0) {
            nr++;
            assert_true(fabs(e->findings[i].share - 28.0 / 48 * 0.85) < 1e-6);
        }
    }
    assert_int_equal(nr, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_loads_of_fragments),
        TEST(test_overhead_beside_tensor_cores),
        TEST(test_conflicts_come_before_traffic),
        TEST(test_barriers_come_before_traffic),
        TEST(test_figures_are_per_launch),
        TEST(test_one_line_is_one_finding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
