/* What is known of a run: values under Nsight Compute's names, each with its provenance. */
#ifndef KEET_CORE_COUNTERS_H
#define KEET_CORE_COUNTERS_H

#include "base/arena.h"
#include "base/str.h"
#include "core/task.h"

#include <stdbool.h>
#include <stdint.h>

enum metric {
#define METRIC(id, name, unit) METRIC_##id,
#include "core/metrics.def"
#undef METRIC
    NR_METRICS
};

enum provenance {
    PROV_ABSENT,          /* not known: the value means nothing */
    PROV_MEASURED,        /* a GPU's clock or counter */
    PROV_COUNTED,         /* exact, by the emulator or the compiler */
    PROV_SAMPLED,         /* counted on a sample of blocks and scaled up */
    PROV_EMULATED,        /* counted by the emulator beside a GPU's run (profile/emulated.h) */
    PROV_EMULATED_SAMPLE, /* the same on a sample of blocks, scaled up */
    PROV_MODELLED,        /* an estimate */
    NR_PROVENANCES
};

struct counter {
    double value;
    enum provenance from;
};

/* Why warps wait, as the metrics STALL_*. */
enum wait_reason {
    WAIT_LONG,
    WAIT_SHORT,
    WAIT_BARRIER,
    WAIT_FIXED,
    WAIT_MIO,
    WAIT_MATH,
    WAIT_OTHER,
    NR_WAITS
};
const char *wait_reason_name(enum wait_reason reason); /* "memory", "a barrier", ... */

/* Costs of one source line of the candidate, summed over the run (scaled when sampled). */
struct line_cost {
    unsigned line;
    double warp_inst, thread_inst;
    double global_requests, global_sectors, global_sectors_ideal;
    double global_bytes;   /* each byte once that a warp's instruction asks for */
    unsigned access_bytes; /* widest global access per lane on the line, 0 when none */
    double shared_requests, shared_wavefronts, shared_wavefronts_ideal;
    double local_requests, atomics, barriers;
    double branches, branches_divergent;
    double fp64_inst, special_inst, integer_inst, conversion_inst;
    double stall_cycles; /* warp time spent waiting at this line: modelled, or sampled on a GPU */
    double stalls[NR_WAITS]; /* the same by reason; all 0: not known */
};

/* What the model of time can take away from a launch. */
enum cure {
#define CURE(id, name, what) CURE_##id,
#include "core/cures.def"
#undef CURE
    NR_CURES
};

/* What limits a launch: the unit that is busiest, and what warps wait for most of their time.
 * METRIC_TIME_NS: not known. */
struct limit {
    enum metric unit, wait;
    float unit_pct, wait_pct;
};

struct counters {
    struct counter metric[NR_METRICS];
    struct limit left[NR_CURES]; /* by enum cure: without it. Of a launch */
    struct line_cost *lines;     /* rising line numbers; arena memory */
    unsigned nr_lines;
    uint64_t blocks_run, blocks_all; /* less than all: sampled */
};

/* How a GPU's time was taken. 0: not known, or none. */
struct profile_timing {
    unsigned nr_samples, nr_dropped; /* dropped: clocks differed within a pair */
    double standard_error; /* relative; of the ratio, or of the time where there is no ratio */
    double baseline_ns;    /* of the original, timed in turn with the candidate */
    double ratio, ratio_low, ratio_high; /* original / candidate, with its bootstrap interval */
    bool refused;                        /* there is no ratio, since clocks differed too much */
    double clock_low_mhz, clock_high_mhz, baseline_clock_low_mhz, baseline_clock_high_mhz;
    double temperature_low_c, temperature_high_c;
    uint64_t throttle; /* the reasons for low clocks that NVML reported, as its bits */
    const char *note;  /* why the sampling ended, or why the ratio was refused; NULL: none */
};

/* One candidate at the timed size: each launch, and their sum. In the total, rates and percentages
 * are time-weighted means, launch parameters are those of the longest launch. */
struct profile {
    struct counters *launches;
    struct launch_config *configs;
    unsigned nr_launches;
    unsigned longest; /* index of the launch with the largest time */
    struct counters total;
    double time_ns;                   /* of one run of all launches, launch overhead included */
    double time_low_ns, time_high_ns; /* measured: bootstrap interval; modelled: both equal time */
    enum provenance time_from;
    struct profile_timing timing;
    const char
        *no_energy; /* why a measurement of energy failed; NULL: it did not, or there was none */
    const char *no_counters; /* of a GPU: why there are no hardware counters; NULL: there are */
};

const char *metric_name(enum metric metric);
/* What holds the number of resident blocks: appends the names of the limits that are as low as the
 * lowest, "registers and warps", and returns that number; INFINITY: no limit is known. */
double counters_limiters(const struct counters *counters, struct str *names);

/* Is it a model's time without something (core/cures.def)? Without what; NR_CURES: it is none. */
bool metric_is_cure(enum metric metric);
enum cure metric_cure(enum metric metric);
enum metric cure_metric(enum cure cure);
const char *cure_what(enum cure cure); /* what is taken away: "bank conflicts" */
const char *metric_unit(enum metric metric);
bool metric_parse(const char *name, enum metric *metric);
const char *provenance_name(enum provenance from); /* "absent", "measured", ..., "modelled" */

/* Does a GPU's profile have the emulator's counts by line? */
bool counters_lines_emulated(const struct counters *counters);
/* The most frequent reason for which warps wait at a line; false: not known. */
bool line_waits_for(const struct line_cost *line, enum wait_reason *reason);

void counters_set(struct counters *c, enum metric metric, double value, enum provenance from);
bool counters_has(const struct counters *c, enum metric metric);
double counters_get(
    const struct counters *c, enum metric metric); /* 0 when absent: ask counters_has first */

/* Fills profile->total, longest and the sum of times from the launches. Lines of one number become
 * one. */
void profile_sum(struct profile *profile, struct arena *arena);

#endif
