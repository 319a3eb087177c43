/* Owns the host half of CUPTI's range profiler: names, configurations, values out of images. */
#include "nv/cupti_inside.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool chip_is_supported(const struct cupti *cupti, const char *chip, struct err *err)
{
    PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params, params);

    if (!cupti_check(cupti, cupti->supported_chips(&params), "listing chips", err))
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
    if (!cupti_check(cupti, cupti->host_initialize(&params), "making a host object", err))
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

/* Names by type: a counter ends in a rollup (.sum, .avg...), a ratio in .pct or .ratio, a
 * throughput in a rollup and the value of which it is a share. A bare base cannot be configured. */
static bool type_has(const struct cupti *cupti, CUpti_Profiler_Host_Object *host,
    CUpti_MetricType type, const char *name, size_t *nr_bases, bool *known, struct err *err)
{
    PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params, bases);
    PARAMS(CUpti_Profiler_Host_GetSubMetrics_Params, subs);
    size_t len;
    char *base;

    bases.pHostObject = subs.pHostObject = host;
    bases.metricType = subs.metricType = type;
    if (!cupti_check(cupti, cupti->base_metrics(&bases), "listing metrics", err))
        return false;
    *nr_bases += bases.numMetrics;
    len = name ? base_length(bases.ppMetricNames, bases.numMetrics, name) : 0;
    if (!len || !name[len])
        return true;
    base = xstrdup(name);
    base[len] = '\0';
    subs.pMetricName = base;
    if (cupti_check(cupti, cupti->sub_metrics(&subs), "listing sub-metrics", err)) {
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
    if (!cupti_check(cupti, cupti->image_size(&size), "sizing the configuration", err))
        return false;
    config->image_bytes = get.configImageSize = passes.configImageSize = size.configImageSize;
    config->image = get.pConfigImage = passes.pConfigImage = xcalloc(1, size.configImageSize);
    if (!cupti_check(cupti, cupti->image(&get), "making the configuration", err) ||
        !cupti_check(cupti, cupti->nr_passes(&passes), "counting passes", err))
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
    if (!cupti_check(config->cupti, config->cupti->add_metrics(&add), "adding metrics", err) ||
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
    if (!cupti_check(cupti, cupti->data_info(&info), "reading a counter data image", err))
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
    return cupti_check(config->cupti, config->cupti->evaluate(&params), "evaluating counters", err);
}
