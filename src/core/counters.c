/* Owns the names of the metrics, and the sum of launches that makes a profile. */
#include "core/counters.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *unit;
} metrics[NR_METRICS] = {
#define METRIC(id, name, unit) [METRIC_##id] = {name, unit},
#include "core/metrics.def"
#undef METRIC
};

const char *metric_name(enum metric metric)
{
    return metrics[metric].name;
}

const char *metric_unit(enum metric metric)
{
    return metrics[metric].unit;
}

double counters_limiters(const struct counters *counters, struct str *names)
{
    static const struct {
        enum metric metric;
        const char *name;
    } limits[] = {{METRIC_OCC_LIMIT_REGISTERS, "registers"},
        {METRIC_OCC_LIMIT_SMEM, "shared memory"}, {METRIC_OCC_LIMIT_WARPS, "warps"},
        {METRIC_OCC_LIMIT_BLOCKS, "blocks"}};
    double least = INFINITY;
    bool any = false;

    for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
        if (counters_has(counters, limits[i].metric))
            least = fmin(least, counters_get(counters, limits[i].metric));
    }
    for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
        if (counters_has(counters, limits[i].metric) &&
            counters_get(counters, limits[i].metric) <= least) {
            str_addf(names, "%s%s", any ? " and " : "", limits[i].name);
            any = true;
        }
    }
    return least;
}

/* The metrics of cures follow each other as the cures do. */
#define CURE(id, name, what)                                                                       \
    _Static_assert(                                                                                \
        (int)METRIC_WITHOUT_##id == (int)METRIC_WITHOUT_CONFLICTS + (int)CURE_##id, name);
#include "core/cures.def"
#undef CURE

enum metric cure_metric(enum cure cure)
{
    return (enum metric)((int)METRIC_WITHOUT_CONFLICTS + (int)cure);
}

enum cure metric_cure(enum metric metric)
{
    const int number = (int)metric - (int)METRIC_WITHOUT_CONFLICTS;

    return number >= 0 && number < NR_CURES ? (enum cure)number : NR_CURES;
}

bool metric_is_cure(enum metric metric)
{
    return metric_cure(metric) != NR_CURES;
}

const char *cure_what(enum cure cure)
{
    static const char *const of[NR_CURES] = {
#define CURE(id, name, what) [CURE_##id] = (what),
#include "core/cures.def"
#undef CURE
    };

    return of[cure];
}

/* Names that databases of earlier versions have, and another name of the same count. */
static const struct {
    const char *name;
    enum metric metric;
} other_names[] = {{"sm__inst_executed_pipe_tensor.sum", METRIC_INST_TENSOR},
    {"sm__inst_executed.sum", METRIC_WARP_INST},
    {"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", METRIC_TENSOR_PCT}};

bool metric_parse(const char *name, enum metric *metric)
{
    for (size_t i = 0; i < ARRAY_SIZE(other_names); i++) {
        if (strcmp(other_names[i].name, name) == 0) {
            *metric = other_names[i].metric;
            return true;
        }
    }
    for (unsigned i = 0; i < NR_METRICS; i++) {
        if (strcmp(metrics[i].name, name) == 0) {
            *metric = (enum metric)i;
            return true;
        }
    }
    return false;
}

const char *provenance_name(enum provenance from)
{
    static const char *const names[NR_PROVENANCES] = {"absent", "measured", "counted", "sampled",
        "counted on the emulator", "sampled on the emulator", "modelled"};

    return names[from];
}

const char *wait_reason_name(enum wait_reason stall)
{
    static const char *const names[NR_WAITS] = {"memory", "shared memory or special functions",
        "a barrier", "results of fixed delay", "the queue of memory and special instructions",
        "a busy math pipe", "other reasons"};

    return names[stall];
}

bool counters_lines_emulated(const struct counters *c)
{
    const enum provenance from = c->metric[METRIC_BARRIERS].from; /* which no GPU counts */

    return from == PROV_EMULATED || from == PROV_EMULATED_SAMPLE;
}

bool line_waits_for(const struct line_cost *line, enum wait_reason *stall)
{
    *stall = WAIT_LONG;
    for (int s = 0; s < NR_WAITS; s++)
        if (line->stalls[s] > line->stalls[*stall])
            *stall = (enum wait_reason)s;
    return line->stalls[*stall] > 0;
}

void counters_set(struct counters *c, enum metric metric, double value, enum provenance from)
{
    c->metric[metric].value = value;
    c->metric[metric].from = from;
}

bool counters_has(const struct counters *c, enum metric metric)
{
    return c->metric[metric].from != PROV_ABSENT;
}

double counters_get(const struct counters *c, enum metric metric)
{
    return counters_has(c, metric) ? c->metric[metric].value : 0;
}

enum sum_rule { SUM_ADD, SUM_WEIGHTED, SUM_LONGEST };

static enum sum_rule sum_rule(enum metric metric)
{
    switch (metric) {
    case METRIC_REGISTERS:
    case METRIC_SMEM_STATIC:
    case METRIC_SMEM_DYNAMIC:
    case METRIC_SPILL_BYTES:
    case METRIC_BLOCK_THREADS:
    case METRIC_GRID_BLOCKS:
    case METRIC_WAVES:
    case METRIC_OCC_LIMIT_BLOCKS:
    case METRIC_OCC_LIMIT_REGISTERS:
    case METRIC_OCC_LIMIT_SMEM:
    case METRIC_OCC_LIMIT_WARPS:
        return SUM_LONGEST;
    default:
        return strcmp(metrics[metric].unit, "%") == 0 ? SUM_WEIGHTED : SUM_ADD;
    }
}

/* The less certain of two sources: a sum is as good as its worst part. */
static enum provenance weaker(enum provenance a, enum provenance b)
{
    return a > b ? a : b;
}

/* A metric that one launch lacks is absent in the total: a sum over the others would mislead. */
static void sum_metric(struct profile *profile, enum metric metric, const double *weights)
{
    enum sum_rule rule = sum_rule(metric);
    struct counter total = {0};

    if (rule == SUM_LONGEST) {
        profile->total.metric[metric] = profile->launches[profile->longest].metric[metric];
        return;
    }
    for (unsigned i = 0; i < profile->nr_launches; i++) {
        const struct counter *c = &profile->launches[i].metric[metric];

        if (c->from == PROV_ABSENT)
            return;
        total.value += rule == SUM_ADD ? c->value : c->value * weights[i];
        total.from = weaker(total.from, c->from);
    }
    profile->total.metric[metric] = total;
}

static void line_add(struct line_cost *sum, const struct line_cost *part)
{
    sum->warp_inst += part->warp_inst;
    sum->thread_inst += part->thread_inst;
    sum->global_requests += part->global_requests;
    sum->global_sectors += part->global_sectors;
    sum->global_sectors_ideal += part->global_sectors_ideal;
    sum->global_bytes += part->global_bytes;
    if (part->access_bytes > sum->access_bytes)
        sum->access_bytes = part->access_bytes;
    sum->shared_requests += part->shared_requests;
    sum->shared_wavefronts += part->shared_wavefronts;
    sum->shared_wavefronts_ideal += part->shared_wavefronts_ideal;
    sum->local_requests += part->local_requests;
    sum->atomics += part->atomics;
    sum->barriers += part->barriers;
    sum->branches += part->branches;
    sum->branches_divergent += part->branches_divergent;
    sum->fp64_inst += part->fp64_inst;
    sum->special_inst += part->special_inst;
    sum->integer_inst += part->integer_inst;
    sum->conversion_inst += part->conversion_inst;
    sum->stall_cycles += part->stall_cycles;
    for (unsigned i = 0; i < NR_WAITS; i++)
        sum->stalls[i] += part->stalls[i];
}

static int by_line(const void *a, const void *b)
{
    const struct line_cost *x = a, *y = b;

    return (x->line > y->line) - (x->line < y->line);
}

static void sum_lines(struct profile *profile, struct arena *arena)
{
    struct line_cost *lines;
    unsigned nr = 0, nr_merged = 0;

    for (unsigned i = 0; i < profile->nr_launches; i++)
        nr += profile->launches[i].nr_lines;
    profile->total.lines = NULL;
    profile->total.nr_lines = 0;
    if (nr == 0)
        return;
    lines = arena_array(arena, nr, sizeof(*lines));
    nr = 0;
    for (unsigned i = 0; i < profile->nr_launches; i++)
        for (unsigned j = 0; j < profile->launches[i].nr_lines; j++)
            lines[nr++] = profile->launches[i].lines[j];
    qsort(lines, nr, sizeof(*lines), by_line);
    for (unsigned i = 0; i < nr; i++) {
        if (nr_merged > 0 && lines[nr_merged - 1].line == lines[i].line)
            line_add(&lines[nr_merged - 1], &lines[i]);
        else
            lines[nr_merged++] = lines[i];
    }
    profile->total.lines = lines;
    profile->total.nr_lines = nr_merged;
}

void profile_sum(struct profile *profile, struct arena *arena)
{
    double *weights, time = 0, longest = -1;

    memset(&profile->total, 0, sizeof(profile->total));
    profile->longest = 0;
    profile->time_ns = profile->time_low_ns = profile->time_high_ns = 0;
    profile->time_from = PROV_ABSENT;
    if (profile->nr_launches == 0)
        return;
    weights = arena_array(arena, profile->nr_launches, sizeof(*weights));
    for (unsigned i = 0; i < profile->nr_launches; i++) {
        weights[i] = counters_get(&profile->launches[i], METRIC_TIME_NS);
        time += weights[i];
        if (weights[i] > longest) {
            longest = weights[i];
            profile->longest = i;
        }
    }
    for (unsigned i = 0; i < profile->nr_launches; i++) {
        const struct counters *c = &profile->launches[i];

        weights[i] = time > 0 ? weights[i] / time : 1.0 / profile->nr_launches;
        profile->total.blocks_run += c->blocks_run;
        profile->total.blocks_all += c->blocks_all;
    }
    for (unsigned m = 0; m < NR_METRICS; m++)
        sum_metric(profile, (enum metric)m, weights);
    if (profile->nr_launches == 1)
        memcpy(profile->total.left, profile->launches[0].left, sizeof(profile->total.left));
    sum_lines(profile, arena);
    profile->time_ns = profile->time_low_ns = profile->time_high_ns = time;
    profile->time_from = profile->total.metric[METRIC_TIME_NS].from;
}
