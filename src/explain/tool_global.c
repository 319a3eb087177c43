/* Owns the tools that look at global memory: coalescing, serial rows, narrow accesses, redundant
 * loads, caches, bandwidth, atomics. */
#include "explain/tool.h"

#include <math.h>

enum { SECTOR_BYTES = 32 };

/* A request moves at least one sector, however few bytes its lanes want, so a broadcast wastes
 * nothing. */
static double least_sectors(double ideal, double requests)
{
    return fmax(ideal, requests);
}

static double wasted_sectors(const struct line_cost *line)
{
    return line->global_sectors - least_sectors(line->global_sectors_ideal, line->global_requests);
}

static bool one_dimensional(const struct tool_input *in)
{
    return in->config && in->config->block[1] <= 1 && in->config->grid[1] <= 1;
}

/* Only a sample of the blocks was counted, and the distinct bytes are scaled up. */
static bool is_scaled(const struct tool_input *in)
{
    return in->unique_bytes > 1.001 * value(in, METRIC_GLOBAL_UNIQUE_BYTES);
}

static bool uses_shared(const struct tool_input *in)
{
    return has(in, METRIC_SHARED_LD_REQUESTS) && value(in, METRIC_SHARED_LD_REQUESTS) > 0;
}

/* Is each lane of an access far from the next? Lanes that touch fewer sectors than this share them,
 * unless the line has other accesses, which make its mean smaller. */
static bool lanes_apart(const struct tool_input *in, unsigned line, double per_request)
{
    return per_request >= 24 || code_find(in->code, CODE_SCATTERED, line);
}

/* The ratio of sectors to the fewest possible. The tool fires above 1.2, the trigger that others
 * use, and at two sectors too many per request, which misaligned rows and half-broadcasts do not
 * reach. */
void examine_coalescing(const struct tool_input *in, struct finding_list *out)
{
    double requests = value(in, METRIC_GLOBAL_LD_REQUESTS) + value(in, METRIC_GLOBAL_ST_REQUESTS);
    double sectors = value(in, METRIC_GLOBAL_LD_SECTORS) + value(in, METRIC_GLOBAL_ST_SECTORS);
    double ideal = least_sectors(
        value(in, METRIC_GLOBAL_LD_SECTORS_IDEAL) + value(in, METRIC_GLOBAL_ST_SECTORS_IDEAL),
        requests);
    const struct line_cost *line = worst_line(in, wasted_sectors);
    double line_requests = line ? line->global_requests : requests;
    double line_sectors = line ? line->global_sectors : sectors;
    double line_ideal =
        line ? least_sectors(line->global_sectors_ideal, line->global_requests) : ideal;

    if (line_requests <= 0 || sectors <= 0 || follows_chain(in, line_of(line)) ||
        line_sectors < 1.2 * line_ideal || line_sectors - line_ideal < 2 * line_requests) {
        return;
    }
    double wasted = line ? wasted_sectors(line) / sectors : 1 - ideal / sectors;
    struct finding *f = finding_add(in, out,
        line_sectors > 8 * line_requests ? SEVERITY_CRITICAL : SEVERITY_WARNING, line_of(line),
        wasted * in->global_weight);

    if (!f) {
        return;
    }
    finding_say(f,
        "each global access of a warp touches %.1f sectors of 32 bytes where %.1f would do (%s): "
        "%s. Let threadIdx.x run along the contiguous "
        "dimension, let the lanes of a warp share a row, or stage the data through shared memory.",
        line_sectors / line_requests, line_ideal / line_requests,
        from(in, METRIC_GLOBAL_LD_SECTORS),
        lanes_apart(in, line_of(line), line_sectors / line_requests)
            ? "neighbouring lanes are far apart in memory"
            : "a warp's lanes are at several places in memory, some side by side");
    finding_cite(f, in, METRIC_GLOBAL_LD_SECTORS, METRIC_GLOBAL_LD_SECTORS_IDEAL,
        METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_SECTORS);
    if (one_dimensional(in)) {
        finding_weigh(f, {ACTION_PARALLEL_REDUCE, 4}, {ACTION_SHARED_TILE, 1.5},
            {ACTION_VECTORIZE, 1}, {ACTION_BLOCK_SHAPE, 0.5});
    } else {
        /* In a tiled kernel the axes were chosen with care. */
        finding_weigh(f, {ACTION_SWAP_XY, uses_shared(in) ? 1 : 4}, {ACTION_SHARED_TILE, 3},
            {ACTION_VECTORIZE, uses_shared(in) ? 3 : 0.5}, {ACTION_PARALLEL_REDUCE, 1},
            {ACTION_BLOCK_SHAPE, 0.5});
    }
}

static double line_sectors(const struct line_cost *line)
{
    return line->global_sectors;
}

/* One thread walks a whole row: many loads per thread, lanes a row apart, fewer threads than the
 * chip holds. */
/* A lane wants some loads of its own to be worth its start and the sum over lanes: with four for
 * each, rows of so many loads are for a warp, and for a block of 128 threads. */
enum { WARP_LOADS = 128, BLOCK_LOADS = 512 };

void examine_serial_rows(const struct tool_input *in, struct finding_list *out)
{
    const struct line_cost *line = worst_line(in, line_sectors);
    double warps = value(in, METRIC_WARPS_LAUNCHED);
    double requests = value(in, METRIC_GLOBAL_LD_REQUESTS);
    double per_request = line && line->global_requests > 0
                             ? line->global_sectors / line->global_requests
                             : (requests > 0 ? value(in, METRIC_GLOBAL_LD_SECTORS) / requests : 0);
    /* Wide accesses of neighbouring lanes need many sectors, too; those are not wasted. */
    double needed = line && line->global_requests > 0
                        ? least_sectors(line->global_sectors_ideal, line->global_requests) /
                              line->global_requests
                        : 4;
    double room = (double)in->chip->nr_sms * in->chip->max_warps_per_sm;

    /* Rows whose addresses are looked up one after the other are no rows. */
    if (per_request < 2 * needed || follows_chain(in, line_of(line))) {
        return;
    }
    if (!one_dimensional(in) || warps <= 0 || requests < 16 * warps || per_request < 8 ||
        warps >= room) {
        return;
    }
    double idle = 1 - warps / room, scattered = 1 - 4 / per_request;
    bool alone = lanes_apart(in, line_of(line), per_request);

    /* Lanes that share sectors are neighbours on a row: short rows or rows out of step with sectors
     * are for other tools. */
    if (!alone && per_request < 16) {
        return;
    }
    struct finding *f = finding_add(in, out, SEVERITY_CRITICAL, line_of(line),
        fmax(idle, scattered) * fmax(in->global_weight, 0.6));

    if (!f) {
        return;
    }
    finding_say(f,
        "%s threads%s: %.0f loads per thread, %.1f sectors per access (%s), "
        "and %.0f%% of the chip's %.0f warp slots ever used. Let %s work on each row with "
        "neighbouring lanes on neighbouring elements, then reduce.",
        count_text(32 * warps).text,
        alone ? " each walk a row, or a part of a row, alone"
              : " walk rows, and a warp's lanes are on several rows at a time",
        requests / warps, per_request, from(in, METRIC_GLOBAL_LD_SECTORS), 100 * warps / room, room,
        requests < WARP_LOADS * warps    ? "a few lanes"
        : requests < BLOCK_LOADS * warps ? "a warp"
                                         : "a warp or a block");
    finding_cite(f, in, METRIC_WARPS_LAUNCHED, METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_LD_SECTORS);
    finding_weigh(
        f, {ACTION_PARALLEL_REDUCE, 8}, {ACTION_SHUFFLE_REDUCE, 1}, {ACTION_SHARED_TILE, 0.5});
}

static double narrow_sectors(const struct line_cost *line)
{
    return line->access_bytes > 0 && line->access_bytes <= 4 ? line->global_sectors : 0;
}

/* The bytes of a lane in the access by which a byte comes, in the mean over all bytes. Without
 * counts by line, what a request asks for, shared out over 32 lanes: broadcasts make it smaller. */
static double bytes_per_lane(const struct tool_input *in, double asked, double requests)
{
    double bytes = 0, wide = 0;

    for (unsigned i = 0; i < in->n->nr_lines; i++) {
        const struct line_cost *line = &in->n->lines[i];

        bytes += line->global_bytes;
        wide += line->global_bytes * line->access_bytes;
    }
    if (bytes > 0) {
        return wide / bytes;
    }
    return requests > 0 ? asked / requests / 32 : 0;
}

/* Streaming code (each byte asked for about once) in accesses of at most 4 bytes a lane. */
void examine_narrow_access(const struct tool_input *in, struct finding_list *out)
{
    double asked = value(in, METRIC_GLOBAL_LD_BYTES) + value(in, METRIC_GLOBAL_ST_BYTES);
    double requests = value(in, METRIC_GLOBAL_LD_REQUESTS) + value(in, METRIC_GLOBAL_ST_REQUESTS);
    double unique = in->unique_bytes;
    const struct line_cost *line = worst_line(in, narrow_sectors);
    double per_lane = bytes_per_lane(in, asked, requests);

    if (per_lane <= 0 || per_lane > 4.5 || unique <= 0 || asked > 3 * unique ||
        (line && line->global_sectors > 6 * line->global_requests) ||
        follows_chain(in, line_of(line))) {
        return; /* wide already, or reused, or scattered: other tools speak */
    }
    /* Wider accesses bring fewer instructions and more bytes in flight: some third of the
     * time that goes with memory, more where accesses are of single bytes, and no more than the
     * busiest path has left. */
    double most = per_lane <= 1.5 ? 0.6 : per_lane <= 2.5 ? 0.45 : 0.3;
    double room = in->busiest_pipe_pct > 0 ? fmax(tool_headroom(in), 0.1) : most;
    struct finding *f =
        finding_add(in, out, SEVERITY_WARNING, line_of(line), fmin(most, room) * in->global_weight);

    if (!f) {
        return;
    }
    finding_say(f,
        "the data streams through in accesses of %.1f bytes per lane: %s requests for %s bytes "
        "(%s)%s. 8- or 16-byte accesses (float2, float4) need a half or a quarter of the "
        "instructions and keep more bytes in flight.",
        per_lane, count_text(requests).text, count_text(asked).text,
        from(in, METRIC_GLOBAL_LD_BYTES),
        has(in, METRIC_SASS_GLOBAL_LD_WIDE) && value(in, METRIC_SASS_GLOBAL_LD_WIDE) == 0 &&
                value(in, METRIC_SASS_GLOBAL_LD) > 0
            ? ", with no wide load in the machine code"
            : "");
    finding_cite(f, in, METRIC_GLOBAL_LD_BYTES, METRIC_GLOBAL_ST_BYTES, METRIC_GLOBAL_LD_REQUESTS,
        METRIC_GLOBAL_UNIQUE_BYTES, METRIC_SASS_GLOBAL_LD_WIDE);
    finding_weigh(f, {ACTION_VECTORIZE, 5}, {ACTION_COARSEN, 2}, {ACTION_UNROLL, 1},
        {ACTION_GRID_STRIDE, 0.5});
}

static double line_bytes(const struct line_cost *line)
{
    return line->global_bytes;
}

/* The distinct bytes of what is loaded; results that are only stored do not count. Of a sample of
 * the blocks it is the most that they can be. Without the count, no more than the arrays hold that
 * are not only results. */
static double loaded_bytes(const struct tool_input *in)
{
    const double counted = value(in, METRIC_GLOBAL_LOADED_BYTES), most = source_bytes(in->c);

    if (counted > 0) {
        return fmin(counted, in->unique_bytes);
    }
    return most > 0 ? fmin(in->unique_bytes, most) : in->unique_bytes;
}

/* Fewer blocks would cost more than reuse in registers saves. */
static bool is_thin(const struct tool_input *in)
{
    return has(in, METRIC_WAVES) && value(in, METRIC_WAVES) < 0.5;
}

/* How often warps ask for the same bytes. The count has each byte once that an instruction of a
 * warp asks for, so that a broadcast, which costs one access, is no reuse. */
void examine_reuse(const struct tool_input *in, struct finding_list *out)
{
    double moved = value(in, METRIC_GLOBAL_LD_BYTES);
    double unique = in->unique_bytes, loaded = loaded_bytes(in);
    bool tiled = uses_shared(in);
    const struct line_cost *line = worst_line(in, line_bytes);
    double times = unique > 0 ? moved / unique : 0;

    if (times < 4 || follows_chain(in, line_of(line))) {
        return;
    }
    struct finding *f = finding_add(in, out, times >= 16 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        line_of(line), (1 - 1 / times) * in->global_weight);

    if (!f) {
        return;
    }
    finding_say(f,
        "%s bytes are loaded from global memory to use %s%s distinct ones, %s%.0f times each (%s). "
        "%s",
        count_text(moved).text, is_scaled(in) ? "at most " : "", count_text(loaded).text,
        is_scaled(in) ? "at least " : "", moved / loaded,
        is_scaled(in) ? "estimated from a sample of the blocks"
                      : from(in, METRIC_GLOBAL_UNIQUE_BYTES),
        tiled         ? "Reuse each tile for more outputs: a patch of outputs per thread in "
                        "registers, or larger tiles."
        : is_thin(in) ? "Stage tiles in shared memory; more outputs per thread would leave more "
                        "multiprocessors idle."
                      : "Stage tiles in shared memory and let each thread make several outputs, so "
                        "that each byte fetched is used many times.");
    finding_cite(f, in, METRIC_GLOBAL_LD_BYTES, METRIC_GLOBAL_LD_SECTORS);
    if (!is_scaled(in)) { /* the count of a sample is another number than the text's */
        finding_cite(f, in,
            has(in, METRIC_GLOBAL_LOADED_BYTES) ? METRIC_GLOBAL_LOADED_BYTES
                                                : METRIC_GLOBAL_UNIQUE_BYTES);
    }
    /* A register tile is a shared tile and more, where the code allows one. */
    finding_weigh(f, {ACTION_REGISTER_TILE, 6}, {ACTION_SHARED_TILE, tiled ? 2 : 4},
        {ACTION_COARSEN, 2.5}, {ACTION_TUNE, tiled ? 2.5 : 0.5});
}

void examine_cache(const struct tool_input *in, struct finding_list *out)
{
    double hit = value(in, METRIC_L1_HIT_PCT);
    double loaded = loaded_bytes(in);
    double times = loaded > 0 ? SECTOR_BYTES * value(in, METRIC_GLOBAL_LD_SECTORS) / loaded : 0;
    const struct line_cost *line = worst_line(in, line_sectors);

    if (hit >= 30 || times < 2) {
        return;
    }
    struct finding *f = finding_add(
        in, out, SEVERITY_WARNING, line_of(line), 0.5 * (1 - 1 / times) * in->global_weight);

    if (!f) {
        return;
    }
    finding_say(f,
        "sectors are loaded %s%.1f times each, but L1 serves only %.0f%% of them (%s). Keep what "
        "is "
        "used again close: shared memory, or blocks shaped so that neighbours share lines.",
        is_scaled(in) ? "at least " : "", times, hit, from(in, METRIC_L1_HIT_PCT));
    finding_cite(f, in, METRIC_L1_HIT_PCT, METRIC_GLOBAL_LD_SECTORS,
        has(in, METRIC_GLOBAL_LOADED_BYTES) ? METRIC_GLOBAL_LOADED_BYTES
                                            : METRIC_GLOBAL_UNIQUE_BYTES);
    finding_weigh(f, {ACTION_SHARED_TILE, 2}, {ACTION_BLOCK_SHAPE, 2}, {ACTION_TUNE, 1},
        {ACTION_READ_ONLY, 0.5});
}

/* DRAM is saturated: only moving fewer bytes helps. */
void examine_bandwidth(const struct tool_input *in, struct finding_list *out)
{
    double pct = value(in, METRIC_DRAM_PCT);
    double needed = roofline_of(in->chip, in->c->task).bytes;
    double moved = value(in, METRIC_DRAM_BYTES);
    double body_ns = remains_body_ns(in->chip, in->n);

    if (pct < 80 || needed <= 0 || moved < 1.3 * needed) {
        return;
    }
    struct finding *f = finding_add(in, out, SEVERITY_WARNING, 0, (1 - needed / moved) * pct / 100);

    if (!f) {
        return;
    }
    if (in->c->profile.nr_launches > 1) {
        finding_bound(in, f, remains_fused_ns(in->chip, &in->c->profile, needed));
    }
    finding_say(f,
        "DRAM is %.0f%% busy (%s) moving %s bytes, and the task's work states %s, which take %.3g "
        "us at the same bandwidth: only fewer bytes help now. %s",
        pct, from(in, METRIC_DRAM_PCT), count_text(moved).text, count_text(needed).text,
        body_ns * needed / moved / 1e3,
        in->c->profile.nr_launches > 1
            ? "Fuse launches, so that intermediate results never leave the chip."
            : "Read each input once and keep it in registers or shared memory.");
    finding_cite(f, in, METRIC_DRAM_PCT, METRIC_DRAM_BYTES);
    finding_weigh(f, {ACTION_SHARED_TILE, 2}, {ACTION_COARSEN, 1});
    if (in->c->profile.nr_launches > 1) {
        finding_weigh(f, {ACTION_FUSE, 5});
    }
}

/* The line with most atomics on global memory: a line's count has those on shared memory, too. */
static const struct line_cost *atomics_line(const struct tool_input *in)
{
    const struct line_cost *worst = NULL;

    for (unsigned i = 0; i < in->n->nr_lines; i++) {
        const struct line_cost *line = &in->n->lines[i];

        if (line->atomics > (worst ? worst->atomics : 0) &&
            (!in->code || code_find(in->code, CODE_ATOMIC, line->line))) {
            worst = line;
        }
    }
    return worst;
}

/* The share of waiting at lines with atomics where it is known; else by the share of requests. */
static double atomics_share(const struct tool_input *in, double ratio)
{
    double waiting = 0, all = 0;

    for (unsigned i = 0; i < in->n->nr_lines; i++) {
        all += in->n->lines[i].stall_cycles;
        waiting += in->n->lines[i].atomics > 0 ? in->n->lines[i].stall_cycles : 0;
    }
    return fmax(all > 0 ? waiting / all : 0, fmin(2 * ratio, 0.8));
}

void examine_atomics(const struct tool_input *in, struct finding_list *out)
{
    double atomics = value(in, METRIC_GLOBAL_ATOMICS);
    double requests =
        atomics + value(in, METRIC_GLOBAL_LD_REQUESTS) + value(in, METRIC_GLOBAL_ST_REQUESTS);
    const struct line_cost *line = atomics_line(in);
    double ratio = requests > 0 ? atomics / requests : 0;
    bool combined = has(in, METRIC_SHARED_ATOMICS) && value(in, METRIC_SHARED_ATOMICS) > 0;

    if (ratio < 0.02) {
        return;
    }
    struct finding *f = finding_add(in, out, ratio > 0.2 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        line_of(line), atomics_share(in, ratio));

    if (!f) {
        return;
    }
    finding_say(f,
        "%s of %s global requests are atomics (%s), and those on one address wait for each other. "
        "%s",
        count_text(atomics).text, count_text(requests).text, from(in, METRIC_GLOBAL_ATOMICS),
        combined ? "Blocks combine in shared memory first as it is: let each block take more of "
                   "the input, so that fewer blocks add their results."
                 : "Combine within the warp by shuffles or within the block in shared memory "
                   "first, and issue one global atomic per block.");
    finding_cite(f, in, METRIC_GLOBAL_ATOMICS, METRIC_GLOBAL_LD_REQUESTS);
    finding_weigh(f, {ACTION_PRIVATIZE, combined ? 0 : 6}, {ACTION_SHUFFLE_REDUCE, 3},
        {ACTION_PARALLEL_REDUCE, 2}, {ACTION_COARSEN, 1.5}, {ACTION_GRID_STRIDE, 1.5});
}
