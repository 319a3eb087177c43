/* A profile made by hand of a kernel in good order, in which tests plant one bottleneck each, and
 * what they ask of the explanation. */
#ifndef KEET_TESTS_EXPLAIN_FIXTURE_H
#define KEET_TESTS_EXPLAIN_FIXTURE_H

#include "explain/explain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A kernel in good order: 16-byte coalesced accesses, DRAM 85% busy, all warps resident, two whole
 * waves, nothing in local memory. Lines: 5 loads, 6 computes, 7 stores. */
struct fixture {
    struct arena *arena;
    struct candidate c;
    struct task task;
    struct counters *n; /* the total */
    struct line_cost lines[3];
    struct launch_config configs[5];
    struct counters launches[5];
    struct err err;
};

static inline void set(struct fixture *f, enum metric metric, double value)
{
    counters_set(f->n, metric, value, PROV_COUNTED);
}

static inline void set_memory(struct fixture *f)
{
    static const enum metric zeros[] = {METRIC_GLOBAL_ATOMICS, METRIC_SHARED_LD_REQUESTS,
        METRIC_SHARED_ST_REQUESTS, METRIC_SHARED_LD_WAVEFRONTS, METRIC_SHARED_ST_WAVEFRONTS,
        METRIC_SHARED_LD_CONFLICTS, METRIC_SHARED_ST_CONFLICTS, METRIC_LOCAL_LD_REQUESTS,
        METRIC_LOCAL_ST_REQUESTS, METRIC_SPILL_BYTES, METRIC_BARRIERS, METRIC_STALL_BARRIER_PCT,
        METRIC_INST_FP64, METRIC_INST_CONVERSION, METRIC_INST_SPECIAL, METRIC_INST_TENSOR,
        METRIC_BRANCHES_DIVERGENT};

    for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++) {
        set(f, zeros[i], 0);
    }
    /* 1e6 loads and as many stores of 512 bytes a warp, 16 sectors each. */
    set(f, METRIC_GLOBAL_LD_REQUESTS, 1e6);
    set(f, METRIC_GLOBAL_ST_REQUESTS, 1e6);
    set(f, METRIC_GLOBAL_LD_SECTORS, 16e6);
    set(f, METRIC_GLOBAL_ST_SECTORS, 16e6);
    set(f, METRIC_GLOBAL_LD_SECTORS_IDEAL, 16e6);
    set(f, METRIC_GLOBAL_ST_SECTORS_IDEAL, 16e6);
    set(f, METRIC_GLOBAL_LD_BYTES, 512e6);
    set(f, METRIC_GLOBAL_ST_BYTES, 512e6);
    set(f, METRIC_GLOBAL_UNIQUE_BYTES, 1024e6);
    set(f, METRIC_L1_HIT_PCT, 0);
    set(f, METRIC_L2_HIT_PCT, 60);
    set(f, METRIC_DRAM_BYTES, 1024e6);
    set(f, METRIC_DRAM_PCT, 85);
    set(f, METRIC_L2_PCT, 50);
    set(f, METRIC_LSU_PCT, 30);
}

static inline void set_compute(struct fixture *f)
{
    set(f, METRIC_TIME_NS, 360e3);
    set(f, METRIC_WARP_INST, 1e7);
    set(f, METRIC_THREAD_INST, 32e7);
    set(f, METRIC_INST_FP32, 16e7);
    set(f, METRIC_INST_INTEGER, 8e7);
    set(f, METRIC_INST_CONTROL, 1e7);
    set(f, METRIC_BRANCHES, 1e6);
    set(f, METRIC_FLOPS, 32e7);
    set(f, METRIC_FMA_PCT, 20);
    set(f, METRIC_ALU_PCT, 20);
    set(f, METRIC_FP64_PCT, 0);
    set(f, METRIC_XU_PCT, 0);
    set(f, METRIC_TENSOR_PCT, 0);
    set(f, METRIC_ISSUE_PCT, 25);
    set(f, METRIC_STALL_LONG_PCT, 30);
    set(f, METRIC_STALL_SHORT_PCT, 0);
    set(f, METRIC_STALL_MIO_PCT, 0);
    set(f, METRIC_STALL_MATH_PCT, 0);
    set(f, METRIC_CYCLES, 700e3);
}

static inline void set_launch(struct fixture *f)
{
    set(f, METRIC_WARPS_LAUNCHED, 2112 * 8);
    set(f, METRIC_REGISTERS, 32);
    set(f, METRIC_BLOCK_THREADS, 256);
    set(f, METRIC_GRID_BLOCKS, 2112);
    set(f, METRIC_WAVES, 2);
    set(f, METRIC_OCC_LIMIT_BLOCKS, 32);
    set(f, METRIC_OCC_LIMIT_REGISTERS, 8);
    set(f, METRIC_OCC_LIMIT_SMEM, 32);
    set(f, METRIC_OCC_LIMIT_WARPS, 8);
    set(f, METRIC_OCCUPANCY_PCT, 100);
    f->configs[0] = (struct launch_config){"f", {2112, 1, 1}, {256, 1, 1}, {1, 1, 1}, 0};
}

static inline int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    f->arena = arena_create();
    f->c = (struct candidate){.arena = f->arena,
        .task = &f->task,
        .parent = -1,
        .recalled_from = -1,
        .option = {.action = ACTION_NONE},
        .profiled = true};
    f->n = &f->c.profile.total;
    f->c.profile.nr_launches = 1;
    f->c.profile.configs = f->configs;
    f->c.profile.launches = f->launches;
    f->c.profile.time_ns = 360e3;
    f->c.profile.time_from = PROV_MODELLED;
    set_memory(f);
    set_compute(f);
    set_launch(f);
    f->lines[0] = (struct line_cost){.line = 5,
        .access_bytes = 16,
        .global_requests = 1e6,
        .global_sectors = 16e6,
        .global_sectors_ideal = 16e6,
        .global_bytes = 512e6,
        .stall_cycles = 100};
    f->lines[1] =
        (struct line_cost){.line = 6, .warp_inst = 8e6, .thread_inst = 256e6, .integer_inst = 8e7};
    f->lines[2] = f->lines[0];
    f->lines[2].line = 7;
    f->lines[2].stall_cycles = 10;
    f->n->lines = f->lines;
    f->n->nr_lines = 3;
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    arena_destroy(f->arena);
    free(f);
    return 0;
}

static inline const struct explanation *explain(struct fixture *f)
{
    assert_true(explain_kernel(chip_default(), &f->c, &f->err));
    const struct explanation *e = &f->c.explanation;

    assert_true(e->nr_findings <= 5);
    assert_non_null(e->summary);
    for (unsigned i = 0; i < e->nr_findings; i++) {
        const struct finding *finding = &e->findings[i];
        size_t len = strlen(finding->text);
        unsigned same_tool = 0;

        /* A whole sentence: under the limit, and not cut at it. */
        assert_in_range(len, 20, FINDING_TEXT_BYTES - 1);
        assert_int_equal(finding->text[len - 1], '.');
        assert_true(finding->max_gain == 0 || finding->max_gain >= 1);
        assert_true(finding_expected(finding) >= 1);
        for (unsigned k = 0; k < e->nr_findings; k++) {
            same_tool += strcmp(finding->tool, e->findings[k].tool) == 0;
        }
        assert_true(same_tool <= 2);
    }
    return e;
}

static inline enum action heaviest(const struct finding *finding)
{
    unsigned most = 0;

    assert_true(finding->nr_weights > 0);
    for (unsigned i = 1; i < finding->nr_weights; i++) {
        if (finding->weights[i].weight > finding->weights[most].weight) {
            most = i;
        }
    }
    return finding->weights[most].action;
}

static inline bool cites(const struct finding *finding, enum metric metric, double value)
{
    for (unsigned i = 0; i < finding->nr_evidence; i++) {
        if (finding->evidence[i].metric == metric &&
            fabs(finding->evidence[i].value - value) < 1e-9 &&
            finding->evidence[i].from == PROV_COUNTED) {
            return true;
        }
    }
    return false;
}

static inline void expect_first(struct fixture *f, const char *tool, unsigned line,
    enum metric metric, double value, enum action action)
{
    const struct explanation *e = explain(f);

    assert_true(e->nr_findings >= 1);
    assert_string_equal(e->findings[0].tool, tool);
    assert_int_equal(e->findings[0].line, line);
    assert_true(cites(&e->findings[0], metric, value));
    assert_string_equal(action_name(heaviest(&e->findings[0])), action_name(action));
}

static inline bool found(const struct explanation *e, const char *tool)
{
    for (unsigned i = 0; i < e->nr_findings; i++) {
        if (strcmp(e->findings[i].tool, tool) == 0) {
            return true;
        }
    }
    return false;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
