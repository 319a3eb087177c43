/* One run of a candidate on one shape: buffers, inputs, all launches in order. Check and profile
 * both use it. */
#ifndef KEET_DEVICE_RUN_H
#define KEET_DEVICE_RUN_H

#include "device/device.h"

enum {
    RUN_GUARD_BYTE = 0xC5, /* fills guard zones; guard_bytes is rounded up to 256 */
    RUN_POISON_BYTE = 0xAA /* fills outputs and temps */
};

/* The memory of one array of the task, or of one temp of the plan. */
struct run_buffer {
    const struct task_array *array;
    uint64_t nr, bytes;
    uint64_t address, base; /* base: of the allocation that holds the guard zones too */
    uint64_t guard_bytes;   /* before and after; 0: none */
};

struct run_buffers {
    struct run_buffer *buffers; /* the task's arrays in order, then the plan's temps */
    unsigned nr;
};

/* False, with verdict launch_failed: the sizes of the temps make no sense under this environment,
 * or the temps have more than 8 GiB together. That is the plan's fault. */
bool run_temps_fit(const struct plan *plan, const struct env *env, struct device_result *result);

/* Allocates all buffers of a shape at new addresses, with guard zones of guard_bytes on both sides.
 * Outputs and temps are poisoned (uninitialised). False: err. A temp that does not fit into memory
 * is the plan's fault: true, nothing is allocated, and *result has verdict launch_failed. */
bool run_alloc(struct device *device, const struct task *task, const struct plan *plan,
    const struct env *env, uint64_t guard_bytes, struct arena *arena, struct run_buffers *buffers,
    struct device_result *result, struct err *err);
/* Fills the buffers of inputs: in and inout. */
bool run_fill(struct device *device, const struct task *task, const struct run_buffers *buffers,
    const struct env *env, uint64_t seed, struct err *err);
void run_free(struct device *device, struct run_buffers *buffers);

/* Resolves the launches of a plan under an environment and binds arguments to buffers. For a launch
 * line that cannot be resolved: true, and *result has verdict launch_failed. */
bool run_bind(const struct task *task, const struct plan *plan,
    const struct compilation *compilation, const struct env *env, const struct run_buffers *buffers,
    struct arena *arena, struct device_launch **launches, struct device_result *result,
    struct err *err);

/* Launches in order until one launch fails. */
bool run_launches(struct device *device, struct device_module *module,
    const struct device_launch *launches, unsigned nr, struct device_result *result,
    struct err *err);

#endif
