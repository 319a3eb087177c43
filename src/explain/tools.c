/* Owns the table of tools, the choice of those that may run, and the making of findings. */
#include "explain/limits.h"
#include "explain/tool.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A smaller share of the time is not worth a finding. */
static const double LEAST_SHARE = 0.07;
/* What a tool estimates to be won; what the model of time may say. */
static const double MOST_SHARE = 0.97, MOST_MODELLED = 0.999;
enum { MOST_PER_TOOL = 2, MOST_GROUPS = 8 };

#define NEEDS(...)                                                                                 \
    .needs = {__VA_ARGS__}, .nr_needs = ARRAY_SIZE(((const enum metric[]){__VA_ARGS__}))

/* Rank 1 names one cause with one cure, 2 a cause with several, 3 a state of the whole kernel.
 * shared_traffic and narrow_access, whose findings gained 1.1x in none of 44 and in 2 of 60 tries
 * on the suite (results/explain/bounds.md), have rank 3 too. */
// clang-format off
const struct tool tools[] = {
    {"register_spills", 1, IN_ALL, NEEDS(METRIC_SPILL_BYTES, METRIC_LOCAL_LD_REQUESTS, METRIC_LOCAL_ST_REQUESTS), examine_spills, remains_work, false, METRIC_WITHOUT_LOCAL, 1},
    {"bank_conflicts", 1, IN_ALL, NEEDS(METRIC_SHARED_LD_WAVEFRONTS, METRIC_SHARED_ST_WAVEFRONTS, METRIC_SHARED_LD_CONFLICTS, METRIC_SHARED_ST_CONFLICTS), examine_bank_conflicts, remains_conflict_free, false, METRIC_WITHOUT_CONFLICTS, 1},
    {"serial_rows", 1, IN_ALL, NEEDS(METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_LD_SECTORS, METRIC_WARPS_LAUNCHED), examine_serial_rows, remains_gathered, false, METRIC_WITHOUT_ROWS, 1},
    {"atomics", 1, IN_ALL, NEEDS(METRIC_GLOBAL_ATOMICS, METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS), examine_atomics, remains_work, false, METRIC_WITHOUT_ATOMICS, 1},
    {"fp64", 1, IN_ALL, NEEDS(METRIC_INST_FP64, METRIC_THREAD_INST), examine_fp64, remains_loads, false, METRIC_WITHOUT_FP64, 1},
    {"tensor_cores", 1, IN_ALL, NEEDS(METRIC_INST_TENSOR, METRIC_FLOPS), examine_tensor, NULL, true},
    {"launch_overhead", 1, IN_ALL, NEEDS(METRIC_TIME_NS), examine_launches, NULL, true},
    {"dead_stores", 1, IN_ALL, NEEDS(METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS, METRIC_WARPS_LAUNCHED), examine_dead_stores, remains_bytes, false, METRIC_WITHOUT_HELD, 1},
    {"aliasing", 1, IN_ALL, NEEDS(METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS, METRIC_WARPS_LAUNCHED), examine_aliasing, remains_bytes, false, METRIC_WITHOUT_HELD, 1},
    {"recomputation", 1, IN_ALL, NEEDS(METRIC_INST_SPECIAL), examine_recomputation, remains_bytes, false, METRIC_WITHOUT_SPECIAL, 1},
    {"async_copy", 1, IN_ALL, NEEDS(METRIC_STALL_LONG_PCT, METRIC_SHARED_ST_REQUESTS, METRIC_GLOBAL_LD_REQUESTS, METRIC_WARPS_LAUNCHED), examine_async_copy, remains_work, false, METRIC_WITHOUT_STAGING, 1},
    {"tiny_launches", 1, IN_ALL, NEEDS(METRIC_TIME_NS), examine_tiny_launches, NULL, true},
    {"coalescing", 2, IN_ALL, NEEDS(METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS, METRIC_GLOBAL_LD_SECTORS, METRIC_GLOBAL_ST_SECTORS, METRIC_GLOBAL_LD_SECTORS_IDEAL, METRIC_GLOBAL_ST_SECTORS_IDEAL), examine_coalescing, remains_gathered, false, METRIC_WITHOUT_SCATTER, 1},
    {"redundant_loads", 2, IN_ALL, NEEDS(METRIC_GLOBAL_LD_BYTES, METRIC_GLOBAL_LD_SECTORS, METRIC_GLOBAL_UNIQUE_BYTES), examine_reuse, remains_work, false, METRIC_WITHOUT_TILED, 0.8},
    {"shared_traffic", 3, IN_ALL, NEEDS(METRIC_SHARED_LD_REQUESTS, METRIC_INST_FP32, METRIC_LSU_PCT), examine_shared_traffic, remains_work, false, METRIC_WITHOUT_SHARED, 0.5},
    {"barriers", 2, IN_ALL, NEEDS(METRIC_BARRIERS, METRIC_STALL_BARRIER_PCT), examine_barriers, remains_work, false, METRIC_WITHOUT_BARRIERS, 1},
    {"divergence", 2, IN_ALL, NEEDS(METRIC_THREAD_INST, METRIC_WARP_INST), examine_divergence, remains_work, false, METRIC_WITHOUT_DIVERGENCE, 1},
    {"narrow_access", 3, IN_MEMORY | IN_LATENCY | IN_MIXED, NEEDS(METRIC_GLOBAL_LD_BYTES, METRIC_GLOBAL_ST_BYTES, METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS, METRIC_GLOBAL_UNIQUE_BYTES), examine_narrow_access, remains_work, false, METRIC_WITHOUT_NARROW, 1},
    {"special_functions", 2, IN_ALL, NEEDS(METRIC_INST_SPECIAL, METRIC_THREAD_INST), examine_special, remains_loads, false, METRIC_WITHOUT_SPECIAL, 1},
    {"conversions", 2, IN_ALL, NEEDS(METRIC_INST_CONVERSION, METRIC_THREAD_INST), examine_conversions, remains_work, false, METRIC_WITHOUT_CONVERSIONS, 1},
    {"few_blocks", 2, IN_ALL, NEEDS(METRIC_GRID_BLOCKS, METRIC_BLOCK_THREADS), examine_few_blocks, remains_work, false, METRIC_WITHOUT_IDLE, 1},
    {"few_blocks", 3, IN_ALL, NEEDS(METRIC_GRID_BLOCKS, METRIC_BLOCK_THREADS, METRIC_WAVES), examine_thin_grid, remains_work, false, METRIC_WITHOUT_IDLE, 0.6},
    {"tail_effect", 2, IN_ALL, NEEDS(METRIC_WAVES), examine_tail, remains_work, false, METRIC_WITHOUT_TAIL, 1},
    {"occupancy", 2, IN_ALL, NEEDS(METRIC_OCCUPANCY_PCT, METRIC_OCC_LIMIT_BLOCKS, METRIC_OCC_LIMIT_REGISTERS, METRIC_OCC_LIMIT_SMEM, METRIC_OCC_LIMIT_WARPS), examine_occupancy, remains_work, false, METRIC_WITHOUT_LIMITS, 1},
    {"unrolling", 2, IN_ALL, NEEDS(METRIC_THREAD_INST, METRIC_INST_CONTROL, METRIC_INST_INTEGER), examine_unrolling, remains_work, false, METRIC_WITHOUT_LOOPS, 1},
    {"short_scoreboard", 2, IN_ALL, NEEDS(METRIC_STALL_SHORT_PCT), examine_short_scoreboard, remains_work, false, METRIC_WITHOUT_SHORT, 0.6},
    {"mio_queue", 3, IN_ALL, NEEDS(METRIC_STALL_MIO_PCT), examine_mio, remains_bytes, false, METRIC_WITHOUT_SHARED, 0.5},
    {"pipe_throttle", 3, IN_ALL, NEEDS(METRIC_STALL_MATH_PCT), examine_pipe_throttle, remains_loads, false},
    {"misalignment", 1, IN_ALL, NEEDS(METRIC_GLOBAL_LD_SECTORS, METRIC_GLOBAL_ST_SECTORS, METRIC_GLOBAL_LD_SECTORS_IDEAL), examine_misaligned, remains_work, false, METRIC_WITHOUT_SCATTER, 1},
    {"l2_reuse", 3, IN_ALL, NEEDS(METRIC_DRAM_BYTES, METRIC_DRAM_PCT, METRIC_L2_HIT_PCT, METRIC_GLOBAL_UNIQUE_BYTES), examine_l2_reuse, remains_work, false, METRIC_WITHOUT_DRAM, 0.5},
    {"clock", 3, IN_ALL, NEEDS(METRIC_CYCLES, METRIC_TIME_NS), examine_clock, NULL, true},
    {"instruction_overhead", 3, IN_ALL, NEEDS(METRIC_THREAD_INST, METRIC_INST_INTEGER, METRIC_INST_CONTROL), examine_overhead, remains_work, false, METRIC_WITHOUT_OVERHEAD, 0.5},
    {"latency", 3, IN_ALL, NEEDS(METRIC_STALL_LONG_PCT), examine_latency, remains_work, false, METRIC_WITHOUT_LATENCY, 0.6},
    {"cache_misses", 3, IN_ALL, NEEDS(METRIC_L1_HIT_PCT, METRIC_GLOBAL_LD_SECTORS, METRIC_GLOBAL_UNIQUE_BYTES), examine_cache, remains_work, false, METRIC_WITHOUT_MISSES, 1},
    {"bandwidth", 3, IN_MEMORY | IN_MIXED, NEEDS(METRIC_DRAM_PCT, METRIC_DRAM_BYTES), examine_bandwidth, remains_bytes, true},
};
// clang-format on
const unsigned nr_tools = ARRAY_SIZE(tools);

static double largest(const struct tool_input *in, const enum metric *metrics, unsigned nr)
{
    double most = -1;

    for (unsigned i = 0; i < nr; i++) {
        if (has(in, metrics[i])) {
            most = fmax(most, value(in, metrics[i]));
        }
    }
    return most;
}

/* Global memory and shared memory share the load/store unit. Its utilisation is split by
 * wavefronts; a global request takes one for each four sectors. */
static double global_weight(const struct tool_input *in)
{
    static const enum metric beyond[] = {METRIC_DRAM_PCT, METRIC_L2_PCT, METRIC_STALL_LONG_PCT};
    double shared = counters_get(in->n, METRIC_SHARED_LD_WAVEFRONTS) +
                    counters_get(in->n, METRIC_SHARED_ST_WAVEFRONTS);
    double sectors = counters_get(in->n, METRIC_GLOBAL_LD_SECTORS) +
                     counters_get(in->n, METRIC_GLOBAL_ST_SECTORS);
    double requests = counters_get(in->n, METRIC_GLOBAL_LD_REQUESTS) +
                      counters_get(in->n, METRIC_GLOBAL_ST_REQUESTS);
    double wavefronts = fmax(sectors / 4, requests);
    double pct = largest(in, beyond, ARRAY_SIZE(beyond));

    if (pct < 0 || shared <= 0 || !has(in, METRIC_LSU_PCT)) {
        return in->memory_weight;
    }
    pct = fmax(pct, value(in, METRIC_LSU_PCT) * wavefronts / (wavefronts + shared));
    return fmin(fmax(pct / 100, 0.1), in->memory_weight);
}

static void weigh_paths(struct tool_input *in)
{
    static const enum metric memory[] = {
        METRIC_DRAM_PCT, METRIC_L2_PCT, METRIC_LSU_PCT, METRIC_MEMORY_PCT};
    static const enum metric waiting[] = {
        METRIC_STALL_LONG_PCT, METRIC_STALL_SHORT_PCT, METRIC_STALL_MIO_PCT};
    static const enum metric compute[] = {METRIC_FMA_PCT, METRIC_ALU_PCT, METRIC_FP64_PCT,
        METRIC_XU_PCT, METRIC_TENSOR_PCT, METRIC_ISSUE_PCT, METRIC_SM_PCT};
    double paths = largest(in, memory, ARRAY_SIZE(memory)),
           pipes = largest(in, compute, ARRAY_SIZE(compute)), waits = 0;

    in->busiest_pipe_pct = fmax(fmax(paths, pipes), 0);
    for (unsigned i = 0; i < 3; i++) {
        waits += has(in, waiting[i]) ? fmax(value(in, waiting[i]), 0) : 0;
    }
    /* Where nothing is known we take one half: neither a strong claim nor silence. */
    paths = paths < 0 && waits <= 0 ? 50 : fmax(paths, waits);
    in->memory_weight = fmin(fmax(paths / 100, 0.1), 0.95);
    in->global_weight = global_weight(in);
    in->compute_weight = pipes < 0 ? 0.5 : fmin(fmax(pipes / 100, 0.1), 0.95);
}

static bool has_needs(const struct tool *tool, const struct tool_input *in)
{
    for (unsigned i = 0; i < tool->nr_needs; i++) {
        if (!has(in, tool->needs[i])) {
            return false;
        }
    }
    return true;
}

static bool run_one(const struct tool *tool, const struct tool_input *in, struct finding_list *out)
{
    if (!has_needs(tool, in)) {
        return false;
    }
    out->tool = tool;
    out->nr_of_tool = 0;
    tool->examine(in, out);
    return true;
}

static double launch_time(const struct candidate *c, unsigned launch)
{
    return counters_get(&c->profile.launches[launch], METRIC_TIME_NS);
}

/* A launch's counters, and the counts in the machine code, which only the total has. */
static const struct counters *with_sass(const struct candidate *c, const struct counters *launch)
{
    struct counters *n = arena_alloc(c->arena, sizeof(*n));

    *n = *launch;
    for (int m = METRIC_SASS_INST; m <= METRIC_SASS_TENSOR; m++) {
        n->metric[m] = c->profile.total.metric[m];
    }
    return n;
}

/* The input of one group of launches. */
static struct tool_input input_of_group(
    const struct tool_input *whole, const struct launch_group *group)
{
    struct tool_input in = *whole;

    in.whole = false;
    in.group = *group;
    in.config = &whole->c->profile.configs[group->longest];
    in.n = with_sass(whole->c, &whole->c->profile.launches[group->longest]);
    in.unique_bytes = launch_unique_bytes(whole->c, group->longest);
    weigh_paths(&in);
    return in;
}

const char *tools_run(const struct tool_input *whole, struct finding_list *out)
{
    const enum bound bound = whole->c->explanation.bound;
    struct launch_group groups[MOST_GROUPS];
    const unsigned nr =
        launch_groups(&whole->c->profile, whole->c->arena, groups, MOST_GROUPS, LEAST_SHARE);
    struct str unexamined = {0};

    for (unsigned i = 0; i < nr_tools; i++) {
        const bool together = tools[i].whole || nr == 0 || !groups[0].name;
        bool ran = false;

        if (bound != BOUND_UNKNOWN && !(tools[i].classes & 1u << bound)) {
            continue;
        }
        for (unsigned k = 0; !together && k < nr; k++) {
            const struct tool_input in = input_of_group(whole, &groups[k]);

            ran = run_one(&tools[i], &in, out) || ran;
        }
        if (together) {
            ran = run_one(&tools[i], whole, out);
        }
        if (!ran) {
            str_addf(&unexamined, "%s%s", unexamined.len > 0 ? ", " : "", tools[i].name);
        }
    }
    const char *names = arena_strdup(whole->c->arena, str_text(&unexamined));

    str_finish(&unexamined);
    return names;
}

static double arrays_bytes(const struct task_array *arrays, unsigned nr, const struct env *env)
{
    double sum = 0;

    for (unsigned i = 0; i < nr; i++) {
        struct err ignored;
        uint64_t elems;

        if (array_elems(&arrays[i], env, &elems, &ignored)) {
            sum += (double)array_bytes(&arrays[i], elems);
        }
    }
    return sum;
}

double outside_bytes(const struct candidate *c)
{
    struct env env;

    if (!c->task || c->task->nr_arrays == 0) {
        return 0;
    }
    env = plan_env(c->arena, &c->plan, &c->task->timed);
    return arrays_bytes(c->task->arrays, c->task->nr_arrays, &env);
}

double source_bytes(const struct candidate *c)
{
    struct env env;
    double sum;

    if (!c->task || c->task->nr_arrays == 0) {
        return 0;
    }
    env = plan_env(c->arena, &c->plan, &c->task->timed);
    sum = arrays_bytes(c->plan.temps, c->plan.nr_temps, &env);
    for (unsigned i = 0; i < c->task->nr_arrays; i++) {
        sum += c->task->arrays[i].role == ROLE_OUT ? 0 : arrays_bytes(&c->task->arrays[i], 1, &env);
    }
    return sum;
}

/* A sample of the blocks touches fewer bytes than the whole grid. The count is scaled up by the
 * number of blocks, as if blocks shared nothing, but not above the size of all arrays. */
static double scaled_bytes(const struct candidate *c, const struct counters *n)
{
    const double unique = counters_get(n, METRIC_GLOBAL_UNIQUE_BYTES);
    double all = outside_bytes(c);

    if (n->blocks_run == 0 || n->blocks_run >= n->blocks_all) {
        return unique;
    }
    if (all > 0) {
        struct env env = plan_env(c->arena, &c->plan, &c->task->timed);

        all += arrays_bytes(c->plan.temps, c->plan.nr_temps, &env);
    }
    const double scaled = unique * ((double)n->blocks_all / (double)n->blocks_run);

    return fmax(unique, all > 0 ? fmin(scaled, all) : scaled);
}

double launch_unique_bytes(const struct candidate *c, unsigned launch)
{
    const struct counters *n = &c->profile.launches[launch];

    if (!counters_has(n, METRIC_GLOBAL_UNIQUE_BYTES) && c->profile.nr_launches == 1) {
        return scaled_bytes(c, &c->profile.total);
    }
    return scaled_bytes(c, n);
}

double tools_unique_bytes(const struct candidate *c)
{
    double sum = 0;

    for (unsigned i = 0; i < c->profile.nr_launches; i++) {
        if (!counters_has(&c->profile.launches[i], METRIC_GLOBAL_UNIQUE_BYTES)) {
            return counters_get(&c->profile.total, METRIC_GLOBAL_UNIQUE_BYTES);
        }
        sum += launch_unique_bytes(c, i);
    }
    return sum;
}

/* The share of the time that the task's work needs at the least. A task may state more bytes than
 * its original touches. */
static double attained(const struct chip *chip, const struct candidate *c, double unique_bytes)
{
    const struct roofline r = roofline_of(chip, c->task);
    const double touched_ns =
        unique_bytes / roofline_dram_rate(chip, c->profile.time_from == PROV_MODELLED) * 1e9;
    const double memory_ns = unique_bytes > 0 ? fmin(r.memory_ns, touched_ns) : r.memory_ns;

    return r.least_ns > 0
               ? c->explanation.roofline_share * fmax(r.compute_ns, memory_ns) / r.least_ns
               : 0;
}

struct tool_input tool_input_of(const struct chip *chip, const struct candidate *c)
{
    struct tool_input in = {
        .chip = chip, .c = c, .n = &c->profile.total, .whole = true, .group = {.share = 1}};

    if (c->profile.nr_launches > 0 && c->profile.configs) {
        in.config = &c->profile.configs[c->profile.longest];
    }
    in.group.longest = c->profile.longest;
    in.group.nr = c->profile.nr_launches;
    in.code = code_read(&c->compilation, c->arena);
    in.unique_bytes = tools_unique_bytes(c);
    in.roofline_share = attained(chip, c, in.unique_bytes);
    weigh_paths(&in);
    return in;
}

const char *from(const struct tool_input *in, enum metric metric)
{
    return provenance_name(in->n->metric[metric].from);
}

const struct line_cost *worst_line(
    const struct tool_input *in, double (*cost)(const struct line_cost *line))
{
    const struct line_cost *worst = NULL;
    double most = 0;

    for (unsigned i = 0; i < in->n->nr_lines; i++) {
        double now = cost(&in->n->lines[i]);

        if (in->n->lines[i].line > 0 && now > most) {
            most = now;
            worst = &in->n->lines[i];
        }
    }
    return worst;
}

unsigned worst_sass_line(const struct tool_input *in, enum sass_class a, enum sass_class b)
{
    unsigned nr, worst = 0, most = 0;
    const struct sass_line *lines = candidate_sass_lines(in->c, &nr);

    for (unsigned i = 0; i < nr; i++) {
        unsigned now = lines[i].mix.of[a] + lines[i].mix.of[b];

        if (lines[i].line > 0 && now > most) {
            most = now;
            worst = lines[i].line;
        }
    }
    return worst;
}

/* The least time of a launch after the cure; 0: not known. */
static double least_ns(const struct tool_input *in, remains_rule *remains, unsigned launch)
{
    const struct profile *profile = &in->c->profile;
    const bool single = profile->nr_launches == 1;
    const struct counters *n = single ? &profile->total : &profile->launches[launch];
    const struct demands left = remains(in->chip, n, launch_unique_bytes(in->c, launch));

    return fmin(demands_ns(&left), counters_get(n, METRIC_TIME_NS));
}

/* A cure changes the kernel's code: in all launches, whatever their grid. */
static bool same_kernel(const struct tool_input *in, unsigned launch)
{
    const struct launch_config *configs = in->c->profile.configs;

    return strcmp(configs[in->group.longest].kernel, configs[launch].kernel) == 0;
}

/* The least time of the profile when the finding is cured in all launches of its kernel; 0: not
 * known. Other launches, and the time between launches, stay. */
static double least_of_profile(const struct tool_input *in, remains_rule *remains)
{
    const struct profile *profile = &in->c->profile;
    double left = profile->time_ns;

    for (unsigned i = 0; i < profile->nr_launches; i++) {
        const bool single = profile->nr_launches == 1;
        const double least =
            in->whole || same_kernel(in, i) ? least_ns(in, remains, i) : launch_time(in->c, i);

        if (least <= 0) {
            return 0;
        }
        left -= (single ? counters_get(&profile->total, METRIC_TIME_NS) : launch_time(in->c, i)) -
                least;
    }
    return left;
}

void finding_bound(const struct tool_input *in, struct finding *finding, double remains_ns)
{
    const double now = in->c->profile.time_ns;

    finding->max_gain = remains_ns > 0 && now > 0 ? fmax(now / remains_ns, 1) : 0;
}

/* The tool's finding at the same line, from launches of the kernel with another grid. */
static struct finding *at_line(struct finding_list *out, unsigned line)
{
    for (unsigned i = 0; line > 0 && i < out->nr; i++) {
        if (out->findings[i].line == line && out->findings[i].tool == out->tool->name) {
            return &out->findings[i];
        }
    }
    return NULL;
}

static bool has_cure(const struct tool_input *in, const struct tool *tool)
{
    return tool->without != METRIC_TIME_NS && has(in, tool->without) &&
           value(in, METRIC_TIME_NS) > 0;
}

/* The share of the launch's time that the tool's cure wins: by the model of time, where there is
 * one; else by the tool's own estimate. */
static double share_won(const struct tool_input *in, const struct tool *tool, double estimate)
{
    const double now = value(in, METRIC_TIME_NS);

    if (!has_cure(in, tool)) {
        return estimate;
    }
    return tool->won * (1 - value(in, tool->without) / now);
}

struct finding *finding_add(const struct tool_input *in, struct finding_list *out,
    enum severity severity, unsigned line, double share)
{
    struct finding *finding = &out->findings[out->nr], *same = at_line(out, line);
    const double most = has_cure(in, out->tool) ? MOST_MODELLED : MOST_SHARE;

    if (out->wanted) {
        const enum cure cure = metric_cure(out->tool->without);

        *out->wanted |= cure < NR_CURES ? 1u << cure : 0;
        return NULL;
    }
    share = share_won(in, out->tool, share);
    if (same && share >= LEAST_SHARE && !in->whole) {
        same->share = fmin(same->share + share * in->group.share, most);
        return NULL;
    }
    if (!(share >= LEAST_SHARE) || out->nr == TOOLS_MAX_FINDINGS ||
        out->nr_of_tool == MOST_PER_TOOL) {
        return NULL;
    }
    *finding = (struct finding){.tool = out->tool->name,
        .severity = severity,
        .line = line,
        .share = fmin(share * in->group.share, most),
        .launch = in->group.name};
    if (in->roofline_share > 0) {
        finding->share = fmin(finding->share, 1 - in->roofline_share);
    }
    if (has_cure(in, out->tool)) {
        finding_cite(finding, in, out->tool->without);
        finding->left_ns = value(in, out->tool->without);
        finding->left = in->n->left[metric_cure(out->tool->without)];
    }
    if (out->tool->remains) {
        finding_bound(in, finding, least_of_profile(in, out->tool->remains));
    }
    if (finding_expected(finding) < 1 + LEAST_SHARE) {
        return NULL; /* nothing worth the work is left to win */
    }
    out->ranks[out->nr++] = out->tool->rank;
    out->nr_of_tool++;
    return finding;
}

struct finding *finding_add_wait(
    const struct tool_input *in, struct finding_list *out, unsigned line, double pct)
{
    return finding_add(in, out, pct >= 60 ? SEVERITY_CRITICAL : SEVERITY_WARNING, line,
        fmin(0.6 * fmin(pct / 100, 1), tool_headroom(in)));
}

/* " Without it: 24.2 us, limited by the load/store unit (81% busy)." Of one launch where the
 * finding is of several. */
static void say_what_is_left(struct finding *finding)
{
    const size_t len = strlen(finding->text);
    struct str left = {0};

    limits_say(&finding->left, &left);
    if (finding->left_ns > 0 && left.len > 0) {
        snprintf(finding->text + len, sizeof(finding->text) - len, " Without it%s: %.3g us, %s.",
            finding->launch ? ", the launch" : "", finding->left_ns / 1e3, str_text(&left));
    }
    str_finish(&left);
}

void finding_say(struct finding *finding, const char *format, ...)
{
    size_t len = 0;
    va_list ap;

    if (finding->line > 0) {
        len = (size_t)snprintf(finding->text, sizeof(finding->text), "Line %u: ", finding->line);
    }
    if (finding->launch) {
        len += (size_t)snprintf(
            finding->text + len, sizeof(finding->text) - len, "%s: ", finding->launch);
    }
    va_start(ap, format);
    vsnprintf(finding->text + len, sizeof(finding->text) - len, format, ap);
    va_end(ap);
    say_what_is_left(finding);
}

void finding_cite_all(
    struct finding *finding, const struct tool_input *in, const enum metric *metrics, size_t nr)
{
    for (size_t i = 0; i < nr && finding->nr_evidence < FINDING_MAX_EVIDENCE; i++) {
        const struct counter *counter = &in->n->metric[metrics[i]];

        if (counter->from != PROV_ABSENT) {
            finding->evidence[finding->nr_evidence++] =
                (struct evidence){metrics[i], counter->value, counter->from};
        }
    }
}

void finding_weigh_all(struct finding *finding, const struct move_weight *moves, size_t nr)
{
    for (size_t i = 0; i < nr && finding->nr_weights < FINDING_MAX_WEIGHTS; i++) {
        if (moves[i].weight > 0) {
            finding->weights[finding->nr_weights++] =
                (struct weight){moves[i].action, (float)moves[i].weight};
        }
    }
}

struct count_text count_text(double count)
{
    static const struct {
        double scale;
        const char *unit;
    } scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    struct count_text out;

    for (unsigned i = 0; i < ARRAY_SIZE(scales); i++) {
        if (count >= scales[i].scale) {
            snprintf(out.text, sizeof(out.text), "%.3g%s", count / scales[i].scale, scales[i].unit);
            return out;
        }
    }
    snprintf(out.text, sizeof(out.text), "%.3g", count);
    return out;
}
