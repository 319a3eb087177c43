/* Owns the timing of launches on a GPU, as a profile. */
#include "device/gpu_state.h"

#include <stdio.h>
#include <string.h>

static void fill_timing(
    const struct timing_result *r, bool alone, struct arena *arena, struct profile_timing *to)
{
    const struct timing_range *clock = r->clock_mhz;

    *to = (struct profile_timing){
        .nr_samples = r->nr_pairs,
        .nr_dropped = r->nr_dropped,
        .standard_error = r->standard_error,
        .refused = r->refused,
        .clock_low_mhz = clock[TIMING_CANDIDATE].low,
        .clock_high_mhz = clock[TIMING_CANDIDATE].high,
        .temperature_low_c = r->temperature_c.low,
        .temperature_high_c = r->temperature_c.high,
        .throttle = r->throttle,
        .note = arena_strdup(arena, r->reason),
    };
    if (alone)
        return;
    to->baseline_ns = r->time[TIMING_BASELINE].value;
    to->baseline_clock_low_mhz = clock[TIMING_BASELINE].low;
    to->baseline_clock_high_mhz = clock[TIMING_BASELINE].high;
    to->ratio = r->ratio.value;
    to->ratio_low = r->ratio.low;
    to->ratio_high = r->ratio.high;
}

/* The whole run was timed with care. Its launches get shares of that time, in proportion to their
 * times when timed one by one. */
static void fill_profile(struct device_gpu *gpu, const struct device_measure *measure,
    const struct gpu_job *job, const struct worker_time *time, struct arena *arena,
    struct profile *profile)
{
    const struct timing_estimate *whole = &time->result.time[TIMING_CANDIDATE];
    const unsigned nr = measure->nr_launches;
    double sum = 0;

    profile->nr_launches = nr;
    profile->launches = arena_array(arena, nr, sizeof(*profile->launches));
    profile->configs = arena_array(arena, nr, sizeof(*profile->configs));
    for (unsigned i = 0; i < nr; i++)
        sum += time->launch_ns[i];
    for (unsigned i = 0; i < nr; i++) {
        const double share = nr > 1 && sum > 0 ? time->launch_ns[i] / sum : 1.0 / nr;

        gpu_fill_counts(gpu, job, i, arena, &profile->launches[i]);
        gpu_counters(gpu, &measure->launches[i], whole->value * share, &profile->launches[i]);
        profile->configs[i] = *measure->launches[i].config;
    }
    profile_sum(profile, arena);
    profile->time_ns = whole->value;
    profile->time_low_ns = whole->low;
    profile->time_high_ns = whole->high;
    fill_timing(&time->result, measure->nr_baseline == 0, arena, &profile->timing);
    gpu_fill_spans(gpu, arena, profile);
}

bool gpu_measure(struct device *device, struct device_module *module,
    const struct device_measure *measure, struct arena *arena, struct profile *profile,
    struct device_result *result, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    const double sides = measure->nr_baseline > 0 ? 2 : 1;
    const double limit_s =
        measure->time_limit_s > 0 ? measure->time_limit_s : gpu->measure_s * sides;
    const struct gpu_job job = {
        .module = module,
        .launches = measure->launches,
        .nr_launches = measure->nr_launches,
        .baseline_module = measure->baseline_module,
        .baseline = measure->baseline,
        .nr_baseline = measure->nr_baseline,
        .restore = measure->restore,
        .nr_restore = measure->nr_restore,
        .rotate = measure->rotate,
        .nr_rotate = measure->nr_rotate,
    };
    struct worker_request request = {.op = WORKER_MEASURE, .time_limit_s = limit_s};
    struct worker_time time;

    if (measure->nr_launches == 0) {
        result->verdict = VERDICT_LAUNCH_FAILED;
        snprintf(result->text, sizeof(result->text), "nothing is launched");
        return true;
    }
    request.seed = measure->launches[0].seed;
    if (!gpu_run(gpu, &job, &request, limit_s + sides * gpu->launch_s, result, err))
        return false;
    if (result->verdict == VERDICT_OK)
        memcpy(&time, worker_window(gpu->worker), sizeof(time));
    gpu_drop_sets(gpu);
    if (result->verdict == VERDICT_OK) {
        gpu_count(gpu, &job, time.result.time[TIMING_CANDIDATE].value);
        fill_profile(gpu, measure, &job, &time, arena, profile);
    }
    return true;
}
