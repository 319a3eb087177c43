/* Owns the tools that look at instructions: divergence, overhead, the wrong pipe, waiting. */
#include "explain/tool.h"

#include <math.h>

static double line_divergent(const struct line_cost *line)
{
    return line->branches_divergent;
}

static double line_idle_lanes(const struct line_cost *line)
{
    return 32 * line->warp_inst - line->thread_inst;
}

void examine_divergence(const struct tool_input *in, struct finding_list *out)
{
    double warps = value(in, METRIC_WARP_INST);
    double lanes = warps > 0 ? value(in, METRIC_THREAD_INST) / warps : 32;
    const struct line_cost *line = worst_line(in, line_divergent);

    if (lanes >= 0.85 * 32) {
        return;
    }
    line = line ? line : worst_line(in, line_idle_lanes);
    struct finding *f = finding_add(in, out, lanes < 16 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        line_of(line), (1 - lanes / 32) * fmax(in->compute_weight, 0.3));

    if (!f) {
        return;
    }
    finding_say(f,
        "on average %.1f of 32 lanes work in each instruction (%s): a branch or a loop bound "
        "differs within the warp, or the block is not a multiple of 32. Let lanes of a warp take "
        "the same path: other thread mapping, whole warps per row.",
        lanes, from(in, METRIC_THREAD_INST));
    finding_cite(
        f, in, METRIC_THREAD_INST, METRIC_WARP_INST, METRIC_BRANCHES, METRIC_BRANCHES_DIVERGENT);
    finding_weigh(f, {ACTION_BLOCK_SHAPE, 2}, {ACTION_PARALLEL_REDUCE, 2}, {ACTION_SWAP_XY, 1},
        {ACTION_SHUFFLE_REDUCE, 1}, {ACTION_TUNE, 1});
}

static double line_integer(const struct line_cost *line)
{
    return line->integer_inst;
}

double integer_work(const struct tool_input *in)
{
    double work = 0, all = 0;

    for (unsigned i = 0; i < in->n->nr_lines; i++) {
        const struct code_fact *f = code_find(in->code, CODE_INTEGER, in->n->lines[i].line);

        work += f && f->nr > 0 ? in->n->lines[i].integer_inst * f->nr / f->nr_steering : 0;
        all += in->n->lines[i].integer_inst;
    }
    /* Lines are counted in PTX, the total may be of machine code. */
    return all > 0 ? work / all * value(in, METRIC_INST_INTEGER) : 0;
}

/* The weight of instructions that are issued to no pipe of the task's own work: a tensor pipe that
 * is busy does not make them dearer. */
static double issue_weight(const struct tool_input *in)
{
    double pct = fmax(value(in, METRIC_ISSUE_PCT), value(in, METRIC_ALU_PCT));

    return has(in, METRIC_INST_TENSOR) && value(in, METRIC_INST_TENSOR) > 0
               ? fmin(in->compute_weight, pct / 100)
               : in->compute_weight;
}

/* Address arithmetic and loop control against all instructions. */
void examine_overhead(const struct tool_input *in, struct finding_list *out)
{
    double all = value(in, METRIC_THREAD_INST);
    double overhead =
        value(in, METRIC_INST_INTEGER) + value(in, METRIC_INST_CONTROL) - integer_work(in);
    double share = all > 0 ? overhead / all : 0;
    const struct line_cost *line = worst_line(in, line_integer);

    if (share < 0.4) {
        return;
    }
    /* A fifth is what well-unrolled code keeps. */
    struct finding *f = finding_add(in, out, share > 0.6 ? SEVERITY_WARNING : SEVERITY_INFO,
        line_of(line), (share - 0.2) * issue_weight(in));

    if (!f) {
        return;
    }
    finding_say(f,
        "%.0f%% of all instructions are integer arithmetic and loop control (%s). Unroll the loop, "
        "hoist what does not change, or do more useful work per index: several outputs per thread, "
        "wider accesses.",
        100 * share, from(in, METRIC_INST_INTEGER));
    finding_cite(
        f, in, METRIC_INST_INTEGER, METRIC_INST_CONTROL, METRIC_THREAD_INST, METRIC_ISSUE_PCT);
    finding_weigh(f, {ACTION_UNROLL, 3}, {ACTION_COARSEN, 3}, {ACTION_HOIST, 2.5},
        {ACTION_REGISTER_TILE, 2}, {ACTION_VECTORIZE, 1.5});
}

static bool task_uses_f64(const struct task *task)
{
    if (!task) {
        return false;
    }
    for (unsigned i = 0; i < task->nr_arrays; i++) {
        if (task->arrays[i].elem == ELEM_F64) {
            return true;
        }
    }
    for (unsigned i = 0; i < task->nr_scalars; i++) {
        if (task->scalars[i].elem == ELEM_F64) {
            return true;
        }
    }
    return false;
}

static double line_fp64(const struct line_cost *line)
{
    return line->fp64_inst;
}

void examine_fp64(const struct tool_input *in, struct finding_list *out)
{
    double all = value(in, METRIC_THREAD_INST), fp64 = value(in, METRIC_INST_FP64);
    double ratio = all > 0 ? fp64 / all : 0;
    const struct line_cost *line = worst_line(in, line_fp64);
    double busy = has(in, METRIC_FP64_PCT) ? value(in, METRIC_FP64_PCT) / 100 : 2 * ratio;

    if (ratio < 0.01 || task_uses_f64(in->c->task)) {
        return;
    }
    struct finding *f = finding_add(
        in, out, SEVERITY_CRITICAL, line_of(line), fmax(0.5 * fmin(busy, 1), fmin(2 * ratio, 0.5)));

    if (!f) {
        return;
    }
    finding_say(f,
        "%s double-precision instructions (%s), %.0f%% of all, in a task that has no f64 data. "
        "They run at half rate on another pipe: write constants as 1.0f, and call expf, sqrtf, "
        "fmaxf.",
        count_text(fp64).text, from(in, METRIC_INST_FP64), 100 * ratio);
    finding_cite(f, in, METRIC_INST_FP64, METRIC_THREAD_INST, METRIC_FP64_PCT);
    finding_weigh(f, {ACTION_FAST_MATH, 5}, {ACTION_HOIST, 1.5});
}

static double line_special(const struct line_cost *line)
{
    return line->special_inst;
}

void examine_special(const struct tool_input *in, struct finding_list *out)
{
    double all = value(in, METRIC_THREAD_INST), special = value(in, METRIC_INST_SPECIAL);
    double ratio = all > 0 ? special / all : 0;
    const struct line_cost *line = worst_line(in, line_special);
    /* 16 lanes a clock against 128: one in a hundred instructions is 8% of that pipe's time. */
    double busy = has(in, METRIC_XU_PCT) ? value(in, METRIC_XU_PCT) / 100
                                         : fmin(8 * ratio, 1) * in->compute_weight;

    if (ratio < 0.01 || busy < 0.1) {
        return;
    }
    struct finding *f = finding_add(
        in, out, busy > 0.6 ? SEVERITY_CRITICAL : SEVERITY_WARNING, line_of(line), 0.6 * busy);

    if (!f) {
        return;
    }
    finding_say(f,
        "%s special-function instructions (%s): exponentials, divisions, roots at an eighth of the "
        "arithmetic rate, with the code around them that makes them exact. Use __expf, __fdividef, "
        "rsqrtf where the tolerance allows, and compute each value once.",
        count_text(special).text, from(in, METRIC_INST_SPECIAL));
    finding_cite(f, in, METRIC_INST_SPECIAL, METRIC_XU_PCT, METRIC_THREAD_INST);
    finding_weigh(f, {ACTION_FAST_MATH, 5}, {ACTION_HOIST, 2});
}

static double line_conversions(const struct line_cost *line)
{
    return line->conversion_inst;
}

void examine_conversions(const struct tool_input *in, struct finding_list *out)
{
    double all = value(in, METRIC_THREAD_INST), cvt = value(in, METRIC_INST_CONVERSION);
    double ratio = all > 0 ? cvt / all : 0;
    const struct line_cost *line = worst_line(in, line_conversions);

    if (ratio < 0.1) {
        return;
    }
    struct finding *f = finding_add(
        in, out, SEVERITY_WARNING, line_of(line), fmin(ratio, 0.5) * in->compute_weight);

    if (!f) {
        return;
    }
    finding_say(f,
        "%.0f%% of all instructions convert between types (%s), at half the arithmetic rate or "
        "less. Convert once outside the loop, or in pairs (half2).",
        100 * ratio, from(in, METRIC_INST_CONVERSION));
    finding_cite(f, in, METRIC_INST_CONVERSION, METRIC_THREAD_INST);
    finding_weigh(f, {ACTION_HOIST, 3}, {ACTION_VECTORIZE, 2}, {ACTION_REGISTER_TILE, 1});
}

static double line_stalls(const struct line_cost *line)
{
    enum wait_reason most;

    return line_waits_for(line, &most) ? line->stalls[WAIT_LONG] : line->stall_cycles;
}

/* A warp waits where a loaded value is first used; the load stands on that line or above it. */
static const struct line_cost *waited_for(const struct tool_input *in)
{
    const struct line_cost *waits = worst_line(in, line_stalls), *load = NULL;

    for (unsigned i = 0; waits && i < in->n->nr_lines; i++) {
        const struct line_cost *line = &in->n->lines[i];

        if (line->line > 0 && line->line <= waits->line &&
            line->global_requests + line->local_requests > 0) {
            load = line;
        }
    }
    return load ? load : waits;
}

unsigned line_waited_for(const struct tool_input *in)
{
    return line_of(waited_for(in));
}

void examine_latency(const struct tool_input *in, struct finding_list *out)
{
    double pct = value(in, METRIC_STALL_LONG_PCT);
    const struct line_cost *line = waited_for(in);
    bool few_warps = has(in, METRIC_OCCUPANCY_PCT) && value(in, METRIC_OCCUPANCY_PCT) < 50 &&
                     in->busiest_pipe_pct < 80;

    /* A saturated path is not cured by more loads in flight. */
    if (pct < 40 || in->busiest_pipe_pct >= 80) {
        return;
    }
    struct finding *f = finding_add_wait(in, out, line_of(line), pct);

    if (!f) {
        return;
    }
    finding_say(f,
        "warps spend %.0f%% of their time waiting for global or local memory (%s)%s. Put more "
        "independent loads in flight: unroll, several outputs per thread, wider accesses; or bring "
        "the data closer, into shared memory.",
        pct, from(in, METRIC_STALL_LONG_PCT),
        few_warps ? ", and few warps are there to cover it" : "");
    finding_cite(f, in, METRIC_STALL_LONG_PCT, METRIC_OCCUPANCY_PCT, METRIC_ISSUE_PCT);
    finding_weigh(f, {ACTION_COARSEN, 3}, {ACTION_UNROLL, 2}, {ACTION_SHARED_TILE, 2},
        {ACTION_VECTORIZE, 2},
        {ACTION_READ_ONLY, 2}, /* without aliases, loads of later rounds go first */
        {ACTION_BLOCK_SHAPE, few_warps ? 1.5 : 0.5});
}

bool tensor_takes(enum elem elem)
{
    return elem == ELEM_I8 || elem == ELEM_U8 || elem == ELEM_F16 || elem == ELEM_BF16 ||
           elem == ELEM_E4M3 || elem == ELEM_E5M2 || elem == ELEM_TF32;
}

/* Work with more flops per byte takes the vector pipes longer than DRAM, however it is written. */
static double vector_flops_per_byte(const struct chip *chip)
{
    return 2 * chip->fp32_per_clk * chip->nr_sms * chip->clock_hz / chip->dram_bytes_per_s;
}

/* Bytes that are only compared or looked up are no operands of a product. */
static bool multiplies_data(const struct code *code)
{
    for (unsigned i = 0; code && i < code->nr_facts; i++) {
        if (code->facts[i].kind == CODE_INTEGER && code->facts[i].nr > 0) {
            return true;
        }
    }
    return !code;
}

/* Matrix-like work on operands that the tensor cores take, and none of it there. */
void examine_tensor(const struct tool_input *in, struct finding_list *out)
{
    const struct task *task = in->c->task;
    struct roofline r = roofline_of(in->chip, task);
    unsigned nr_operands = 0;

    if (!task || value(in, METRIC_INST_TENSOR) > 0 || r.bytes <= 0 ||
        r.flops < vector_flops_per_byte(in->chip) * r.bytes) {
        return;
    }
    for (unsigned i = 0; i < task->nr_arrays; i++) {
        nr_operands += task->arrays[i].role == ROLE_IN && tensor_takes(task->arrays[i].elem);
    }
    if (nr_operands < 2 || (r.type == WORK_INT8 && !multiplies_data(in->code))) {
        return;
    }
    struct finding *f = finding_add(in, out, SEVERITY_CRITICAL, 0, 0.8);

    if (!f) {
        return;
    }
    finding_bound(in, f, remains_tensor_ns(in->chip, &in->c->profile, r.flops));
    finding_say(f,
        "The task's %s %s on 16-bit or smaller operands are %.0f per byte of its data, and none "
        "of them run on the tensor cores, which are over ten times as fast as the vector pipes. "
        "Use mma instructions on tiles of 16 by 16%s.",
        count_text(r.flops).text, r.type == WORK_INT8 ? "integer operations" : "flops",
        r.flops / r.bytes,
        has(in, METRIC_SASS_TENSOR) && value(in, METRIC_SASS_TENSOR) == 0
            ? "; the machine code has none"
            : "");
    finding_cite(f, in, METRIC_INST_TENSOR, METRIC_SASS_TENSOR, METRIC_FLOPS);
    finding_weigh(f, {ACTION_TENSOR_CORES, 6}, {ACTION_REGISTER_TILE, 2}, {ACTION_SHARED_TILE, 2});
}
