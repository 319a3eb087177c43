/* Owns the tools that look at waits for other things than global memory, at rows out of step with
 * sectors, at data that L2 does not keep, and at the clock. */
#include "explain/tool.h"

#include <math.h>
#include <string.h>

/* Where lines tell why warps wait, the wait counts; a value may be used on another line than it is
 * made on. */
static double line_short_stall(const struct line_cost *line)
{
    const double requests = line->shared_requests + line->special_inst / 32;
    enum wait_reason most;

    if (line_waits_for(line, &most)) {
        return line->stalls[WAIT_SHORT];
    }
    return requests > 0 ? line->stall_cycles + requests * 1e-9 : 0;
}

static double line_mio(const struct line_cost *line)
{
    return line->shared_requests + line->special_inst / 32;
}

/* What a launch sends through the queue to memory and special units, in instructions of a warp;
 * accesses to global memory left out. */
struct queue {
    double shared, special, shuffle;
};

static struct queue queue_of(const struct tool_input *in)
{
    return (struct queue){.shared = counters_get(in->n, METRIC_SHARED_LD_REQUESTS) +
                                    counters_get(in->n, METRIC_SHARED_ST_REQUESTS) +
                                    counters_get(in->n, METRIC_SHARED_ATOMICS),
        .special = counters_get(in->n, METRIC_INST_SPECIAL) / 32,
        .shuffle = counters_get(in->n, METRIC_INST_SHUFFLE) / 32};
}

/* What most of them are: "shared memory and shuffles"; `joint` stands before the last one. */
static const char *queued(const struct tool_input *in, const struct queue *q, const char *joint)
{
    const double most = fmax(q->shared, fmax(q->special, q->shuffle));
    const bool of[] = {q->shared > 0.1 * most, q->special > 0.1 * most, q->shuffle > 0.1 * most};
    static const char *const names[] = {"shared memory", "special functions", "shuffles"};
    const unsigned nr = of[0] + of[1] + of[2];
    const char *text = "";
    unsigned nth = 0;

    for (unsigned i = 0; i < 3; i++) {
        if (of[i]) {
            text = arena_printf(in->c->arena, "%s%s%s", text,
                nth == 0        ? ""
                : nth + 1 == nr ? joint
                                : ", ",
                names[i]);
            nth++;
        }
    }
    return nr > 0 ? text : "shared memory, special functions or shuffles";
}

/* Waiting for shared memory or special functions, one result after the other. */
void examine_short_scoreboard(const struct tool_input *in, struct finding_list *out)
{
    double pct = value(in, METRIC_STALL_SHORT_PCT);
    const struct queue q = queue_of(in);
    const bool for_shared = q.shared > fmax(q.special, q.shuffle);
    const struct line_cost *line = worst_line(in, line_short_stall);

    if (pct < 35 || in->busiest_pipe_pct >= 60) {
        return;
    }
    struct finding *f = finding_add_wait(in, out, line_of(line), pct);

    if (!f) {
        return;
    }
    finding_say(f,
        "warps spend %.0f%% of their time waiting for %s (%s), each result needed for the next "
        "step. Do several independent steps at a time: unroll, several outputs per thread%s.",
        pct, queued(in, &q, " or "), from(in, METRIC_STALL_SHORT_PCT),
        for_shared ? "; or pass values between lanes by shuffles" : "");
    finding_cite(f, in, METRIC_STALL_SHORT_PCT, METRIC_OCCUPANCY_PCT, METRIC_ISSUE_PCT);
    finding_weigh(f, {ACTION_COARSEN, 3}, {ACTION_UNROLL, 2},
        {ACTION_SHUFFLE_REDUCE, for_shared ? 2 : 0}, {ACTION_REGISTER_TILE, 2});
}

/* Does a finding of the same launch name the cause already? */
static bool named_before(const struct tool_input *in, const struct finding_list *out)
{
    static const char *const causes[] = {"bank_conflicts", "shared_traffic", "special_functions"};

    for (unsigned i = 0; i < out->nr; i++) {
        for (unsigned k = 0; k < ARRAY_SIZE(causes); k++) {
            if (out->findings[i].launch == in->group.name &&
                strcmp(out->findings[i].tool, causes[k]) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* The queue to shared memory, special functions and shuffles is full. */
void examine_mio(const struct tool_input *in, struct finding_list *out)
{
    double pct = value(in, METRIC_STALL_MIO_PCT);
    const struct line_cost *line = worst_line(in, line_mio);
    double global = counters_get(in->n, METRIC_GLOBAL_LD_REQUESTS) +
                    counters_get(in->n, METRIC_GLOBAL_ST_REQUESTS);
    const struct queue q = queue_of(in);
    double others = q.shared + q.special + q.shuffle;
    bool for_shared = q.shared >= fmax(q.special, q.shuffle);

    /* For a queue that is full of accesses to global memory, the memory tools speak. */
    if (pct < 40 || others < 2 * global || others <= 0 || named_before(in, out)) {
        return;
    }
    struct finding *f = finding_add(in, out, pct >= 60 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        line_of(line), 0.4 * fmin(pct / 100, 1));

    if (!f) {
        return;
    }
    finding_say(f,
        "warps spend %.0f%% of their time waiting for a place in the queue to %s (%s). %s", pct,
        queued(in, &q, " and "), from(in, METRIC_STALL_MIO_PCT),
        for_shared
            ? "Fewer and wider requests help: 16-byte accesses to shared memory, operands kept in "
              "registers."
        : q.special >= q.shuffle
            ? "Fewer requests help: fast intrinsics, and each value computed once."
            : "Fewer requests help: several rows or elements per lane before lanes are combined.");
    finding_cite(f, in, METRIC_STALL_MIO_PCT, METRIC_LSU_PCT, METRIC_XU_PCT);
    if (for_shared) {
        finding_weigh(f, {ACTION_REGISTER_TILE, 4}, {ACTION_VECTORIZE, 2});
    } else {
        finding_weigh(f, {ACTION_COARSEN, 2}, {ACTION_FAST_MATH, q.special >= q.shuffle ? 3 : 0});
    }
}

struct pipe {
    enum metric metric;
    const char *name, *cure;
};

static const struct pipe pipes[] = {
    {METRIC_FMA_PCT, "FMA", "Only less arithmetic, a lower precision or tensor cores go beyond."},
    {METRIC_ALU_PCT, "integer", "Simplify indices: hoist, powers of two, 32-bit arithmetic."},
    {METRIC_FP64_PCT, "FP64", "Use single precision where the tolerance allows."},
    {METRIC_XU_PCT, "special-function", "Use fast intrinsics, or compute each value once."},
};

/* Ready warps wait for a busy arithmetic pipe: the kernel is nearly as fast as it gets, unless it
 * can do with less work. */
void examine_pipe_throttle(const struct tool_input *in, struct finding_list *out)
{
    double pct = value(in, METRIC_STALL_MATH_PCT), busy = 0;
    const struct pipe *pipe = NULL;

    for (unsigned i = 0; i < sizeof(pipes) / sizeof(pipes[0]); i++) {
        if (has(in, pipes[i].metric) && value(in, pipes[i].metric) > busy) {
            pipe = &pipes[i];
            busy = value(in, pipes[i].metric);
        }
    }
    /* In a good kernel the FMA pipe is full of the task's own work. */
    if (!pipe || pct < 30 || busy < 60 || pipe->metric == METRIC_FMA_PCT) {
        return;
    }
    struct finding *f =
        finding_add(in, out, SEVERITY_INFO, 0, 0.3 * fmin(pct / 100, 1) * busy / 100);

    if (!f) {
        return;
    }
    finding_say(f,
        "ready warps spend %.0f%% of their time waiting for the %s pipe (%s), which is %.0f%% busy "
        "(%s). %s",
        pct, pipe->name, from(in, METRIC_STALL_MATH_PCT), busy, from(in, pipe->metric), pipe->cure);
    finding_cite(f, in, METRIC_STALL_MATH_PCT, pipe->metric);
    finding_weigh(f, {pipe->metric == METRIC_ALU_PCT ? ACTION_HOIST : ACTION_FAST_MATH, 2});
}

/* More than a tenth and at most two sectors too many per request. */
static double straddling(const struct line_cost *line)
{
    double extra = line->global_sectors - fmax(line->global_sectors_ideal, line->global_requests);

    return line->global_requests > 0 && extra > 0.1 * line->global_sectors_ideal &&
                   extra <= 2 * line->global_requests &&
                   line->global_sectors_ideal >= 2 * line->global_requests
               ? extra
               : 0;
}

/* Warps whose rows do not begin at a sector's border touch one sector more. */
void examine_misaligned(const struct tool_input *in, struct finding_list *out)
{
    double sectors = value(in, METRIC_GLOBAL_LD_SECTORS) + value(in, METRIC_GLOBAL_ST_SECTORS);
    const struct line_cost *line = worst_line(in, straddling);
    double share = line && sectors > 0 ? straddling(line) / sectors * in->global_weight : 0;
    struct finding *f = line ? finding_add(in, out, SEVERITY_INFO, line_of(line), share) : NULL;

    if (!f) {
        return;
    }
    finding_say(f,
        "accesses straddle the borders of 32-byte sectors: %.2f sectors per request where %.2f "
        "would do (%s). Let rows begin at multiples of 32 bytes: pad the leading dimension, or "
        "shift the work so that a warp's first element is aligned.",
        line->global_sectors / line->global_requests,
        line->global_sectors_ideal / line->global_requests, from(in, METRIC_GLOBAL_LD_SECTORS));
    finding_cite(
        f, in, METRIC_GLOBAL_LD_SECTORS, METRIC_GLOBAL_LD_SECTORS_IDEAL, METRIC_GLOBAL_LD_REQUESTS);
    finding_weigh(f, {ACTION_SHARED_TILE, 1}, {ACTION_VECTORIZE, 0.5});
}

static double line_sectors(const struct line_cost *line)
{
    return line->global_sectors;
}

/* Data that would fit into L2 comes from DRAM more than once. */
void examine_l2_reuse(const struct tool_input *in, struct finding_list *out)
{
    double moved = value(in, METRIC_DRAM_BYTES), hit = value(in, METRIC_L2_HIT_PCT);
    double busy = value(in, METRIC_DRAM_PCT) / 100;
    const struct line_cost *line = worst_line(in, line_sectors);

    /* Data that is read and written in place must move twice. */
    if (in->unique_bytes <= 0 || moved < 3 * in->unique_bytes || hit >= 50 || busy < 0.3) {
        return;
    }
    struct finding *f = finding_add(in, out, SEVERITY_WARNING, line_of(line),
        (1 - 2 * in->unique_bytes / moved) * fmin(busy, 1) * 0.7);

    if (!f) {
        return;
    }
    finding_say(f,
        "DRAM moves %s bytes for %s distinct ones (%s), and L2 serves only %.0f%% of what reaches "
        "it: data is gone before it is used again. Let blocks that share data run at the same "
        "time: smaller working sets, tiles, blocks ordered along what they share.",
        count_text(moved).text, count_text(in->unique_bytes).text, from(in, METRIC_DRAM_BYTES),
        hit);
    finding_cite(
        f, in, METRIC_DRAM_BYTES, METRIC_L2_HIT_PCT, METRIC_DRAM_PCT, METRIC_GLOBAL_UNIQUE_BYTES);
    finding_weigh(f, {ACTION_SHARED_TILE, 3}, {ACTION_REGISTER_TILE, 2}, {ACTION_SWAP_XY, 1},
        {ACTION_BLOCK_SHAPE, 1});
}

/* Cycles over time is the clock: a card that is hot, capped or locked to its base clock runs below
 * what the chip's figures assume. */
void examine_clock(const struct tool_input *in, struct finding_list *out)
{
    double time_ns = value(in, METRIC_TIME_NS);
    double hz = time_ns > 0 ? value(in, METRIC_CYCLES) / time_ns * 1e9 : 0;
    double share = 1 - hz / in->chip->clock_hz;

    /* Shorter kernels than this do not give the clock to a percent. */
    if (in->n->metric[METRIC_TIME_NS].from != PROV_MEASURED || time_ns < 5000 || hz <= 0 ||
        share < 0.1 || share > 0.9) {
        return;
    }
    struct finding *f = finding_add(in, out, SEVERITY_INFO, 0, share * in->compute_weight);

    if (!f) {
        return;
    }
    finding_say(f,
        "the SMs ran at %.0f MHz (%s), and the chip can do %.0f: throttled, capped, or locked to "
        "the base clock, as Nsight Compute does unless told --clock-control none. Look at "
        "nvidia-smi -q -d PERFORMANCE before comparing times.",
        hz / 1e6, from(in, METRIC_CYCLES), in->chip->clock_hz / 1e6);
    finding_cite(f, in, METRIC_CYCLES, METRIC_TIME_NS);
}
