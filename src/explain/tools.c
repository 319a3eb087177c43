/* Owns the table of tools, the choice of those that may run, and the making of findings. */
#include "explain/tool.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* A smaller share of the time is not worth a finding. */
static const double LEAST_SHARE = 0.04;
static const double MOST_SHARE = 0.97;
enum { MOST_PER_TOOL = 2 };

#define NEEDS(...)                                                                                 \
    .needs = {__VA_ARGS__}, .nr_needs = ARRAY_SIZE(((const enum metric[]){__VA_ARGS__}))

/* Rank 1 names one cause with one cure, 2 a cause with several, 3 a state of the whole kernel. */
// clang-format off
const struct tool tools[] = {
    {"register_spills", 1, IN_ALL, NEEDS(METRIC_SPILL_BYTES, METRIC_LOCAL_LD_REQUESTS, METRIC_LOCAL_ST_REQUESTS), examine_spills},
    {"bank_conflicts", 1, IN_ALL, NEEDS(METRIC_SHARED_LD_WAVEFRONTS, METRIC_SHARED_ST_WAVEFRONTS, METRIC_SHARED_LD_CONFLICTS, METRIC_SHARED_ST_CONFLICTS), examine_bank_conflicts},
    {"serial_rows", 1, IN_ALL, NEEDS(METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_LD_SECTORS, METRIC_WARPS_LAUNCHED), examine_serial_rows},
    {"atomics", 1, IN_ALL, NEEDS(METRIC_GLOBAL_ATOMICS, METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS), examine_atomics},
    {"fp64", 1, IN_ALL, NEEDS(METRIC_INST_FP64, METRIC_THREAD_INST), examine_fp64},
    {"tensor_cores", 1, IN_COMPUTE | IN_MIXED | IN_LATENCY, NEEDS(METRIC_INST_TENSOR, METRIC_FLOPS), examine_tensor},
    {"launch_overhead", 1, IN_ALL, NEEDS(METRIC_TIME_NS), examine_launches},
    {"dead_stores", 1, IN_ALL, NEEDS(METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS, METRIC_WARPS_LAUNCHED), examine_dead_stores},
    {"aliasing", 1, IN_ALL, NEEDS(METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS, METRIC_WARPS_LAUNCHED), examine_aliasing},
    {"recomputation", 1, IN_ALL, NEEDS(METRIC_INST_SPECIAL), examine_recomputation},
    {"async_copy", 1, IN_ALL, NEEDS(METRIC_STALL_LONG_PCT, METRIC_SHARED_ST_REQUESTS, METRIC_GLOBAL_LD_REQUESTS, METRIC_WARPS_LAUNCHED), examine_async_copy},
    {"tiny_launches", 1, IN_ALL, NEEDS(METRIC_TIME_NS), examine_tiny_launches},
    {"coalescing", 2, IN_ALL, NEEDS(METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS, METRIC_GLOBAL_LD_SECTORS, METRIC_GLOBAL_ST_SECTORS, METRIC_GLOBAL_LD_SECTORS_IDEAL, METRIC_GLOBAL_ST_SECTORS_IDEAL), examine_coalescing},
    {"redundant_loads", 2, IN_ALL, NEEDS(METRIC_GLOBAL_LD_BYTES, METRIC_GLOBAL_LD_SECTORS, METRIC_GLOBAL_UNIQUE_BYTES), examine_reuse},
    {"shared_traffic", 2, IN_ALL, NEEDS(METRIC_SHARED_LD_REQUESTS, METRIC_INST_FP32, METRIC_LSU_PCT), examine_shared_traffic},
    {"barriers", 2, IN_ALL, NEEDS(METRIC_BARRIERS, METRIC_STALL_BARRIER_PCT), examine_barriers},
    {"divergence", 2, IN_ALL, NEEDS(METRIC_THREAD_INST, METRIC_WARP_INST), examine_divergence},
    {"narrow_access", 2, IN_MEMORY | IN_LATENCY | IN_MIXED, NEEDS(METRIC_GLOBAL_LD_BYTES, METRIC_GLOBAL_ST_BYTES, METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS, METRIC_GLOBAL_UNIQUE_BYTES), examine_narrow_access},
    {"special_functions", 2, IN_ALL, NEEDS(METRIC_INST_SPECIAL, METRIC_THREAD_INST), examine_special},
    {"conversions", 2, IN_ALL, NEEDS(METRIC_INST_CONVERSION, METRIC_THREAD_INST), examine_conversions},
    {"few_blocks", 2, IN_ALL, NEEDS(METRIC_GRID_BLOCKS, METRIC_BLOCK_THREADS), examine_few_blocks},
    {"tail_effect", 2, IN_ALL, NEEDS(METRIC_WAVES), examine_tail},
    {"occupancy", 2, IN_ALL, NEEDS(METRIC_OCCUPANCY_PCT, METRIC_OCC_LIMIT_BLOCKS, METRIC_OCC_LIMIT_REGISTERS, METRIC_OCC_LIMIT_SMEM, METRIC_OCC_LIMIT_WARPS), examine_occupancy},
    {"unrolling", 2, IN_ALL, NEEDS(METRIC_WARP_INST, METRIC_INST_CONTROL), examine_unrolling},
    {"short_scoreboard", 2, IN_ALL, NEEDS(METRIC_STALL_SHORT_PCT), examine_short_scoreboard},
    {"mio_queue", 3, IN_ALL, NEEDS(METRIC_STALL_MIO_PCT), examine_mio},
    {"pipe_throttle", 3, IN_ALL, NEEDS(METRIC_STALL_MATH_PCT), examine_pipe_throttle},
    {"misalignment", 1, IN_ALL, NEEDS(METRIC_GLOBAL_LD_SECTORS, METRIC_GLOBAL_ST_SECTORS, METRIC_GLOBAL_LD_SECTORS_IDEAL), examine_misaligned},
    {"l2_reuse", 3, IN_ALL, NEEDS(METRIC_DRAM_BYTES, METRIC_DRAM_PCT, METRIC_L2_HIT_PCT, METRIC_GLOBAL_UNIQUE_BYTES), examine_l2_reuse},
    {"clock", 3, IN_ALL, NEEDS(METRIC_CYCLES, METRIC_TIME_NS), examine_clock},
    {"instruction_overhead", 3, IN_ALL, NEEDS(METRIC_THREAD_INST, METRIC_INST_INTEGER, METRIC_INST_CONTROL), examine_overhead},
    {"latency", 3, IN_ALL, NEEDS(METRIC_STALL_LONG_PCT), examine_latency},
    {"cache_misses", 3, IN_ALL, NEEDS(METRIC_L1_HIT_PCT, METRIC_GLOBAL_LD_SECTORS, METRIC_GLOBAL_UNIQUE_BYTES), examine_cache},
    {"bandwidth", 3, IN_MEMORY | IN_MIXED, NEEDS(METRIC_DRAM_PCT, METRIC_DRAM_BYTES), examine_bandwidth},
};
// clang-format on
const unsigned nr_tools = ARRAY_SIZE(tools);

static bool has_needs(const struct tool *tool, const struct tool_input *in)
{
    for (unsigned i = 0; i < tool->nr_needs; i++) {
        if (!has(in, tool->needs[i])) {
            return false;
        }
    }
    return true;
}

const char *tools_run(const struct tool_input *in, struct finding_list *out)
{
    enum bound bound = in->c->explanation.bound;
    struct str unexamined = {0};

    for (unsigned i = 0; i < nr_tools; i++) {
        if (bound != BOUND_UNKNOWN && !(tools[i].classes & 1u << bound)) {
            continue;
        }
        if (!has_needs(&tools[i], in)) {
            str_addf(&unexamined, "%s%s", unexamined.len > 0 ? ", " : "", tools[i].name);
            continue;
        }
        out->tool = &tools[i];
        out->nr_of_tool = 0;
        tools[i].examine(in, out);
    }
    const char *names = arena_strdup(in->c->arena, str_text(&unexamined));

    str_finish(&unexamined);
    return names;
}

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

void tools_weigh_paths(struct tool_input *in)
{
    static const enum metric memory[] = {METRIC_DRAM_PCT, METRIC_L2_PCT, METRIC_LSU_PCT};
    static const enum metric waiting[] = {
        METRIC_STALL_LONG_PCT, METRIC_STALL_SHORT_PCT, METRIC_STALL_MIO_PCT};
    static const enum metric compute[] = {METRIC_FMA_PCT, METRIC_ALU_PCT, METRIC_FP64_PCT,
        METRIC_XU_PCT, METRIC_TENSOR_PCT, METRIC_ISSUE_PCT};
    double paths = largest(in, memory, 3), pipes = largest(in, compute, 6), waits = 0;

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

/* A sample of the blocks touches fewer bytes than the whole grid. The count is scaled up by the
 * number of blocks, as if blocks shared nothing, but not above the size of all arrays. */
double tools_unique_bytes(const struct candidate *c)
{
    double sum = 0, all = INFINITY;

    if (c->task && c->task->nr_arrays > 0) {
        struct env env = plan_env(c->arena, &c->plan, &c->task->timed);

        all = arrays_bytes(c->task->arrays, c->task->nr_arrays, &env) +
              arrays_bytes(c->plan.temps, c->plan.nr_temps, &env);
    }
    for (unsigned i = 0; i < c->profile.nr_launches; i++) {
        const struct counters *n = &c->profile.launches[i];
        double unique = counters_get(n, METRIC_GLOBAL_UNIQUE_BYTES);

        if (!counters_has(n, METRIC_GLOBAL_UNIQUE_BYTES)) {
            return counters_get(&c->profile.total, METRIC_GLOBAL_UNIQUE_BYTES);
        }
        if (n->blocks_run > 0 && n->blocks_run < n->blocks_all) {
            double scaled = unique * ((double)n->blocks_all / (double)n->blocks_run);

            unique = fmax(unique, fmin(scaled, all));
        }
        sum += unique;
    }
    return sum;
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

struct finding *finding_add(const struct tool_input *in, struct finding_list *out,
    enum severity severity, unsigned line, double share)
{
    double gain;

    if (!(share >= LEAST_SHARE) || out->nr == TOOLS_MAX_FINDINGS ||
        out->nr_of_tool == MOST_PER_TOOL) {
        return NULL;
    }
    share = fmin(share, MOST_SHARE);
    gain = 1 / (1 - share);
    if (in->roofline_share > 0) {
        gain = fmin(gain, 1 / in->roofline_share);
    }
    if (gain < 1 + LEAST_SHARE) {
        return NULL; /* at the roofline: there is nothing left to win */
    }
    struct finding *finding = &out->findings[out->nr];

    *finding = (struct finding){.tool = out->tool->name,
        .severity = severity,
        .line = line,
        .share = share,
        .max_gain = gain};
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

void finding_say(struct finding *finding, const char *format, ...)
{
    size_t len = 0;
    va_list ap;

    if (finding->line > 0) {
        len = (size_t)snprintf(finding->text, sizeof(finding->text), "Line %u: ", finding->line);
    }
    va_start(ap, format);
    vsnprintf(finding->text + len, sizeof(finding->text) - len, format, ap);
    va_end(ap);
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
