/* Owns the timing of launches on a GPU, as a profile. */
#include "device/gpu_state.h"

#include <string.h>

/* The whole is what was timed with care; its parts share it as they did when timed one by one. */
static void fill_profile(struct device_gpu *gpu, const struct device_measure *measure,
    const struct worker_time *time, struct arena *arena, struct profile *profile)
{
    const unsigned nr = measure->nr_launches;
    double sum = 0;

    profile->nr_launches = nr;
    profile->launches = arena_array(arena, nr, sizeof(*profile->launches));
    profile->configs = arena_array(arena, nr, sizeof(*profile->configs));
    for (unsigned i = 0; i < nr; i++)
        sum += time->launch_ns[i];
    for (unsigned i = 0; i < nr; i++) {
        const double share = nr > 1 && sum > 0 ? time->launch_ns[i] / sum : 1.0 / nr;

        gpu_counters(gpu, &measure->launches[i], time->time_ns * share, &profile->launches[i]);
        profile->configs[i] = *measure->launches[i].config;
    }
    profile_sum(profile, arena);
    profile->time_ns = time->time_ns;
    profile->time_low_ns = time->low_ns;
    profile->time_high_ns = time->high_ns;
}

bool gpu_measure(struct device *device, struct device_module *module,
    const struct device_measure *measure, struct arena *arena, struct profile *profile,
    struct device_result *result, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    const double limit_s = measure->time_limit_s > 0 ? measure->time_limit_s : gpu->measure_s;
    struct worker_request request = {.op = WORKER_MEASURE, .time_limit_s = limit_s};
    struct worker_time time;

    if (measure->nr_launches > 0)
        request.seed = measure->launches[0].seed;
    if (!gpu_run(gpu, module, &request, measure->launches, measure->nr_launches,
            limit_s + gpu->launch_s, result, err))
        return false;
    if (result->verdict != VERDICT_OK)
        return true;
    memcpy(&time, worker_window(gpu->worker), sizeof(time));
    fill_profile(gpu, measure, &time, arena, profile);
    return true;
}
