/* Owns speed of light and Little's law. */
#include "explain/limits.h"

#include "base/mem.h"
#include "explain/tool.h"

#include <math.h>

static const struct {
    enum metric metric;
    const char *name;
} pipes[] = {
    {METRIC_DRAM_PCT, "DRAM"},
    {METRIC_L2_PCT, "L2"},
    {METRIC_LSU_PCT, "load/store unit"},
    {METRIC_FMA_PCT, "FMA pipe"},
    {METRIC_ALU_PCT, "integer pipe"},
    {METRIC_FP64_PCT, "FP64 pipe"},
    {METRIC_XU_PCT, "special-function pipe"},
    {METRIC_TENSOR_PCT, "tensor pipe"},
    {METRIC_ISSUE_PCT, "issue slots"},
    {METRIC_MEMORY_PCT, "memory"},
    {METRIC_SM_PCT, "compute"},
};

const char *limits_unit_name(enum metric metric)
{
    for (size_t i = 0; i < ARRAY_SIZE(pipes); i++) {
        if (pipes[i].metric == metric) {
            return pipes[i].name;
        }
    }
    return "";
}

/* A unit that is so busy, in percent, is what limits a launch. */
static const double FULL_PCT = 65;

static const char *wait_name(enum metric wait)
{
    return wait >= METRIC_STALL_LONG_PCT && wait <= METRIC_STALL_OTHER_PCT
               ? wait_reason_name((enum wait_reason)(wait - METRIC_STALL_LONG_PCT))
               : "";
}

void limits_say(const struct limit *limit, struct str *out)
{
    const char *unit = limits_unit_name(limit->unit), *wait = wait_name(limit->wait);
    const char *the = limit->unit == METRIC_DRAM_PCT || limit->unit == METRIC_L2_PCT ? "" : "the ";

    if (!unit[0]) {
        return;
    }
    if (limit->unit_pct >= FULL_PCT || !wait[0]) {
        str_addf(out, "limited by %s%s (%.0f%% busy)", the, unit, limit->unit_pct);
    } else {
        str_addf(out, "limited by waiting for %s (%.0f%% of the warps' time; %s%s %.0f%% busy)",
            wait, limit->wait_pct, the, unit, limit->unit_pct);
    }
}

static void find_pipes(const struct counters *n, struct limits *limits)
{
    for (size_t i = 0; i < ARRAY_SIZE(pipes); i++) {
        unsigned at = limits->nr_pipes;

        if (!counters_has(n, pipes[i].metric)) {
            continue;
        }
        for (; at > 0 && limits->pipes[at - 1].pct < counters_get(n, pipes[i].metric); at--) {
            limits->pipes[at] = limits->pipes[at - 1];
        }
        limits->pipes[at].metric = pipes[i].metric;
        limits->pipes[at].name = pipes[i].name;
        limits->pipes[at].pct = counters_get(n, pipes[i].metric);
        limits->pipes[at].from = n->metric[pipes[i].metric].from;
        limits->nr_pipes++;
    }
}

/* The warps that an SM holds: as many as fit, and no more than there are. */
static double resident_warps(const struct chip *chip, const struct counters *n)
{
    enum metric metric = counters_has(n, METRIC_OCCUPANCY_ACHIEVED_PCT)
                             ? METRIC_OCCUPANCY_ACHIEVED_PCT
                             : METRIC_OCCUPANCY_PCT;
    double fit = counters_get(n, metric) / 100 * chip->max_warps_per_sm;

    if (!counters_has(n, metric)) {
        return 0;
    }
    return counters_has(n, METRIC_WARPS_LAUNCHED)
               ? fmin(fit, counters_get(n, METRIC_WARPS_LAUNCHED) / chip->nr_sms)
               : fit;
}

static void apply_little(const struct chip *chip, const struct candidate *c, struct limits *limits)
{
    const struct counters *n = &c->profile.total;
    double latency_s = chip->lat_dram / chip->clock_hz;
    double requests =
        counters_get(n, METRIC_GLOBAL_LD_REQUESTS) + counters_get(n, METRIC_GLOBAL_ST_REQUESTS);
    double sectors =
        counters_get(n, METRIC_GLOBAL_LD_SECTORS) + counters_get(n, METRIC_GLOBAL_ST_SECTORS);

    limits->warps = resident_warps(chip, n);
    if (limits->warps <= 0 || requests <= 0 || sectors <= 0) {
        return;
    }
    limits->needed_bytes = chip->dram_bytes_per_s * latency_s / chip->nr_sms;
    limits->request_bytes = 32 * sectors / requests;
    limits->one_each = limits->warps * limits->request_bytes;
    if (counters_has(n, METRIC_DRAM_PCT)) {
        limits->moved_bytes = counters_get(n, METRIC_DRAM_PCT) / 100 * limits->needed_bytes;
    }
}

struct limits explain_limits(const struct chip *chip, const struct candidate *c)
{
    struct limits limits = {0};

    if (!c->profiled) {
        return limits;
    }
    limits.roofline = task_roofline(chip, c->task, &c->profile);
    limits.time_ns = c->profile.time_ns;
    find_pipes(&c->profile.total, &limits);
    apply_little(chip, c, &limits);
    return limits;
}

static void write_little(const struct limits *l, struct str *out)
{
    double each = l->needed_bytes / l->one_each;

    str_addf(out,
        "Little's law: full DRAM bandwidth needs %.3g KB in flight per SM. %.3g resident warps "
        "with one access of %.0f bytes each are %.3g KB",
        l->needed_bytes / 1e3, l->warps, l->request_bytes, l->one_each / 1e3);
    if (each > 1) {
        str_addf(out, ": each needs %.1f at a time", each);
    } else {
        str_add(out, ", which is enough");
    }
    if (l->moved_bytes > 0) {
        str_addf(out, "; at the bandwidth reached, %.3g KB were in flight", l->moved_bytes / 1e3);
    }
    str_add(out, ".\n");
}

double limits_pct(const struct limits *l, double least_ns)
{
    return l->time_ns > 0 ? 100 * least_ns / l->time_ns : 0;
}

/* A unit that would have needed more than the time is not the one that did the work. */
static void write_roofline(const struct limits *l, struct str *out)
{
    const struct roofline *r = &l->roofline;
    const double vector = limits_pct(l, r->vector_ns), tensor = limits_pct(l, r->tensor_ns);
    const char *before = ", its arithmetic ";

    if (l->time_ns <= 0 || r->least_ns <= 0) {
        return;
    }
    if (r->source == ROOFLINE_COUNTED) {
        str_addf(out,
            "Roofline of the bytes that it moved at least (%.3g MB, %s): they need %.3g%% of the "
            "time.\n",
            r->bytes / 1e6, provenance_name(r->counted), limits_pct(l, r->memory_ns));
        return;
    }
    str_addf(out, "Roofline: of the time, moving the task's bytes needs %.3g%%",
        limits_pct(l, r->memory_ns));
    if (vector > 0 && vector <= 100) {
        str_addf(out, "%s%.3g%% by %s", before, vector, roofline_vector_name(r->type));
        before = ", ";
    }
    if (tensor > 0 && (vector <= 0 || r->vector_ns > r->memory_ns)) {
        str_addf(out, "%s%.3g%% on tensor cores", before, tensor);
    }
    str_add(out, ".\n");
}

void limits_write(const struct limits *l, struct str *out)
{
    write_roofline(l, out);
    for (unsigned i = 0; i < l->nr_pipes && (i == 0 || l->pipes[i].pct >= LIMITS_LEAST_PCT); i++) {
        str_addf(
            out, "%s%s %.3g%%", i ? ", " : "Speed of light: ", l->pipes[i].name, l->pipes[i].pct);
    }
    if (l->nr_pipes > 0) {
        str_addf(out, " (%s).\n", provenance_name(l->pipes[0].from));
    }
    if (l->needed_bytes > 0) {
        write_little(l, out);
    }
}
