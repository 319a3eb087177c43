/* Owns the target half of CUPTI's range profiler: counting launches on a card, pass by pass. */
#include "nv/cupti_inside.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

struct range_session {
    const struct cupti *cupti;
    const struct cupti_config *config;
    CUpti_RangeProfiler_Object *profiler;
    enum cupti_replay replay;
    unsigned nr_launches;
    uint8_t *data;
    size_t data_bytes;
};

bool cupti_chip_name(const struct cupti *cupti, unsigned device, char name[64], struct err *err)
{
    CUpti_Device_GetChipName_Params params = {
        .structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE, .deviceIndex = device};

    if (!cupti_check(cupti, cupti->chip_name(&params), "asking for the chip's name", err))
        return false;
    snprintf(name, 64, "%s", params.pChipName);
    return true;
}

static bool is_off(CUpti_Profiler_Support_Level level)
{
    return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
           level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
}

bool cupti_device_supported(const struct cupti *cupti, int cu_device, struct err *err)
{
    PARAMS(CUpti_Profiler_DeviceSupported_Params, p);
    const char *why = "for a reason that it does not tell";

    p.cuDevice = cu_device;
    p.api = CUPTI_PROFILER_RANGE_PROFILING;
    if (!cupti_check(cupti, cupti->device_supported(&p), "asking what the GPU supports", err))
        return false;
    if (!is_off(p.isSupported))
        return true; /* an unknown answer counts as yes: the next call will tell */
    if (is_off(p.architecture))
        why = "which is older than Volta";
    else if (p.vGpu == CUPTI_PROFILER_CONFIGURATION_DISABLED)
        why = "a virtual GPU for which its host has not enabled profiling";
    else if (is_off(p.vGpu))
        why = "a virtual GPU that cannot be profiled";
    else if (is_off(p.confidentialCompute))
        why = "which is in confidential computing mode";
    else if (is_off(p.sli))
        why = "which is part of an SLI configuration";
    else if (is_off(p.cmp))
        why = "a mining processor";
    else if (is_off(p.wsl))
        why = "on a WSL that does not allow it";
    return err_set(err, "CUPTI cannot profile this GPU, %s", why);
}

/* ---- one collection ---- */

static bool make_data(struct range_session *s, struct err *err)
{
    PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, init);

    size.pRangeProfilerObject = init.pRangeProfilerObject = s->profiler;
    size.pMetricNames = (const char **)s->config->names;
    size.numMetrics = s->config->nr_names;
    size.maxNumOfRanges = s->nr_launches;
    size.maxNumRangeTreeNodes = s->nr_launches;
    if (!cupti_check(s->cupti, s->cupti->data_size(&size), "sizing the counter data", err))
        return false;
    s->data_bytes = init.counterDataSize = size.counterDataSize;
    s->data = init.pCounterData = xcalloc(1, size.counterDataSize);
    return cupti_check(s->cupti, s->cupti->data_initialize(&init), "preparing counter data", err);
}

static bool set_config(struct range_session *s, struct err *err)
{
    PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);

    set.pRangeProfilerObject = s->profiler;
    set.configSize = s->config->image_bytes;
    set.pConfig = s->config->image;
    set.pCounterDataImage = s->data;
    set.counterDataImageSize = s->data_bytes;
    set.range = s->replay == CUPTI_REPLAY_KERNEL ? CUPTI_AutoRange : CUPTI_UserRange;
    set.replayMode = s->replay == CUPTI_REPLAY_KERNEL ? CUPTI_KernelReplay : CUPTI_UserReplay;
    set.maxRangesPerPass = s->nr_launches;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.passIndex = 0;
    set.targetNestingLevel = 1;
    return cupti_check(s->cupti, s->cupti->set_config(&set), "setting the configuration", err);
}

/* Kernel replay makes ranges by itself; for user replay each launch is a range by its number. */
static bool run_launch(
    struct range_session *s, struct cupti_work *work, unsigned i, struct err *err)
{
    PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
    PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
    char name[32];
    bool ran;

    if (s->replay == CUPTI_REPLAY_KERNEL)
        return work->launch(work, i, err);
    snprintf(name, sizeof(name), "launch %u", i);
    push.pRangeProfilerObject = pop.pRangeProfilerObject = s->profiler;
    push.pRangeName = name;
    if (!cupti_check(s->cupti, s->cupti->push_range(&push), "beginning a range", err))
        return false;
    ran = work->launch(work, i, err);
    if (!ran) {
        s->cupti->pop_range(&pop); /* err holds the first fault already */
        return false;
    }
    return cupti_check(s->cupti, s->cupti->pop_range(&pop), "ending a range", err);
}

/* One stretch between start and stop; *done: no more passes are needed. */
static bool run_pass(struct range_session *s, struct cupti_work *work, bool *done, struct err *err)
{
    PARAMS(CUpti_RangeProfiler_Start_Params, start);
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    bool ran = true;

    start.pRangeProfilerObject = stop.pRangeProfilerObject = s->profiler;
    if (s->replay == CUPTI_REPLAY_USER && !work->restore(work, err))
        return false;
    if (!cupti_check(s->cupti, s->cupti->start(&start), "starting", err))
        return false;
    for (unsigned i = 0; i < s->nr_launches && ran; i++)
        ran = run_launch(s, work, i, err);
    if (!ran) {
        s->cupti->stop(&stop);
        return false;
    }
    *done = false;
    if (!cupti_check(s->cupti, s->cupti->stop(&stop), "stopping", err))
        return false;
    *done = stop.isAllPassSubmitted != 0;
    return true;
}

/* Kernel replay makes all passes within each launch, so one stretch is enough. User replay takes as
 * many stretches as the configuration has passes; more would be a loop without end. */
static bool run_passes(struct range_session *s, struct cupti_work *work, struct err *err)
{
    bool done = false;

    for (size_t pass = 0; pass < s->config->nr_passes && !done; pass++) {
        if (!run_pass(s, work, &done, err))
            return false;
    }
    return done ||
           err_set(err, "CUPTI says after %zu passes that more are needed", s->config->nr_passes);
}

static bool decode(struct range_session *s, struct err *err)
{
    PARAMS(CUpti_RangeProfiler_DecodeData_Params, params);
    unsigned nr_ranges;

    params.pRangeProfilerObject = s->profiler;
    if (!cupti_check(s->cupti, s->cupti->decode(&params), "decoding counters", err))
        return false;
    if (params.numOfRangeDropped)
        return err_set(err, "CUPTI dropped the counters of %zu of %u launches",
            params.numOfRangeDropped, s->nr_launches);
    if (!cupti_nr_ranges(s->cupti, s->data, s->data_bytes, &nr_ranges, err))
        return false;
    return nr_ranges == s->nr_launches ||
           err_set(err, "CUPTI counted %u launches of %u", nr_ranges, s->nr_launches);
}

bool cupti_collect(const struct cupti_config *config, void *cu_context, enum cupti_replay replay,
    unsigned nr_launches, struct cupti_work *work, uint8_t **image, size_t *image_bytes,
    struct err *err)
{
    struct range_session s = {
        .cupti = config->cupti, .config = config, .replay = replay, .nr_launches = nr_launches};
    PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
    PARAMS(CUpti_RangeProfiler_Disable_Params, disable);
    CUptiResult ended;
    bool ok;

    *image = NULL;
    if (!nr_launches)
        return err_set(err, "CUPTI: no launches to count");
    enable.ctx = cu_context;
    if (!cupti_check(s.cupti, s.cupti->enable(&enable), "enabling the range profiler", err))
        return false;
    s.profiler = disable.pRangeProfilerObject = enable.pRangeProfilerObject;
    ok = make_data(&s, err) && set_config(&s, err) && run_passes(&s, work, err) && decode(&s, err);
    ended = s.cupti->disable(&disable);
    /* A profiler that stays on would slow down the next timings. */
    if (ok)
        ok = cupti_check(s.cupti, ended, "disabling the range profiler", err);
    if (!ok) {
        free(s.data);
        return false;
    }
    *image = s.data;
    *image_bytes = s.data_bytes;
    return true;
}
