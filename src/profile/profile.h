/* Profile: time and counters of a checked candidate at the timed size. */
#ifndef KEET_PROFILE_PROFILE_H
#define KEET_PROFILE_PROFILE_H

#include "base/err.h"
#include "core/candidate.h"
#include "device/device.h"

#include <stdbool.h>

struct profiler;

struct profiler_options {
    uint64_t sample_blocks; /* emulator; 0: automatic, by the work of one block */
    bool energy; /* measure it too, seconds of it, of what is about as fast as the fastest so far */
};

struct profiler *profiler_create(struct device *device, const struct task *task,
    const struct profiler_options *options, struct err *err);
void profiler_destroy(struct profiler *profiler);

/* Fill c->profile and c->speedup (over the original, where the device compares, by a ratio taken in
 * turn with it; else over profiler_baseline's time; the root itself gets 1; 0: the ratio was
 * refused). Faster
 * than the roofline of the task's `work` allows: verdict suspicious. */
bool profile_kernel(struct profiler *profiler, struct candidate *c, struct err *err);
void profiler_baseline(struct profiler *profiler, double time_ns);
/* The original, compiled; borrowed for the profiler's life. Without effect where the device does
 * not compare. */
bool profiler_original(
    struct profiler *profiler, const struct candidate *original, struct err *err);

#endif
