/* Owns the tools that look at the launch and its resources: occupancy, spills, tail, grid size,
 * launch overhead. */
#include "explain/tool.h"

#include <math.h>

/* Above this busiest path more warps cannot help: advice on occupancy is withheld. */
static const double SATURATED_PCT = 80;
static const double ENOUGH_OCCUPANCY_PCT = 50;

struct limiter {
    enum metric metric;
    const char *what, *cure;
};

static struct limiter find_limiter(const struct tool_input *in)
{
    static const struct limiter limiters[] = {
        {METRIC_OCC_LIMIT_REGISTERS, "registers",
            "Cap the registers with __launch_bounds__, or use smaller blocks."},
        {METRIC_OCC_LIMIT_SMEM, "shared memory", "Use smaller tiles, or more threads per tile."},
        {METRIC_OCC_LIMIT_WARPS, "warps per block",
            "Use a block size that divides the SM's warps evenly."},
        {METRIC_OCC_LIMIT_BLOCKS, "blocks per SM", "Use larger blocks."},
    };
    unsigned least = 0;

    for (unsigned i = 1; i < 4; i++) {
        if (value(in, limiters[i].metric) < value(in, limiters[least].metric)) {
            least = i;
        }
    }
    return limiters[least];
}

void examine_occupancy(const struct tool_input *in, struct finding_list *out)
{
    double pct = value(in, METRIC_OCCUPANCY_PCT);
    struct limiter limiter = find_limiter(in);
    /* The cost of few resident warps is the waiting that more warps would hide. */
    double waiting = has(in, METRIC_STALL_LONG_PCT)
                         ? fmin(value(in, METRIC_STALL_LONG_PCT) / 100, 1)
                         : 1 - fmax(in->busiest_pipe_pct, 20) / 100;

    if (pct >= ENOUGH_OCCUPANCY_PCT || in->busiest_pipe_pct >= SATURATED_PCT) {
        return;
    }
    struct finding *f = finding_add(in, out, pct < 25 ? SEVERITY_CRITICAL : SEVERITY_WARNING, 0,
        0.6 * waiting * (1 - pct / ENOUGH_OCCUPANCY_PCT));

    if (!f) {
        return;
    }
    finding_say(f, "only %.0f%% of the SM's warps fit (%s): %s allow %.0f blocks per SM%s. %s", pct,
        from(in, METRIC_OCCUPANCY_PCT), limiter.what, value(in, limiter.metric),
        has(in, METRIC_REGISTERS) ? arena_printf(in->c->arena, " at %.0f registers per thread",
                                        value(in, METRIC_REGISTERS))
                                  : "",
        limiter.cure);
    finding_cite(f, in, METRIC_OCCUPANCY_PCT, limiter.metric, METRIC_REGISTERS, METRIC_SMEM_STATIC,
        METRIC_BLOCK_THREADS);
    finding_weigh(f, {ACTION_BLOCK_SHAPE, 3}, {ACTION_TUNE, 2});
    if (limiter.metric == METRIC_OCC_LIMIT_REGISTERS) {
        finding_weigh(f, {ACTION_LAUNCH_BOUNDS, 3});
    }
}

static double line_local(const struct line_cost *line)
{
    return line->local_requests;
}

/* ptxas makes the spills: PTX does not show them, the machine code does. */
static const char *spills_in_sass(const struct tool_input *in)
{
    if (!has(in, METRIC_SASS_LOCAL_LD)) {
        return "";
    }
    return arena_printf(in->c->arena,
        ": %.0f local loads and %.0f local stores in the machine code",
        value(in, METRIC_SASS_LOCAL_LD), value(in, METRIC_SASS_LOCAL_ST));
}

void examine_spills(const struct tool_input *in, struct finding_list *out)
{
    double spill = value(in, METRIC_SPILL_BYTES);
    double local = value(in, METRIC_LOCAL_LD_REQUESTS) + value(in, METRIC_LOCAL_ST_REQUESTS);
    double other = (has(in, METRIC_GLOBAL_LD_REQUESTS) ? value(in, METRIC_GLOBAL_LD_REQUESTS) : 0) +
                   (has(in, METRIC_GLOBAL_ST_REQUESTS) ? value(in, METRIC_GLOBAL_ST_REQUESTS) : 0) +
                   (has(in, METRIC_SHARED_LD_REQUESTS) ? value(in, METRIC_SHARED_LD_REQUESTS) : 0);
    const struct line_cost *line = worst_line(in, line_local);

    if (spill <= 0 && local <= 0) {
        return;
    }
    /* Spills are known per thread only; a bad case costs some third of the time. */
    double share = fmax(local > 0 ? local / (local + other) * in->memory_weight : 0,
        spill > 0 ? fmin(0.05 + spill / 1000, 0.35) : 0);
    unsigned at = line_of(line);

    if (spill > 0 && local <= 0) {
        at = worst_sass_line(in, SASS_LOCAL_LOAD, SASS_LOCAL_STORE);
    }
    struct finding *f = finding_add(
        in, out, spill > 64 || share > 0.3 ? SEVERITY_CRITICAL : SEVERITY_WARNING, at, share);

    if (!f) {
        return;
    }
    if (spill > 0) {
        finding_say(f,
            "%.0f bytes per thread are spilled from registers to local memory (%s)%s%s. Allow more "
            "registers by __launch_bounds__ with fewer threads or blocks, or hold less per thread: "
            "smaller patches, less unrolling.",
            spill, from(in, METRIC_SPILL_BYTES),
            has(in, METRIC_REGISTERS)
                ? arena_printf(in->c->arena, " at %.0f registers", value(in, METRIC_REGISTERS))
                : "",
            spills_in_sass(in));
        finding_weigh(f, {ACTION_LAUNCH_BOUNDS, 5}, {ACTION_TUNE, 2}, {ACTION_BLOCK_SHAPE, 2});
    } else {
        finding_say(f,
            "a thread's own array lives in local memory, which is off chip: %s requests (%s). "
            "Unroll the loops over it so that all indices are constants and it fits in registers, "
            "or keep it in shared memory.",
            count_text(local).text, from(in, METRIC_LOCAL_LD_REQUESTS));
        finding_weigh(f, {ACTION_UNROLL, 5}, {ACTION_SHARED_TILE, 1});
    }
    finding_cite(f, in, METRIC_SPILL_BYTES, METRIC_LOCAL_LD_REQUESTS, METRIC_LOCAL_ST_REQUESTS,
        METRIC_REGISTERS, METRIC_SASS_LOCAL_LD, METRIC_SASS_LOCAL_ST);
}

void examine_tail(const struct tool_input *in, struct finding_list *out)
{
    double waves = value(in, METRIC_WAVES);
    double idle = waves > 0 ? 1 - waves / ceil(waves - 1e-9) : 0;

    if (waves <= 1 || idle < 0.1) {
        return;
    }
    struct finding *f =
        finding_add(in, out, idle > 0.3 ? SEVERITY_WARNING : SEVERITY_INFO, 0, idle);

    if (!f) {
        return;
    }
    finding_say(f,
        "the grid is %.2f waves (%s): the last wave leaves the chip partly idle, %.0f%% of all "
        "block slots. Choose a block size or tile that fills whole waves, or let a grid of one "
        "wave stride over the work.",
        waves, from(in, METRIC_WAVES), 100 * idle);
    finding_cite(f, in, METRIC_WAVES, METRIC_GRID_BLOCKS, METRIC_BLOCK_THREADS);
    finding_weigh(f, {ACTION_BLOCK_SHAPE, 3}, {ACTION_GRID_STRIDE, 3}, {ACTION_TUNE, 2});
}

static void weigh_for_threads(struct finding *f, double block_threads)
{
    finding_weigh(f, {ACTION_PARALLEL_REDUCE, 4}, {ACTION_SPLIT_WORK, 4},
        {ACTION_BLOCK_SHAPE, block_threads > 64 ? 3 : 0.5},
        {ACTION_TUNE, block_threads > 64 ? 2 : 0.5},
        {ACTION_SHUFFLE_REDUCE, block_threads < 32 ? 5 : 0});
}

/* The share of the time that warps wait for results; 1 when it is not known. */
static double waiting(const struct tool_input *in)
{
    static const enum metric stalls[] = {
        METRIC_STALL_LONG_PCT, METRIC_STALL_SHORT_PCT, METRIC_STALL_WAIT_PCT};
    double pct = 0;
    bool known = false;

    for (unsigned i = 0; i < ARRAY_SIZE(stalls); i++) {
        known = known || has(in, stalls[i]);
        pct += counters_get(in->n, stalls[i]);
    }
    return known ? fmin(pct / 100, 1) : 1;
}

/* All multiprocessors have something to do, but the whole grid fills less than half of the places
 * for warps, and no pipe is busy meanwhile: there is nothing to hide latency behind. */
void examine_thin_grid(const struct tool_input *in, struct finding_list *out)
{
    double blocks = value(in, METRIC_GRID_BLOCKS), threads = value(in, METRIC_BLOCK_THREADS);
    double waves = value(in, METRIC_WAVES), busy = in->busiest_pipe_pct / 100;

    /* The steps of a chain cannot be split over threads. */
    if (blocks <= 0.9 * in->chip->nr_sms || follows_chain(in, line_waited_for(in)) || waves <= 0 ||
        waves >= 0.5 || busy >= SATURATED_PCT / 100) {
        return;
    }
    /* More warps hide waiting, as other loads in flight do: 0.6 of it, as for finding_add_wait. */
    struct finding *f = finding_add(
        in, out, SEVERITY_WARNING, 0, 0.6 * waiting(in) * (1 - fmax(waves / 0.5, busy)));

    if (!f) {
        return;
    }
    finding_say(f,
        "%.0f blocks of %.0f threads (%s) fill %.0f%% of the places that the chip has for such "
        "blocks: too few warps to hide latency. Split the work of a thread over more threads: a "
        "warp per row, or a long loop over several threads.",
        blocks, threads, from(in, METRIC_GRID_BLOCKS), 100 * waves);
    finding_cite(f, in, METRIC_WAVES, METRIC_GRID_BLOCKS, METRIC_BLOCK_THREADS);
    weigh_for_threads(f, threads);
}

void examine_few_blocks(const struct tool_input *in, struct finding_list *out)
{
    double blocks = value(in, METRIC_GRID_BLOCKS), threads = value(in, METRIC_BLOCK_THREADS);
    double sms = in->chip->nr_sms;

    if (blocks <= 0 || blocks > 0.9 * sms) {
        return;
    }
    struct finding *f = finding_add(
        in, out, blocks < sms / 2 ? SEVERITY_CRITICAL : SEVERITY_WARNING, 0, (1 - blocks / sms));

    if (!f) {
        return;
    }
    finding_say(f,
        "%.0f block%s of %.0f thread%s (%s) for %.0f SMs: %.0f SMs have nothing to do. Use "
        "smaller blocks, or split the work of a thread over more threads: one block per row, or a "
        "long loop over several blocks.",
        blocks, blocks == 1 ? "" : "s", threads, threads == 1 ? "" : "s",
        from(in, METRIC_GRID_BLOCKS), sms, sms - blocks);
    finding_cite(f, in, METRIC_GRID_BLOCKS, METRIC_BLOCK_THREADS);
    weigh_for_threads(f, threads);
}

enum { MANY_LAUNCHES = 12 };

struct tiny_launches {
    unsigned nr;
    double limit_ns, inside_ns; /* each is shorter than the limit; their time together */
};

static struct tiny_launches count_tiny(const struct tool_input *in)
{
    const struct profile *profile = &in->c->profile;
    struct tiny_launches tiny = {.limit_ns = 3 * in->chip->launch_overhead_ns};

    for (unsigned i = 0; i < profile->nr_launches; i++) {
        double time = counters_get(&profile->launches[i], METRIC_TIME_NS);

        tiny.nr += time > 0 && time < tiny.limit_ns;
        tiny.inside_ns += time < tiny.limit_ns ? time : 0;
    }
    return tiny;
}

/* The time between launches against the whole time: measured gaps where there are any, else the
 * gaps that are usual on the chip. */
void examine_launches(const struct tool_input *in, struct finding_list *out)
{
    unsigned nr = in->c->profile.nr_launches;
    bool measured = has(in, METRIC_GAP_NS) && has(in, METRIC_SPAN_NS);
    double time = measured ? value(in, METRIC_SPAN_NS) : in->c->profile.time_ns;
    double overhead = measured ? value(in, METRIC_GAP_NS)
                      : nr > 1 ? (nr - 1) * in->chip->launch_overhead_ns
                               : 0;

    /* Of many tiny launches tiny_launches says the same, and more. */
    if (time <= 0 || overhead < 0.2 * time || (!measured && count_tiny(in).nr >= MANY_LAUNCHES)) {
        return;
    }
    struct finding *f = finding_add(
        in, out, overhead > 0.5 * time ? SEVERITY_CRITICAL : SEVERITY_WARNING, 0, overhead / time);

    if (!f) {
        return;
    }
    finding_bound(in, f, remains_fused_ns(in->chip, &in->c->profile, outside_bytes(in->c)));
    if (measured) {
        finding_say(f,
            "From the start of the first of %u launches to the end of the last it takes %.3g us, "
            "and for %.0f%% of that the GPU stood idle between launches (%s). Fuse launches, or "
            "give each more work.",
            nr, time / 1e3, 100 * overhead / time, from(in, METRIC_GAP_NS));
        finding_cite(f, in, METRIC_GAP_NS, METRIC_SPAN_NS);
    } else {
        finding_say(f,
            "%u launches take %.3g us (%s), and the gaps between them cost about %.3g us of it "
            "(modelled). Fuse launches, or give each more work.",
            nr, time / 1e3, provenance_name(in->c->profile.time_from), overhead / 1e3);
    }
    finding_cite(f, in, METRIC_TIME_NS, METRIC_GRID_BLOCKS);
    finding_weigh(f, {ACTION_FUSE, 6}, {ACTION_GRID_STRIDE, 0.5});
}

/* Many launches, each too short for its own cost. */
void examine_tiny_launches(const struct tool_input *in, struct finding_list *out)
{
    const struct profile *profile = &in->c->profile;
    const struct tiny_launches tiny = count_tiny(in);
    const double tiny_ns = tiny.limit_ns, inside = tiny.inside_ns;
    const unsigned nr = tiny.nr;

    if (nr < MANY_LAUNCHES || profile->time_ns <= 0) {
        return;
    }
    /* One launch instead of all of them; a quarter of what runs inside is starting and ending, too.
     */
    double share = ((nr - 1) * in->chip->launch_overhead_ns + 0.25 * inside) / profile->time_ns;
    struct finding *f = finding_add(
        in, out, share > 0.5 ? SEVERITY_CRITICAL : SEVERITY_WARNING, 0, fmin(share, 0.97));

    if (!f) {
        return;
    }
    finding_bound(in, f, remains_fused_ns(in->chip, &in->c->profile, outside_bytes(in->c)));
    finding_say(f,
        "%u of %u launches are shorter than %.1f us (%s), %.1f us on average, and starting one "
        "costs about %.1f us (modelled). Make them one launch that loops, or record them as a "
        "CUDA graph.",
        nr, profile->nr_launches, tiny_ns / 1e3, provenance_name(profile->time_from),
        inside / nr / 1e3, in->chip->launch_overhead_ns / 1e3);
    finding_cite(f, in, METRIC_TIME_NS, METRIC_GRID_BLOCKS);
    finding_weigh(f, {ACTION_FUSE, 6});
}
