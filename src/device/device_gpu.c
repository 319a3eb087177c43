/* Owns a GPU as a device, and the life of its worker. The state that must survive the worker is in
 * gpu_memory.c and gpu_launch.c. */
#include "device/device_gpu.h"

#include "base/log.h"
#include "base/mem.h"
#include "device/gpu_lock.h"
#include "device/gpu_state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_ADDRESS                                                                              \
    (UINT64_C(1) << 56) /* above the addresses of GPUs: a mix-up shows at once                     \
                         */

static const double start_s = 60, plain_s = 120;
static const double launch_s = 10, software_launch_s = 120; /* the emulator is slow, not stuck */
static const double measure_s = 2, software_measure_s = 300;

/* ---- the worker ---- */

void gpu_drop_worker(struct device_gpu *gpu)
{
    worker_stop(gpu->worker);
    gpu->worker = NULL;
}

bool gpu_have_worker(struct device_gpu *gpu, struct err *err)
{
    struct worker_info info;

    if (gpu->worker != NULL)
        return true;
    gpu->worker = worker_start(&gpu->options, &info, err);
    if (gpu->worker == NULL)
        return false;
    gpu->generation++;
    gpu->info = info;
    return true;
}

enum gpu_end gpu_plain_call(struct device_gpu *gpu, const struct worker_request *request,
    struct worker_reply *reply, struct err *err)
{
    if (!gpu_have_worker(gpu, err))
        return GPU_FAILED;
    if (worker_call(gpu->worker, request, reply, plain_s, err) != WORKER_OK) {
        gpu_drop_worker(gpu);
        return GPU_AGAIN;
    }
    if (reply->outcome == WORKER_GOOD)
        return GPU_DONE;
    err_set(err, "the GPU: %s", reply->text);
    if (reply->outcome == WORKER_NO_MEMORY || reply->outcome == WORKER_REFUSED ||
        reply->outcome == WORKER_NOT_KNOWN)
        return GPU_FAILED;
    gpu_drop_worker(gpu);
    return GPU_AGAIN;
}

/* ---- making and unmaking ---- */

static void gpu_destroy(struct device *device)
{
    struct device_gpu *gpu = gpu_of(device);

    gpu_profiler_destroy(gpu->profiler);
    gpu_drop_worker(gpu);
    for (size_t i = 0; i < gpu->nr_buffers; i++) {
        free(gpu->buffers[i]->contents);
        free(gpu->buffers[i]);
    }
    free(gpu->buffers);
    gpu_unlock(gpu->lock);
    free(gpu);
}

static const struct device_ops gpu_ops = {
    .name = "gpu",
    .time_from = PROV_MEASURED,
    .compares = true,
    .destroy = gpu_destroy,
    .load = gpu_load,
    .unload = gpu_unload,
    .alloc = gpu_alloc,
    .free = gpu_free,
    .write = gpu_write,
    .read = gpu_read,
    .fill = gpu_fill,
    .reset = gpu_reset,
    .launch = gpu_launch,
    .measure = gpu_measure,
    .energy = gpu_energy,
};

/* Takes the profile of the nearest known chip, and the driver's figures of this GPU. */
static bool describe_chip(struct device_gpu *gpu, struct err *err)
{
    const struct worker_info *info = &gpu->info;
    const struct chip *nearest = chip_find(strstr(info->name, "H200") != NULL ? "h200" : "h100");

    if (info->major != 9 || info->minor != 0)
        return err_set(err,
            "%s is of compute capability %d.%d; only 9.0 (H100, H200) is known here", info->name,
            info->major, info->minor);
    gpu->chip = *nearest;
    gpu->chip.name = gpu->info.name;
    if (info->software)
        return true; /* it is that chip */
    if (info->nr_sms > 0)
        gpu->chip.nr_sms = (unsigned)info->nr_sms;
    if (info->clock_khz > 0)
        gpu->chip.clock_hz = info->clock_khz * 1e3;
    if (info->l2_bytes > 0)
        gpu->chip.l2_bytes = (uint64_t)info->l2_bytes;
    if (info->memory_clock_khz > 0 && info->memory_bus_bits > 0)
        gpu->chip.dram_bytes_per_s = 2e3 * info->memory_clock_khz * (info->memory_bus_bits / 8.0);
    gpu->chip.dram_bytes = info->memory_bytes;
    return true;
}

static uint64_t host_memory_share(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 4 * 3 : 0;
}

struct device *device_gpu_create(
    unsigned ordinal, const struct device_options *options, struct err *err)
{
    struct device_gpu *gpu = xcalloc(1, sizeof(*gpu));

    gpu->lock = -1;
    gpu->ops = gpu_ops;
    gpu->base.ops = &gpu->ops;
    gpu->base.chip = &gpu->chip;
    gpu->next_address = FIRST_ADDRESS;
    gpu->options = (struct worker_options){.ordinal = ordinal,
        .start_s = start_s,
        .memory_bytes = options->worker_bytes > 0 ? options->worker_bytes : host_memory_share(),
        .no_sandbox = options->no_sandbox};
    if (!gpu_have_worker(gpu, err) || !describe_chip(gpu, err) ||
        !gpu_lock(gpu->info.uuid, &gpu->lock, err)) {
        gpu_destroy(&gpu->base);
        return NULL;
    }
    if (gpu->info.software) {
        gpu->ops.time_from = PROV_MODELLED;
        /* A software GPU draws no power, and NVML would tell of another GPU. */
        if (getenv("KEET_NVML") == NULL)
            gpu->ops.energy = NULL;
    }
    if (!gpu->info.sandboxed && !options->no_sandbox)
        log_note("the GPU's worker process runs without a sandbox: this kernel has no Landlock or "
                 "no seccomp");
    gpu->launch_s = options->deadline_s > 0 ? options->deadline_s
                    : gpu->info.software    ? software_launch_s
                                            : launch_s;
    gpu->measure_s = gpu->info.software ? software_measure_s : measure_s;
    return &gpu->base;
}
