/* What remains of a launch's time when a finding is cured entirely: the time at the next limiter.
 * A launch asks every resource for some time of its own, its demand: the bytes that DRAM must move
 * at the chip's bandwidth, the cycles of each pipe, the issue slots. Resources work at the same
 * time, so a launch takes at least its largest demand, and what it takes to start and to end. A
 * cure takes demands away, and all waiting. What the cure cannot take away is a lower limit of the
 * time after it, and the time now over that limit is an upper bound of the gain.
 *
 *     struct demands left = remains_work(chip, &launch, unique_bytes);
 *     double least_ns = demands_ns(&left);                        // 0: nothing is known
 *
 * Cures do more than they say: a tile saves loads, and the addresses of these loads as well. So
 * what is said to remain is little rather than much:
 * - remains_conflict_free: all that the launch does now, but for the bank conflicts. What padding a
 *   shared array leaves.
 * - remains_work: the arithmetic in floating point, special functions and tensor instructions, all
 *   lanes at work and spread evenly over the chip, and the distinct bytes of global memory. What
 *   another order of the same work leaves (tiles, more threads, other blocks, unrolled loops).
 * - remains_gathered: as remains_work, and of the sectors only what lanes load and store. What
 *   another layout leaves.
 * - remains_loads: what the launch does now to memory of all kinds, and none of its arithmetic.
 * What cheaper instructions for the same values leave.
 * - remains_bytes: the distinct bytes. What other arithmetic leaves (fast intrinsics, single
 *   precision, values computed once).
 *
 * Where the distinct bytes are not known, none are assumed; percentages are of the time between
 * start and end. Rates are the chip's peaks (core/chip.h), which no kernel exceeds; a modelled time
 * is held against the share of DRAM's peak that the model gives at most. */
#ifndef KEET_EXPLAIN_REMAINS_H
#define KEET_EXPLAIN_REMAINS_H

#include "core/candidate.h"
#include "core/chip.h"

enum demand {
    DEMAND_DRAM,
    DEMAND_L2,
    DEMAND_LSU,
    DEMAND_ISSUE,
    DEMAND_FMA,
    DEMAND_ALU,
    DEMAND_FP64,
    DEMAND_XU,
    DEMAND_TENSOR,
    NR_DEMANDS
};

struct demands {
    double ns[NR_DEMANDS];
    double fixed_ns; /* to start and to end, where the model says so */
};

/* unique_bytes: the distinct bytes of global memory that the launch touches; 0 unknown. */
typedef struct demands remains_rule(
    const struct chip *chip, const struct counters *launch, double unique_bytes);
remains_rule remains_conflict_free, remains_work, remains_gathered, remains_loads, remains_bytes;

/* The time between a launch's start and its end, of which its percentages are. */
double remains_body_ns(const struct chip *chip, const struct counters *launch);

/* The least time of the demands; 0 when there is none. */
double demands_ns(const struct demands *demands);

/* The least time of all launches when the task's flops run on the tensor cores at 8 bits, and the
 * rest is overlapped with them: no bytes are known to remain but those of DRAM's least use. */
double remains_tensor_ns(const struct chip *chip, const struct profile *profile, double flops);

/* The least time of all launches as one: their work, and the bytes that enter or leave the chip
 * (outside_bytes; 0 unknown). What fusing leaves. */
double remains_fused_ns(
    const struct chip *chip, const struct profile *profile, double outside_bytes);

#endif
