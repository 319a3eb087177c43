/* The state of a GPU device, its worker, its buffers and modules. Private to device_gpu.c and the
 * gpu_*.c beside it. */
#ifndef KEET_DEVICE_GPU_STATE_H
#define KEET_DEVICE_GPU_STATE_H

#include "device/device.h"
#include "device/worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_buffer {
    uint64_t address, bytes; /* as callers see them */
    uint64_t real;           /* the address in the worker of that generation */
    unsigned generation;
    uint8_t *contents; /* the bytes that the host last wrote; NULL: all bytes are `fill` */
    uint8_t fill;
    /* During a measurement: the places of copies of the contents, 0 where there are none. */
    uint64_t sets[WORKER_MAX_SETS - 1];
    uint64_t pristine; /* a copy that no kernel touches, where contents are restored */
};

struct device_module {
    uint8_t *image; /* as struct worker_load, with its data */
    size_t image_bytes;
    unsigned nr_kernels, generation;
    uint32_t number; /* in the worker of that generation */
};

struct device_gpu {
    struct device base;
    struct device_ops ops;
    struct chip chip;
    struct worker_options options;
    struct worker_info info;
    struct worker *worker; /* NULL: none; the next use starts one */
    unsigned generation;   /* of workers; 0: none was ever started */
    double launch_s, measure_s;
    struct gpu_buffer **buffers;
    size_t nr_buffers, cap_buffers;
    uint64_t next_address;
    int lock;
    struct gpu_profiler *profiler; /* gpu_profile.c; NULL: nobody has asked for it yet */
};

static inline struct device_gpu *gpu_of(struct device *device)
{
    return (struct device_gpu *)device;
}

/* ---- the worker: device_gpu.c ---- */

/* The end of a call to the worker. A request without a kernel cannot kill a worker by itself: where
 * the worker dies of one, an earlier kernel is to blame, and the end is GPU_AGAIN, with a new
 * worker. */
enum gpu_end { GPU_DONE, GPU_AGAIN, GPU_FAILED };

bool gpu_have_worker(struct device_gpu *gpu, struct err *err);
void gpu_drop_worker(struct device_gpu *gpu);
/* A request without a kernel. GPU_FAILED: err is set. */
enum gpu_end gpu_plain_call(struct device_gpu *gpu, const struct worker_request *request,
    struct worker_reply *reply, struct err *err);

/* ---- buffers: gpu_memory.c ---- */

struct gpu_buffer *gpu_find_buffer(struct device_gpu *gpu, uint64_t address, uint64_t nr);
/* Makes all buffers real in the present worker, with the contents that the host last wrote. */
enum gpu_end gpu_bring_buffers(struct device_gpu *gpu, struct err *err);
uint64_t gpu_alloc(struct device *device, uint64_t bytes, const char *name, struct err *err);
void gpu_free(struct device *device, uint64_t address);
bool gpu_write(
    struct device *device, uint64_t address, const void *bytes, uint64_t nr, struct err *err);
bool gpu_fill(struct device *device, uint64_t address, uint8_t byte, uint64_t nr, bool initialised,
    struct err *err);
bool gpu_read(struct device *device, uint64_t address, void *bytes, uint64_t nr, struct err *err);

/* ---- modules and launches: gpu_launch.c ---- */

bool gpu_load(struct device *device, const struct compilation *compilation,
    struct device_module **module, struct device_result *result, struct err *err);
void gpu_unload(struct device *device, struct device_module *m);
uint64_t gpu_reset(struct device *device, struct device_module *module);
bool gpu_launch(struct device *device, struct device_module *module,
    const struct device_launch *launch, struct device_result *result, struct err *err);
/* Launches of one module; for timing, also launches of a baseline module. */
struct gpu_job {
    struct device_module *module, *baseline_module;
    const struct device_launch *launches, *baseline;
    unsigned nr_launches, nr_baseline;
    const uint64_t *restore; /* buffers whose contents every timed run finds as they are now */
    unsigned nr_restore;
    const struct device_rotation *rotate; /* as device_measure's */
    unsigned nr_rotate;
};

/* Brings all that the launches need into the present worker, and runs, times or counts them. False:
 * err. After any verdict the device is usable: if the worker broke, the next call finds a new one.
 */
bool gpu_run(struct device_gpu *gpu, const struct gpu_job *job, struct worker_request *request,
    double deadline_s, struct device_result *result, struct err *err);

/* ---- sets of buffers: gpu_sets.c ---- */

/* The address of the buffer in the present worker, in a set. */
uint64_t gpu_address(const struct gpu_buffer *b, unsigned set);
/* Makes as many sets as memory allows, and fills in the request's nr_sets and nr_copies. */
enum gpu_end gpu_make_sets(struct device_gpu *gpu, const struct gpu_job *job,
    struct worker_request *request, struct err *err);
/* Writes the list of copies that the worker makes before each run: equally many for each set. */
void gpu_list_copies(const struct device_gpu *gpu, unsigned nr_sets, void *to);
void gpu_drop_sets(struct device_gpu *gpu);

/* ---- time: gpu_time.c ---- */

bool gpu_measure(struct device *device, struct device_module *module,
    const struct device_measure *measure, struct arena *arena, struct profile *profile,
    struct device_result *result, struct err *err);

/* ---- counters, spans and lines: gpu_profile.c ---- */

/* Counts the launches in a worker of its own; time_ns is the time that they take. Never an error:
 * counts that cannot be had are absent, and a note says so once. */
void gpu_count(struct device_gpu *gpu, const struct gpu_job *job, double time_ns);
/* Put the counts of launch i, and those of the whole run, into a profile that has its times. */
void gpu_fill_counts(struct device_gpu *gpu, const struct gpu_job *job, unsigned i,
    struct arena *arena, struct counters *c);
void gpu_fill_spans(struct device_gpu *gpu, struct arena *arena, struct profile *profile);
void gpu_profiler_destroy(struct gpu_profiler *profiler);

/* ---- energy: gpu_energy.c ---- */

bool gpu_energy(struct device *device, struct device_module *module,
    const struct device_measure *measure, struct profile *profile, struct device_result *result,
    struct err *err);

/* ---- counters of one launch: gpu_counters.c ---- */

void gpu_counters(
    struct device_gpu *gpu, const struct device_launch *launch, double time_ns, struct counters *c);

#endif
