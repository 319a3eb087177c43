/* Owns the checker and the profiler of a device. */
#include "run/station.h"

#include "explain/explain.h"

struct station station_at(
    const struct workbench *bench, unsigned nr_device, const struct task *task)
{
    return (struct station){.device = workbench_device(bench, nr_device),
        .options = workbench_options(bench),
        .task = task,
        .widen = {workbench_compiler(bench), task}};
}

void station_finish(struct station *station)
{
    emulated_destroy(station->emulated);
    profiler_destroy(station->profiler);
    checker_destroy(station->checker);
}

void station_original(
    struct station *station, const struct candidate *original, const struct compilation *reference)
{
    station->original = original;
    station->reference = reference;
}

/* A station's profile_after_f. */
static bool compare_after(void *owner, struct candidate *c, struct device_module *module,
    const struct device_launch *launches, const struct run_buffers *buffers, struct err *err)
{
    const struct station *station = owner;

    return c->node == 0 || check_after_timing(station->checker, c, module, launches, buffers, err);
}

/* A station's profile_wanted_f. */
static uint32_t cures_wanted(void *owner, struct candidate *c)
{
    const struct station *station = owner;

    return explain_wants(station->device->chip, c);
}

/* Both are made before the first check, in this order: a modelled time depends on the order in
 * which arrays are allocated. */
static bool make_ready(struct station *station, struct err *err)
{
    const struct checker_options checker = {.screen = !station->options->no_screen,
        .nr_threads = station->options->device.nr_threads,
        .timed_insts = station->timed_insts,
        .widen = widen_original,
        .owner = &station->widen};
    const struct profiler_options profiler = {.energy = station->options->energy,
        .quick_cures = station->searches,
        .after = compare_after,
        .wanted = station->searches ? cures_wanted : NULL,
        .owner = station};

    if (!station->checker && !station->only_times)
        station->checker =
            checker_create(station->device, station->task, station->reference, &checker, err);
    if ((station->checker || station->only_times) && !station->profiler)
        station->profiler = profiler_create(station->device, station->task, &profiler, err);
    return station->profiler != NULL;
}

bool station_check(struct station *station, struct candidate *c, struct err *err)
{
    device_begin(station->device);
    return candidate_evaluated(c) ||
           (make_ready(station, err) && check_kernel(station->checker, c, err));
}

static bool know_original(struct station *station, struct err *err)
{
    const struct candidate *original = station->original;

    if (station->knows_original || original->profile.time_ns <= 0)
        return true;
    profiler_baseline(station->profiler, original->profile.time_ns);
    check_original_takes(
        station->checker, counters_get(&original->profile.total, METRIC_WARP_INST));
    station->knows_original = profiler_original(station->profiler, original, err);
    return station->knows_original;
}

/* A GPU counts nothing by line. */
static void add_emulated(struct station *station, struct candidate *c)
{
    const struct emulated_options options = {
        .nr_threads = station->options->device.nr_threads, .searches = station->searches};

    if (!station->emulated)
        station->emulated = emulated_create(station->device, station->task, &options);
    emulated_fill(station->emulated, c);
}

bool station_profile(struct station *station, struct candidate *c, struct err *err)
{
    device_begin(station->device);
    if (candidate_evaluated(c))
        return true;
    if (!make_ready(station, err) || !know_original(station, err) ||
        !profile_kernel(station->profiler, c, err))
        return false;
    if (station->device->ops->compares)
        add_emulated(station, c);
    return true;
}

bool station_confirm(struct station *station, struct candidate *c, struct err *err)
{
    const bool modelled = station->device->ops->time_from == PROV_MODELLED;
    uint64_t thread_insts = 0;

    if (c->verdict != VERDICT_OK || c->node == 0)
        return true;
    device_begin(station->device);
    if (!make_ready(station, err) || !know_original(station, err) ||
        !check_timed(station->checker, c, &thread_insts, err))
        return false;
    if (c->verdict != VERDICT_OK)
        c->speedup = 0;
    return c->verdict != VERDICT_OK || !modelled || !profile_is_off(c, thread_insts) ||
           profile_whole(station->profiler, c, err);
}
