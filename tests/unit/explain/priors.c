/* Tests of what steers the search: what the profile speaks against, which way a variant should go,
 * and what may stand in an explanation's place. The expected numbers are worked out by hand from
 * the weights that priors.c states. */
#include "explain/explain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct arena *arena;
    struct task task; /* kernels/matmul.cu: TILE x TILE threads, (1024 / TILE)^2 blocks */
    struct candidate c;
    struct launch_config config;
    struct counters launch;
};

static int set_up(void **state)
{
    struct arena *arena = arena_create();
    struct fixture *f = arena_alloc(arena, sizeof(*f));
    struct err err;

    *f = (struct fixture){.arena = arena};
    assert_true(task_load(&f->task, arena, KEET_SOURCE_DIR "/kernels/matmul.cu", &err));
    f->c = (struct candidate){.arena = arena,
        .task = &f->task,
        .plan = f->task.plan,
        .parent = -1,
        .recalled_from = -1,
        .option = {.action = ACTION_NONE},
        .profiled = true};
    f->config = (struct launch_config){"matmul", {64, 64, 1}, {16, 16, 1}, {1, 1, 1}, 0};
    f->c.profile.nr_launches = 1;
    f->c.profile.launches = &f->launch;
    f->c.profile.configs = &f->config;
    f->c.profile.time_ns = 1e5;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(((struct fixture *)*state)->arena);
    return 0;
}

static void count(struct fixture *f, enum metric metric, double value)
{
    counters_set(&f->c.profile.total, metric, value, PROV_COUNTED);
}

static void offer(struct fixture *f, const struct option *options, unsigned nr)
{
    f->c.options = arena_array(f->arena, nr, sizeof(*options));
    memcpy(f->c.options, options, nr * sizeof(*options));
    f->c.nr_options = nr;
}

static void explain(struct fixture *f)
{
    struct err err;

    assert_true(explain_kernel(chip_default(), &f->c, &err));
}

static const struct finding *find(const struct fixture *f, const char *tool)
{
    for (unsigned i = 0; i < f->c.explanation.nr_findings; i++) {
        if (strcmp(f->c.explanation.findings[i].tool, tool) == 0) {
            return &f->c.explanation.findings[i];
        }
    }
    fail_msg("no finding of %s", tool);
    return NULL;
}

static double ratio(const struct fixture *f, unsigned a, unsigned b)
{
    return (double)f->c.options[a].prior / (double)f->c.options[b].prior;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-4 * fabs(expected))) {
        fail_msg("%g, expected %g", value, expected);
    }
}

/* The tuner lists its variants in an order that says nothing: all begin equal. */
static void test_too_few_blocks_call_for_smaller_ones(void **state)
{
    static const struct option options[] = {
        {.action = ACTION_TUNE, .variant = TUNE_FIRST_NAMED, .what = "set TILE = 32 instead of 16"},
        {.action = ACTION_TUNE,
            .variant = TUNE_FIRST_NAMED + 1,
            .what = "set TILE = 8 instead of 16"},
    };
    struct fixture *f = *state;

    offer(f, options, 2);
    explain(f); /* nothing is known */
    assert_near(ratio(f, 1, 0), 1);
    count(f, METRIC_GRID_BLOCKS, 33);
    count(f, METRIC_BLOCK_THREADS, 256);
    f->config.grid[0] = 33;
    f->config.grid[1] = 1;
    explain(f);
    assert_true(finding_expected(find(f, "few_blocks")) >= 2);
    /* Four times the blocks, as many threads: two doublings that count half. The other way: as
     * many halvings. */
    assert_near(ratio(f, 1, 0), 2 / 0.5);
}

/* Which of the tuner's variants name their values is what their numbers say, not their words. */
static void test_named_values_count_for_less(void **state)
{
    static const struct option options[] = {
        {.action = ACTION_TUNE, .variant = 0, .what = "set out, other values of TILE"},
        {.action = ACTION_TUNE, .variant = TUNE_FIRST_NAMED, .what = "TILE = 8"},
    };
    struct fixture *f = *state;

    offer(f, options, 2);
    explain(f);
    assert_near(ratio(f, 1, 0), 0.25); /* NAMED_VALUE */
}

static void test_latency_calls_for_wider_unrolling(void **state)
{
    static const struct option options[] = {
        {.action = ACTION_UNROLL, .variant = 0, .what = "unroll the loop at line 20 by 4"},
        {.action = ACTION_UNROLL, .variant = 1, .what = "unroll the loop at line 20 by 8"},
        {.action = ACTION_UNROLL, .variant = 2, .what = "unroll the loop at line 20 by 2"},
    };
    struct fixture *f = *state;
    double worth; /* the second variant has 1 / 1.25 of the first one's weight: VARIANT_DECAY */

    offer(f, options, 3);
    explain(f);
    assert_near(ratio(f, 1, 0), 0.8);
    count(f, METRIC_STALL_LONG_PCT, 75);
    explain(f);
    worth = fmin(log2(finding_expected(find(f, "latency"))), 1);
    assert_true(worth > 0.1);
    assert_near(ratio(f, 1, 0), 0.8 * exp2(worth));
    assert_near(ratio(f, 2, 0), exp2(-worth) / 1.5);
}

static void test_the_profile_speaks_against_moves(void **state)
{
    static const struct option options[] = {
        {.action = ACTION_UNROLL, .what = "unroll"},
        {.action = ACTION_PAD_SHARED, .what = "pad"},
        {.action = ACTION_SWAP_XY, .what = "swap"},
        {.action = ACTION_LAUNCH_BOUNDS, .what = "bounds"},
        {.action = ACTION_COARSEN, .what = "coarsen"},
    };
    struct fixture *f = *state;

    offer(f, options, 5);
    explain(f); /* the weights of `usefulness` */
    assert_near(ratio(f, 1, 0), 0.7 / 0.8);
    assert_near(ratio(f, 4, 0), 2.5 / 0.8);
    count(f, METRIC_SHARED_LD_WAVEFRONTS, 1000);
    count(f, METRIC_SHARED_LD_CONFLICTS, 0);
    count(f, METRIC_SHARED_ST_CONFLICTS, 0);
    count(f, METRIC_GLOBAL_LD_SECTORS, 1000);
    count(f, METRIC_GLOBAL_LD_SECTORS_IDEAL, 1000);
    count(f, METRIC_GLOBAL_ST_SECTORS_IDEAL, 0);
    count(f, METRIC_WAVES, 0.3);
    explain(f);
    for (unsigned i = 0; i < f->c.explanation.nr_findings; i++) {
        assert_int_equal(f->c.explanation.findings[i].nr_weights, 0); /* nothing else decides */
    }
    assert_near(ratio(f, 1, 0), 0.1 * 0.7 / 0.8);
    assert_near(ratio(f, 2, 0), 0.2 * 0.7 / 0.8);
    assert_near(ratio(f, 3, 0), 0.4 / 0.8); /* nothing speaks against this one */
    assert_near(ratio(f, 4, 0), 0.3 * 2.5 / 0.8);
    count(f, METRIC_SHARED_LD_CONFLICTS, 500); /* conflicts there are */
    explain(f);
    assert_near(ratio(f, 1, 0), 0.7 / 0.8);
}

static const struct option two[] = {
    {.action = ACTION_UNROLL, .what = "unroll"},
    {.action = ACTION_PRIVATIZE, .what = "privatize"},
};

static void test_other_feedback(void **state)
{
    struct fixture *f = *state;

    offer(f, two, 2);
    count(f, METRIC_GLOBAL_ATOMICS, 7);
    explain(f);
    f->c.explanation.roofline_ns = 12;
    explain_instead(FEEDBACK_NONE, NULL, &f->c);
    assert_near(ratio(f, 1, 0), 1);
    assert_string_equal(f->c.explanation.summary, "");
    explain_instead(FEEDBACK_GENERIC, NULL, &f->c);
    assert_near(ratio(f, 1, 0), 3 / 0.8);
    /* log2(1 + 7) says 3, half of it to privatize and half to shuffle_reduce, which is not on
     * offer: three quarters of the weight are for what was asked, the rest as before. */
    explain_instead(FEEDBACK_COUNTERS, NULL, &f->c);
    assert_near((double)f->c.options[0].prior, 0.25 * 0.8 / 3.8);
    assert_near((double)f->c.options[1].prior, 0.75 + 0.25 * 3 / 3.8);
    assert_non_null(strstr(f->c.explanation.summary, " = 7 request (counted)"));
    assert_int_equal(f->c.explanation.nr_findings, 0);
    assert_near(f->c.explanation.roofline_ns, 12); /* decides when to stop, in all arms alike */
}

/* Another kernel's explanation brings its findings and what its profile speaks against. */
static void test_another_kernels_explanation(void **state)
{
    struct finding finding = {.tool = "borrowed",
        .max_gain = 8,
        .weights = {{ACTION_UNROLL, 2}},
        .nr_weights = 1,
        .text = "Text."};
    struct candidate donor = {.explanation = {.summary = "Theirs.", .findings = &finding}};
    struct fixture *f = *state;

    offer(f, two, 2);
    donor.explanation.nr_findings = 1;
    explain(f);
    explain_instead(FEEDBACK_OTHER, &donor, &f->c);
    assert_string_equal(f->c.explanation.findings[0].text, "Text.");
    assert_string_equal(f->c.explanation.summary, "Theirs.");
    assert_near((double)f->c.options[0].prior, 0.75 + 0.25 * 0.8 / 3.8);
    /* A dead candidate's verdict is no explanation: it stays. */
    candidate_fail(&f->c, VERDICT_WRONG, 3, "k.cu:3: no");
    explain(f);
    explain_instead(FEEDBACK_OTHER, &donor, &f->c);
    assert_string_equal(f->c.explanation.findings[0].tool, "verdict");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_too_few_blocks_call_for_smaller_ones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_named_values_count_for_less, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_latency_calls_for_wider_unrolling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_profile_speaks_against_moves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_feedback, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_kernels_explanation, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
