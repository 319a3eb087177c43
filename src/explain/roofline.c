/* Owns stage 1: the class of a kernel, from theory (the task's `work` against the chip) and from
 * the counters. Roofline: Williams, Waterman and Patterson, CACM 52(4), 2009. */
#include "explain/tool.h"

#include <math.h>

/* Where the busiest path is below this (percent), nothing is saturated: warps wait. */
static const double IDLE_PCT = 40;
/* One side (memory, compute) leads when it is this much above the other. */
static const double LEADS = 1.25;
static const double LEADS_BY_THEORY = 2;

/* The rate that plain code of the task's types can reach: that of the tensor cores for 16- and
 * 8-bit floats, that of the vector pipes for other types. f32 counts as f32, since the task does
 * not ask for a lower precision. */
static double peak_flops(const struct chip *chip, const struct task *task)
{
    double per_clk = chip->nr_sms * chip->clock_hz;
    double slowest = 0;

    for (unsigned i = 0; i < task->nr_arrays; i++) {
        double flops = 0;

        switch (task->arrays[i].elem) {
        case ELEM_F64:
            flops = 2 * chip->fp64_per_clk * per_clk;
            break;
        case ELEM_F32:
            flops = 2 * chip->fp32_per_clk * per_clk;
            break;
        case ELEM_TF32:
            flops = chip->tensor_tf32_flops;
            break;
        case ELEM_F16:
        case ELEM_BF16:
            flops = chip->tensor_fp16_flops;
            break;
        case ELEM_E4M3:
        case ELEM_E5M2:
            flops = 2 * chip->tensor_fp16_flops;
            break;
        default:
            break;
        }
        /* Inputs decide: an f32 result of f16 operands is tensor work. */
        if (flops > 0 && task->arrays[i].role != ROLE_OUT && (slowest == 0 || flops < slowest)) {
            slowest = flops;
        }
    }
    return slowest > 0 ? slowest : 2 * chip->fp32_per_clk * per_clk;
}

static double eval(const struct expr *expr, const struct env *sizes)
{
    struct err ignored;
    int64_t number;

    return expr && expr_eval(expr, sizes, &number, &ignored) && number > 0 ? (double)number : 0;
}

struct roofline roofline_of(const struct chip *chip, const struct task *task)
{
    struct roofline r = {0};

    if (!task) {
        return r;
    }
    r.flops = eval(task->flops, &task->timed.sizes);
    r.bytes = eval(task->bytes, &task->timed.sizes);
    r.compute_ns = r.flops / peak_flops(chip, task) * 1e9;
    r.memory_ns = r.bytes / chip->dram_bytes_per_s * 1e9;
    r.least_ns = fmax(r.compute_ns, r.memory_ns);
    return r;
}

double explain_roofline_ns(const struct chip *chip, const struct task *task)
{
    return roofline_of(chip, task).least_ns;
}

static enum bound by_theory(const struct roofline *r)
{
    if (r->compute_ns == 0 || r->memory_ns == 0) {
        return r->compute_ns > 0 ? BOUND_COMPUTE : r->memory_ns > 0 ? BOUND_MEMORY : BOUND_UNKNOWN;
    }
    if (r->compute_ns > LEADS_BY_THEORY * r->memory_ns) {
        return BOUND_COMPUTE;
    }
    return r->memory_ns > LEADS_BY_THEORY * r->compute_ns ? BOUND_MEMORY : BOUND_MIXED;
}

struct busy_unit {
    enum metric metric;
    double pct; /* negative: nothing known */
};

static struct busy_unit busiest(const struct counters *n, const enum metric *metrics, unsigned nr)
{
    struct busy_unit side = {metrics[0], -1};

    for (unsigned i = 0; i < nr; i++) {
        if (counters_has(n, metrics[i]) && counters_get(n, metrics[i]) > side.pct) {
            side = (struct busy_unit){metrics[i], counters_get(n, metrics[i])};
        }
    }
    return side;
}

static enum bound by_counts(
    const struct counters *n, struct busy_unit *memory, struct busy_unit *compute)
{
    static const enum metric memory_side[] = {
        METRIC_DRAM_PCT, METRIC_L2_PCT, METRIC_LSU_PCT, METRIC_MEMORY_PCT};
    static const enum metric compute_side[] = {METRIC_FMA_PCT, METRIC_ALU_PCT, METRIC_FP64_PCT,
        METRIC_XU_PCT, METRIC_TENSOR_PCT, METRIC_ISSUE_PCT, METRIC_SM_PCT};

    *memory = busiest(n, memory_side, ARRAY_SIZE(memory_side));
    *compute = busiest(n, compute_side, ARRAY_SIZE(compute_side));
    if (memory->pct < 0 || compute->pct < 0) {
        return BOUND_UNKNOWN;
    }
    if (fmax(memory->pct, compute->pct) < IDLE_PCT) {
        return BOUND_LATENCY;
    }
    if (memory->pct > LEADS * compute->pct) {
        return BOUND_MEMORY;
    }
    return compute->pct > LEADS * memory->pct ? BOUND_COMPUTE : BOUND_MIXED;
}

static const char *short_name(enum metric metric)
{
    switch (metric) {
    case METRIC_DRAM_PCT:
        return "DRAM";
    case METRIC_L2_PCT:
        return "L2";
    case METRIC_LSU_PCT:
        return "load/store unit";
    case METRIC_FMA_PCT:
        return "FMA pipe";
    case METRIC_ALU_PCT:
        return "integer pipe";
    case METRIC_FP64_PCT:
        return "FP64 pipe";
    case METRIC_XU_PCT:
        return "special-function pipe";
    case METRIC_TENSOR_PCT:
        return "tensor pipe";
    case METRIC_MEMORY_PCT:
        return "memory";
    case METRIC_SM_PCT:
        return "compute";
    default:
        return "issue slots";
    }
}

static const char *say_counts(
    const struct candidate *c, enum bound counts, struct busy_unit memory, struct busy_unit compute)
{
    const struct counters *n = &c->profile.total;

    if (counts == BOUND_UNKNOWN) {
        return "nothing known of how busy the chip was";
    }
    return arena_printf(c->arena, "%s %.0f%% and %s %.0f%% busy (%s)", short_name(memory.metric),
        memory.pct, short_name(compute.metric), compute.pct,
        provenance_name(n->metric[memory.metric].from));
}

static const char *say_theory(const struct candidate *c, const struct roofline *r, double share)
{
    if (r->least_ns == 0) {
        return "the task states no work, so no roofline";
    }
    if (share == 0) {
        return arena_printf(c->arena, "the task's work needs at least %.3g us", r->least_ns / 1e3);
    }
    return arena_printf(c->arena, "the task's work needs at least %.3g us, this took %.3g us (%s)",
        r->least_ns / 1e3, c->profile.time_ns / 1e3, provenance_name(c->profile.time_from));
}

void roofline_classify(const struct chip *chip, struct candidate *c)
{
    struct explanation *e = &c->explanation;
    struct roofline r = roofline_of(chip, c->task);
    struct busy_unit memory = {0}, compute = {0};
    enum bound theory = by_theory(&r);
    enum bound counts =
        c->profiled ? by_counts(&c->profile.total, &memory, &compute) : BOUND_UNKNOWN;
    const char *conflict = "";

    e->roofline_ns = r.least_ns;
    if (c->profiled && c->profile.time_ns > 0) {
        e->roofline_share = fmin(r.least_ns / c->profile.time_ns, 1);
    }
    if (theory == BOUND_UNKNOWN || counts == BOUND_UNKNOWN) {
        e->bound = theory == BOUND_UNKNOWN ? counts : theory;
        e->confidence = e->bound == BOUND_UNKNOWN ? 0 : counts == BOUND_UNKNOWN ? 0.5 : 0.6;
    } else if (counts == BOUND_LATENCY) {
        /* No conflict: theory says where a good kernel ends, the counts say why this one does not
         * get there. */
        e->bound = BOUND_LATENCY;
        e->confidence = 0.75;
    } else if (counts == theory) {
        e->bound = theory;
        e->confidence = 0.9;
    } else {
        bool near = theory == BOUND_MIXED || counts == BOUND_MIXED;

        e->bound = theory;
        e->confidence = near ? 0.7 : 0.5;
        conflict = arena_printf(c->arena, "; by the counts it is %s, theory goes first",
            counts == BOUND_MIXED ? "mixed"
                                  : arena_printf(c->arena, "%s-bound", bound_name(counts)));
    }
    e->summary = arena_printf(c->arena, "%s%s: %s; %s%s.",
        e->bound == BOUND_UNKNOWN ? "class unknown" : bound_name(e->bound),
        e->bound == BOUND_UNKNOWN || e->bound == BOUND_MIXED ? "" : "-bound",
        say_theory(c, &r, e->roofline_share), say_counts(c, counts, memory, compute), conflict);
}
