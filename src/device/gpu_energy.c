/* Owns the energy of launches on a GPU, as part of a profile. */
#include "device/gpu_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The time of a measurement: a second to settle and eight blocks of a quarter of a second, and half
 * as much again; blocks of two runs at least, where runs are long. */
static double seconds_for(double time_ns)
{
    return fmax(4, 1 + 12 * 2 * time_ns * 1e-9);
}

bool gpu_energy(struct device *device, struct device_module *module,
    const struct device_measure *measure, struct profile *profile, struct device_result *result,
    struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    const struct gpu_job job = {
        .module = module,
        .launches = measure->launches,
        .nr_launches = measure->nr_launches,
        .restore = measure->restore,
        .nr_restore = measure->nr_restore,
    };
    const double energy_s = seconds_for(profile->time_ns);
    struct worker_request request = {.op = WORKER_ENERGY, .time_limit_s = energy_s};
    const enum provenance from = gpu->ops.time_from;
    struct counters *total = &profile->total;
    struct energy_estimate e;

    request.seed = measure->nr_launches > 0 ? measure->launches[0].seed : 0;
    if (!gpu_run(gpu, &job, &request, energy_s + 8 * gpu->launch_s, result, err))
        return false;
    if (result->verdict == VERDICT_OK)
        memcpy(&e, worker_window(gpu->worker), sizeof(e));
    gpu_drop_sets(gpu);
    if (result->verdict != VERDICT_OK)
        return true;
    if (!e.known) {
        snprintf(result->text, sizeof(result->text), "%s", e.reason);
        return true;
    }
    counters_set(total, METRIC_ENERGY_J, e.joules, from);
    counters_set(total, METRIC_ENERGY_LOW_J, e.low, from);
    counters_set(total, METRIC_ENERGY_HIGH_J, e.high, from);
    counters_set(total, METRIC_POWER_W, e.power_w, from);
    return true;
}
