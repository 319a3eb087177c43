/* Owns the demands of a launch, and what cures leave of them. */
#include "explain/remains.h"

#include "base/mem.h"
#include "core/roofline.h"

#include <math.h>

static double get(const struct counters *n, enum metric metric)
{
    return counters_get(n, metric);
}

/* The time that the percentages are of. A model's launch has a start and an end besides; DRAM's
 * bytes and its percentage tell the rest. */
double remains_body_ns(const struct chip *chip, const struct counters *n)
{
    const double time = get(n, METRIC_TIME_NS), pct = get(n, METRIC_DRAM_PCT);
    const double moved_ns = get(n, METRIC_DRAM_BYTES) / chip->dram_bytes_per_s * 1e9;

    if (n->metric[METRIC_TIME_NS].from != PROV_MODELLED || pct <= 0 || pct >= 100 ||
        moved_ns <= 0) {
        return time;
    }
    return fmin(time, moved_ns / (pct / 100));
}

static double fixed_ns(const struct chip *chip, const struct counters *n)
{
    return fmax(get(n, METRIC_TIME_NS) - remains_body_ns(chip, n), 0);
}

static double instructions_ns(const struct chip *chip, double thread_inst, double per_clk)
{
    return thread_inst / per_clk / chip->nr_sms / chip->clock_hz * 1e9;
}

static double dram_rate(const struct chip *chip, const struct counters *n)
{
    return roofline_dram_rate(chip, n->metric[METRIC_TIME_NS].from == PROV_MODELLED);
}

/* No launch moves fewer bytes than its distinct ones, unless these are in L2 from a launch before:
 * then DRAM moves as few as it moves now. */
static double dram_ns(const struct chip *chip, const struct counters *n, double unique_bytes)
{
    const double least =
        counters_has(n, METRIC_DRAM_BYTES) ? fmin(unique_bytes, get(n, METRIC_DRAM_BYTES)) : 0;

    return least / dram_rate(chip, n) * 1e9;
}

struct demands remains_bytes(
    const struct chip *chip, const struct counters *launch, double unique_bytes)
{
    struct demands left = {.fixed_ns = fixed_ns(chip, launch)};

    left.ns[DEMAND_DRAM] = dram_ns(chip, launch, unique_bytes);
    return left;
}

struct demands remains_work(
    const struct chip *chip, const struct counters *launch, double unique_bytes)
{
    const double fp32 = get(launch, METRIC_INST_FP32), fp64 = get(launch, METRIC_INST_FP64);
    /* Two halves fit into one instruction. */
    const double fp16 = get(launch, METRIC_INST_FP16) / 2;
    const double special = get(launch, METRIC_INST_SPECIAL);
    struct demands left = remains_bytes(chip, launch, unique_bytes);

    left.ns[DEMAND_FMA] = instructions_ns(chip, fp32, chip->fp32_per_clk);
    left.ns[DEMAND_FP64] = instructions_ns(chip, fp64, chip->fp64_per_clk);
    left.ns[DEMAND_XU] = instructions_ns(chip, special, chip->sfu_per_clk);
    left.ns[DEMAND_ISSUE] =
        instructions_ns(chip, fp32 + fp64 + fp16 + special, 32.0 * chip->schedulers_per_sm);
    left.ns[DEMAND_TENSOR] = get(launch, METRIC_TENSOR_PCT) / 100 * remains_body_ns(chip, launch);
    return left;
}

struct demands remains_gathered(
    const struct chip *chip, const struct counters *launch, double unique_bytes)
{
    const bool known = counters_has(launch, METRIC_GLOBAL_LD_BYTES) &&
                       counters_has(launch, METRIC_GLOBAL_ST_BYTES) &&
                       get(launch, METRIC_GLOBAL_ATOMICS) <= 0;
    const double moved = get(launch, METRIC_GLOBAL_LD_BYTES) + get(launch, METRIC_GLOBAL_ST_BYTES);

    return remains_work(chip, launch, known ? fmin(unique_bytes, moved) : unique_bytes);
}

/* The share of the load/store unit's time that goes with shared memory's conflicts: all of it is
 * wavefronts, so many a cycle as the unit's use says. */
static double conflict_ns(const struct chip *chip, const struct counters *n)
{
    const double conflicts =
        get(n, METRIC_SHARED_LD_CONFLICTS) + get(n, METRIC_SHARED_ST_CONFLICTS);

    return conflicts / chip->nr_sms / chip->clock_hz * 1e9;
}

struct demands remains_conflict_free(
    const struct chip *chip, const struct counters *launch, double unique_bytes)
{
    static const enum metric metrics[NR_DEMANDS] = {
        [DEMAND_DRAM] = METRIC_DRAM_PCT,
        [DEMAND_L2] = METRIC_L2_PCT,
        [DEMAND_LSU] = METRIC_LSU_PCT,
        [DEMAND_ISSUE] = METRIC_ISSUE_PCT,
        [DEMAND_FMA] = METRIC_FMA_PCT,
        [DEMAND_ALU] = METRIC_ALU_PCT,
        [DEMAND_FP64] = METRIC_FP64_PCT,
        [DEMAND_XU] = METRIC_XU_PCT,
        [DEMAND_TENSOR] = METRIC_TENSOR_PCT,
    };
    struct demands left = {.fixed_ns = fixed_ns(chip, launch)};
    /* Blocks stay where they are: multiprocessors without a block stay idle. */
    const double blocks = get(launch, METRIC_GRID_BLOCKS);
    const double used = blocks > 0 ? fmin(blocks / chip->nr_sms, 1) : 1;

    (void)unique_bytes;
    for (unsigned i = 0; i < NR_DEMANDS; i++) {
        left.ns[i] = get(launch, metrics[i]) / 100 * remains_body_ns(chip, launch);
    }
    left.ns[DEMAND_LSU] = fmax(left.ns[DEMAND_LSU] - conflict_ns(chip, launch), 0);
    for (unsigned i = DEMAND_LSU; i < NR_DEMANDS; i++) {
        left.ns[i] /= used;
    }
    return left;
}

struct demands remains_loads(
    const struct chip *chip, const struct counters *launch, double unique_bytes)
{
    struct demands left = remains_bytes(chip, launch, unique_bytes);

    left.ns[DEMAND_LSU] = get(launch, METRIC_LSU_PCT) / 100 * remains_body_ns(chip, launch);
    return left;
}

double demands_ns(const struct demands *demands)
{
    double most = 0;

    for (unsigned i = 0; i < NR_DEMANDS; i++) {
        most = fmax(most, demands->ns[i]);
    }
    return most > 0 ? most + demands->fixed_ns : 0;
}

/* The matrix units take operands of 8 bits fastest. */
double remains_tensor_ns(const struct chip *chip, const struct profile *profile, double flops)
{
    const double unique = get(&profile->total, METRIC_GLOBAL_UNIQUE_BYTES);
    struct demands left = remains_bytes(chip, &profile->total, unique);

    left.ns[DEMAND_TENSOR] = flops / chip_tensor_peak(chip) * 1e9;
    return demands_ns(&left);
}

double remains_fused_ns(
    const struct chip *chip, const struct profile *profile, double outside_bytes)
{
    struct demands all = {0};

    for (unsigned i = 0; i < profile->nr_launches; i++) {
        const struct demands one = remains_work(chip, &profile->launches[i], INFINITY);

        for (unsigned k = 0; k < NR_DEMANDS; k++) {
            all.ns[k] += one.ns[k];
        }
        all.fixed_ns = fmax(all.fixed_ns, one.fixed_ns);
    }
    all.ns[DEMAND_DRAM] =
        fmin(all.ns[DEMAND_DRAM], outside_bytes / dram_rate(chip, &profile->total) * 1e9);
    return demands_ns(&all);
}
