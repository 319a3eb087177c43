/* Owns the counting of launches in a worker that was started for it: hardware counters, spans from
 * activity records, and samples of the program counter by source line. */
#include "device/worker_child.h"

#include "base/mem.h"
#include "nv/cupti.h"
#include "nv/cupti_sample.h"
#include "nv/cupti_trace.h"
#include "nv/metrics_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct child_profiler {
    struct cupti *cupti;         /* NULL: why says why */
    struct cupti_config *config; /* made at the first use */
    const char *names[METRICS_MAP_NAMES];
    unsigned nr_names;
    bool started;
    char why[WORKER_WHY_BYTES];
};

/* Call it before the driver is initialised: CUPTI must see that. */
struct child_profiler *child_profiler_create(void)
{
    struct child_profiler *p = xcalloc(1, sizeof(*p));
    struct err err;

    p->nr_names = metrics_map_names(p->names);
    p->cupti = cupti_open(&err);
    if (p->cupti == NULL)
        snprintf(p->why, sizeof(p->why), "%.500s", err.text);
    return p;
}

/* ---- what is profiled ---- */

struct profile_work {
    struct cupti_work base;
    struct child *child;
    struct child_module *module;
    struct worker_launch *launches;
    unsigned nr;
    bool at_once;  /* launch number 0 stands for all launches, without waiting in between */
    CUresult code; /* the error that ended the work; SUCCESS: none */
};

static bool launch(struct cupti_work *base, unsigned i, struct err *err)
{
    struct profile_work *work = (struct profile_work *)base;
    struct child *child = work->child;
    CUresult code = CUDA_SUCCESS;
    char text[256];

    if (work->at_once)
        code = child_enqueue_all(child, work->module, work->launches, work->nr);
    else
        code = child_enqueue(child, work->module, &work->launches[i], child->stream);
    if (code == CUDA_SUCCESS)
        code = child->driver->stream_synchronize(child->stream);
    work->code = code;
    return code == CUDA_SUCCESS ||
           err_set(err, "%s", driver_error(child->driver, code, text, sizeof(text)));
}

static bool load(struct cupti_work *base, struct err *err)
{
    struct profile_work *work = (struct profile_work *)base;
    const CUresult code = child_reload(work->child, work->module);
    char text[256];

    work->code = code;
    return code == CUDA_SUCCESS ||
           err_set(err, "%s", driver_error(work->child->driver, code, text, sizeof(text)));
}

/* ---- counters ---- */

static bool have_config(struct child *child, struct err *err)
{
    struct child_profiler *p = child->profiler;
    char chip[64];

    if (p->config != NULL)
        return true;
    if (!cupti_device_supported(p->cupti, child->device, err) ||
        !cupti_chip_name(p->cupti, (unsigned)child->device, chip, err))
        return false;
    p->config = cupti_config_create(p->cupti, chip, p->names, p->nr_names, err);
    return p->config != NULL;
}

static bool count(
    struct child *child, struct profile_work *work, struct worker_counts *counts, struct err *err)
{
    struct child_profiler *p = child->profiler;
    uint8_t *image;
    size_t bytes;
    bool ok = true;

    if (!have_config(child, err) || !cupti_collect(p->config, child->ctx, CUPTI_REPLAY_KERNEL,
                                        work->nr, &work->base, &image, &bytes, err))
        return false;
    counts->nr_names = p->nr_names;
    for (unsigned i = 0; ok && i < work->nr; i++)
        ok = cupti_evaluate(p->config, image, bytes, i, counts->values[i], err);
    free(image);
    return ok;
}

/* ---- spans ---- */

/* Runs the launches once before, so that no work of a first time is recorded. */
static bool trace(
    struct child *child, struct profile_work *work, struct worker_counts *counts, struct err *err)
{
    struct trace trace;
    struct trace_span span;
    bool ok;

    work->at_once = true;
    ok = launch(&work->base, 0, err) &&
         cupti_trace(child->profiler->cupti, work->nr, &work->base, &trace, err);
    work->at_once = false;
    if (!ok)
        return false;
    span = trace_span(&trace);
    counts->span_ns = span.span_ns;
    counts->gap_ns = span.gap_ns;
    counts->longest_gap_ns = span.longest_gap_ns;
    trace_finish(&trace);
    return true;
}

/* ---- lines ---- */

static bool add_lines(struct child *child, const struct child_module *m, uint32_t kernel,
    const struct samples *samples, struct worker_counts *counts, struct err *err)
{
    const struct worker_load *load = m->load;
    struct sample_line *lines;
    unsigned nr;

    if (!cupti_sample_lines(child->profiler->cupti, samples, load->kernels[kernel].name, load->data,
            load->cubin_bytes, &lines, &nr, err))
        return false;
    for (unsigned i = 0; i < nr && counts->nr_lines < WORKER_MAX_LINES; i++) {
        struct worker_line *to = &counts->lines[counts->nr_lines++];

        *to = (struct worker_line){
            .kernel = kernel, .line = lines[i].line, .nr_all = lines[i].nr_all};
        memcpy(to->stalled, lines[i].stalled, sizeof(to->stalled));
    }
    free(lines);
    return true;
}

static bool sample(struct child *child, struct profile_work *work, double cycles,
    struct worker_counts *counts, struct err *err)
{
    struct samples samples;
    bool ok = true;

    /* Where the driver compiled the PTX, its instructions are not those of our cubin. */
    if (work->module->load == NULL || work->module->load->cubin_bytes == 0 ||
        (!work->module->from_cubin && !child->software))
        return err_set(err, "the driver compiled the code itself, so that lines are not known");
    if (!cupti_sample(child->profiler->cupti, child->ctx, cupti_sample_period(cycles), work->nr,
            &work->base, &samples, err))
        return false;
    counts->sample_cycles = (double)(UINT64_C(1) << samples.period_log2);
    for (uint32_t k = 0; ok && k < work->module->nr_functions; k++)
        ok = add_lines(child, work->module, k, &samples, counts, err);
    samples_finish(&samples);
    return ok;
}

/* ---- the request ---- */

static void keep_why(char why[WORKER_WHY_BYTES], const struct err *err)
{
    snprintf(why, WORKER_WHY_BYTES, "%.500s", err->text);
}

/* Takes the three measurements one after another, since CUPTI has one profiler at a time. A part
 * that fails leaves its reason. */
static void profile(struct child *child, const struct worker_request *request,
    struct profile_work *work, struct worker_counts *counts)
{
    struct child_profiler *p = child->profiler;
    struct err err;

    if (!p->started && !cupti_start(p->cupti, &err)) {
        keep_why(counts->counters_why, &err);
        keep_why(counts->trace_why, &err);
        keep_why(counts->lines_why, &err);
        return;
    }
    p->started = true;
    if (!count(child, work, counts, &err)) {
        counts->nr_names = 0;
        keep_why(counts->counters_why, &err);
    }
    if (work->code == CUDA_SUCCESS && !trace(child, work, counts, &err))
        keep_why(counts->trace_why, &err);
    if (work->code == CUDA_SUCCESS && !sample(child, work, request->cycles, counts, &err)) {
        counts->nr_lines = 0;
        keep_why(counts->lines_why, &err);
    }
}

void child_count(
    struct child *child, const struct worker_request *request, struct worker_reply *reply)
{
    struct worker_counts *counts = xcalloc(1, sizeof(*counts));
    struct profile_work work = {.base = {.launch = launch, .load = load}, .child = child};
    const size_t bytes = request->nr_launches * sizeof(*work.launches);

    work.module = child_module(child, request->module, request->nr_launches, reply);
    if (work.module == NULL) {
        free(counts);
        return;
    }
    work.nr = request->nr_launches;
    work.launches = xmalloc(bytes + 1);
    memcpy(work.launches, child->window, bytes);
    if (child->profiler == NULL || child->profiler->cupti == NULL)
        snprintf(counts->counters_why, sizeof(counts->counters_why), "%s",
            child->profiler ? child->profiler->why : "this worker does not count");
    else
        profile(child, request, &work, counts);
    if (child_reply(child, reply, work.code))
        memcpy(child->window, counts, sizeof(*counts));
    free(work.launches);
    free(counts);
}
