/* Owns the tools that read the code, for work that it repeats, overwrites, reloads or carries
 * through registers without need. The facts are in explain/code.h; the counters tell their cost. */
#include "explain/tool.h"

#include <math.h>

static const struct line_cost none;

static const struct line_cost *cost_of(const struct tool_input *in, unsigned line)
{
    for (unsigned i = 0; line > 0 && i < in->n->nr_lines; i++) {
        if (in->n->lines[i].line == line) {
            return &in->n->lines[i];
        }
    }
    return &none;
}

static double part(double of, double all)
{
    return all > 0 ? fmin(of / all, 1) : 0;
}

static double all_stalls(const struct tool_input *in)
{
    double sum = 0;

    for (unsigned i = 0; i < in->n->nr_lines; i++) {
        sum += in->n->lines[i].stall_cycles;
    }
    return sum;
}

/* The share of all waiting at a range of lines. */
static double stalled(const struct tool_input *in, unsigned first, unsigned last)
{
    double sum = 0;

    for (unsigned i = 0; i < in->n->nr_lines; i++) {
        if (in->n->lines[i].line >= first && in->n->lines[i].line <= last) {
            sum += in->n->lines[i].stall_cycles;
        }
    }
    return part(sum, all_stalls(in));
}

/* How often a warp executes a line, on average. */
static double rounds(const struct tool_input *in, unsigned line)
{
    double warps = value(in, METRIC_WARPS_LAUNCHED);

    return warps > 0 ? cost_of(in, line)->global_requests / warps : 0;
}

/* The share of the time that warps wait for memory and at barriers. */
static double waiting(const struct tool_input *in)
{
    double pct = has(in, METRIC_STALL_LONG_PCT) ? value(in, METRIC_STALL_LONG_PCT) : 0;

    pct += has(in, METRIC_STALL_BARRIER_PCT) ? value(in, METRIC_STALL_BARRIER_PCT) : 0;
    return fmin(pct / 100, 1);
}

static const struct code_fact *most(const struct tool_input *in, enum code_kind kind,
    double (*worth)(const struct tool_input *in, const struct code_fact *fact), double *best)
{
    const struct code_fact *found = NULL;

    *best = 0;
    for (unsigned i = 0; in->code && i < in->code->nr_facts; i++) {
        const struct code_fact *fact = &in->code->facts[i];
        double now = fact->kind == kind ? worth(in, fact) : 0;

        if (now > *best) {
            *best = now;
            found = fact;
        }
    }
    return found;
}

/* ---- copies through registers ---- */

/* The wait for the load is at the store into shared memory, where the value is used, or at the
 * barrier behind it. */
static double staged_worth(const struct tool_input *in, const struct code_fact *fact)
{
    return stalled(in, fact->first, fact->last) * waiting(in) *
           (rounds(in, fact->line) >= 4 ? 1 : 0);
}

void examine_async_copy(const struct tool_input *in, struct finding_list *out)
{
    double worth;
    const struct code_fact *fact = most(in, CODE_STAGED, staged_worth, &worth);

    /* Where few warps fit, the first cure is to make room for more warps. */
    worth *= has(in, METRIC_OCCUPANCY_PCT) && value(in, METRIC_OCCUPANCY_PCT) < 45 ? 0.5 : 1;
    /* Where there are many warps, some compute while others wait. */
    if (!fact || worth < 0.3 || in->busiest_pipe_pct >= 60) {
        return;
    }
    struct finding *f = finding_add(in, out, SEVERITY_WARNING, fact->line, 0.6 * worth);

    if (!f) {
        return;
    }
    finding_say(f,
        "each round loads a tile from global memory, carries it through registers into shared "
        "memory and waits for it there: %.0f%% of the time is waiting (%s). Copy the next tile by "
        "cp.async while this one is used: two buffers, a commit per tile, a wait before its use.",
        100 * waiting(in), from(in, METRIC_STALL_LONG_PCT));
    finding_cite(f, in, METRIC_STALL_LONG_PCT, METRIC_STALL_BARRIER_PCT, METRIC_SHARED_ST_REQUESTS,
        METRIC_GLOBAL_LD_REQUESTS);
    finding_weigh(f, {ACTION_ASYNC_COPY, 5}, {ACTION_REGISTER_TILE, 1.5}, {ACTION_TUNE, 1});
}

/* ---- stores that nobody reads ---- */

static double store_worth(const struct tool_input *in, const struct code_fact *fact)
{
    const struct line_cost *line = cost_of(in, fact->line);
    double requests = value(in, METRIC_GLOBAL_LD_REQUESTS) + value(in, METRIC_GLOBAL_ST_REQUESTS);
    double moved = part(line->global_requests, requests) * in->global_weight;

    if (rounds(in, fact->line) < 4) {
        return 0;
    }
    return fmax(moved, stalled(in, fact->line, fact->line) * waiting(in)) *
           (1 - 1 / rounds(in, fact->line));
}

void examine_dead_stores(const struct tool_input *in, struct finding_list *out)
{
    double worth;
    const struct code_fact *fact = most(in, CODE_ACCUMULATES, store_worth, &worth);

    if (!fact) {
        return;
    }
    struct finding *f = finding_add(
        in, out, worth > 0.4 ? SEVERITY_CRITICAL : SEVERITY_WARNING, fact->line, 0.9 * worth);

    if (!f) {
        return;
    }
    finding_say(f,
        "the loop stores to the same address in every round, %.0f accesses per warp (%s), and only "
        "the last store counts. Keep the value in a register and store it once, after the loop.",
        rounds(in, fact->line), from(in, METRIC_GLOBAL_ST_REQUESTS));
    finding_cite(
        f, in, METRIC_GLOBAL_ST_REQUESTS, METRIC_GLOBAL_LD_REQUESTS, METRIC_WARPS_LAUNCHED);
    finding_weigh(f, {ACTION_HOIST, 5}, {ACTION_READ_ONLY, 2}, {ACTION_REGISTER_TILE, 1});
}

/* ---- loads that a store may have changed ---- */

void examine_aliasing(const struct tool_input *in, struct finding_list *out)
{
    double worth;
    const struct code_fact *fact = most(in, CODE_RELOADED, store_worth, &worth);

    if (!fact) {
        return;
    }
    struct finding *f = finding_add(
        in, out, worth > 0.4 ? SEVERITY_CRITICAL : SEVERITY_WARNING, fact->line, 0.8 * worth);

    if (!f) {
        return;
    }
    finding_say(f,
        "the same address is loaded again in every round, %.0f accesses per warp (%s), since the "
        "store at line %u might have changed it. Declare the inputs const __restrict__, so that "
        "they are loaded once, through the read-only path.",
        rounds(in, fact->line), from(in, METRIC_GLOBAL_LD_REQUESTS), fact->line2);
    finding_cite(f, in, METRIC_GLOBAL_LD_REQUESTS, METRIC_WARPS_LAUNCHED);
    finding_weigh(f, {ACTION_READ_ONLY, 6}, {ACTION_HOIST, 3});
}

/* ---- the same work again ---- */

static double uniform_worth(const struct tool_input *in, const struct code_fact *fact)
{
    double pipe = has(in, METRIC_XU_PCT) ? value(in, METRIC_XU_PCT) / 100 : in->compute_weight;
    double share = part(cost_of(in, fact->line)->special_inst, value(in, METRIC_INST_SPECIAL));
    /* The line may have other special functions, and the counters do not tell them apart. */
    bool mixed = code_find(in->code, CODE_SPECIAL, fact->line) != NULL;

    return share * fmax(pipe, 0.5 * in->compute_weight) * (mixed ? 0.5 : 1);
}

void examine_recomputation(const struct tool_input *in, struct finding_list *out)
{
    double worth;
    const struct code_fact *fact = most(in, CODE_UNIFORM, uniform_worth, &worth);

    if (!fact || worth < 0.1) {
        return;
    }
    struct finding *f = finding_add(
        in, out, worth > 0.6 ? SEVERITY_CRITICAL : SEVERITY_WARNING, fact->line, 0.95 * worth);

    if (!f) {
        return;
    }
    finding_say(f,
        "all lanes compute the same exponentials, roots or divisions in every round: %s "
        "instructions (%s) where one value per round would do for the block. Compute each value "
        "once, by one thread each, into shared memory, or in a launch before.",
        count_text(cost_of(in, fact->line)->special_inst).text, from(in, METRIC_INST_SPECIAL));
    finding_cite(f, in, METRIC_INST_SPECIAL, METRIC_XU_PCT);
    finding_weigh(
        f, {ACTION_HOIST, 4}, {ACTION_SHARED_TILE, 3}, {ACTION_COARSEN, 3}, {ACTION_FAST_MATH, 2});
}

/* ---- loops that mostly keep themselves going ---- */

static double loop_worth(const struct tool_input *in, const struct code_fact *fact)
{
    const double steering = value(in, METRIC_INST_CONTROL) + value(in, METRIC_INST_INTEGER);
    double inside = 0, all = 0;

    for (unsigned i = 0; i < in->n->nr_lines; i++) {
        const struct line_cost *line = &in->n->lines[i];

        inside += line->line >= fact->first && line->line <= fact->last ? line->warp_inst : 0;
        all += line->warp_inst;
    }
    /* Lines are counted in PTX. Where the total is of machine code, in which ptxas has unrolled the
     * loop, the total knows better. */
    return fmin(part(inside, all) * fact->nr_steering / fact->nr,
        part(steering, value(in, METRIC_THREAD_INST)));
}

void examine_unrolling(const struct tool_input *in, struct finding_list *out)
{
    double worth;
    const struct code_fact *fact = most(in, CODE_SHORT_LOOP, loop_worth, &worth);

    if (!fact || worth < 0.35) {
        return;
    }
    struct finding *f = finding_add(in, out, worth > 0.6 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        fact->line, 0.9 * worth * in->compute_weight);

    if (!f) {
        return;
    }
    finding_say(f,
        "the loop has %u instructions, of which %u count, compare and jump: %.0f%% of all that is "
        "issued (%s) only keeps it going. Unroll it by 4 or more, and let the bound be a constant.",
        fact->nr, fact->nr_steering, 100 * worth, from(in, METRIC_WARP_INST));
    finding_cite(
        f, in, METRIC_INST_CONTROL, METRIC_INST_INTEGER, METRIC_THREAD_INST, METRIC_ISSUE_PCT);
    finding_weigh(f, {ACTION_UNROLL, 6}, {ACTION_COARSEN, 1.5});
}
