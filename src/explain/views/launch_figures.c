/* Owns the figures of a launch: the line of numbers that a reader wants before any sentence. */
#include "explain/limits.h"
#include "explain/views/views.h"

#include "base/mem.h"

#include <math.h>
#include <stdint.h>

/* Units that are parts of an SM: what an idle SM does not do is no measure of a busy one. */
static const enum metric units[] = {METRIC_LSU_PCT, METRIC_ISSUE_PCT, METRIC_FMA_PCT,
    METRIC_ALU_PCT, METRIC_FP64_PCT, METRIC_XU_PCT, METRIC_TENSOR_PCT};

enum { UNITS_SHOWN = 2 };

static double get(const struct counters *n, enum metric metric)
{
    return counters_get(n, metric);
}

static void separate(struct str *out, size_t start)
{
    str_add(out, out->len > start ? "; " : "");
}

/* The busiest unit that is below `below` percent; NR_METRICS: there is none. */
static enum metric next_busy(const struct counters *n, double below, enum metric after)
{
    enum metric best = NR_METRICS;

    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        const double pct = get(n, units[i]);

        if (counters_has(n, units[i]) && units[i] != after && pct <= below &&
            pct >= LIMITS_LEAST_PCT && (best == NR_METRICS || pct > get(n, best))) {
            best = units[i];
        }
    }
    return best;
}

/* The share of the SMs that have a block. */
static double used_sms(const struct chip *chip, const struct counters *n)
{
    const double blocks = get(n, METRIC_GRID_BLOCKS);

    return blocks > 0 ? fmin(blocks / chip->nr_sms, 1) : 1;
}

/* "load/store unit 92%, issue slots 11%". Where SMs have no block, of those that have one. */
static void add_busy(struct str *out, const struct chip *chip, const struct counters *n)
{
    const double used = used_sms(chip, n);
    const size_t start = out->len;
    enum metric unit = NR_METRICS;
    double below = INFINITY;

    for (unsigned i = 0; i < UNITS_SHOWN && (unit = next_busy(n, below, unit)) != NR_METRICS; i++) {
        below = get(n, unit);
        str_addf(out, "%s%s %.0f%%", i > 0 ? ", " : "", limits_unit_name(unit), below / used);
    }
    if (out->len > start && used < 1) {
        str_addf(out, " (of the %.0f SMs that have a block)", used * chip->nr_sms);
    }
}

static void add_limiters(struct str *out, const struct counters *n)
{
    struct str names = {0};

    counters_limiters(n, &names);
    if (names.len > 0) {
        str_addf(out, " (limit: %s)", str_text(&names));
    }
    str_finish(&names);
}

/* "40 registers, 48 of 64 warps fit (limit: registers), 35.2 resident" */
static void add_occupancy(
    struct str *out, size_t start, const struct chip *chip, const struct counters *n)
{
    const double most = chip->max_warps_per_sm;

    if (counters_has(n, METRIC_REGISTERS)) {
        separate(out, start);
        str_addf(out, "%.0f registers", get(n, METRIC_REGISTERS));
    }
    if (counters_has(n, METRIC_OCCUPANCY_PCT)) {
        separate(out, start);
        str_addf(out, "%.0f of %.0f warps fit", get(n, METRIC_OCCUPANCY_PCT) / 100 * most, most);
        add_limiters(out, n);
    }
    if (counters_has(n, METRIC_OCCUPANCY_ACHIEVED_PCT)) {
        separate(out, start);
        str_addf(out, "%.3g resident",
            get(n, METRIC_OCCUPANCY_ACHIEVED_PCT) / 100 * most / used_sms(chip, n));
    }
    if (counters_has(n, METRIC_WAVES)) {
        separate(out, start);
        str_addf(out, "%.3g waves", get(n, METRIC_WAVES));
    }
}

/* "a load touches 9 sectors in 2.3 wavefronts; L1 hits 87%, L2 hits 60%; DRAM 13.1 MB" */
static void add_memory(struct str *out, size_t start, const struct counters *n)
{
    const double loads = get(n, METRIC_GLOBAL_LD_REQUESTS);
    const bool l1 = counters_has(n, METRIC_L1_HIT_PCT), l2 = counters_has(n, METRIC_L2_HIT_PCT);

    if (loads > 0 && counters_has(n, METRIC_GLOBAL_LD_SECTORS)) {
        separate(out, start);
        str_addf(
            out, "a global load touches %.3g sectors", get(n, METRIC_GLOBAL_LD_SECTORS) / loads);
        if (counters_has(n, METRIC_GLOBAL_LD_WAVEFRONTS)) {
            str_addf(out, " in %.3g wavefronts", get(n, METRIC_GLOBAL_LD_WAVEFRONTS) / loads);
        }
    }
    if (l1 || l2) {
        separate(out, start);
    }
    if (l1) {
        str_addf(out, "L1 hits %.0f%%", get(n, METRIC_L1_HIT_PCT));
    }
    if (l2) {
        str_addf(out, "%sL2 hits %.0f%%", l1 ? ", " : "", get(n, METRIC_L2_HIT_PCT));
    }
    if (counters_has(n, METRIC_DRAM_BYTES)) {
        separate(out, start);
        str_addf(out, "DRAM %.3g MB", get(n, METRIC_DRAM_BYTES) / 1e6);
    }
}

void view_figures(struct str *out, const struct chip *chip, const struct counters *n)
{
    const double warps = get(n, METRIC_WARPS_LAUNCHED);
    const size_t start = out->len;

    add_busy(out, chip, n);
    add_occupancy(out, start, chip, n);
    if (warps > 0 && counters_has(n, METRIC_WARP_INST)) {
        separate(out, start);
        str_addf(out, "%.0f instructions a warp", get(n, METRIC_WARP_INST) / warps);
    }
    add_memory(out, start, n);
}
