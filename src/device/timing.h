/* The time of a candidate against a baseline, on a machine whose clock drifts.
 *
 * Timing knows nothing of GPUs: a source gives one sample of one side at a time, with its clocks.
 * On a card the source runs all launches of one side once (L2 flushed before, buffers at the next
 * addresses, events around a graph of the launches); in a test the source is a formula.
 *
 *     struct timing_options options = timing_defaults();
 *     struct timing_result result;
 *     if (!timing_run(&source, &options, &result, err))
 *         return false;
 *     if (!result.refused && result.ratio.low > 1) ... the candidate is faster ...
 *
 * The method. After warm-up, samples come in pairs, one of each side right after the other, and the
 * order within pairs alternates (AB BA AB ...), so that a drift of both sides cancels in the ratio
 * of a pair, to first order even inside it. The estimate is the median of the logarithms of the
 * pairs' ratios, which a few outliers of any size cannot move. Its interval is the percentile
 * bootstrap over pairs (Efron 1979), seeded. Sampling stops when the standard error of that median
 * falls below a target. The standard error is that of normal theory, 1.2533 s / sqrt(n), with s
 * from the width of the middle 80% of the pairs, so that outliers do not prolong the sampling.
 *
 * Looking at the standard error often, from few pairs on, or with a poorer estimate of s (the
 * median absolute deviation) stops the sampling at lucky moments and makes intervals too short: 92%
 * for 95 in simulation. So we look seldom: first at min_pairs, then when the error should have
 * become small enough, and never before the number of pairs has grown by a quarter. For the same
 * reason, where n is even, the interval goes from the lower of the two middle values to the upper
 * one.
 *
 * Clocks. A pair is dropped if the clocks of its two samples differ by more than clock_tolerance.
 * With fewer than min_pairs left the ratio is refused, since it would compare clocks, not kernels.
 * Samples whose clock is not known (0) count. */
#ifndef KEET_DEVICE_TIMING_H
#define KEET_DEVICE_TIMING_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum timing_side { TIMING_CANDIDATE, TIMING_BASELINE, NR_TIMING_SIDES };

struct timing_sample {
    double time_ns;       /* above 0 */
    double sm_clock_mhz;  /* 0: not known */
    double temperature_c; /* 0: not known */
    uint64_t throttle;    /* reasons, as NVML's bits (nv/nvml.h); 0: none or not known */
};

/* Embed it first in a struct of your own. */
struct timing_source {
    /* One run of one side. False with err: the measurement ends and timing_run returns false. */
    bool (*sample)(struct timing_source *source, enum timing_side side,
        struct timing_sample *sample, struct err *err);
    uint64_t (*now_ns)(struct timing_source *source); /* for the time limit; NULL: clock_ns */
};

struct timing_options {
    bool alone;             /* the candidate only: no baseline, no ratio */
    bool exact;             /* times do not vary: any number of pairs makes a ratio */
    unsigned nr_warmups;    /* samples of each side that are thrown away */
    unsigned min_pairs;     /* before the standard error is believed */
    unsigned max_pairs;     /* taken, dropped ones included */
    double standard_error;  /* of the ratio, relative, at which to stop: 0.005 */
    double time_limit_s;    /* on the wall, warm-up included; 0: none */
    double clock_tolerance; /* relative: 0.01 */
    double resolution_ns;   /* of the clock: intervals are never narrower than it allows; 0: fine */
    double confidence;      /* of the intervals: 0.95 */
    unsigned nr_resamples;  /* of the bootstrap */
    uint64_t seed;          /* of the bootstrap */
};
struct timing_options timing_defaults(void);

enum timing_end { TIMING_PRECISE, TIMING_MAX_PAIRS, TIMING_TIME_LIMIT };

struct timing_estimate {
    double value, low, high;
};

struct timing_range {
    double low, high; /* both 0: not known */
};

struct timing_result {
    enum timing_end end;
    unsigned nr_pairs;                            /* that count */
    unsigned nr_dropped;                          /* clocks differed within the pair */
    struct timing_estimate time[NR_TIMING_SIDES]; /* medians, ns; baseline 0 when alone */
    struct timing_estimate ratio; /* baseline / candidate: above 1 is faster; 0 when refused */
    double standard_error;        /* relative; of the ratio, or of the time when alone */
    bool refused;                 /* there is no ratio; the reason says why */
    struct timing_range clock_mhz[NR_TIMING_SIDES], temperature_c;
    uint64_t throttle; /* all reasons seen, or-ed */
    char reason[200];  /* one sentence: why it stopped, or why the ratio was refused */
};

bool timing_run(struct timing_source *source, const struct timing_options *options,
    struct timing_result *result, struct err *err);

/* The median of n values and its percentile bootstrap interval, as in timing_run; sorts the values
 * in place. Neither n nor nr_resamples may be 0. */
struct timing_estimate timing_median(
    double *values, unsigned n, double confidence, unsigned nr_resamples, uint64_t seed);

#endif
