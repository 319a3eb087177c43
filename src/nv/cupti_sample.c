/* Owns the sampling of program counters by CUPTI, and the way from instructions to source lines. */
#include "nv/cupti_sample.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "nv/cubin.h"
#include "nv/cupti_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_REASONS = 128,
    PCS_AT_ONCE = 4096,
    HARDWARE_BUFFER_BYTES = 64 << 20,
    SAMPLES_PER_SM = 128,
    INSTRUCTION_BYTES = 16 /* since Volta */
};

/* A parameter struct of the sampling functions: as PARAMS, with other names. */
#define SAMPLING(type, name) type name = {.size = type##Size}

struct pc_sampling {
    const struct cupti *cupti;
    CUcontext ctx;
    struct samples *samples;
    size_t nr_reasons;
    uint32_t indices[MAX_REASONS]; /* CUPTI's numbers of reasons */
    enum wait_reason stalls[MAX_REASONS];
    bool counted[MAX_REASONS];
    CUpti_PCSamplingData data;
};

void samples_finish(struct samples *samples)
{
    for (unsigned i = 0; i < samples->nr; i++)
        free(samples->samples[i].function);
    free(samples->samples);
    *samples = (struct samples){0};
}

unsigned cupti_sample_period(double cycles)
{
    const double period = log2(fmax(cycles, 1) / SAMPLES_PER_SM);

    return period < 5 ? 5 : period > 31 ? 31 : (unsigned)period;
}

bool cupti_sample_reason(const char *name, enum wait_reason *reason)
{
    static const struct {
        const char *end;
        enum wait_reason stall;
    } known[] = {
        {"_long_scoreboard", WAIT_LONG},
        {"_short_scoreboard", WAIT_SHORT},
        {"_barrier", WAIT_BARRIER},
        {"_wait", WAIT_FIXED},
        {"_mio_throttle", WAIT_MIO},
        {"_math_pipe_throttle", WAIT_MATH},
        {"_not_selected", NR_WAITS},
        {"_selected", NR_WAITS},
    };
    const size_t len = strlen(name);

    /* "..._not_issued" counts a part of the same samples: those where no other warp issued either.
     */
    if (strstr(name, "_warp") == NULL || strstr(name, "_not_issued") != NULL)
        return false;
    *reason = WAIT_OTHER;
    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        const size_t end = strlen(known[i].end);

        if (len >= end && strcmp(name + len - end, known[i].end) == 0) {
            *reason = known[i].stall;
            break;
        }
    }
    return true;
}

/* ---- on a card ---- */

static bool find_reasons(struct pc_sampling *s, struct err *err)
{
    SAMPLING(CUpti_PCSamplingGetNumStallReasonsParams, number);
    SAMPLING(CUpti_PCSamplingGetStallReasonsParams, get);
    char(*texts)[CUPTI_STALL_REASON_STRING_SIZE];
    char *names[MAX_REASONS];
    bool ok;

    number.ctx = get.ctx = s->ctx;
    number.numStallReasons = &s->nr_reasons;
    if (!cupti_check(
            s->cupti, s->cupti->sampling_nr_reasons(&number), "counting stall reasons", err))
        return false;
    if (!s->nr_reasons || s->nr_reasons > MAX_REASONS)
        return err_set(err, "CUPTI knows %zu stall reasons", s->nr_reasons);
    texts = xcalloc(s->nr_reasons, sizeof(*texts));
    for (size_t i = 0; i < s->nr_reasons; i++)
        names[i] = texts[i];
    get.numStallReasons = s->nr_reasons;
    get.stallReasonIndex = s->indices;
    get.stallReasons = names;
    ok = cupti_check(s->cupti, s->cupti->sampling_reasons(&get), "listing stall reasons", err);
    for (size_t i = 0; ok && i < s->nr_reasons; i++)
        s->counted[i] = cupti_sample_reason(names[i], &s->stalls[i]);
    free(texts);
    return ok;
}

static bool configure(struct pc_sampling *s, unsigned period_log2, struct err *err)
{
    SAMPLING(CUpti_PCSamplingConfigurationInfoParams, params);
    CUpti_PCSamplingConfigurationInfo info[6] = {0};
    size_t nr = 0;

    info[nr].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
    info[nr++].attributeData.collectionModeData.collectionMode =
        CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
    info[nr].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL;
    info[nr++].attributeData.enableStartStopControlData.enableStartStopControl = 1;
    info[nr].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
    info[nr++].attributeData.samplingPeriodData.samplingPeriod = period_log2;
    info[nr].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON;
    info[nr].attributeData.stallReasonData.stallReasonCount = s->nr_reasons;
    info[nr++].attributeData.stallReasonData.pStallReasonIndex = s->indices;
    info[nr].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE;
    info[nr++].attributeData.hardwareBufferSizeData.hardwareBufferSize = HARDWARE_BUFFER_BYTES;
    info[nr].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
    info[nr++].attributeData.samplingDataBufferData.samplingDataBuffer = &s->data;
    params.ctx = s->ctx;
    params.numAttributes = nr;
    params.pPCSamplingConfigurationInfo = info;
    if (!cupti_check(
            s->cupti, s->cupti->sampling_configure(&params), "configuring PC sampling", err))
        return false;
    for (size_t i = 0; i < nr; i++) {
        if (!cupti_check(
                s->cupti, info[i].attributeStatus, "configuring an attribute of PC sampling", err))
            return false;
    }
    return true;
}

static void make_buffer(CUpti_PCSamplingData *data)
{
    *data = (CUpti_PCSamplingData){.size = sizeof(*data), .collectNumPcs = PCS_AT_ONCE};
    data->pPcData = xcalloc(PCS_AT_ONCE, sizeof(*data->pPcData));
    for (size_t i = 0; i < PCS_AT_ONCE; i++) {
        data->pPcData[i].size = sizeof(*data->pPcData);
        data->pPcData[i].stallReason = xcalloc(MAX_REASONS, sizeof(*data->pPcData[i].stallReason));
    }
}

static void free_buffer(CUpti_PCSamplingData *data)
{
    for (size_t i = 0; i < PCS_AT_ONCE; i++)
        free(data->pPcData[i].stallReason);
    free(data->pPcData);
}

static void add_sample(
    struct samples *to, const CUpti_PCSamplingPCData *pc, enum wait_reason reason, uint32_t nr)
{
    size_t capacity = to->capacity;

    to->samples = grow(to->samples, &capacity, to->nr + 1, sizeof(*to->samples));
    to->capacity = (unsigned)capacity;
    to->samples[to->nr++] = (struct sample){
        xstrdup(pc->functionName ? pc->functionName : ""), pc->pcOffset, reason, nr};
}

static void take_pc(struct pc_sampling *s, CUpti_PCSamplingPCData *pc)
{
    for (size_t i = 0; i < pc->stallReasonCount && i < MAX_REASONS; i++) {
        const CUpti_PCSamplingStallReason *reason = &pc->stallReason[i];

        for (size_t r = 0; r < s->nr_reasons; r++) {
            if (s->indices[r] == reason->pcSamplingStallReasonIndex && s->counted[r] &&
                reason->samples > 0)
                add_sample(s->samples, pc, s->stalls[r], reason->samples);
        }
    }
    free(pc->functionName); /* the header says that the caller frees it */
    pc->functionName = NULL;
}

/* Takes the data of one call; the totals are of that call. */
static void take_data(struct pc_sampling *s)
{
    for (size_t i = 0; i < s->data.totalNumPcs && i < PCS_AT_ONCE; i++)
        take_pc(s, &s->data.pPcData[i]);
    s->samples->nr_total += s->data.totalSamples;
    s->samples->nr_dropped += s->data.droppedSamples;
}

static bool collect(struct pc_sampling *s, struct err *err)
{
    SAMPLING(CUpti_PCSamplingGetDataParams, get);

    get.ctx = s->ctx;
    get.pcSamplingData = &s->data;
    do {
        if (!cupti_check(s->cupti, s->cupti->sampling_data(&get), "reading PC samples", err))
            return false;
        if (s->data.hardwareBufferFull)
            return err_set(err,
                "CUPTI's buffer of PC samples was full: the period of 2^%u cycles "
                "is too short",
                s->samples->period_log2);
        take_data(s);
    } while (s->data.remainingNumPcs > 0 && s->data.totalNumPcs > 0);
    return true;
}

static bool run_sampled(
    struct pc_sampling *s, unsigned nr_launches, struct cupti_work *work, struct err *err)
{
    SAMPLING(CUpti_PCSamplingStartParams, start);
    SAMPLING(CUpti_PCSamplingStopParams, stop);
    bool ran = true;

    start.ctx = stop.ctx = s->ctx;
    if (work->load && !work->load(work, err))
        return false;
    if (!cupti_check(s->cupti, s->cupti->sampling_start(&start), "starting PC sampling", err))
        return false;
    for (unsigned i = 0; i < nr_launches && ran; i++)
        ran = work->launch(work, i, err);
    if (!ran) {
        s->cupti->sampling_stop(&stop);
        return false;
    }
    return cupti_check(s->cupti, s->cupti->sampling_stop(&stop), "stopping PC sampling", err) &&
           collect(s, err);
}

bool cupti_sample(const struct cupti *cupti, void *cu_context, unsigned period_log2,
    unsigned nr_launches, struct cupti_work *work, struct samples *samples, struct err *err)
{
    struct pc_sampling s = {.cupti = cupti, .ctx = cu_context, .samples = samples};
    SAMPLING(CUpti_PCSamplingEnableParams, enable);
    SAMPLING(CUpti_PCSamplingDisableParams, disable);
    CUptiResult ended;
    bool ok;

    *samples = (struct samples){.period_log2 = period_log2};
    enable.ctx = disable.ctx = cu_context;
    if (!cupti_check(cupti, cupti->sampling_enable(&enable), "enabling PC sampling", err))
        return false;
    make_buffer(&s.data);
    ok = find_reasons(&s, err) && configure(&s, period_log2, err) &&
         run_sampled(&s, nr_launches, work, err);
    s.data.totalNumPcs = 0;
    s.data.totalSamples = s.data.droppedSamples = 0;
    ended = cupti->sampling_disable(&disable);
    if (ok)
        ok = cupti_check(cupti, ended, "disabling PC sampling", err);
    if (ok)
        take_data(&s); /* disabling brings the remaining data */
    free_buffer(&s.data);
    if (!ok)
        samples_finish(samples);
    return ok;
}

/* ---- lines ---- */

/* The line of one instruction, and its file (heap; NULL: none). False: the cubin has no lines of
 * the function. */
static bool line_at(const struct cupti *cupti, CUpti_GetSassToSourceCorrelationParams *params,
    unsigned *line, char **file, struct err *err)
{
    params->lineNumber = 0;
    params->fileName = params->dirName = NULL;
    if (!cupti_check(cupti, cupti->line_of(params), "looking up a source line", err))
        return false;
    *line = params->lineNumber;
    *file = params->fileName;
    free(params->dirName);
    return true;
}

/* Goes back from an instruction to the nearest one of the source: inlined code follows the line
 * that calls it. *line 0: there is none. */
static bool line_before(const struct cupti *cupti, CUpti_GetSassToSourceCorrelationParams *params,
    uint64_t pc_offset, const char *source, unsigned *line, struct err *err)
{
    bool found = false;

    for (uint64_t back = 0; !found && back <= pc_offset; back += INSTRUCTION_BYTES) {
        char *file;

        params->pcOffset = pc_offset - back;
        if (!line_at(cupti, params, line, &file, err))
            return false;
        found = file && *line > 0 && strcmp(file_name(file), file_name(source)) == 0;
        free(file);
    }
    if (!found)
        *line = 0;
    return true;
}

static struct sample_line *line_entry(
    struct sample_line **lines, unsigned *nr, size_t *capacity, unsigned line)
{
    unsigned at = 0;

    while (at < *nr && (*lines)[at].line < line)
        at++;
    if (at < *nr && (*lines)[at].line == line)
        return &(*lines)[at];
    *lines = grow(*lines, capacity, *nr + 1, sizeof(**lines));
    memmove(&(*lines)[at + 1], &(*lines)[at], (*nr - at) * sizeof(**lines));
    (*nr)++;
    (*lines)[at] = (struct sample_line){.line = line};
    return &(*lines)[at];
}

static void add_sample_to(struct sample_line *entry, const struct sample *sample)
{
    entry->nr_all += sample->nr;
    if (sample->reason < NR_WAITS) {
        entry->stalled[sample->reason] += sample->nr;
        entry->nr_stalled += sample->nr;
    }
}

/* Looks lines up by our own reader of cubins, which knows the call of each inlined instruction.
 * False: it cannot read this cubin, or finds no lines of the function. */
static bool lines_by_reader(const struct samples *samples, const char *function, const void *cubin,
    size_t cubin_bytes, struct sample_line **lines, unsigned *nr_lines)
{
    struct arena *arena = arena_create();
    const struct cubin_kernel *kernel = NULL;
    struct cubin read;
    const char *why;
    size_t capacity = 0;

    if (cubin_read(cubin, cubin_bytes, arena, &read, &why))
        kernel = cubin_find(&read, function);
    if (kernel != NULL && kernel->nr_rows == 0)
        kernel = NULL;
    for (unsigned i = 0; kernel != NULL && i < samples->nr; i++) {
        const struct sample *sample = &samples->samples[i];

        if (strcmp(sample->function, function) == 0)
            add_sample_to(
                line_entry(lines, nr_lines, &capacity, cubin_line(kernel, sample->pc_offset)),
                sample);
    }
    arena_destroy(arena);
    return kernel != NULL;
}

/* Looks lines up by CUPTI. */
static bool lines_by_cupti(const struct cupti *cupti, const struct samples *samples,
    CUpti_GetSassToSourceCorrelationParams *params, const char *source, struct sample_line **lines,
    unsigned *nr_lines, struct err *err)
{
    size_t capacity = 0;

    for (unsigned i = 0; i < samples->nr; i++) {
        const struct sample *sample = &samples->samples[i];
        unsigned line;

        if (strcmp(sample->function, params->functionName) != 0)
            continue;
        if (!line_before(cupti, params, sample->pc_offset, source, &line, err))
            return false;
        add_sample_to(line_entry(lines, nr_lines, &capacity, line), sample);
    }
    return true;
}

bool cupti_sample_lines(const struct cupti *cupti, const struct samples *samples,
    const char *function, const void *cubin, size_t cubin_bytes, struct sample_line **lines,
    unsigned *nr_lines, struct err *err)
{
    *lines = NULL;
    *nr_lines = 0;
    return lines_by_reader(samples, function, cubin, cubin_bytes, lines, nr_lines) ||
           cupti_sample_lines_by_cupti(
               cupti, samples, function, cubin, cubin_bytes, NULL, lines, nr_lines, err);
}

bool cupti_sample_lines_by_cupti(const struct cupti *cupti, const struct samples *samples,
    const char *function, const void *cubin, size_t cubin_bytes, const char *source,
    struct sample_line **lines, unsigned *nr_lines, struct err *err)
{
    SAMPLING(CUpti_GetSassToSourceCorrelationParams, params);
    char *begins_in = NULL;
    unsigned ignored;
    bool ok;

    *lines = NULL;
    *nr_lines = 0;
    params.cubin = cubin;
    params.cubinSize = cubin_bytes;
    params.functionName = function;
    ok = source || line_at(cupti, &params, &ignored, &begins_in, err);
    if (ok)
        ok = lines_by_cupti(cupti, samples, &params,
            source      ? source
            : begins_in ? begins_in
                        : "",
            lines, nr_lines, err);
    free(begins_in);
    if (!ok) {
        free(*lines);
        *lines = NULL;
        *nr_lines = 0;
    }
    return ok;
}
