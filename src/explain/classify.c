/* Owns stage 1: the class of a kernel, from theory (the task's `work` against the chip) and from
 * the counters, and the sentences that say it. */
#include "base/mem.h"
#include "base/str.h"
#include "explain/limits.h"
#include "explain/tool.h"

#include <math.h>

/* Where the busiest path is below this (percent), nothing is saturated: warps wait. */
static const double IDLE_PCT = 40;
/* One side (memory, compute) leads when it is this much above the other. */
static const double LEADS = 1.25;
static const double LEADS_BY_THEORY = 2;

struct roofline roofline_of(const struct chip *chip, const struct task *task)
{
    return task_roofline(chip, task, NULL);
}

static enum bound by_theory(const struct roofline *r)
{
    if (r->source != ROOFLINE_STATED) {
        return BOUND_UNKNOWN;
    }
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

/* "the load/store unit", "DRAM" */
static void say_unit(struct str *out, struct busy_unit unit)
{
    const bool plain = unit.metric == METRIC_DRAM_PCT || unit.metric == METRIC_L2_PCT ||
                       unit.metric == METRIC_MEMORY_PCT || unit.metric == METRIC_SM_PCT;

    str_addf(out, "%s%s", plain ? "" : "the ", limits_unit_name(unit.metric));
}

/* "spends its time on memory accesses: the load/store unit is 93% busy, the FMA pipe 17%
 * (modelled)"; where no class goes before, "is memory-bound: ...". */
static void say_counts(struct str *out, unsigned nr_sms, const struct candidate *c,
    enum bound counts, bool alone, struct busy_unit memory, struct busy_unit compute)
{
    const bool memory_first = memory.pct >= compute.pct;
    const double blocks = counters_get(&c->profile.total, METRIC_GRID_BLOCKS);
    const unsigned idle = c->profile.nr_launches == 1 && blocks > 0 && blocks < nr_sms
                              ? nr_sms - (unsigned)blocks
                              : 0;
    const struct busy_unit first = memory_first ? memory : compute;
    const struct busy_unit second = memory_first ? compute : memory;

    if (counts == BOUND_LATENCY && idle > 0) {
        str_addf(out,
            "is latency-bound: %u of the chip's %u multiprocessors have no block; over the chip, ",
            idle, nr_sms);
    } else if (counts == BOUND_LATENCY) {
        str_add(out, "is latency-bound: its warps wait, and even ");
    } else if (counts == BOUND_MIXED) {
        str_add(out, "keeps memory and pipes busy alike: ");
    } else if (alone) {
        str_addf(out, "is %s-bound: ", bound_name(counts));
    } else {
        str_addf(out,
            "spends its time on %s: ", counts == BOUND_MEMORY ? "memory accesses" : "instructions");
    }
    say_unit(out, first);
    str_addf(out, " %s %s%.0f%% busy", first.metric == METRIC_ISSUE_PCT ? "are" : "is",
        counts == BOUND_LATENCY ? "only " : "", first.pct);
    if (second.pct >= LIMITS_LEAST_PCT) {
        str_add(out, ", ");
        say_unit(out, second);
        str_addf(out, " %.0f%%", second.pct);
    }
    str_addf(out, " (%s)", provenance_name(c->profile.total.metric[first.metric].from));
}

static void say_theory(struct str *out, const struct roofline *r, enum bound theory)
{
    const bool whole_numbers = r->type == WORK_INT8 || r->type == WORK_INT32;

    if (theory == BOUND_MIXED) {
        str_add(out, "The task's bytes and its arithmetic need about the same time");
    } else {
        str_addf(out, "The task is %s-bound", bound_name(theory));
    }
    if (r->flops > 0 && r->bytes > 0) {
        str_addf(out, r->flops < 1000 * r->bytes ? " (%.3g %s per byte)" : " (%.0f %s per byte)",
            r->flops / r->bytes, whole_numbers ? "operations" : "flops");
    }
}

/* " It took 417 us (modelled); the task needs at least 10 us." */
static void say_times(struct str *out, const struct candidate *c, const struct roofline *r)
{
    const bool timed = c->profiled && c->profile.time_ns > 0;
    const char *the = timed ? "; the" : " The";

    if (timed) {
        str_add(out, c->profile.nr_launches > 1 ? " All launches took " : " It took ");
        roofline_say_time(c->profile.time_ns, out);
        str_addf(out, " (%s)", provenance_name(c->profile.time_from));
    }
    if (r->source == ROOFLINE_NONE) {
        str_addf(out, "%s task states no work, so no roofline", the);
    } else if (r->source == ROOFLINE_COUNTED) {
        str_addf(out, "%s bytes that it moved at least (%.3g MB, %s) need ", the, r->bytes / 1e6,
            provenance_name(r->counted));
        roofline_say_time(r->least_ns, out);
    } else if (r->least_ns > 0) {
        str_addf(out, "%s task needs ", the);
        roofline_say(r, out);
    }
    str_add(out, timed || r->source != ROOFLINE_STATED || r->least_ns > 0 ? "." : "");
}

static void add_summary(struct str *out, unsigned nr_sms, const struct candidate *c,
    const struct roofline *r, enum bound theory, enum bound counts, struct busy_unit memory,
    struct busy_unit compute)
{
    if (theory != BOUND_UNKNOWN) {
        say_theory(out, r, theory);
    }
    if (counts == BOUND_UNKNOWN) {
        str_addf(out, "%s known of how busy the chip was",
            theory == BOUND_UNKNOWN ? "Class unknown: nothing is" : "; nothing is");
    } else {
        str_add(out, theory == BOUND_UNKNOWN ? "This kernel "
                     : theory == counts      ? ", and this kernel "
                                             : ", but this kernel ");
        say_counts(out, nr_sms, c, counts, theory == BOUND_UNKNOWN, memory, compute);
    }
    str_add_char(out, '.');
    say_times(out, c, r);
}

/* How sure the class is: theory and counts may agree, say nothing, or be in conflict. That the
 * counts find waiting is no conflict: theory says where a good kernel ends, the counts say why this
 * one does not get there. */
static void set_class(struct explanation *e, enum bound theory, enum bound counts)
{
    const bool near = theory == BOUND_MIXED || counts == BOUND_MIXED;

    e->bound = theory == BOUND_UNKNOWN || counts == BOUND_LATENCY ? counts : theory;
    if (theory == BOUND_UNKNOWN || counts == BOUND_UNKNOWN) {
        e->confidence = e->bound == BOUND_UNKNOWN ? 0 : counts == BOUND_UNKNOWN ? 0.5 : 0.6;
    } else if (counts == BOUND_LATENCY) {
        e->confidence = 0.75;
    } else {
        e->confidence = counts == theory ? 0.9 : near ? 0.7 : 0.5;
    }
}

void roofline_classify(const struct chip *chip, struct candidate *c)
{
    struct explanation *e = &c->explanation;
    const struct roofline r = task_roofline(chip, c->task, c->profiled ? &c->profile : NULL);
    struct busy_unit memory = {0}, compute = {0};
    const enum bound theory = by_theory(&r);
    const enum bound counts =
        c->profiled ? by_counts(&c->profile.total, &memory, &compute) : BOUND_UNKNOWN;
    struct str summary = {0};

    set_class(e, theory, counts);
    e->roofline_ns = r.source == ROOFLINE_STATED ? r.least_ns : 0;
    if (c->profiled && c->profile.time_ns > 0) {
        e->roofline_share = fmin(e->roofline_ns / c->profile.time_ns, 1);
    }
    add_summary(&summary, chip->nr_sms, c, &r, theory, counts, memory, compute);
    e->summary = arena_strdup(c->arena, str_text(&summary));
    str_finish(&summary);
}
