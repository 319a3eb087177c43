/* Profile: time and counters of a checked candidate at the timed size. */
#ifndef KEET_PROFILE_PROFILE_H
#define KEET_PROFILE_PROFILE_H

#include "base/err.h"
#include "core/candidate.h"
#include "device/device.h"
#include "device/run.h"

#include <stdbool.h>

struct profiler;

/* Called where the device compares, after the last timed run of a candidate, while the module that
 * was timed is loaded: launches are bound to buffers, the task's arrays come first in these. Both
 * may be written. May set the candidate's verdict. */
typedef bool profile_after_f(void *owner, struct candidate *c, struct device_module *module,
    const struct device_launch *launches, const struct run_buffers *buffers, struct err *err);

/* Called on the emulator when all else is known of a candidate's profile: the times without a cause
 * (core/cures.def) that are worth a simulation; bits, 1 << enum cure. */
typedef uint32_t profile_wanted_f(void *owner, struct candidate *c);

struct profiler_options {
    profile_after_f *after;   /* NULL: none */
    profile_wanted_f *wanted; /* NULL: all */
    void *owner;              /* their first argument */
    uint64_t sample_blocks;   /* emulator; 0: automatic, by the work of one block */
    bool quick_cures; /* emulator: shorter simulations of what a kernel would take without a cause:
                         for the many variants of a search, whose priors they decide */
    bool energy; /* also measure energy, for seconds, of variants about as fast as the fastest */
};

struct profiler *profiler_create(struct device *device, const struct task *task,
    const struct profiler_options *options, struct err *err);
void profiler_destroy(struct profiler *profiler);

/* Fills c->profile and c->speedup. Where the device compares, the speedup is the ratio of times
 * taken in turn with the original (0: the ratio was refused); else it is profiler_baseline's time
 * over the candidate's. The root gets 1. A time below the roofline of the task's `work` gives
 * verdict suspicious. */
bool profile_kernel(struct profiler *profiler, struct candidate *c, struct err *err);
/* The same once more, for a candidate that has a profile: from all blocks of all launches. */
bool profile_whole(struct profiler *profiler, struct candidate *c, struct err *err);
/* Did a whole run execute another number of thread instructions than the sampled profile says?
 * Sampled blocks may be those with little to do. 0: not known. */
bool profile_is_off(const struct candidate *c, uint64_t thread_insts);
void profiler_baseline(struct profiler *profiler, double time_ns);
/* Gives the profiler the compiled original, which it borrows for its life. Without effect where the
 * device does not compare. */
bool profiler_original(
    struct profiler *profiler, const struct candidate *original, struct err *err);

#endif
