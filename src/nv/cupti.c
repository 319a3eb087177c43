/* Owns the handle on CUPTI's range profiler: finding it, its host half, its target half. */
#include "nv/cupti.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <cupti_callbacks.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A parameter struct of CUPTI: its size first, the rest zero. */
#define PARAMS(type, name) type name = {.structSize = type##_STRUCT_SIZE}

struct cupti {
    void *handle;
    char path[PATH_MAX];
    char no_target[256];
    unsigned version;
    __typeof__(&cuptiGetVersion) get_version;
    __typeof__(&cuptiGetResultString) result_string;
    __typeof__(&cuptiProfilerInitialize) initialize;
    __typeof__(&cuptiProfilerHostInitialize) host_initialize;
    __typeof__(&cuptiProfilerHostDeinitialize) host_deinitialize;
    __typeof__(&cuptiProfilerHostGetSupportedChips) supported_chips;
    __typeof__(&cuptiProfilerHostGetBaseMetrics) base_metrics;
    __typeof__(&cuptiProfilerHostGetSubMetrics) sub_metrics;
    __typeof__(&cuptiProfilerHostConfigAddMetrics) add_metrics;
    __typeof__(&cuptiProfilerHostGetConfigImageSize) image_size;
    __typeof__(&cuptiProfilerHostGetConfigImage) image;
    __typeof__(&cuptiProfilerHostGetNumOfPasses) nr_passes;
    __typeof__(&cuptiProfilerHostEvaluateToGpuValues) evaluate;
    __typeof__(&cuptiDeviceGetChipName) chip_name;
    __typeof__(&cuptiRangeProfilerEnable) enable;
    __typeof__(&cuptiRangeProfilerDisable) disable;
    __typeof__(&cuptiRangeProfilerSetConfig) set_config;
    __typeof__(&cuptiRangeProfilerStart) start;
    __typeof__(&cuptiRangeProfilerStop) stop;
    __typeof__(&cuptiRangeProfilerDecodeData) decode;
    __typeof__(&cuptiRangeProfilerGetCounterDataSize) data_size;
    __typeof__(&cuptiRangeProfilerCounterDataImageInitialize) data_initialize;
    __typeof__(&cuptiRangeProfilerGetCounterDataInfo) data_info;
};

struct cupti_config {
    const struct cupti *cupti;
    CUpti_Profiler_Host_Object *host;
    bool refused; /* the host object is not to be touched any more */
    char **names;
    unsigned nr_names;
    uint8_t *image;
    size_t image_bytes;
    size_t nr_passes;
};

static const char *const names_of_library[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
static const char *const lib_dirs[] = {
    "lib64", "lib", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "."};

/* ---- finding it ---- */

static bool try_open(struct cupti *cupti, const char *path, struct str *looked)
{
    cupti->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!cupti->handle)
        str_addf(looked, " (%s)", dlerror());
    return cupti->handle != NULL;
}

static bool open_below(struct cupti *cupti, const char *root, struct str *looked)
{
    char path[PATH_MAX];

    if (!root || !root[0])
        return false;
    str_addf(looked, "%s%s", looked->len ? ", " : "", root);
    for (size_t d = 0; d < ARRAY_SIZE(lib_dirs); d++) {
        for (size_t n = 0; n < ARRAY_SIZE(names_of_library); n++) {
            const int len =
                snprintf(path, sizeof(path), "%s/%s/%s", root, lib_dirs[d], names_of_library[n]);
            if (len < (int)sizeof(path) && file_exists(path) && try_open(cupti, path, looked))
                return true;
        }
    }
    return false;
}

static bool open_by_loader(struct cupti *cupti, struct str *looked)
{
    str_add(looked, ", the loader's path");
    for (size_t n = 0; n < ARRAY_SIZE(names_of_library); n++) {
        if (try_open(cupti, names_of_library[n], looked))
            return true;
    }
    return false;
}

static bool find(struct cupti *cupti, struct err *err)
{
    const char *chosen = getenv("KEET_CUDA");
    struct str looked = {0};
    bool found;

    if (chosen && chosen[0])
        found = open_below(cupti, chosen, &looked);
    else
        found = open_below(cupti, getenv("CUDA_HOME"), &looked) ||
                open_below(cupti, "/usr/local/cuda", &looked) ||
                open_below(cupti, KEET_DEPS_DIR "/cuda", &looked) || open_by_loader(cupti, &looked);
    if (!found)
        err_set(err, "cannot find CUPTI, the library for hardware counters (libcupti.so), in: %s",
            str_text(&looked));
    str_finish(&looked);
    return found;
}

/* dlsym into any pointer to a function; ISO C has no cast from void * to one. */
static bool bind(struct cupti *cupti, const char *name, void *function, struct err *err)
{
    void *symbol = dlsym(cupti->handle, name);

    memcpy(function, &symbol, sizeof(symbol));
    return symbol ||
           err_set(err, "CUPTI in %s lacks %s: CUDA 12.8 or newer is needed", cupti->path, name);
}

static bool bind_host(struct cupti *c, struct err *err)
{
    return bind(c, "cuptiGetVersion", &c->get_version, err) &&
           bind(c, "cuptiGetResultString", &c->result_string, err) &&
           bind(c, "cuptiProfilerInitialize", &c->initialize, err) &&
           bind(c, "cuptiProfilerHostInitialize", &c->host_initialize, err) &&
           bind(c, "cuptiProfilerHostDeinitialize", &c->host_deinitialize, err) &&
           bind(c, "cuptiProfilerHostGetSupportedChips", &c->supported_chips, err) &&
           bind(c, "cuptiProfilerHostGetBaseMetrics", &c->base_metrics, err) &&
           bind(c, "cuptiProfilerHostGetSubMetrics", &c->sub_metrics, err) &&
           bind(c, "cuptiProfilerHostConfigAddMetrics", &c->add_metrics, err) &&
           bind(c, "cuptiProfilerHostGetConfigImageSize", &c->image_size, err) &&
           bind(c, "cuptiProfilerHostGetConfigImage", &c->image, err) &&
           bind(c, "cuptiProfilerHostGetNumOfPasses", &c->nr_passes, err) &&
           bind(c, "cuptiProfilerHostEvaluateToGpuValues", &c->evaluate, err);
}

static bool bind_target(struct cupti *c, struct err *err)
{
    return bind(c, "cuptiDeviceGetChipName", &c->chip_name, err) &&
           bind(c, "cuptiRangeProfilerEnable", &c->enable, err) &&
           bind(c, "cuptiRangeProfilerDisable", &c->disable, err) &&
           bind(c, "cuptiRangeProfilerSetConfig", &c->set_config, err) &&
           bind(c, "cuptiRangeProfilerStart", &c->start, err) &&
           bind(c, "cuptiRangeProfilerStop", &c->stop, err) &&
           bind(c, "cuptiRangeProfilerDecodeData", &c->decode, err) &&
           bind(c, "cuptiRangeProfilerGetCounterDataSize", &c->data_size, err) &&
           bind(c, "cuptiRangeProfilerCounterDataImageInitialize", &c->data_initialize, err) &&
           bind(c, "cuptiRangeProfilerGetCounterDataInfo", &c->data_info, err);
}

static const char *result_text(const struct cupti *cupti, CUptiResult result)
{
    const char *text = NULL;

    if (cupti->result_string(result, &text) != CUPTI_SUCCESS || !text)
        text = "unknown result";
    return text;
}

const char *cupti_permission_advice(void)
{
    return "the driver gives counters to administrators only (ERR_NVGPUCTRPERM): run as root, give "
           "the process CAP_SYS_ADMIN, or load the driver with "
           "NVreg_RestrictProfilingToAdminUsers=0 "
           "(a line `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in "
           "/etc/modprobe.d/nvidia.conf, then rebuild the initramfs and reboot)";
}

/* True on success; else err says which call, CUPTI's name for the result, and what to do. */
static bool check(const struct cupti *cupti, CUptiResult result, const char *what, struct err *err)
{
    if (result == CUPTI_SUCCESS)
        return true;
    if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
        result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
        return err_set(err, "CUPTI, %s: %s", what, cupti_permission_advice());
    return err_set(err, "CUPTI, %s: %s", what, result_text(cupti, result));
}

static void initialize(struct cupti *cupti)
{
    PARAMS(CUpti_Profiler_Initialize_Params, params);
    const CUptiResult result = cupti->initialize(&params);
    uint32_t version = 0;
    Dl_info info;
    void *symbol = dlsym(cupti->handle, "cuptiGetVersion");

    if (result != CUPTI_SUCCESS)
        snprintf(cupti->no_target, sizeof(cupti->no_target), "%s", result_text(cupti, result));
    if (cupti->get_version(&version) == CUPTI_SUCCESS)
        cupti->version = version;
    if (symbol && dladdr(symbol, &info))
        snprintf(cupti->path, sizeof(cupti->path), "%s", info.dli_fname);
}

struct cupti *cupti_open(struct err *err)
{
    struct cupti *cupti = xcalloc(1, sizeof(*cupti));

    if (!find(cupti, err) || !bind_host(cupti, err) || !bind_target(cupti, err)) {
        cupti_close(cupti);
        return NULL;
    }
    initialize(cupti);
    return cupti;
}

void cupti_close(struct cupti *cupti)
{
    /* The library stays loaded: its threads and exit handlers do. */
    free(cupti);
}

const char *cupti_path(const struct cupti *cupti)
{
    return cupti->path;
}

unsigned cupti_api_version(const struct cupti *cupti)
{
    return cupti->version;
}

const char *cupti_no_target(const struct cupti *cupti)
{
    return cupti->no_target;
}

/* ---- the host half ---- */

static bool chip_is_supported(const struct cupti *cupti, const char *chip, struct err *err)
{
    PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params, params);

    if (!check(cupti, cupti->supported_chips(&params), "listing chips", err))
        return false;
    for (size_t i = 0; i < params.numChips; i++) {
        if (strcmp(params.ppChipNames[i], chip) == 0)
            return true;
    }
    return err_set(err, "CUPTI in %s does not know the chip %s", cupti->path, chip);
}

static bool host_create(
    const struct cupti *cupti, const char *chip, CUpti_Profiler_Host_Object **host, struct err *err)
{
    PARAMS(CUpti_Profiler_Host_Initialize_Params, params);

    if (!chip_is_supported(cupti, chip, err))
        return false;
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip;
    if (!check(cupti, cupti->host_initialize(&params), "making a host object", err))
        return false;
    *host = params.pHostObject;
    return true;
}

static void host_destroy(const struct cupti *cupti, CUpti_Profiler_Host_Object *host)
{
    PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);

    params.pHostObject = host;
    cupti->host_deinitialize(&params);
}

/* The length of the base metric in a full name: the longest base that a dot or the end follows,
 * since bases may have dots themselves. 0: there is none. */
static size_t base_length(const char *const *bases, size_t nr, const char *name)
{
    size_t best = 0;

    for (size_t i = 0; i < nr; i++) {
        const size_t len = strlen(bases[i]);
        if (len > best && strncmp(bases[i], name, len) == 0 && (name[len] == '.' || !name[len]))
            best = len;
    }
    return best;
}

/* Of one type: counters end in a rollup (.sum, .avg...), ratios in .pct or .ratio, throughputs in a
 * rollup and what they are a share of. A bare base is not a value that can be configured. */
static bool type_has(const struct cupti *cupti, CUpti_Profiler_Host_Object *host,
    CUpti_MetricType type, const char *name, size_t *nr_bases, bool *known, struct err *err)
{
    PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params, bases);
    PARAMS(CUpti_Profiler_Host_GetSubMetrics_Params, subs);
    size_t len;
    char *base;

    bases.pHostObject = subs.pHostObject = host;
    bases.metricType = subs.metricType = type;
    if (!check(cupti, cupti->base_metrics(&bases), "listing metrics", err))
        return false;
    *nr_bases += bases.numMetrics;
    len = name ? base_length(bases.ppMetricNames, bases.numMetrics, name) : 0;
    if (!len || !name[len])
        return true;
    base = xstrdup(name);
    base[len] = '\0';
    subs.pMetricName = base;
    if (check(cupti, cupti->sub_metrics(&subs), "listing sub-metrics", err)) {
        for (size_t i = 0; i < subs.numOfSubmetrics && !*known; i++)
            *known = strcmp(subs.ppSubMetrics[i], name + len) == 0;
        free(base);
        return true;
    }
    free(base);
    return false;
}

/* name NULL: count only. */
static bool host_knows(const struct cupti *cupti, CUpti_Profiler_Host_Object *host,
    const char *name, size_t *nr_bases, bool *known, struct err *err)
{
    *known = false;
    *nr_bases = 0;
    for (int type = 0; type < CUPTI_METRIC_TYPE__COUNT; type++) {
        if (!type_has(cupti, host, (CUpti_MetricType)type, name, nr_bases, known, err))
            return false;
    }
    return true;
}

static bool find_unknown(const struct cupti *cupti, CUpti_Profiler_Host_Object *host,
    const char *const *names, unsigned nr, const char **unknown, struct err *err)
{
    size_t nr_bases;
    bool known;

    *unknown = NULL;
    for (unsigned i = 0; i < nr && !*unknown; i++) {
        if (!host_knows(cupti, host, names[i], &nr_bases, &known, err))
            return false;
        if (!known)
            *unknown = names[i];
    }
    return true;
}

bool cupti_chip_knows(const struct cupti *cupti, const char *chip, const char *const *names,
    unsigned nr, unsigned *nr_on_chip, const char **unknown, struct err *err)
{
    CUpti_Profiler_Host_Object *host;
    size_t nr_bases = 0;
    bool known;

    if (!host_create(cupti, chip, &host, err))
        return false;
    if (!host_knows(cupti, host, NULL, &nr_bases, &known, err) ||
        !find_unknown(cupti, host, names, nr, unknown, err))
        return false;
    *nr_on_chip = (unsigned)nr_bases;
    host_destroy(cupti, host);
    return true;
}

static bool fetch_image(struct cupti_config *config, struct err *err)
{
    const struct cupti *cupti = config->cupti;
    PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, get);
    PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);

    size.pHostObject = get.pHostObject = config->host;
    if (!check(cupti, cupti->image_size(&size), "sizing the configuration", err))
        return false;
    config->image_bytes = get.configImageSize = passes.configImageSize = size.configImageSize;
    config->image = get.pConfigImage = passes.pConfigImage = xcalloc(1, size.configImageSize);
    if (!check(cupti, cupti->image(&get), "making the configuration", err) ||
        !check(cupti, cupti->nr_passes(&passes), "counting passes", err))
        return false;
    config->nr_passes = passes.numOfPasses;
    return true;
}

static bool configure(struct cupti_config *config, const char *chip, struct err *err)
{
    PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    const char *const *names = (const char *const *)config->names;
    const char *unknown;

    config->refused = true; /* until nothing was */
    if (!find_unknown(config->cupti, config->host, names, config->nr_names, &unknown, err))
        return false;
    if (unknown) {
        config->refused = false;
        return err_set(err, "CUPTI: the chip %s has no metric %s", chip, unknown);
    }
    add.pHostObject = config->host;
    add.ppMetricNames = (const char **)config->names;
    add.numMetrics = config->nr_names;
    if (!check(config->cupti, config->cupti->add_metrics(&add), "adding metrics", err) ||
        !fetch_image(config, err))
        return false;
    config->refused = false;
    return true;
}

struct cupti_config *cupti_config_create(const struct cupti *cupti, const char *chip,
    const char *const *names, unsigned nr, struct err *err)
{
    struct cupti_config *config;
    CUpti_Profiler_Host_Object *host;

    if (!nr) {
        err_set(err, "CUPTI: a configuration of no metrics was asked for");
        return NULL;
    }
    if (!host_create(cupti, chip, &host, err))
        return NULL;
    config = xcalloc(1, sizeof(*config));
    config->cupti = cupti;
    config->host = host;
    config->names = xcalloc(nr, sizeof(*config->names));
    config->nr_names = nr;
    for (unsigned i = 0; i < nr; i++)
        config->names[i] = xstrdup(names[i]);
    if (!configure(config, chip, err)) {
        cupti_config_destroy(config);
        return NULL;
    }
    return config;
}

void cupti_config_destroy(struct cupti_config *config)
{
    if (!config)
        return;
    if (!config->refused)
        host_destroy(config->cupti, config->host);
    for (unsigned i = 0; i < config->nr_names; i++)
        free(config->names[i]);
    free(config->names);
    free(config->image);
    free(config);
}

unsigned cupti_config_nr_passes(const struct cupti_config *config)
{
    return (unsigned)config->nr_passes;
}

const uint8_t *cupti_config_image(const struct cupti_config *config, size_t *bytes)
{
    *bytes = config->image_bytes;
    return config->image;
}

bool cupti_nr_ranges(
    const struct cupti *cupti, const uint8_t *image, size_t bytes, unsigned *nr, struct err *err)
{
    PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);

    info.pCounterDataImage = image;
    info.counterDataImageSize = bytes;
    if (!check(cupti, cupti->data_info(&info), "reading a counter data image", err))
        return false;
    *nr = (unsigned)info.numTotalRanges;
    return true;
}

bool cupti_evaluate(const struct cupti_config *config, const uint8_t *image, size_t bytes,
    unsigned range, double *values, struct err *err)
{
    PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);

    params.pHostObject = config->host;
    params.pCounterDataImage = image;
    params.counterDataImageSize = bytes;
    params.rangeIndex = range;
    params.ppMetricNames = (const char **)config->names;
    params.numMetrics = config->nr_names;
    params.pMetricValues = values;
    return check(config->cupti, config->cupti->evaluate(&params), "evaluating counters", err);
}

/* ---- the target half: not yet run on a card ---- */

bool cupti_chip_name(const struct cupti *cupti, unsigned device, char name[64], struct err *err)
{
    CUpti_Device_GetChipName_Params params = {
        .structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE, .deviceIndex = device};

    if (!check(cupti, cupti->chip_name(&params), "asking for the chip's name", err))
        return false;
    snprintf(name, 64, "%s", params.pChipName);
    return true;
}

static bool make_data(const struct cupti_config *config, CUpti_RangeProfiler_Object *profiler,
    unsigned nr_launches, uint8_t **data, size_t *bytes, struct err *err)
{
    const struct cupti *cupti = config->cupti;
    PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, init);

    size.pRangeProfilerObject = init.pRangeProfilerObject = profiler;
    size.pMetricNames = (const char **)config->names;
    size.numMetrics = config->nr_names;
    size.maxNumOfRanges = nr_launches;
    size.maxNumRangeTreeNodes = nr_launches;
    if (!check(cupti, cupti->data_size(&size), "sizing the counter data", err))
        return false;
    *bytes = init.counterDataSize = size.counterDataSize;
    *data = init.pCounterData = xcalloc(1, size.counterDataSize);
    return check(cupti, cupti->data_initialize(&init), "preparing the counter data", err);
}

/* Kernel replay does all passes within the launch; a stop that says otherwise is a mistake here. */
static bool run_ranges(const struct cupti_config *config, CUpti_RangeProfiler_Object *profiler,
    struct cupti_work *work, struct err *err)
{
    const struct cupti *cupti = config->cupti;
    PARAMS(CUpti_RangeProfiler_Start_Params, start);
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    bool worked;

    start.pRangeProfilerObject = stop.pRangeProfilerObject = decode.pRangeProfilerObject = profiler;
    if (!check(cupti, cupti->start(&start), "starting", err))
        return false;
    worked = work->launch(work, err);
    if (cupti->stop(&stop) != CUPTI_SUCCESS && worked)
        return err_set(err, "CUPTI, stopping: the counters of this run are lost");
    if (!worked || !check(cupti, cupti->decode(&decode), "decoding counters", err))
        return false;
    if (!stop.isAllPassSubmitted || decode.numOfRangeDropped)
        return err_set(err, "CUPTI: %s, so that counters are not complete",
            decode.numOfRangeDropped ? "launches were dropped" : "not all passes were made");
    return true;
}

bool cupti_collect(const struct cupti_config *config, void *cu_context, unsigned nr_launches,
    struct cupti_work *work, uint8_t **image, size_t *image_bytes, struct err *err)
{
    const struct cupti *cupti = config->cupti;
    PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
    PARAMS(CUpti_RangeProfiler_Disable_Params, disable);
    PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
    bool ok;

    *image = NULL;
    enable.ctx = cu_context;
    if (!check(cupti, cupti->enable(&enable), "enabling the range profiler", err))
        return false;
    set.pRangeProfilerObject = disable.pRangeProfilerObject = enable.pRangeProfilerObject;
    set.configSize = config->image_bytes;
    set.pConfig = config->image;
    set.range = CUPTI_AutoRange;
    set.replayMode = CUPTI_KernelReplay;
    set.maxRangesPerPass = nr_launches;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    ok = make_data(config, enable.pRangeProfilerObject, nr_launches, image, image_bytes, err);
    if (ok) {
        set.pCounterDataImage = *image;
        set.counterDataImageSize = *image_bytes;
        ok = check(cupti, cupti->set_config(&set), "setting the configuration", err) &&
             run_ranges(config, enable.pRangeProfilerObject, work, err);
    }
    cupti->disable(&disable);
    if (!ok) {
        free(*image);
        *image = NULL;
    }
    return ok;
}
