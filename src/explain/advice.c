/* Owns the advice of an explanation on moves: the weights of its findings, the moves that its
 * profile speaks against, and the direction in which a variant should go. */
#include "explain/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One direction's pull is at most so many doublings of a variant's weight. */
static const double MOST_PULL = 2;

/* The gain that a finding promises, in log2, bounded below and above. */
static double worth_of(const struct finding *finding)
{
    return fmin(fmax(log2(finding_expected(finding)), 0.05), 3);
}

static bool is_tool(const struct finding *finding, const char *name)
{
    return finding->tool && strcmp(finding->tool, name) == 0;
}

/* --- what the profile speaks against --- */

static double get(const struct counters *n, enum metric metric)
{
    return counters_get(n, metric);
}

static bool both(const struct counters *n, enum metric a, enum metric b)
{
    return counters_has(n, a) && counters_has(n, b);
}

static double busiest(const struct counters *n, const enum metric *metrics, unsigned nr)
{
    double most = -1;

    for (unsigned i = 0; i < nr; i++) {
        if (counters_has(n, metrics[i])) {
            most = fmax(most, get(n, metrics[i]));
        }
    }
    return most;
}

static void doubt(struct advice *advice, enum action action, double by)
{
    advice->doubt[action] = fmax(advice->doubt[action], by);
}

/* Doubts moves whose problem the memory counters do not show. */
static void doubt_memory(const struct counters *n, double unique, struct advice *advice)
{
    static const enum metric paths[] = {
        METRIC_DRAM_PCT, METRIC_L2_PCT, METRIC_LSU_PCT, METRIC_STALL_LONG_PCT};
    double conflicts = get(n, METRIC_SHARED_LD_CONFLICTS) + get(n, METRIC_SHARED_ST_CONFLICTS);
    double wavefronts = get(n, METRIC_SHARED_LD_WAVEFRONTS) + get(n, METRIC_SHARED_ST_WAVEFRONTS);
    double sectors = get(n, METRIC_GLOBAL_LD_SECTORS) + get(n, METRIC_GLOBAL_ST_SECTORS);
    double ideal = get(n, METRIC_GLOBAL_LD_SECTORS_IDEAL) + get(n, METRIC_GLOBAL_ST_SECTORS_IDEAL);
    double path = busiest(n, paths, 4);

    if (both(n, METRIC_SHARED_LD_CONFLICTS, METRIC_SHARED_ST_CONFLICTS) &&
        conflicts <= 0.02 * wavefronts) {
        doubt(advice, ACTION_PAD_SHARED, 0.9);
    }
    if (both(n, METRIC_GLOBAL_LD_SECTORS_IDEAL, METRIC_GLOBAL_ST_SECTORS_IDEAL) &&
        sectors <= 1.25 * ideal) {
        doubt(advice, ACTION_SWAP_XY, 0.8);
    }
    /* Each byte is loaded about once, so that a tile would save no load. */
    if (unique > 0 && counters_has(n, METRIC_GLOBAL_LD_BYTES) &&
        get(n, METRIC_GLOBAL_LD_BYTES) < 1.5 * unique) {
        doubt(advice, ACTION_SHARED_TILE, 0.8);
        doubt(advice, ACTION_REGISTER_TILE, 0.8);
    }
    /* There is hardly a store over which the compiler could move a load. */
    if (both(n, METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS) &&
        get(n, METRIC_GLOBAL_ST_REQUESTS) < 0.1 * get(n, METRIC_GLOBAL_LD_REQUESTS)) {
        doubt(advice, ACTION_READ_ONLY, 0.6);
    }
    if (path >= 0 && path < 25) {
        doubt(advice, ACTION_VECTORIZE, 0.6);
        doubt(advice, ACTION_READ_ONLY, 0.6);
    }
}

/* Doubts moves that save instructions, where instructions cost nothing. */
static void doubt_compute(const struct counters *n, struct advice *advice)
{
    static const enum metric pipes[] = {METRIC_FMA_PCT, METRIC_ALU_PCT, METRIC_XU_PCT,
        METRIC_FP64_PCT, METRIC_TENSOR_PCT, METRIC_ISSUE_PCT};
    double pipe = busiest(n, pipes, 6);

    if (pipe >= 0 && pipe < 20) {
        doubt(advice, ACTION_FAST_MATH, 0.5);
        doubt(advice, ACTION_HOIST, 0.5);
    }
    if (counters_has(n, METRIC_DRAM_PCT) && get(n, METRIC_DRAM_PCT) > 85) {
        static const enum action useless[] = {ACTION_UNROLL, ACTION_HOIST, ACTION_FAST_MATH,
            ACTION_LAUNCH_BOUNDS, ACTION_PAD_SHARED, ACTION_SHUFFLE_REDUCE, ACTION_SWAP_XY};

        for (unsigned i = 0; i < sizeof(useless) / sizeof(useless[0]); i++) {
            doubt(advice, useless[i], 0.7);
        }
    }
}

/* Doubts moves that need fewer threads where there are too few, and moves that need more where
 * there are enough. */
static void doubt_launch(const struct counters *n, struct advice *advice)
{
    if (counters_has(n, METRIC_WAVES) && get(n, METRIC_WAVES) < 0.5) {
        doubt(advice, ACTION_COARSEN, 0.7);
        doubt(advice, ACTION_REGISTER_TILE, 0.7);
        doubt(advice, ACTION_GRID_STRIDE, 0.7);
    }
    if (counters_has(n, METRIC_WAVES) && get(n, METRIC_WAVES) >= 2) {
        doubt(advice, ACTION_SPLIT_WORK, 0.6);
    }
}

struct advice advice_of_findings(const struct candidate *c)
{
    const struct explanation *e = &c->explanation;
    struct advice advice = {.lines = true, .times = true};

    for (unsigned i = 0; i < e->nr_findings; i++) {
        const struct finding *f = &e->findings[i];
        const double worth = worth_of(f);

        for (unsigned k = 0; k < f->nr_weights; k++) {
            advice.asked[f->weights[k].action] += worth * (double)f->weights[k].weight;
        }
        /* Loads in flight hide latency, and their number grows with the number of threads. More
         * blocks alone only spread the same loads over more multiprocessors. */
        if (is_tool(f, "few_blocks") || is_tool(f, "tail_effect")) {
            advice.blocks = fmax(advice.blocks, fmin(worth, 1) / 2);
        }
        if (is_tool(f, "few_blocks") || is_tool(f, "latency") || is_tool(f, "occupancy")) {
            advice.threads = fmax(advice.threads, fmin(worth, 1));
        }
        if (is_tool(f, "latency")) {
            advice.in_flight = fmax(advice.in_flight, fmin(worth, 1));
        }
    }
    if (c->profiled) {
        doubt_memory(&c->profile.total, tools_unique_bytes(c), &advice);
        doubt_compute(&c->profile.total, &advice);
        doubt_launch(&c->profile.total, &advice);
    }
    return advice;
}

/* --- the direction of a variant --- */

/* The blocks of the longest launch, and the threads of all its blocks, under these parameters. */
static bool size_of(
    const struct candidate *c, const struct plan *plan, double *blocks, double *threads)
{
    struct env env = plan_env(c->arena, plan, &c->task->timed);
    struct launch_config config;
    struct err ignored;

    if (c->profile.longest >= plan->nr_launches ||
        !launch_resolve(&plan->launches[c->profile.longest], &env, &config, &ignored)) {
        return false;
    }
    *blocks = (double)config.grid[0] * config.grid[1] * config.grid[2];
    *threads = *blocks * config.block[0] * config.block[1] * config.block[2];
    return *blocks > 0 && *threads > 0;
}

/* Reads "set A = 1 instead of 2, B = 3 instead of 4" into the plan's parameters. */
static bool read_values(const char *what, struct plan *plan)
{
    bool any = false;

    for (unsigned i = 0; i < plan->nr_tunes; i++) {
        const size_t len = strlen(plan->tunes[i].name);

        for (const char *at = what; (at = strstr(at, plan->tunes[i].name)); at += len) {
            if (at > what && at[-1] == ' ' && strncmp(at + len, " = ", 3) == 0) {
                plan->tunes[i].value = strtoll(at + len + 3, NULL, 10);
                any = true;
                break;
            }
        }
    }
    return any;
}

static double pull(double wanted, double doublings)
{
    return wanted * fmin(fmax(doublings, -MOST_PULL), MOST_PULL);
}

static double pull_of_values(
    const struct candidate *c, const struct option *option, const struct advice *advice)
{
    struct plan plan = c->plan;
    double blocks, threads, blocks_then, threads_then;

    if (!c->task || plan.nr_tunes == 0 || (advice->blocks <= 0 && advice->threads <= 0)) {
        return 0;
    }
    plan.tunes = arena_array(c->arena, plan.nr_tunes, sizeof(*plan.tunes));
    memcpy(plan.tunes, c->plan.tunes, plan.nr_tunes * sizeof(*plan.tunes));
    if (!read_values(option->what, &plan) || !size_of(c, &c->plan, &blocks, &threads) ||
        !size_of(c, &plan, &blocks_then, &threads_then)) {
        return 0;
    }
    return pull(advice->blocks, log2(blocks_then / blocks)) +
           pull(advice->threads, log2(threads_then / threads));
}

/* The compiler unrolls by 4 by itself: less is a step back, more puts more loads in flight. */
static double pull_of_unrolling(const struct option *option, const struct advice *advice)
{
    const char *by = strstr(option->what, " by ");
    const double factor = by ? strtod(by + 4, NULL) : 0;

    return factor > 0 ? pull(advice->in_flight, fmin(log2(factor / 4), 1)) : 0;
}

double advice_direction(
    const struct candidate *c, const struct option *option, const struct advice *advice)
{
    double doublings = 0;

    if (!option->what) {
        return 1;
    }
    if (option->action == ACTION_TUNE) {
        doublings = pull_of_values(c, option, advice);
    } else if (option->action == ACTION_UNROLL) {
        doublings = pull_of_unrolling(option, advice);
    }
    return exp2(doublings);
}
