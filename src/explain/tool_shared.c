/* Owns the tools that look at shared memory and barriers. */
#include "explain/tool.h"

#include <math.h>

static double line_conflicts(const struct line_cost *line)
{
    return line->shared_wavefronts - line->shared_wavefronts_ideal;
}

/* The share of shared memory's wavefronts that are conflicts. */
static double conflicting(const struct tool_input *in)
{
    double wavefronts = counters_get(in->n, METRIC_SHARED_LD_WAVEFRONTS) +
                        counters_get(in->n, METRIC_SHARED_ST_WAVEFRONTS);
    double conflicts = counters_get(in->n, METRIC_SHARED_LD_CONFLICTS) +
                       counters_get(in->n, METRIC_SHARED_ST_CONFLICTS);

    return wavefronts > 0 ? fmin(conflicts / wavefronts, 1) : 0;
}

void examine_bank_conflicts(const struct tool_input *in, struct finding_list *out)
{
    double wavefronts =
        value(in, METRIC_SHARED_LD_WAVEFRONTS) + value(in, METRIC_SHARED_ST_WAVEFRONTS);
    double conflicts =
        value(in, METRIC_SHARED_LD_CONFLICTS) + value(in, METRIC_SHARED_ST_CONFLICTS);
    const struct line_cost *line = worst_line(in, line_conflicts);

    if (wavefronts <= 0 || conflicts < 0.1 * wavefronts) {
        return;
    }
    double ways = line && line->shared_wavefronts_ideal > 0
                      ? line->shared_wavefronts / line->shared_wavefronts_ideal
                      : wavefronts / fmax(wavefronts - conflicts, 1);
    struct finding *f = finding_add(in, out, ways >= 8 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        line_of(line), conflicts / wavefronts * in->memory_weight);

    if (!f) {
        return;
    }
    finding_say(f,
        "shared memory takes %.1f times the wavefronts it needs: %s of %s are bank conflicts (%s), "
        "lanes meeting in one of the 32 banks. One more column in the shared array puts the rows "
        "in different banks.",
        ways, count_text(conflicts).text, count_text(wavefronts).text,
        from(in, METRIC_SHARED_LD_CONFLICTS));
    finding_cite(f, in, METRIC_SHARED_LD_CONFLICTS, METRIC_SHARED_ST_CONFLICTS,
        METRIC_SHARED_LD_WAVEFRONTS, METRIC_SHARED_ST_WAVEFRONTS);
    finding_weigh(f, {ACTION_PAD_SHARED, 6}, {ACTION_SWAP_XY, 1});
}

static double line_shared(const struct line_cost *line)
{
    return line->shared_wavefronts;
}

/* How busy the load/store unit is with what it must do: what conflicts take is not the loads'
 * fault, and a unit that idles while warps stand at barriers is not the limit. */
static double busy_with_loads(const struct tool_input *in)
{
    double busy = value(in, METRIC_LSU_PCT) * (1 - conflicting(in));
    double barrier = has(in, METRIC_STALL_BARRIER_PCT) ? value(in, METRIC_STALL_BARRIER_PCT) : 0;

    return busy < 80 && barrier >= 30 ? busy * (1 - fmin(barrier / 100, 1)) : busy;
}

/* Instructions of the matrix units, each fed by loads of fragments. A warp that makes 64 by 64
 * outputs of 16-bit operands loads 8 fragments, of four 8 by 8 matrices each, for 32 instructions
 * of 16 by 8 by 16. */
static void examine_fragments(const struct tool_input *in, struct finding_list *out, double busy)
{
    const double needed = 0.25;
    double loads = value(in, METRIC_SHARED_LD_REQUESTS) / value(in, METRIC_INST_TENSOR);
    const struct line_cost *line = worst_line(in, line_shared);

    if (loads < 3 * needed || busy < 40) {
        return;
    }
    struct finding *f = finding_add(in, out, busy >= 80 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        line_of(line), (1 - needed / loads) * busy / 100);

    if (!f) {
        return;
    }
    finding_say(f,
        "%.1f loads of a warp from shared memory per tensor instruction (%s) keep the load/store "
        "unit %.0f%% busy (%s). Let each warp make a larger patch of outputs, so that a fragment "
        "once loaded is used several times, and load fragments by ldmatrix.",
        loads, from(in, METRIC_SHARED_LD_REQUESTS), value(in, METRIC_LSU_PCT),
        from(in, METRIC_LSU_PCT));
    finding_cite(f, in, METRIC_SHARED_LD_REQUESTS, METRIC_INST_TENSOR, METRIC_LSU_PCT);
    finding_weigh(f, {ACTION_TENSOR_CORES, 3}, {ACTION_REGISTER_TILE, 3}, {ACTION_COARSEN, 2},
        {ACTION_TUNE, 2});
}

/* A count of the tensor pipe may have other instructions in it; the machine code tells. */
static bool uses_matrix_units(const struct tool_input *in)
{
    return has(in, METRIC_INST_TENSOR) && value(in, METRIC_INST_TENSOR) > 0 &&
           (!has(in, METRIC_SASS_TENSOR) || value(in, METRIC_SASS_TENSOR) > 0);
}

/* The load/store unit is the limit and feeds on shared memory: more arithmetic per load is needed.
 * A multiply-add with both operands from shared memory asks for 2 loads per fp32 instruction. */
void examine_shared_traffic(const struct tool_input *in, struct finding_list *out)
{
    double loads = 32 * value(in, METRIC_SHARED_LD_REQUESTS);
    double math =
        value(in, METRIC_INST_FP32) + (has(in, METRIC_INST_FP16) ? value(in, METRIC_INST_FP16) : 0);
    double busy = busy_with_loads(in);
    const struct line_cost *line = worst_line(in, line_shared);

    if (uses_matrix_units(in)) {
        examine_fragments(in, out, busy);
        return;
    }
    math += integer_work(in);
    if (math <= 0 || loads < 0.4 * math || busy < 40) {
        return;
    }
    double needed = 0.125 * math; /* what an 8 by 8 patch of outputs per thread asks for, halved */
    struct finding *f = finding_add(in, out, busy >= 80 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        line_of(line), (1 - needed / loads) * busy / 100);

    if (!f) {
        return;
    }
    finding_say(f,
        "%.1f loads from shared memory per arithmetic instruction (%s) keep the load/store unit "
        "%.0f%% busy (%s). Let each thread make a patch of outputs in registers, so that an "
        "operand once loaded is used several times.",
        loads / math, from(in, METRIC_SHARED_LD_REQUESTS), value(in, METRIC_LSU_PCT),
        from(in, METRIC_LSU_PCT));
    finding_cite(f, in, METRIC_SHARED_LD_REQUESTS, METRIC_INST_FP32, METRIC_LSU_PCT);
    finding_weigh(f, {ACTION_REGISTER_TILE, 6}, {ACTION_COARSEN, 3}, {ACTION_VECTORIZE, 1.5},
        {ACTION_UNROLL, 1});
}

static double barrier_stall(const struct line_cost *line)
{
    enum wait_reason most;

    if (line_waits_for(line, &most))
        return line->stalls[WAIT_BARRIER];
    return line->barriers > 0 ? line->stall_cycles + line->barriers * 1e-9 : 0;
}

void examine_barriers(const struct tool_input *in, struct finding_list *out)
{
    double pct = value(in, METRIC_STALL_BARRIER_PCT);
    double barriers = value(in, METRIC_BARRIERS);
    const struct line_cost *line = worst_line(in, barrier_stall);
    bool big = has(in, METRIC_BLOCK_THREADS) && value(in, METRIC_BLOCK_THREADS) > 128;

    if (barriers <= 0 || pct < 30) {
        return;
    }
    struct finding *f = finding_add(in, out, pct >= 60 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        line_of(line), fmin(pct / 100, 1) * 0.8);

    if (!f) {
        return;
    }
    finding_say(f,
        "warps spend %.0f%% of their time waiting at barriers (%s), %s times in all (%s). Reduce "
        "within a warp by shuffles, which need no barrier, do more work between barriers, or use "
        "smaller blocks.",
        pct, from(in, METRIC_STALL_BARRIER_PCT), count_text(barriers).text,
        from(in, METRIC_BARRIERS));
    finding_cite(f, in, METRIC_STALL_BARRIER_PCT, METRIC_BARRIERS);
    finding_weigh(f, {ACTION_SHUFFLE_REDUCE, 4}, {ACTION_COARSEN, 2}, {ACTION_REGISTER_TILE, 2},
        {ACTION_TUNE, 1.5}, {ACTION_BLOCK_SHAPE, big ? 2 : 0.5}, {ACTION_ASYNC_COPY, 1});
}
