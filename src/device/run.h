/* One run of a candidate on one shape: buffers, inputs, all launches in order. What check and
 * profile share. */
#ifndef KEET_DEVICE_RUN_H
#define KEET_DEVICE_RUN_H

#include "device/device.h"

enum {
    RUN_GUARD_BYTE = 0xC5, /* what guard zones hold; guard_bytes is rounded up to 256 */
    RUN_POISON_BYTE = 0xAA /* what outputs and temps hold */
};

/* Where one array of the task (or temp of the plan) lies. */
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

/* Scratch arrays whose sizes make no sense here, or of more than 4 GiB together, are the plan's
 * fault, not the environment's: false, with verdict launch_failed. */
bool run_temps_fit(const struct plan *plan, const struct env *env, struct device_result *result);

/* Allocate all buffers of a shape at new addresses, with guard zones of guard_bytes on both sides
 * filled with a known byte. Outputs and temps are poisoned (uninitialised). False: err.
 * A temp that does not fit into memory is the plan's fault: true, nothing allocated, and verdict
 * launch_failed in *result. */
bool run_alloc(struct device *device, const struct task *task, const struct plan *plan,
    const struct env *env, uint64_t guard_bytes, struct arena *arena, struct run_buffers *buffers,
    struct device_result *result, struct err *err);
/* Fills the buffers of inputs: in and inout. */
bool run_fill(struct device *device, const struct task *task, const struct run_buffers *buffers,
    const struct env *env, uint64_t seed, struct err *err);
void run_free(struct device *device, struct run_buffers *buffers);

/* Resolve the launches of a plan under an environment and bind arguments to buffers. A launch line
 * that cannot be resolved sets verdict launch_failed in *result and returns true. */
bool run_bind(const struct task *task, const struct plan *plan,
    const struct compilation *compilation, const struct env *env, const struct run_buffers *buffers,
    struct arena *arena, struct device_launch **launches, struct device_result *result,
    struct err *err);

/* Launch in order until one fails. */
bool run_launches(struct device *device, struct device_module *module,
    const struct device_launch *launches, unsigned nr, struct device_result *result,
    struct err *err);

#endif
