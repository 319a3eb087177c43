/* Owns the stand-in for CUPTI: fake_cupti.h says what for. */
#include "beside.h"
#include "fake/fake_cupti.h"

#include "nv/metrics_map.h"

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 256, IMAGE_BYTES = 4096, MAGIC = 0x6b656574 };

struct CUpti_Profiler_Host_Object {
    struct CUpti_Profiler_Host_Object *next; /* of all, so that abandoned ones are no leak */
    const char **names;                      /* of the configuration; NULL: none yet */
    size_t nr;
};
static struct CUpti_Profiler_Host_Object *hosts;

struct CUpti_RangeProfiler_Object {
    int unused;
};

/* Both images begin so. */
struct image {
    uint32_t magic, kind, nr_ranges, max_ranges, decoded;
};
enum { KIND_CONFIG = 1, KIND_DATA };

struct kernel {
    char symbol[128];
    double start_ns, end_ns;
};

static struct state {
    bool initialised;
    /* range profiler */
    bool enabled, sized, prepared, configured, started, in_range, submitted, decoded;
    size_t data_bytes, max_ranges;
    struct image *data;
    CUpti_ProfilerRange range;
    CUpti_ProfilerReplayMode replay;
    unsigned nr_passes_run, nr_kernels_at_start, nr_ranges;
    /* activity */
    CUpti_BuffersCallbackRequestFunc give;
    CUpti_BuffersCallbackCompleteFunc take;
    bool recording;
    unsigned recorded_from;
    /* PC sampling */
    bool sampling, sampling_configured, sampling_started, sampling_stopped;
    CUpti_PCSamplingData *buffer;
    unsigned sampled_from, nr_pcs_given;
    /* what ran */
    struct kernel kernels[MOST_KERNELS];
    unsigned nr_kernels;
} state;

static struct CUpti_RangeProfiler_Object the_profiler;
static char violations[4096], calls[65536], fail_name[128], source[512] = "kernel.cu";
static int fail_code;
static struct told {
    char name[128];
    double value;
} told[METRICS_MAP_NAMES];
static unsigned nr_told;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- what tests call ---- */

void fake_reset(void);
void fake_fail(const char *function, int code);
void fake_launch(const char *symbol, double start_ns, double end_ns);
void fake_source(const char *path);
const char *fake_violations(void);
const char *fake_log(void);
int fake_active(void);

void fake_reset(void)
{
    const bool initialised = state.initialised;

    state = (struct state){.initialised = initialised};
    violations[0] = calls[0] = fail_name[0] = '\0';
    fail_code = 0;
}

void fake_fail(const char *function, int code)
{
    snprintf(fail_name, sizeof(fail_name), "%s", function);
    fail_code = code;
}

void fake_source(const char *path)
{
    snprintf(source, sizeof(source), "%s", path);
}

const char *fake_violations(void)
{
    return violations;
}

const char *fake_log(void)
{
    return calls;
}

int fake_active(void)
{
    return state.enabled + state.recording + state.sampling;
}

void fake_launch(const char *symbol, double start_ns, double end_ns)
{
    struct kernel *k;

    pthread_mutex_lock(&lock);
    k = &state.kernels[state.nr_kernels % MOST_KERNELS];
    snprintf(k->symbol, sizeof(k->symbol), "%s", symbol);
    k->start_ns = start_ns;
    k->end_ns = end_ns;
    state.nr_kernels++;
    pthread_mutex_unlock(&lock);
}

/* ---- order ---- */

static CUptiResult enter(const char *function)
{
    const size_t used = strlen(calls);

    snprintf(calls + used, sizeof(calls) - used, "%s\n", function);
    if (fail_code == 666 && strcmp(function, fail_name) == 0)
        raise(SIGKILL);
    if (fail_code && strcmp(function, fail_name) == 0)
        return (CUptiResult)fail_code;
    if (!state.initialised && strcmp(function, "cuptiProfilerInitialize") != 0 &&
        strcmp(function, "cuptiGetVersion") != 0) {
        const size_t at = strlen(violations);

        snprintf(violations + at, sizeof(violations) - at, "%s before cuptiProfilerInitialize\n",
            function);
        return CUPTI_ERROR_NOT_INITIALIZED;
    }
    return CUPTI_SUCCESS;
}

static CUptiResult wrong(const char *function, const char *what, CUptiResult code)
{
    const size_t at = strlen(violations);

    snprintf(violations + at, sizeof(violations) - at, "%s: %s\n", function, what);
    return code;
}

/* Inside an API function of that name only. */
#define ENTER()                                                                                    \
    do {                                                                                           \
        const CUptiResult entered = enter(__func__);                                               \
        if (entered != CUPTI_SUCCESS)                                                              \
            return entered;                                                                        \
    } while (0)
#define DEMAND(condition, what, code)                                                              \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return wrong(__func__, what, code);                                                    \
    } while (0)
#define PARAMETER(condition, what) DEMAND(condition, what, CUPTI_ERROR_INVALID_PARAMETER)
#define ORDER(condition, what) DEMAND(condition, what, CUPTI_ERROR_INVALID_OPERATION)

/* ---- general ---- */

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
    *version = 130000;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **text)
{
    static char texts[8][64];
    static unsigned next;
    char *to = texts[next++ % 8];

    snprintf(to, sizeof(texts[0]), "FAKE_RESULT_%d", (int)result);
    *text = to;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *p)
{
    ENTER();
    PARAMETER(p->structSize == CUpti_Profiler_Initialize_Params_STRUCT_SIZE, "size");
    state.initialised = true;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *p)
{
    ENTER();
    p->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params *p)
{
    const CUpti_Profiler_Support_Level yes = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    const CUpti_Profiler_Support_Level no = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    const CUptiResult entered = enter(__func__);

    p->isSupported = p->architecture = p->sli = p->vGpu = p->confidentialCompute = p->cmp = p->wsl =
        yes;
    /* Codes below 0 are no results but flags that are off. */
    if ((int)entered < 0) {
        CUpti_Profiler_Support_Level *const flags[] = {
            &p->architecture, &p->vGpu, &p->confidentialCompute, &p->sli, &p->cmp, &p->wsl};

        p->isSupported = no;
        *flags[(-(int)entered - 1) % 6] = no;
        return CUPTI_SUCCESS;
    }
    return entered;
}

/* ---- host ---- */

CUptiResult CUPTIAPI cuptiProfilerHostGetSupportedChips(
    CUpti_Profiler_Host_GetSupportedChips_Params *p)
{
    static const char *const chips[] = {"GA100", "GH100"};

    ENTER();
    p->numChips = 2;
    p->ppChipNames = chips;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *p)
{
    ENTER();
    PARAMETER(p->profilerType == CUPTI_PROFILER_TYPE_RANGE_PROFILER, "kind of profiler");
    PARAMETER(p->pChipName && strcmp(p->pChipName, "GH100") == 0, "chip");
    p->pHostObject = calloc(1, sizeof(*p->pHostObject));
    p->pHostObject->next = hosts;
    hosts = p->pHostObject;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *p)
{
    struct CUpti_Profiler_Host_Object **at = &hosts;

    ENTER();
    while (*at && *at != p->pHostObject)
        at = &(*at)->next;
    PARAMETER(*at, "no such object");
    *at = p->pHostObject->next;
    for (size_t i = 0; i < p->pHostObject->nr; i++)
        free((char *)(uintptr_t)p->pHostObject->names[i]);
    free(p->pHostObject->names);
    free(p->pHostObject);
    return CUPTI_SUCCESS;
}

/* It knows what the table from metrics of the chip to ours asks for, and nothing else. */
static const char *known_bases[METRICS_MAP_NAMES], *known_subs[METRICS_MAP_NAMES];
static size_t nr_known;

static void know_all(void)
{
    const char *names[METRICS_MAP_NAMES];
    const unsigned nr = metrics_map_names(names);

    while (nr_known < nr) {
        const char *dot = strchr(names[nr_known], '.');

        known_bases[nr_known] = strndup(names[nr_known], (size_t)(dot - names[nr_known]));
        known_subs[nr_known++] = dot;
    }
}

CUptiResult CUPTIAPI cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params *p)
{
    ENTER();
    know_all();
    p->ppMetricNames = known_bases;
    p->numMetrics = p->metricType == CUPTI_METRIC_TYPE_COUNTER ? nr_known : 0;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostGetSubMetrics(CUpti_Profiler_Host_GetSubMetrics_Params *p)
{
    static const char *subs[METRICS_MAP_NAMES];

    ENTER();
    p->numOfSubmetrics = 0;
    p->ppSubMetrics = subs;
    for (size_t i = 0; i < nr_known; i++) {
        if (strcmp(known_bases[i], p->pMetricName) == 0)
            subs[p->numOfSubmetrics++] = known_subs[i];
    }
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostConfigAddMetrics(
    CUpti_Profiler_Host_ConfigAddMetrics_Params *p)
{
    ENTER();
    ORDER(!p->pHostObject->names, "metrics in more than one call take more passes");
    p->pHostObject->nr = p->numMetrics;
    p->pHostObject->names = calloc(p->numMetrics, sizeof(char *));
    for (size_t i = 0; i < p->numMetrics; i++)
        p->pHostObject->names[i] = strdup(p->ppMetricNames[i]);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostGetConfigImageSize(
    CUpti_Profiler_Host_GetConfigImageSize_Params *p)
{
    ENTER();
    ORDER(p->pHostObject->names, "no metrics");
    p->configImageSize = IMAGE_BYTES;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *p)
{
    ENTER();
    PARAMETER(p->configImageSize >= IMAGE_BYTES && p->pConfigImage, "size");
    *(struct image *)(void *)p->pConfigImage = (struct image){.magic = MAGIC, .kind = KIND_CONFIG};
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *p)
{
    ENTER();
    p->numOfPasses = FAKE_PASSES;
    return CUPTI_SUCCESS;
}

static bool is_image(const uint8_t *bytes, size_t nr, unsigned kind)
{
    const struct image *image = (const struct image *)(const void *)bytes;

    return image && nr >= sizeof(*image) && image->magic == MAGIC && image->kind == kind;
}

CUptiResult CUPTIAPI cuptiRangeProfilerGetCounterDataInfo(
    CUpti_RangeProfiler_GetCounterDataInfo_Params *p)
{
    ENTER();
    if (!is_image(p->pCounterDataImage, p->counterDataImageSize, KIND_DATA))
        return CUPTI_ERROR_INVALID_PARAMETER;
    p->numTotalRanges = ((const struct image *)(const void *)p->pCounterDataImage)->nr_ranges;
    return CUPTI_SUCCESS;
}

static double value_of(const char *name, unsigned range)
{
    for (unsigned i = 0; i < nr_told; i++) {
        if (strcmp(told[i].name, name) == 0)
            return told[i].value;
    }
    return fake_value(name, range);
}

CUptiResult CUPTIAPI cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params *p)
{
    const struct image *image = (const struct image *)(const void *)p->pCounterDataImage;

    ENTER();
    PARAMETER(is_image(p->pCounterDataImage, p->counterDataImageSize, KIND_DATA), "image");
    ORDER(image->decoded, "the image was not decoded");
    PARAMETER(p->rangeIndex < image->nr_ranges, "range");
    for (size_t i = 0; i < p->numMetrics; i++)
        p->pMetricValues[i] = value_of(p->ppMetricNames[i], (unsigned)p->rangeIndex);
    return CUPTI_SUCCESS;
}

/* ---- range profiler ---- */

CUptiResult CUPTIAPI cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *p)
{
    ENTER();
    PARAMETER(p->ctx, "no context");
    ORDER(!state.enabled, "enabled already");
    ORDER(!state.sampling && !state.recording, "another profiler is on");
    state.enabled = true;
    state.sized = state.prepared = state.configured = state.started = state.in_range = false;
    state.submitted = state.decoded = false;
    state.nr_passes_run = 0;
    p->pRangeProfilerObject = &the_profiler;
    return CUPTI_SUCCESS;
}

#define ENABLED() ORDER(state.enabled && p->pRangeProfilerObject == &the_profiler, "not enabled")

CUptiResult CUPTIAPI cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *p)
{
    ENTER();
    ENABLED();
    state.enabled = false;
    ORDER(!state.started, "disabled between start and stop");
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerGetCounterDataSize(
    CUpti_RangeProfiler_GetCounterDataSize_Params *p)
{
    ENTER();
    ENABLED();
    PARAMETER(p->pMetricNames && p->numMetrics > 0, "no metrics");
    PARAMETER(p->maxNumOfRanges > 0 && p->maxNumRangeTreeNodes >= p->maxNumOfRanges, "ranges");
    state.sized = true;
    state.max_ranges = p->maxNumOfRanges;
    p->counterDataSize = state.data_bytes = IMAGE_BYTES + 64 * p->maxNumOfRanges;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p)
{
    ENTER();
    ENABLED();
    ORDER(state.sized, "before its size was asked for");
    PARAMETER(p->counterDataSize == state.data_bytes && p->pCounterData, "size");
    state.data = (struct image *)(void *)p->pCounterData;
    *state.data =
        (struct image){.magic = MAGIC, .kind = KIND_DATA, .max_ranges = (uint32_t)state.max_ranges};
    state.prepared = true;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *p)
{
    ENTER();
    ENABLED();
    ORDER(state.prepared, "before the counter data was initialised");
    ORDER(!state.started, "between start and stop");
    PARAMETER(is_image(p->pConfig, p->configSize, KIND_CONFIG), "configuration");
    PARAMETER((void *)p->pCounterDataImage == (void *)state.data, "another image");
    PARAMETER(p->maxRangesPerPass > 0 && p->maxRangesPerPass <= state.max_ranges, "ranges");
    PARAMETER(p->numNestingLevels >= 1 && p->minNestingLevel >= 1, "nesting");
    PARAMETER(
        p->range != CUPTI_AutoRange || p->numNestingLevels == 1, "nesting of automatic ranges");
    PARAMETER(p->replayMode == CUPTI_KernelReplay || p->replayMode == CUPTI_UserReplay, "replay");
    PARAMETER(p->range != CUPTI_UserRange || p->replayMode != CUPTI_KernelReplay,
        "ranges of the user's need replay by the user");
    state.range = p->range;
    state.replay = p->replayMode;
    state.configured = true;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *p)
{
    ENTER();
    ENABLED();
    ORDER(state.configured, "before the configuration");
    ORDER(!state.started, "started already");
    ORDER(!state.submitted, "all passes were made");
    state.started = true;
    state.nr_kernels_at_start = state.nr_kernels;
    state.nr_ranges = 0;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params *p)
{
    ENTER();
    ENABLED();
    ORDER(state.started, "not started");
    ORDER(state.range == CUPTI_UserRange, "ranges are automatic");
    ORDER(!state.in_range, "nested deeper than configured");
    PARAMETER(p->pRangeName && p->pRangeName[0], "no name");
    state.in_range = true;
    state.nr_ranges++;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params *p)
{
    const CUptiResult entered = enter(__func__);

    ENABLED();
    ORDER(state.in_range, "no range was begun");
    state.in_range = false;
    return entered;
}

CUptiResult CUPTIAPI cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *p)
{
    const CUptiResult entered = enter(__func__);

    if (entered != CUPTI_SUCCESS) {
        state.started = false;
        return entered;
    }
    ENABLED();
    ORDER(state.started, "not started");
    ORDER(!state.in_range, "a range was not ended");
    state.started = false;
    state.nr_passes_run++;
    if (state.range == CUPTI_AutoRange)
        state.nr_ranges = state.nr_kernels - state.nr_kernels_at_start;
    state.submitted = state.replay == CUPTI_KernelReplay || state.nr_passes_run == FAKE_PASSES;
    p->isAllPassSubmitted = state.submitted;
    p->passIndex = state.nr_passes_run;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *p)
{
    ENTER();
    ENABLED();
    ORDER(!state.started && state.nr_passes_run > 0, "before stop");
    ORDER(state.submitted, "passes are missing");
    p->numOfRangeDropped =
        state.nr_ranges > state.max_ranges ? state.nr_ranges - state.max_ranges : 0;
    state.data->nr_ranges = (uint32_t)(state.nr_ranges - p->numOfRangeDropped);
    state.data->decoded = 1;
    state.decoded = true;
    return CUPTI_SUCCESS;
}

/* ---- callbacks: fake_calls.c has them, where it was preloaded ---- */

static struct CUpti_Subscriber_st {
    int unused;
} the_subscriber;

CUptiResult CUPTIAPI cuptiSubscribe(
    CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *owner)
{
    bool (*subscribe)(CUpti_CallbackFunc, void *) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "fake_calls_subscribe");

    state.initialised = true; /* callbacks and activities need no profiler */
    ENTER();
    PARAMETER(callback, "no function");
    memcpy(&subscribe, &symbol, sizeof(symbol));
    *subscriber = &the_subscriber;
    return subscribe && subscribe(callback, owner) ? CUPTI_SUCCESS
                                                   : CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
    CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    bool (*call)(CUpti_CallbackDomain, CUpti_CallbackId, bool) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "fake_calls_enable");

    ENTER();
    PARAMETER(subscriber == &the_subscriber, "no such subscriber");
    memcpy(&call, &symbol, sizeof(symbol));
    PARAMETER(call && call(domain, id, enable != 0), "no such callback");
    return CUPTI_SUCCESS;
}

/* ---- activity ---- */

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc give, CUpti_BuffersCallbackCompleteFunc take)
{
    ENTER();
    PARAMETER(give && take, "no functions");
    state.give = give;
    state.take = take;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
    ENTER();
    ORDER(state.give && state.take, "before buffers can be had");
    ORDER(!state.recording, "enabled already");
    PARAMETER(kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kind");
    state.recording = true;
    state.recorded_from = state.nr_kernels;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
    const CUptiResult entered = enter(__func__);

    (void)kind;
    ORDER(state.recording, "not enabled");
    state.recording = false;
    return entered;
}

/* As CUPTI, it hands buffers over from a thread of its own. */
static void *hand_over(void *unused)
{
    CUpti_ActivityKernel10 *records;
    uint8_t *buffer = NULL;
    size_t bytes = 0, most = 0, fit, nr = 0;

    (void)unused;
    while (state.recorded_from < state.nr_kernels) {
        state.give(&buffer, &bytes, &most);
        if (!buffer)
            return NULL;
        records = (CUpti_ActivityKernel10 *)(void *)buffer;
        fit = bytes / sizeof(*records);
        for (nr = 0; nr < fit && nr < 3 && state.recorded_from < state.nr_kernels; nr++) {
            const struct kernel *k = &state.kernels[state.recorded_from++ % MOST_KERNELS];

            memset(&records[nr], 0, sizeof(records[nr]));
            records[nr].kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
            records[nr].start = (uint64_t)k->start_ns;
            records[nr].end = (uint64_t)k->end_ns;
            records[nr].name = k->symbol;
        }
        state.take(NULL, 0, buffer, bytes, nr * sizeof(*records));
    }
    return NULL;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
    pthread_t thread;

    ENTER();
    (void)flag;
    ORDER(state.give && state.take, "before buffers can be had");
    if (pthread_create(&thread, NULL, hand_over, NULL) != 0)
        return CUPTI_ERROR_UNKNOWN;
    pthread_join(thread, NULL);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(
    uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + sizeof(CUpti_ActivityKernel10) : buffer;

    ENTER();
    PARAMETER(buffer, "no buffer");
    if (next >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)next;
    return CUPTI_SUCCESS;
}

/* A code below 0 is no result but a number of records that were dropped. */
CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(
    CUcontext context, uint32_t stream, size_t *dropped)
{
    const CUptiResult entered = enter(__func__);

    (void)context, (void)stream;
    *dropped = (int)entered < 0 ? (size_t) - (int)entered : 0;
    return (int)entered < 0 ? CUPTI_SUCCESS : entered;
}

/* ---- PC sampling ---- */

static const char *const reasons[] = {"smsp__pcsamp_warps_issue_stalled_selected",
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard",
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
    "smsp__pcsamp_warps_issue_stalled_barrier", "smsp__pcsamp_sample_count"};
enum { NR_REASONS = sizeof(reasons) / sizeof(reasons[0]), FIRST_INDEX = 7, NR_PCS = 5 };

CUptiResult CUPTIAPI cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams *p)
{
    ENTER();
    PARAMETER(p->size == CUpti_PCSamplingEnableParamsSize && p->ctx, "parameters");
    ORDER(!state.sampling, "enabled already");
    ORDER(!state.enabled && !state.recording, "another profiler is on");
    state.sampling = true;
    state.sampling_configured = state.sampling_started = state.sampling_stopped = false;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams *p)
{
    const CUptiResult entered = enter(__func__);

    PARAMETER(p->size == CUpti_PCSamplingDisableParamsSize && p->ctx, "parameters");
    ORDER(state.sampling, "not enabled");
    state.sampling = false;
    ORDER(!state.sampling_started, "disabled between start and stop");
    if (state.buffer)
        state.buffer->totalSamples = state.buffer->droppedSamples = 0;
    return entered;
}

CUptiResult CUPTIAPI cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams *p)
{
    ENTER();
    ORDER(state.sampling, "not enabled");
    *p->numStallReasons = NR_REASONS;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams *p)
{
    ENTER();
    ORDER(state.sampling, "not enabled");
    PARAMETER(p->numStallReasons == NR_REASONS && p->stallReasonIndex && p->stallReasons, "room");
    for (unsigned i = 0; i < NR_REASONS; i++) {
        p->stallReasonIndex[i] = FIRST_INDEX + i;
        snprintf(p->stallReasons[i], CUPTI_STALL_REASON_STRING_SIZE, "%s", reasons[i]);
    }
    return CUPTI_SUCCESS;
}

static CUptiResult take_attribute(CUpti_PCSamplingConfigurationInfo *info)
{
    switch (info->attributeType) {
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE:
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL:
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON:
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE:
        return CUPTI_SUCCESS;
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD:
        return info->attributeData.samplingPeriodData.samplingPeriod >= 5 &&
                       info->attributeData.samplingPeriodData.samplingPeriod <= 31
                   ? CUPTI_SUCCESS
                   : CUPTI_ERROR_INVALID_OPERATION;
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER:
        state.buffer = info->attributeData.samplingDataBufferData.samplingDataBuffer;
        return state.buffer ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
    default:
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
}

CUptiResult CUPTIAPI cuptiPCSamplingSetConfigurationAttribute(
    CUpti_PCSamplingConfigurationInfoParams *p)
{
    ENTER();
    ORDER(state.sampling, "not enabled");
    ORDER(!state.sampling_started, "between start and stop");
    for (size_t i = 0; i < p->numAttributes; i++)
        p->pPCSamplingConfigurationInfo[i].attributeStatus =
            take_attribute(&p->pPCSamplingConfigurationInfo[i]);
    state.sampling_configured = true;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPCSamplingStart(CUpti_PCSamplingStartParams *p)
{
    ENTER();
    PARAMETER(p->ctx, "no context");
    ORDER(state.sampling && state.sampling_configured, "not configured");
    ORDER(!state.sampling_started, "started already");
    state.sampling_started = true;
    state.sampled_from = state.nr_kernels;
    state.nr_pcs_given = 0;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPCSamplingStop(CUpti_PCSamplingStopParams *p)
{
    const CUptiResult entered = enter(__func__);

    PARAMETER(p->ctx, "no context");
    ORDER(state.sampling_started, "not started");
    state.sampling_started = false;
    state.sampling_stopped = true;
    return entered;
}

/* Each kernel has five sampled instructions: number i was seen issuing i + 1 times, waiting for
 * memory 10 i times (half of which count a second time as not issued), at a barrier once. They come
 * in two calls or more. */
static void fill_pc(CUpti_PCSamplingPCData *pc, unsigned kernel, unsigned i)
{
    const uint32_t samples[NR_REASONS] = {i + 1, 10 * i, 5 * i, 1, 100};

    pc->functionName = strdup(state.kernels[kernel % MOST_KERNELS].symbol);
    pc->pcOffset = 16 * i;
    pc->stallReasonCount = NR_REASONS;
    for (unsigned r = 0; r < NR_REASONS; r++) {
        pc->stallReason[r].pcSamplingStallReasonIndex = FIRST_INDEX + r;
        pc->stallReason[r].samples = samples[r];
    }
}

CUptiResult CUPTIAPI cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams *p)
{
    CUpti_PCSamplingData *data = p->pcSamplingData;
    const unsigned all = NR_PCS * (state.nr_kernels - state.sampled_from);

    ENTER();
    ORDER(state.sampling && state.sampling_stopped, "before stop");
    PARAMETER(data->size == sizeof(*data), "size");
    data->totalNumPcs = data->totalSamples = 0;
    data->droppedSamples = 0;
    for (unsigned i = 0; i < 4 && i < data->collectNumPcs && state.nr_pcs_given < all; i++) {
        const unsigned n = state.nr_pcs_given++;

        fill_pc(&data->pPcData[i], state.sampled_from + n / NR_PCS, n % NR_PCS);
        data->totalNumPcs++;
        data->totalSamples += 100;
    }
    data->remainingNumPcs = all - state.nr_pcs_given;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCubinCrc(CUpti_GetCubinCrcParams *p)
{
    ENTER();
    p->cubinCrc = p->cubinSize;
    return CUPTI_SUCCESS;
}

/* Two instructions per line, from line 10 on; the third is from a header. */
CUptiResult CUPTIAPI cuptiGetSassToSourceCorrelation(CUpti_GetSassToSourceCorrelationParams *p)
{
    const unsigned instruction = (unsigned)(p->pcOffset / 16);

    ENTER();
    PARAMETER(p->cubin && p->cubinSize && p->functionName, "parameters");
    p->lineNumber = instruction == 2 ? 77 : 10 + instruction / 2;
    p->fileName = strdup(instruction == 2 ? "cuda_fp16.hpp" : source);
    p->dirName = strdup("/somewhere");
    return CUPTI_SUCCESS;
}

/* ---- loading ---- */

static void read_file_beside(void)
{
    FILE *file = open_beside("fake.txt");
    char word[16], text[512];
    int code;

    if (!file)
        return;
    while (fscanf(file, "%15s %500s", word, text) == 2) {
        if (strcmp(word, "source") == 0)
            fake_source(text);
        else if (strcmp(word, "fail") == 0 && fscanf(file, "%d", &code) == 1)
            fake_fail(text, code);
        else if (strcmp(word, "value") == 0 && nr_told < METRICS_MAP_NAMES &&
                 fscanf(file, "%lf", &told[nr_told].value) == 1)
            snprintf(told[nr_told++].name, sizeof(told->name), "%.127s", text);
    }
    fclose(file);
}

static void on_kernel(const char *symbol, double start_ns, double end_ns)
{
    fake_launch(symbol, start_ns, end_ns);
}

__attribute__((constructor)) static void begin(void)
{
    void (*subscribe)(void (*)(const char *, double, double)) = NULL;
    const char *driver_path = getenv("KEET_CUDA_DRIVER");
    void *driver = driver_path ? dlopen(driver_path, RTLD_NOW | RTLD_LOCAL) : NULL, *symbol;

    read_file_beside();
    if (!driver)
        return;
    symbol = dlsym(driver, "keet_software_driver_on_kernel");
    memcpy(&subscribe, &symbol, sizeof(symbol));
    if (subscribe)
        subscribe(on_kernel);
}
