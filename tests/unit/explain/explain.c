/* Tests of explain/: counters made by hand, with one planted bottleneck each, must bring the tool
 * that is made for it first, with its line, evidence and moves. */
#include "core/roofline.h"
#include "explain/explain.h"
#include "explain/limits.h"
#include "explain_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool is_listed(const char *list, const char *name)
{
    const char *at = strstr(list, name);

    return at && (at == list || at[-1] == ' ') &&
           (at[strlen(name)] == '\0' || at[strlen(name)] == ',');
}

static void test_good_order_is_silent(void **state)
{
    const struct explanation *e = explain(*state);

    assert_int_equal(e->nr_findings, 0);
    assert_string_equal(e->unexamined, "");
}

/* Column-wise loads: 32 sectors a request where 4 would do, in a 2-D block. */
static void test_coalescing(void **state)
{
    struct fixture *f = *state;

    f->configs[0].block[0] = f->configs[0].block[1] = 16;
    set(f, METRIC_GLOBAL_LD_SECTORS, 32e6);
    set(f, METRIC_GLOBAL_LD_SECTORS_IDEAL, 4e6);
    set(f, METRIC_GLOBAL_LD_BYTES, 128e6);
    f->lines[0].access_bytes = 4;
    f->lines[0].global_bytes = 128e6;
    f->lines[0].global_sectors = 32e6;
    f->lines[0].global_sectors_ideal = 4e6;
    expect_first(f, "coalescing", 5, METRIC_GLOBAL_LD_SECTORS, 32e6, ACTION_SWAP_XY);
    assert_non_null(strstr(f->c.explanation.findings[0].text, "Line 5: "));
    assert_non_null(strstr(f->c.explanation.findings[0].text, "32.0 sectors"));
    assert_non_null(strstr(f->c.explanation.findings[0].text, "(counted)"));
    /* 28 of the 48 million sectors moved are waste; DRAM, the busiest path, takes 85% of the time.
     */
    double share = 28.0 / 48 * 0.85;

    assert_true(fabs(f->c.explanation.findings[0].share - share) < 1e-6);
    /* The least that must be moved: what lanes use of the 1024 MB, 640 MB, at 3.35 TB/s. */
    assert_true(fabs(f->c.explanation.findings[0].max_gain - 360 / 191.045) < 1e-4);
}

static void make_scattered(struct fixture *f)
{
    set(f, METRIC_GLOBAL_LD_SECTORS, 32e6);
    set(f, METRIC_GLOBAL_LD_SECTORS_IDEAL, 4e6);
    f->lines[0].global_sectors = 32e6;
    f->lines[0].global_sectors_ideal = 4e6;
    set(f, METRIC_WITHOUT_SCATTER, 0.625 * counters_get(f->n, METRIC_TIME_NS));
}

/* The sentence ends with the launch's time without the cause, and what limits it then. */
static void test_what_limits_without_the_cause(void **state)
{
    struct fixture *f = *state;
    const char *text;

    make_scattered(f);
    f->n->left[CURE_SCATTER] = (struct limit){METRIC_LSU_PCT, METRIC_STALL_LONG_PCT, 81, 62};
    text = explain(f)->findings[0].text;
    assert_non_null(
        strstr(text, " Without it: 225 us, limited by the load/store unit (81% busy)."));
    f->n->left[CURE_SCATTER].unit = METRIC_DRAM_PCT;
    f->n->left[CURE_SCATTER].unit_pct = 34;
    text = explain(f)->findings[0].text;
    assert_non_null(strstr(text,
        " Without it: 225 us, limited by waiting for memory (62% of the warps' time; DRAM 34% "
        "busy)."));
    f->n->left[CURE_SCATTER].unit = METRIC_TIME_NS; /* not known: nothing is said */
    assert_null(strstr(explain(f)->findings[0].text, "Without it"));
}

/* A cure is asked for where a tool would rank its finding by it, and only there. */
static void test_wanted_cures(void **state)
{
    struct fixture *f = *state;
    uint32_t wanted;

    assert_int_equal(explain_wants(chip_default(), &f->c) & 1u << CURE_SCATTER, 0);
    make_scattered(f);
    counters_set(f->n, METRIC_WITHOUT_SCATTER, 0, PROV_ABSENT);
    wanted = explain_wants(chip_default(), &f->c);
    assert_true(wanted & 1u << CURE_SCATTER);
    assert_false(wanted & (1u << CURE_BARRIERS | 1u << CURE_FP64 | 1u << CURE_CONFLICTS));
    assert_int_equal(f->c.explanation.nr_findings, 0); /* c is as it was */
    make_scattered(f);
    for (unsigned i = 0; i < explain(f)->nr_findings; i++) {
        const struct finding *finding = &f->c.explanation.findings[i];

        for (unsigned e = 0; e < finding->nr_evidence; e++)
            if (metric_is_cure(finding->evidence[e].metric))
                assert_true(wanted >> metric_cure(finding->evidence[e].metric) & 1);
    }
}

/* A broadcast wants 4 bytes and moves one sector: nothing to gain. */
static void test_broadcast_is_no_waste(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_GLOBAL_LD_SECTORS, 1e6);
    set(f, METRIC_GLOBAL_LD_SECTORS_IDEAL, 0.125e6);
    f->lines[0].global_sectors = 1e6;
    f->lines[0].global_sectors_ideal = 0.125e6;
    assert_false(found(explain(f), "coalescing"));
}

/* 4096 threads in 32 blocks, each walking its own row of 1024. */
static void test_serial_rows(void **state)
{
    struct fixture *f = *state;

    f->configs[0].grid[0] = 32;
    f->configs[0].block[0] = 128;
    set(f, METRIC_WARPS_LAUNCHED, 128);
    set(f, METRIC_GRID_BLOCKS, 32);
    set(f, METRIC_BLOCK_THREADS, 128);
    set(f, METRIC_WAVES, 0.1);
    set(f, METRIC_GLOBAL_LD_SECTORS, 32e6);
    set(f, METRIC_GLOBAL_LD_SECTORS_IDEAL, 4e6);
    set(f, METRIC_GLOBAL_LD_BYTES, 128e6);
    set(f, METRIC_DRAM_PCT, 20);
    set(f, METRIC_L2_PCT, 20);
    set(f, METRIC_STALL_LONG_PCT, 80);
    f->lines[0].global_sectors = 32e6;
    f->lines[0].global_sectors_ideal = 4e6;
    expect_first(f, "serial_rows", 5, METRIC_WARPS_LAUNCHED, 128, ACTION_PARALLEL_REDUCE);
    assert_true(found(&f->c.explanation, "few_blocks"));
    assert_int_equal(f->c.explanation.bound, BOUND_LATENCY);
}

static void test_bank_conflicts(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_SHARED_LD_REQUESTS, 1e5);
    set(f, METRIC_SHARED_LD_WAVEFRONTS, 32e5);
    set(f, METRIC_SHARED_LD_CONFLICTS, 31e5);
    f->lines[1].shared_requests = 1e5;
    f->lines[1].shared_wavefronts = 32e5;
    f->lines[1].shared_wavefronts_ideal = 1e5;
    expect_first(f, "bank_conflicts", 6, METRIC_SHARED_LD_CONFLICTS, 31e5, ACTION_PAD_SHARED);
    assert_int_equal(f->c.explanation.findings[0].severity, SEVERITY_CRITICAL);
}

static void test_spills(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_SPILL_BYTES, 128);
    set(f, METRIC_REGISTERS, 255);
    expect_first(f, "register_spills", 0, METRIC_SPILL_BYTES, 128, ACTION_LAUNCH_BOUNDS);
}

/* Spills are not in the PTX: the machine code says where they are, and how many. */
static void test_spills_have_the_line_of_the_machine_code(void **state)
{
    static struct sass_line lines[] = {{.line = 3, .mix = {.nr = 40, .of[SASS_LOCAL_LOAD] = 2}},
        {.line = 7, .mix = {.nr = 9, .of = {[SASS_LOCAL_LOAD] = 4, [SASS_LOCAL_STORE] = 3}}}};
    static struct sass_facts facts = {.arch = 90,
        .all = {.nr = 49, .of = {[SASS_LOCAL_LOAD] = 6, [SASS_LOCAL_STORE] = 3}},
        .lines = lines,
        .nr_lines = 2};
    struct fixture *f = *state;

    f->c.compilation.nr_kernels = 1;
    f->c.compilation.sass = &facts;
    candidate_count_sass(&f->c);
    set(f, METRIC_SPILL_BYTES, 128);
    set(f, METRIC_REGISTERS, 255);
    expect_first(f, "register_spills", 7, METRIC_SASS_LOCAL_LD, 6, ACTION_LAUNCH_BOUNDS);
    assert_non_null(strstr(
        f->c.explanation.findings[0].text, "6 local loads and 3 local stores in the machine"));
}

static void test_local_array(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_LOCAL_LD_REQUESTS, 2e6);
    set(f, METRIC_LOCAL_ST_REQUESTS, 1e6);
    f->lines[1].local_requests = 3e6;
    expect_first(f, "register_spills", 6, METRIC_LOCAL_LD_REQUESTS, 2e6, ACTION_UNROLL);
}

static void test_divergence(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_THREAD_INST, 8e7); /* 8 of 32 lanes */
    set(f, METRIC_INST_INTEGER, 1e7);
    set(f, METRIC_INST_CONTROL, 1e6);
    set(f, METRIC_BRANCHES_DIVERGENT, 5e5);
    f->lines[1].branches_divergent = 5e5;
    expect_first(f, "divergence", 6, METRIC_THREAD_INST, 8e7, ACTION_BLOCK_SHAPE);
    assert_non_null(strstr(f->c.explanation.findings[0].text, "8.0 of 32 lanes"));
}

/* saxpy: 4 bytes a lane. */
static void test_narrow_access(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_GLOBAL_LD_REQUESTS, 4e6);
    set(f, METRIC_GLOBAL_ST_REQUESTS, 4e6);
    for (unsigned i = 0; i < 3; i += 2) {
        f->lines[i].access_bytes = 4;
        f->lines[i].global_requests = 4e6;
    }
    set(f, METRIC_SASS_GLOBAL_LD, 2);
    set(f, METRIC_SASS_GLOBAL_LD_WIDE, 0);
    expect_first(f, "narrow_access", 5, METRIC_GLOBAL_LD_REQUESTS, 4e6, ACTION_VECTORIZE);
    assert_non_null(strstr(f->c.explanation.findings[0].text, "no wide load in the machine code"));
}

/* The naive product of two 1024 x 1024 f32 matrices: 2 * 1024^3 loads of 4 bytes, 12 MiB distinct.
 * 16 x 16 blocks: per warp and k, 2 sectors of A (two rows, a value of each) and 2 of B (16 values,
 * the same for both rows): 72 distinct bytes. */
static void make_matmul(struct fixture *f)
{
    double steps = 1024.0 * 1024 * 1024 / 32;

    f->configs[0] = (struct launch_config){"matmul", {64, 64, 1}, {16, 16, 1}, {1, 1, 1}, 0};
    set(f, METRIC_GLOBAL_LD_REQUESTS, 2 * steps);
    set(f, METRIC_GLOBAL_LD_SECTORS, 4 * steps);
    set(f, METRIC_GLOBAL_LD_SECTORS_IDEAL, 2.25 * steps);
    set(f, METRIC_GLOBAL_LD_BYTES, 72 * steps);
    set(f, METRIC_GLOBAL_ST_REQUESTS, 32768);
    set(f, METRIC_GLOBAL_ST_SECTORS, 131072);
    set(f, METRIC_GLOBAL_ST_SECTORS_IDEAL, 131072);
    set(f, METRIC_GLOBAL_ST_BYTES, 4194304);
    set(f, METRIC_GLOBAL_UNIQUE_BYTES, 12 << 20);
    set(f, METRIC_L1_HIT_PCT, 90);
    set(f, METRIC_DRAM_PCT, 3);
    set(f, METRIC_DRAM_BYTES, 12 << 20);
    set(f, METRIC_L2_PCT, 10);
    set(f, METRIC_LSU_PCT, 95);
    f->lines[0].access_bytes = 4;
    f->lines[0].global_requests = 2 * steps;
    f->lines[0].global_sectors = 4 * steps;
    f->lines[0].global_sectors_ideal = 2.25 * steps;
    f->lines[0].global_bytes = 72 * steps;
    f->c.profile.time_ns = 700e3;
    set(f, METRIC_TIME_NS, 700e3);
}

static void give_work(struct fixture *f, const char *flops, const char *bytes)
{
    f->task.work[WORK_FLOPS] = flops ? expr_parse(f->arena, flops, strlen(flops), &f->err) : NULL;
    f->task.bytes = bytes ? expr_parse(f->arena, bytes, strlen(bytes), &f->err) : NULL;
}

static void test_redundant_loads(void **state)
{
    struct fixture *f = *state;

    make_matmul(f);
    expect_first(
        f, "redundant_loads", 5, METRIC_GLOBAL_UNIQUE_BYTES, 12 << 20, ACTION_REGISTER_TILE);
    assert_false(found(&f->c.explanation, "coalescing"));
    /* 72 * 2^25 bytes over 12582912: 192 times. */
    assert_non_null(strstr(f->c.explanation.findings[0].text, "192 times"));
}

/* One block in 64 of the product ran. It touched 8 MB; the task's arrays hold 12 MiB, and that is
 * all that there is, however one scales. */
static void test_redundant_loads_when_sampled(void **state)
{
    struct fixture *f = *state;
    struct task_array arrays[3] = {{.role = ROLE_IN, .elem = ELEM_F32},
        {.role = ROLE_IN, .elem = ELEM_F32}, {.role = ROLE_OUT, .elem = ELEM_F32}};

    for (unsigned i = 0; i < 3; i++) {
        arrays[i].nr_dims = 2;
        arrays[i].dims[0] = arrays[i].dims[1] = expr_literal(f->arena, 1024);
    }
    f->task.arrays = arrays;
    f->task.nr_arrays = 3;
    make_matmul(f);
    f->launches[0].blocks_run = 64;
    f->launches[0].blocks_all = 4096;
    counters_set(&f->launches[0], METRIC_GLOBAL_UNIQUE_BYTES, 8e6, PROV_SAMPLED);
    set(f, METRIC_GLOBAL_UNIQUE_BYTES, 8e6);
    expect_first(
        f, "redundant_loads", 5, METRIC_GLOBAL_LD_BYTES, 72 * pow(2, 25), ACTION_REGISTER_TILE);
    /* 72 * 2^25 bytes, of the 8 MiB of the two inputs; what the sample touched is no evidence. */
    assert_non_null(strstr(f->c.explanation.findings[0].text,
        "use at most 8.39M distinct ones, at least 288 times each"));
    assert_non_null(strstr(f->c.explanation.findings[0].text, "estimated from a sample"));
    assert_false(cites(&f->c.explanation.findings[0], METRIC_GLOBAL_UNIQUE_BYTES, 8e6));
    /* where the loads were counted apart */
    counters_set(&f->launches[0], METRIC_GLOBAL_LOADED_BYTES, 6.4e6, PROV_SAMPLED);
    set(f, METRIC_GLOBAL_LOADED_BYTES, 6.4e6);
    explain(f);
    assert_non_null(
        strstr(f->c.explanation.findings[0].text, "use at most 6.4M distinct ones, at least 377"));
}

/* A streaming kernel stays one when one block in ten ran. */
static void test_streaming_when_sampled(void **state)
{
    struct fixture *f = *state;

    f->launches[0].blocks_run = 211;
    f->launches[0].blocks_all = 2110;
    counters_set(&f->launches[0], METRIC_GLOBAL_UNIQUE_BYTES, 102.4e6, PROV_SAMPLED);
    set(f, METRIC_GLOBAL_UNIQUE_BYTES, 102.4e6);
    assert_false(found(explain(f), "redundant_loads"));
}

static void test_shared_traffic(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_SHARED_LD_REQUESTS, 1e7); /* 2 loads per fp32 instruction */
    set(f, METRIC_SHARED_LD_WAVEFRONTS, 1e7);
    set(f, METRIC_LSU_PCT, 90);
    f->lines[1].shared_requests = f->lines[1].shared_wavefronts = 1e7;
    f->lines[1].shared_wavefronts_ideal = 1e7;
    expect_first(f, "shared_traffic", 6, METRIC_SHARED_LD_REQUESTS, 1e7, ACTION_REGISTER_TILE);
    assert_non_null(strstr(f->c.explanation.findings[0].text, "2.0 loads"));
}

static void test_instruction_overhead(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_INST_INTEGER, 20e7);
    set(f, METRIC_INST_CONTROL, 4e7);
    set(f, METRIC_ALU_PCT, 90);
    expect_first(f, "instruction_overhead", 6, METRIC_INST_INTEGER, 20e7, ACTION_UNROLL);
    assert_non_null(strstr(f->c.explanation.findings[0].text, "75%"));
}

/* 1.1 waves: 1 - 1.1 / 2 of the slots are idle. */
static void test_tail(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_WAVES, 1.1);
    expect_first(f, "tail_effect", 0, METRIC_WAVES, 1.1, ACTION_BLOCK_SHAPE);
    assert_true(fabs(f->c.explanation.findings[0].share - 0.45) < 1e-6);
}

static void test_few_blocks(void **state)
{
    struct fixture *f = *state;

    f->configs[0].grid[0] = 33; /* a quarter of 132 SMs */
    set(f, METRIC_GRID_BLOCKS, 33);
    set(f, METRIC_WAVES, 0.03);
    expect_first(f, "few_blocks", 0, METRIC_GRID_BLOCKS, 33, ACTION_PARALLEL_REDUCE);
    assert_true(fabs(f->c.explanation.findings[0].share - 0.75) < 1e-6);
}

static void test_barriers(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_BARRIERS, 1e5);
    set(f, METRIC_STALL_BARRIER_PCT, 65);
    f->lines[1].barriers = 1e5;
    expect_first(f, "barriers", 6, METRIC_STALL_BARRIER_PCT, 65, ACTION_SHUFFLE_REDUCE);
    assert_int_equal(f->c.explanation.findings[0].severity, SEVERITY_CRITICAL);
}

static void test_fp64_in_f32_task(void **state)
{
    struct fixture *f = *state;
    struct task_array array = {.elem = ELEM_F64};

    set(f, METRIC_INST_FP64, 8e7);
    set(f, METRIC_FP64_PCT, 90);
    f->lines[1].fp64_inst = 8e7;
    expect_first(f, "fp64", 6, METRIC_INST_FP64, 8e7, ACTION_FAST_MATH);
    f->task.arrays = &array; /* in a task of doubles that is as it should be */
    f->task.nr_arrays = 1;
    assert_false(found(explain(f), "fp64"));
}

static void test_special_functions(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_INST_SPECIAL, 4e7);
    set(f, METRIC_XU_PCT, 90);
    f->lines[1].special_inst = 4e7;
    expect_first(f, "special_functions", 6, METRIC_INST_SPECIAL, 4e7, ACTION_FAST_MATH);
}

static void test_conversions(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_INST_CONVERSION, 10e7);
    f->lines[1].conversion_inst = 10e7;
    expect_first(f, "conversions", 6, METRIC_INST_CONVERSION, 10e7, ACTION_HOIST);
}

static void test_latency(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_DRAM_PCT, 25);
    set(f, METRIC_L2_PCT, 15);
    set(f, METRIC_STALL_LONG_PCT, 75);
    expect_first(f, "latency", 5, METRIC_STALL_LONG_PCT, 75, ACTION_COARSEN);
    assert_int_equal(f->c.explanation.findings[0].severity, SEVERITY_CRITICAL);
}

static void test_atomics(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_GLOBAL_ATOMICS, 1e6);
    f->lines[1].atomics = 1e6;
    f->lines[1].stall_cycles = 890; /* of 1000 */
    expect_first(f, "atomics", 6, METRIC_GLOBAL_ATOMICS, 1e6, ACTION_PRIVATIZE);
    assert_true(fabs(f->c.explanation.findings[0].share - 0.89) < 1e-6);
}

static void test_full_queue(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_STALL_MIO_PCT, 80);
    assert_false(found(explain(f), "mio_queue")); /* a queue of global accesses */
    set(f, METRIC_SHARED_LD_REQUESTS, 8e6);
    f->lines[1].shared_requests = 8e6;
    expect_first(f, "mio_queue", 6, METRIC_STALL_MIO_PCT, 80, ACTION_REGISTER_TILE);
    /* Special functions fill the same queue, where there is no shared memory. */
    set(f, METRIC_SHARED_LD_REQUESTS, 0);
    f->lines[1].shared_requests = 0;
    f->lines[1].special_inst = 3e8;
    set(f, METRIC_INST_SPECIAL, 3e8);
    assert_true(found(explain(f), "mio_queue"));
    for (unsigned i = 0; i < f->c.explanation.nr_findings; i++) {
        if (strcmp(f->c.explanation.findings[i].tool, "mio_queue") == 0) {
            assert_non_null(
                strstr(f->c.explanation.findings[i].text, "queue to special functions"));
            assert_null(strstr(f->c.explanation.findings[i].text, "shared memory"));
        }
    }
}

static const char *text_of(const struct fixture *f, const char *tool)
{
    for (unsigned i = 0; i < f->c.explanation.nr_findings; i++) {
        if (strcmp(f->c.explanation.findings[i].tool, tool) == 0)
            return f->c.explanation.findings[i].text;
    }
    return "";
}

/* The same reason to wait, and what each kernel waits for. */
static void test_short_waits_name_what_there_is(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_DRAM_PCT, 25);
    set(f, METRIC_L2_PCT, 15);
    set(f, METRIC_STALL_SHORT_PCT, 70);
    set(f, METRIC_INST_SHUFFLE, 3e8);
    explain(f);
    assert_non_null(strstr(text_of(f, "short_scoreboard"), "waiting for shuffles ("));
    set(f, METRIC_INST_SPECIAL, 2e8);
    explain(f);
    assert_non_null(
        strstr(text_of(f, "short_scoreboard"), "waiting for special functions or shuffles ("));
    set(f, METRIC_SHARED_LD_REQUESTS, 8e6);
    set(f, METRIC_INST_SHUFFLE, 0);
    set(f, METRIC_INST_SPECIAL, 0);
    explain(f);
    assert_non_null(strstr(text_of(f, "short_scoreboard"), "waiting for shared memory ("));
}

static void test_full_pipe(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_STALL_MATH_PCT, 60);
    set(f, METRIC_FMA_PCT, 90);
    assert_false(found(explain(f), "pipe_throttle")); /* as it should be */
    set(f, METRIC_ALU_PCT, 95);
    expect_first(f, "pipe_throttle", 0, METRIC_ALU_PCT, 95, ACTION_HOIST);
}

/* Each byte comes from DRAM four times. */
static void test_l2_does_not_keep(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_DRAM_BYTES, 4096e6);
    set(f, METRIC_L2_HIT_PCT, 20);
    expect_first(f, "l2_reuse", 5, METRIC_DRAM_BYTES, 4096e6, ACTION_SHARED_TILE);
    set(f, METRIC_L2_HIT_PCT, 75);
    assert_false(found(explain(f), "l2_reuse"));
}

/* 432000 cycles in 360 us: 1.2 GHz, where the H100 can do 1.98. Modelled time has no clock. */
static void test_clock(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_CYCLES, 432e3);
    assert_false(found(explain(f), "clock"));
    counters_set(f->n, METRIC_TIME_NS, 360e3, PROV_MEASURED);
    assert_true(found(explain(f), "clock"));
    assert_non_null(strstr(f->c.explanation.findings[0].text, "1200 MHz"));
    set(f, METRIC_CYCLES, 700e3);
    assert_false(found(explain(f), "clock"));
}

/* By hand: 3.35e12 B/s times the latency of DRAM over 132 SMs is
 * needed; 64 warps fit and 128 per SM are launched; a request moves 16 sectors, 512 bytes. */
static void test_limits(void **state)
{
    struct fixture *f = *state;
    const struct chip *chip = chip_default();
    const double needed = chip->dram_bytes_per_s * chip->lat_dram / chip->clock_hz / chip->nr_sms;
    struct limits limits;
    struct str text = {0};

    explain(f);
    limits = explain_limits(chip, &f->c);
    assert_true(fabs(limits.needed_bytes - needed) < 1e-6 * needed);
    assert_true(fabs(limits.warps - 64) < 1e-9);
    assert_true(fabs(limits.one_each - 64 * 512) < 1e-6);
    assert_true(fabs(limits.moved_bytes - 0.85 * needed) < 1e-6 * needed);
    assert_int_equal(limits.pipes[0].metric, METRIC_DRAM_PCT);
    assert_true(limits.pipes[1].pct <= limits.pipes[0].pct && limits.nr_pipes == 9);
    set(f, METRIC_WARPS_LAUNCHED, 132 * 2); /* two warps per SM */
    limits = explain_limits(chip, &f->c);
    assert_true(fabs(limits.one_each - 1024) < 1e-9);
    limits_write(&limits, &text);
    assert_non_null(strstr(str_text(&text), "2 resident warps with one access of 512 bytes"));
    assert_non_null(strstr(str_text(&text), "each needs "));
    assert_non_null(strstr(str_text(&text), "DRAM 85%, L2 50%"));
    str_finish(&text);
}

/* Five launches in 10 us: four more than one, of 0.95 us each. */
static void test_launch_overhead(void **state)
{
    struct fixture *f = *state;

    f->c.profile.nr_launches = 5;
    f->c.profile.time_ns = 10e3;
    set(f, METRIC_TIME_NS, 10e3);
    expect_first(f, "launch_overhead", 0, METRIC_TIME_NS, 10e3, ACTION_FUSE);
    assert_true(fabs(f->c.explanation.findings[0].share - 0.38) < 1e-6);
}

/* What activity records say of the gaps goes before what the chip's usual ones would be: 9 of 12 us
 * idle; 1 of 12, which nobody need care about. */
static void test_launch_gaps_as_measured(void **state)
{
    struct fixture *f = *state;

    f->c.profile.nr_launches = 5;
    f->c.profile.time_ns = 10e3;
    set(f, METRIC_TIME_NS, 10e3);
    set(f, METRIC_SPAN_NS, 12e3);
    set(f, METRIC_GAP_NS, 9e3);
    expect_first(f, "launch_overhead", 0, METRIC_GAP_NS, 9e3, ACTION_FUSE);
    assert_true(fabs(f->c.explanation.findings[0].share - 0.75) < 1e-6);
    assert_non_null(strstr(f->c.explanation.findings[0].text, "for 75% of that"));
    set(f, METRIC_GAP_NS, 1e3);
    assert_false(found(explain(f), "launch_overhead"));
}

static unsigned line_of_tool(const struct explanation *e, const char *tool)
{
    for (unsigned i = 0; i < e->nr_findings; i++)
        if (strcmp(e->findings[i].tool, tool) == 0)
            return e->findings[i].line;
    return 0;
}

/* Samples know for what a line waits: advice on memory names the line that waits for memory, and
 * advice on barriers the one at the barrier, though another line waits longer for something else.
 */
static void test_lines_by_what_they_wait_for(void **state)
{
    static const enum wait_reason reasons[] = {WAIT_MATH, WAIT_LONG, WAIT_BARRIER};
    struct fixture *f = *state;

    for (unsigned i = 0; i < 3; i++) {
        f->lines[i] = (struct line_cost){.line = 10 + i, .stall_cycles = 100 - i};
        f->lines[i].stalls[reasons[i]] = 100 - i;
    }
    set(f, METRIC_DRAM_PCT, 50);
    set(f, METRIC_STALL_LONG_PCT, 50);
    set(f, METRIC_STALL_BARRIER_PCT, 40);
    set(f, METRIC_BARRIERS, 1e6);
    assert_int_equal(line_of_tool(explain(f), "latency"), 11);
    assert_int_equal(line_of_tool(explain(f), "barriers"), 12);
}

static void starve(struct fixture *f)
{
    set(f, METRIC_OCCUPANCY_PCT, 12.5);
    set(f, METRIC_OCC_LIMIT_REGISTERS, 1);
    set(f, METRIC_REGISTERS, 250);
    set(f, METRIC_STALL_LONG_PCT, 39); /* one under the trigger of the latency tool */
    set(f, METRIC_DRAM_PCT, 50);
}

static void test_occupancy_names_the_limiter(void **state)
{
    struct fixture *f = *state;

    starve(f);
    expect_first(f, "occupancy", 0, METRIC_OCC_LIMIT_REGISTERS, 1, ACTION_BLOCK_SHAPE);
    assert_non_null(strstr(f->c.explanation.findings[0].text, "registers allow 1 block"));
    set(f, METRIC_OCC_LIMIT_REGISTERS, 8);
    set(f, METRIC_OCC_LIMIT_SMEM, 1);
    expect_first(f, "occupancy", 0, METRIC_OCC_LIMIT_SMEM, 1, ACTION_BLOCK_SHAPE);
    assert_non_null(strstr(f->c.explanation.findings[0].text, "shared memory"));
}

static void test_occupancy_is_withheld_when_a_pipe_is_busy(void **state)
{
    struct fixture *f = *state;

    starve(f);
    assert_true(found(explain(f), "occupancy"));
    set(f, METRIC_FMA_PCT, 80);
    assert_false(found(explain(f), "occupancy"));
}

static void test_cache_misses(void **state)
{
    struct fixture *f = *state;

    set(f, METRIC_GLOBAL_UNIQUE_BYTES, 1024e6 / 6); /* each sector 3 times, asked for 3 times */
    set(f, METRIC_L1_HIT_PCT, 5);
    expect_first(f, "cache_misses", 5, METRIC_L1_HIT_PCT, 5, ACTION_SHARED_TILE);
}

static void test_bandwidth(void **state)
{
    struct fixture *f = *state;

    give_work(f, NULL, "512*1000*1000"); /* half of what DRAM moved */
    set(f, METRIC_DRAM_PCT, 90);
    expect_first(f, "bandwidth", 0, METRIC_DRAM_BYTES, 1024e6, ACTION_SHARED_TILE);
    assert_non_null(
        strstr(f->c.explanation.findings[0].text, "which take 180 us at the same bandwidth"));
}

static void test_tensor_cores(void **state)
{
    struct fixture *f = *state;
    struct task_array arrays[] = {{.role = ROLE_IN, .elem = ELEM_F16},
        {.role = ROLE_IN, .elem = ELEM_F16}, {.role = ROLE_OUT, .elem = ELEM_F32}};

    for (unsigned i = 0; i < 3; i++) {
        arrays[i].nr_dims = 2;
        arrays[i].dims[0] = arrays[i].dims[1] = expr_literal(f->arena, 4096);
    }
    f->task.arrays = arrays;
    f->task.nr_arrays = 3;
    give_work(f, "2*4096*4096*4096", "8*4096*4096");
    set(f, METRIC_FMA_PCT, 90);
    set(f, METRIC_DRAM_PCT, 10);
    set(f, METRIC_L2_PCT, 10);
    set(f, METRIC_SASS_TENSOR, 0);
    expect_first(f, "tensor_cores", 0, METRIC_INST_TENSOR, 0, ACTION_TENSOR_CORES);
    assert_non_null(strstr(f->c.explanation.findings[0].text, "the machine code has none"));
    assert_int_equal(f->c.explanation.bound, BOUND_COMPUTE);
    /* 28 flops a byte keep the vector pipes longer than DRAM, 16 do not. */
    give_work(f, "28*8*4096*4096", "8*4096*4096");
    assert_true(found(explain(f), "tensor_cores"));
    give_work(f, "16*8*4096*4096", "8*4096*4096");
    assert_false(found(explain(f), "tensor_cores"));
    /* Bytes are operands of tensor cores, 32-bit integers are not. */
    arrays[0].elem = arrays[1].elem = ELEM_I8;
    arrays[2].elem = ELEM_I32;
    give_work(f, "2*4096*4096*4096", "6*4096*4096");
    assert_true(found(explain(f), "tensor_cores"));
    assert_non_null(
        strstr(f->c.explanation.findings[0].text, "The task's 137G integer operations on"));
    arrays[0].elem = arrays[1].elem = ELEM_I32;
    give_work(f, "2*4096*4096*4096", "12*4096*4096");
    assert_false(found(explain(f), "tensor_cores"));
}

/* What is not known is named, and what is known is still used. */
static void test_absent_is_unexamined(void **state)
{
    struct fixture *f = *state;

    f->n->metric[METRIC_STALL_BARRIER_PCT].from = PROV_ABSENT;
    f->n->metric[METRIC_WAVES].from = PROV_ABSENT;
    set(f, METRIC_SPILL_BYTES, 128);
    const struct explanation *e = explain(f);

    assert_true(is_listed(e->unexamined, "barriers"));
    assert_true(is_listed(e->unexamined, "tail_effect"));
    assert_false(is_listed(e->unexamined, "register_spills"));
    assert_string_equal(e->findings[0].tool, "register_spills");

    memset(f->n->metric, 0, sizeof(f->n->metric));
    e = explain(f);
    assert_int_equal(e->nr_findings, 0);
    assert_int_equal(e->bound, BOUND_UNKNOWN);
    assert_true(is_listed(e->unexamined, "coalescing"));
    assert_true(is_listed(e->unexamined, "register_spills"));
}

/* Without costs of lines the findings concern the whole kernel. */
static void test_without_lines(void **state)
{
    struct fixture *f = *state;

    make_matmul(f);
    f->n->nr_lines = 0;
    f->n->lines = NULL;
    expect_first(
        f, "redundant_loads", 0, METRIC_GLOBAL_UNIQUE_BYTES, 12 << 20, ACTION_REGISTER_TILE);
    assert_null(strstr(f->c.explanation.findings[0].text, "Line"));
}

static void test_class_and_conflict(void **state)
{
    struct fixture *f = *state;
    const struct explanation *e;
    double agreed;

    give_work(f, "1000", "1024*1000*1000"); /* memory by theory, DRAM 85% busy */
    e = explain(f);
    assert_int_equal(e->bound, BOUND_MEMORY);
    agreed = e->confidence;
    assert_non_null(strstr(e->summary,
        "The task is memory-bound (9.77e-07 flops per byte), and this kernel spends its time on "
        "memory accesses: DRAM is 85% busy, the issue slots 25% (counted)."));
    assert_non_null(
        strstr(e->summary, "It took 360 us (modelled); the task needs at least 309 us."));
    assert_true(fabs(e->roofline_share - 1024e6 / (0.989 * 3.35e12) * 1e9 / 360e3) < 1e-9);

    make_matmul(f); /* compute by theory, the load/store unit 95% busy */
    give_work(f, "2*1024*1024*1024", "12*1024*1024");
    e = explain(f);
    assert_int_equal(e->bound, BOUND_COMPUTE);
    assert_true(e->confidence < agreed);
    assert_non_null(strstr(e->summary,
        "The task is compute-bound (171 flops per byte), but this kernel spends its time on memory "
        "accesses: the load/store unit is 95% busy"));
    assert_non_null(strstr(e->summary, "It took 700 us (modelled); the task needs at least 32.1 us "
                                       "by f32 FMA"));
    assert_string_equal(e->findings[0].tool, "redundant_loads"); /* and still the right advice */
}

/* Bytes that the task states and that no launch touches leave nothing less to gain. */
static void test_stated_bytes_are_not_touched(void **state)
{
    struct fixture *f = *state;

    give_work(f, NULL, "2*512*1000*1000");
    f->c.profile.time_ns = task_roofline(chip_default(), &f->task, NULL).least_ns;
    set(f, METRIC_TIME_NS, f->c.profile.time_ns);
    set(f, METRIC_GLOBAL_UNIQUE_BYTES, 1024e6 / 6);
    set(f, METRIC_L1_HIT_PCT, 5);
    assert_true(found(explain(f), "cache_misses"));
    set(f, METRIC_GLOBAL_UNIQUE_BYTES, 1024e6);
    assert_false(found(explain(f), "cache_misses"));
}

/* The gain cannot exceed what the roofline leaves. */
static void test_gain_is_clipped_by_the_roofline(void **state)
{
    struct fixture *f = *state;
    const struct explanation *e;

    make_matmul(f);
    give_work(f, "2*1024*1024*1024", NULL);
    f->c.profile.time_ns = 2 * task_roofline(chip_default(), &f->task, NULL).least_ns;
    e = explain(f);
    assert_true(e->nr_findings > 0);
    for (unsigned i = 0; i < e->nr_findings; i++) {
        assert_true(e->findings[i].max_gain <= 2 + 1e-9);
    }
    f->c.profile.time_ns = task_roofline(chip_default(), &f->task, NULL).least_ns;
    assert_int_equal(explain(f)->nr_findings, 0);
}

/* Causes with one cure, of those that the next test brings up. */
static bool names_one_cause(const char *tool)
{
    return strcmp(tool, "atomics") == 0 || strcmp(tool, "fp64") == 0 ||
           strcmp(tool, "register_spills") == 0;
}

/* Everything wrong at once: five leave, and where the gain is the same the more specific one goes
 * first. */
static void test_at_most_five(void **state)
{
    struct fixture *f = *state;
    const struct explanation *e;

    make_matmul(f);
    set(f, METRIC_SPILL_BYTES, 500);
    set(f, METRIC_GLOBAL_ATOMICS, 1e8);
    set(f, METRIC_STALL_BARRIER_PCT, 70);
    set(f, METRIC_BARRIERS, 1e5);
    set(f, METRIC_WAVES, 1.1);
    set(f, METRIC_INST_SPECIAL, 1e8);
    set(f, METRIC_XU_PCT, 95);
    set(f, METRIC_INST_FP64, 1e8);
    set(f, METRIC_FP64_PCT, 95);
    e = explain(f);
    assert_int_equal(e->nr_findings, 5);
    for (unsigned i = 0; i + 1 < e->nr_findings; i++) {
        const struct finding *f1 = &e->findings[i], *f2 = &e->findings[i + 1];

        assert_false(!names_one_cause(f1->tool) && names_one_cause(f2->tool) &&
                     finding_expected(f2) >= finding_expected(f1));
    }
    assert_string_equal(e->findings[0].tool, "redundant_loads"); /* 33x to gain: more than all */
    assert_string_not_equal(e->findings[4].tool, "fp64");
}

static void give_options(struct fixture *f)
{
    static const enum action actions[] = {ACTION_READ_ONLY, ACTION_LAUNCH_BOUNDS, ACTION_UNROLL,
        ACTION_UNROLL, ACTION_UNROLL, ACTION_SHARED_TILE, ACTION_REGISTER_TILE, ACTION_PAD_SHARED,
        ACTION_VECTORIZE, ACTION_SWAP_XY};
    unsigned nr = sizeof(actions) / sizeof(actions[0]);

    f->c.options = arena_array(f->arena, nr, sizeof(*f->c.options));
    f->c.nr_options = nr;
    for (unsigned i = 0; i < nr; i++) {
        f->c.options[i] = (struct option){.action = actions[i],
            .proposer = PROPOSER_REWRITER,
            .variant = i,
            .what = arena_printf(f->arena, "%s at line %u", action_name(actions[i]), i + 3)};
    }
}

static double prior_of(const struct fixture *f, enum action action)
{
    double sum = 0;

    for (unsigned i = 0; i < f->c.nr_options; i++) {
        sum += f->c.options[i].action == action ? (double)f->c.options[i].prior : 0;
    }
    return sum;
}

static void check_priors(struct fixture *f)
{
    double sum = 0;

    for (unsigned i = 0; i < f->c.nr_options; i++) {
        assert_true(f->c.options[i].prior > 0);
        sum += (double)f->c.options[i].prior;
    }
    assert_true(fabs(sum - 1) < 1e-5);
}

static void test_priors_follow_the_findings(void **state)
{
    struct fixture *f = *state;
    double pad, tile;

    give_options(f);
    explain(f); /* no findings: general usefulness */
    check_priors(f);
    assert_true(prior_of(f, ACTION_REGISTER_TILE) > prior_of(f, ACTION_LAUNCH_BOUNDS));
    pad = prior_of(f, ACTION_PAD_SHARED);
    tile = prior_of(f, ACTION_SHARED_TILE);

    set(f, METRIC_SHARED_LD_REQUESTS, 1e5);
    set(f, METRIC_SHARED_LD_WAVEFRONTS, 32e5);
    set(f, METRIC_SHARED_LD_CONFLICTS, 31e5);
    explain(f);
    check_priors(f);
    assert_true(prior_of(f, ACTION_PAD_SHARED) > 5 * pad);
    assert_true(prior_of(f, ACTION_PAD_SHARED) > 0.5);

    set_memory(f);
    make_matmul(f);
    explain(f);
    check_priors(f);
    assert_true(prior_of(f, ACTION_SHARED_TILE) > 1.2 * tile);
    assert_true(prior_of(f, ACTION_SHARED_TILE) + prior_of(f, ACTION_REGISTER_TILE) > 0.6);
}

/* Variants share their move's weight; the one at the finding's line gets more. */
static void test_priors_of_variants(void **state)
{
    struct fixture *f = *state;

    give_options(f); /* unroll at lines 5, 6 and 7 */
    explain(f);
    assert_true(f->c.options[2].prior > f->c.options[3].prior);
    assert_true(f->c.options[3].prior > f->c.options[4].prior);
    set(f, METRIC_LOCAL_LD_REQUESTS, 2e6);
    f->lines[1].local_requests = 3e6; /* line 6 */
    explain(f);
    check_priors(f);
    assert_true(f->c.options[3].prior > f->c.options[2].prior);
    assert_true(f->c.options[3].prior > f->c.options[4].prior);
}

/* The finding is on line 6, in the body of the loop whose head is on line 5, not of the one on 7.
 */
static void test_priors_know_the_loop_around_a_line(void **state)
{
    struct fixture *f = *state;

    give_options(f);
    f->c.options[3].what = "unroll the loop at line 9 by 4";
    set(f, METRIC_LOCAL_LD_REQUESTS, 2e6);
    f->lines[1].local_requests = 3e6;
    explain(f);
    check_priors(f);
    assert_true(f->c.options[2].prior > 2 * f->c.options[3].prior);
    assert_true(f->c.options[2].prior > 2 * f->c.options[4].prior);
}

/* Of two launches the first takes 9% of the time: moves on its kernel are worth little. */
static void test_priors_follow_the_time_of_kernels(void **state)
{
    struct fixture *f = *state;
    struct launch_config configs[] = {{.kernel = "rows<float>"}, {.kernel = "rows_sum"}};
    struct counters launches[2] = {0};

    give_options(f);
    counters_set(&launches[0], METRIC_TIME_NS, 30e3, PROV_MODELLED);
    counters_set(&launches[1], METRIC_TIME_NS, 300e3, PROV_MODELLED);
    f->c.profile.nr_launches = 2;
    f->c.profile.longest = 1;
    f->c.profile.configs = configs;
    f->c.profile.launches = launches;
    f->c.options[5].what = "tiles of rows's operands in shared memory"; /* shared_tile */
    f->c.options[6].what = "4x4 outputs a thread in rows_sum";          /* register_tile */
    explain(f);
    check_priors(f);
    /* 3 * (0.1 + 0.9 * 30 / 330) against 3.5 * (0.1 + 0.9 * 300 / 330) */
    assert_true(fabs((double)(f->c.options[5].prior / f->c.options[6].prior) -
                     3 * (0.1 + 0.9 / 11) / (3.5 * (0.1 + 9.0 / 11))) < 1e-3);
}

static void test_priors_do_not_repeat(void **state)
{
    struct fixture *f = *state;
    double before;

    give_options(f);
    explain(f);
    before = prior_of(f, ACTION_SWAP_XY);
    f->c.option.action = ACTION_SWAP_XY;
    explain(f);
    check_priors(f);
    assert_true(prior_of(f, ACTION_SWAP_XY) < 0.5 * before);
}

static void test_every_verdict_becomes_one_finding(void **state)
{
    struct fixture *f = *state;

    for (int v = VERDICT_OK + 1; v < NR_VERDICTS; v++) {
        candidate_fail(&f->c, (enum verdict)v, 12, "k.cu:12: it went wrong");
        const struct explanation *e = explain(f);

        assert_int_equal(e->nr_findings, 1);
        assert_int_equal(e->findings[0].line, 12);
        assert_int_equal(e->findings[0].nr_weights, 0);
        assert_non_null(strstr(e->findings[0].text, verdict_name((enum verdict)v)));
        assert_non_null(strstr(e->findings[0].text, "k.cu:12: it went wrong"));
    }
}

/* What to do follows from what went wrong, not from the verdict alone. */
static void test_advice_fits_the_fault(void **state)
{
    static const struct {
        enum verdict verdict;
        const char *text, *advice, *not ;
    } cases[] = {
        {VERDICT_FAULT, "out of bounds: 4-byte read", "Guard the index", "arrives"},
        {VERDICT_FAULT, "deadlock: warp 0 waits for a phase of the mbarrier at byte 8",
            "Count who arrives", "Guard"},
        {VERDICT_FAULT, "misaligned: 16-byte read", "multiples of the width", "Guard"},
        {VERDICT_FAULT, "uninitialised: read of T, which nothing wrote", "not cleared", "Guard"},
        {VERDICT_RACE, "write and read, no barrier between them", "Put a __syncthreads()", "fence"},
        {VERDICT_RACE, "has a result register that was written after the last wgmma.fence",
            "wgmma.fence stand", "__syncthreads"},
        {VERDICT_RACE, "write and read, no fence and atomic hand the one on to the other",
            "Writer: ", "Put a __syncthreads()"},
        {VERDICT_RACE, "nothing orders the blocks of one launch", "second launch",
            "Put a __syncthreads()"},
        {VERDICT_LAUNCH_FAILED, "60480 bytes of static shared memory, the limit is 49152",
            "extern __shared__", "Fit the block"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        candidate_fail(&f->c, cases[i].verdict, 12, "k.cu:12: %s", cases[i].text);
        const char *text = explain(f)->findings[0].text;

        assert_non_null(strstr(text, cases[i].advice));
        assert_null(strstr(text, cases[i].not ));
    }
}

static void test_long_verdict_is_cut(void **state)
{
    struct fixture *f = *state;
    char log[2000];

    memset(log, 'e', sizeof(log) - 1);
    log[sizeof(log) - 1] = '\0';
    log[10] = '\n';
    candidate_fail(&f->c, VERDICT_NO_COMPILE, 3, "%s", log);
    const struct finding *finding = &explain(f)->findings[0];

    assert_in_range(strlen(finding->text), 300, FINDING_TEXT_BYTES - 1);
    assert_null(strchr(finding->text, '\n'));
    assert_non_null(strstr(finding->text, "give the move up"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_good_order_is_silent),
        TEST(test_coalescing),
        TEST(test_what_limits_without_the_cause),
        TEST(test_wanted_cures),
        TEST(test_broadcast_is_no_waste),
        TEST(test_serial_rows),
        TEST(test_bank_conflicts),
        TEST(test_spills),
        TEST(test_spills_have_the_line_of_the_machine_code),
        TEST(test_local_array),
        TEST(test_divergence),
        TEST(test_narrow_access),
        TEST(test_redundant_loads),
        TEST(test_redundant_loads_when_sampled),
        TEST(test_streaming_when_sampled),
        TEST(test_shared_traffic),
        TEST(test_instruction_overhead),
        TEST(test_tail),
        TEST(test_few_blocks),
        TEST(test_barriers),
        TEST(test_fp64_in_f32_task),
        TEST(test_special_functions),
        TEST(test_conversions),
        TEST(test_latency),
        TEST(test_full_queue),
        TEST(test_short_waits_name_what_there_is),
        TEST(test_full_pipe),
        TEST(test_l2_does_not_keep),
        TEST(test_clock),
        TEST(test_limits),
        TEST(test_atomics),
        TEST(test_launch_overhead),
        TEST(test_launch_gaps_as_measured),
        TEST(test_lines_by_what_they_wait_for),
        TEST(test_occupancy_names_the_limiter),
        TEST(test_occupancy_is_withheld_when_a_pipe_is_busy),
        TEST(test_cache_misses),
        TEST(test_bandwidth),
        TEST(test_tensor_cores),
        TEST(test_absent_is_unexamined),
        TEST(test_without_lines),
        TEST(test_class_and_conflict),
        TEST(test_stated_bytes_are_not_touched),
        TEST(test_gain_is_clipped_by_the_roofline),
        TEST(test_at_most_five),
        TEST(test_priors_follow_the_findings),
        TEST(test_priors_of_variants),
        TEST(test_priors_know_the_loop_around_a_line),
        TEST(test_priors_follow_the_time_of_kernels),
        TEST(test_priors_do_not_repeat),
        TEST(test_every_verdict_becomes_one_finding),
        TEST(test_advice_fits_the_fault),
        TEST(test_long_verdict_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
