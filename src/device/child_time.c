/* Owns the timing of launches in the worker: the source of the samples for timing.h. */
#include "device/timing.h"
#include "device/worker_child.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The source of timing.c's samples. A sample runs all launches of one side once, as a graph between
 * two events, on the next set of buffers, with contents restored, L2 flushed and the driver's
 * caches in their first state. */
struct sampler {
    struct timing_source base;
    struct child *child;
    CUgraphExec graphs[NR_TIMING_SIDES][WORKER_MAX_SETS];
    const struct worker_copy *copies; /* nr_copies of each set */
    unsigned nr_sets, nr_copies, nr_samples;
    const struct child_module *modules[NR_TIMING_SIDES]; /* NULL: no such side */
    double clock_ns; /* what lies between two events with nothing between them */
    CUresult code;   /* the error that ended the sampling */
};

static CUresult flush_l2(struct child *child)
{
    if (child->flush_address == 0) {
        CUdeviceptr address;
        CUresult code;

        child->flush_bytes =
            2 * (uint64_t)child_attribute(child, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
        code = child->driver->mem_alloc(&address, child->flush_bytes);
        if (code != CUDA_SUCCESS)
            return code;
        child->flush_address = address;
    }
    return child->driver->memset8_async(child->flush_address, 0, child->flush_bytes, child->stream);
}

/* Undoes the effects by which a run could make the next one faster: lines that stay in L2, and the
 * split of memory between L1 and shared memory. Contents are restored before the flush, which takes
 * the copies out of L2 again. */
static CUresult prepare(struct sampler *s, enum timing_side side, unsigned set)
{
    const struct driver *d = s->child->driver;
    CUresult code = d->ctx_reset_l2();

    if (code == CUDA_SUCCESS)
        code = d->ctx_cache_config(CU_FUNC_CACHE_PREFER_NONE);
    for (unsigned i = 0; code == CUDA_SUCCESS && i < s->nr_copies; i++) {
        const struct worker_copy *copy = &s->copies[set * s->nr_copies + i];

        code = d->copy_on_device_async(copy->to, copy->from, copy->bytes, s->child->stream);
    }
    /* The other side's are left as they are: the comparison after the last timed run finds what a
     * run leaves behind. */
    if (code == CUDA_SUCCESS)
        code = child_variables_to_mark(s->child, s->modules[side]);
    return code == CUDA_SUCCESS ? flush_l2(s->child) : code;
}

static CUresult time_between(struct child *child, double *time_ns)
{
    const struct driver *d = child->driver;
    CUresult code = d->event_synchronize(child->end);
    float ms = 0;

    if (code == CUDA_SUCCESS)
        code = d->event_elapsed(&ms, child->start, child->end);
    *time_ns = (double)ms * 1e6;
    return code;
}

/* Two events with nothing between them are 1.25 us apart on an H100 (bench/card/events.cu), which
 * is no time of a kernel's. Gives the least of several such times; 0 on the software driver. */
static CUresult time_events(struct child *child, double *clock_ns)
{
    enum { TIMES = 9 };
    const struct driver *d = child->driver;
    CUresult code = CUDA_SUCCESS;
    double least = INFINITY;

    for (unsigned i = 0; !child->software && code == CUDA_SUCCESS && i < TIMES; i++) {
        double time_ns = INFINITY;

        code = d->event_record(child->start, child->stream);
        if (code == CUDA_SUCCESS)
            code = d->event_record(child->end, child->stream);
        if (code == CUDA_SUCCESS)
            code = time_between(child, &time_ns);
        least = fmin(least, time_ns);
    }
    *clock_ns = isfinite(least) ? least : 0;
    return code;
}

/* Call it while the work is under way: a clock that is read afterwards may be that of an idle GPU.
 */
static void read_clocks(const struct child *child, struct timing_sample *result)
{
    struct nvml_reading now;

    if (child->nvml == NULL || !nvml_read_clocks(child->nvml, child->nvml_device, &now))
        return;
    result->sm_clock_mhz = now.sm_clock_mhz;
    result->temperature_c = isnan(now.temperature_c) ? 0 : now.temperature_c;
    result->throttle = now.throttle;
}

static bool sample(struct timing_source *source, enum timing_side side,
    struct timing_sample *result, struct err *err)
{
    struct sampler *s = (struct sampler *)source;
    const struct driver *d = s->child->driver;
    const unsigned set = s->nr_samples++ % s->nr_sets;
    CUresult code = prepare(s, side, set);

    if (code == CUDA_SUCCESS)
        code = d->event_record(s->child->start, s->child->stream);
    if (code == CUDA_SUCCESS)
        code = d->graph_launch(s->graphs[side][set], s->child->stream);
    if (code == CUDA_SUCCESS)
        code = d->event_record(s->child->end, s->child->stream);
    if (code == CUDA_SUCCESS) {
        read_clocks(s->child, result);
        code = time_between(s->child, &result->time_ns);
        result->time_ns -= s->clock_ns;
    }
    s->code = code;
    if (code == CUDA_SUCCESS && result->time_ns > 0)
        return true;
    return err_set(err, "a run of no time");
}

CUresult child_make_graph(struct child *child, struct child_module *m,
    struct worker_launch *launches, unsigned nr, CUgraphExec *exec)
{
    const struct driver *d = child->driver;
    CUgraph graph = NULL;
    CUresult code = d->stream_begin_capture(child->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    CUresult ended;

    if (code != CUDA_SUCCESS)
        return code;
    code = child_enqueue_all(child, m, launches, nr);
    ended = d->stream_end_capture(child->stream, &graph);
    code = code != CUDA_SUCCESS ? code : ended;
    if (code == CUDA_SUCCESS)
        code = d->graph_instantiate(exec, graph, 0);
    if (graph != NULL)
        d->graph_destroy(graph);
    return code;
}

static CUresult make_graphs(struct sampler *s, const struct worker_request *request,
    struct child_module *modules[NR_TIMING_SIDES], struct worker_launch *launches)
{
    const unsigned nr[] = {
        [TIMING_CANDIDATE] = request->nr_launches, [TIMING_BASELINE] = request->nr_baseline};
    CUresult code = CUDA_SUCCESS;

    for (unsigned set = 0; set < s->nr_sets; set++) {
        for (unsigned side = 0; code == CUDA_SUCCESS && side < NR_TIMING_SIDES; side++) {
            if (nr[side] > 0)
                code = child_make_graph(
                    s->child, modules[side], launches, nr[side], &s->graphs[side][set]);
            launches += nr[side];
        }
    }
    return code;
}

static void destroy_graphs(struct sampler *s)
{
    for (unsigned side = 0; side < NR_TIMING_SIDES; side++)
        for (unsigned set = 0; set < s->nr_sets; set++)
            if (s->graphs[side][set] != NULL)
                s->child->driver->graph_exec_destroy(s->graphs[side][set]);
}

/* Times each launch between events of its own, to find the longest. */
static CUresult time_each(struct child *child, struct child_module *m,
    struct worker_launch *launches, unsigned nr, struct worker_time *time)
{
    const struct driver *d = child->driver;
    CUresult code = CUDA_SUCCESS;

    for (unsigned i = 0; code == CUDA_SUCCESS && i < nr; i++) {
        code = d->event_record(child->start, child->stream);
        if (code == CUDA_SUCCESS)
            code = child_enqueue(child, m, &launches[i], child->stream);
        if (code == CUDA_SUCCESS)
            code = d->event_record(child->end, child->stream);
        if (code == CUDA_SUCCESS)
            code = time_between(child, &time->launch_ns[i]);
    }
    return code;
}

/* Modelled time does not vary, so one pair is enough; where a library that plays NVML makes the
 * clocks vary, we take the fewest pairs that make a ratio. */
static struct timing_options timing_of(
    const struct child *child, const struct worker_request *request)
{
    struct timing_options options = timing_defaults();

    options.alone = request->nr_baseline == 0;
    options.seed = request->seed;
    options.time_limit_s = request->time_limit_s;
    options.resolution_ns = 500; /* of events, by the manual of cuEventElapsedTime */
    if (child->software) {
        options.nr_warmups = 0;
        options.resolution_ns = 0;
        options.exact = child->nvml == NULL;
        options.min_pairs = options.max_pairs = options.exact ? 1 : 5;
    }
    return options;
}

static CUresult make_events(struct child *child)
{
    const struct driver *d = child->driver;
    CUresult code = CUDA_SUCCESS;

    if (child->start == NULL)
        code = d->event_create(&child->start, CU_EVENT_DEFAULT);
    if (code == CUDA_SUCCESS && child->end == NULL)
        code = d->event_create(&child->end, CU_EVENT_DEFAULT);
    return code;
}

static CUresult measure(struct sampler *s, const struct worker_request *request,
    struct child_module *modules[NR_TIMING_SIDES], struct worker_launch *launches,
    struct worker_time *time)
{
    const struct timing_options options = timing_of(s->child, request);
    struct child *child = s->child;
    struct err ignored;
    CUresult code = make_events(child);

    for (unsigned side = 0; code == CUDA_SUCCESS && side < NR_TIMING_SIDES; side++) {
        s->modules[side] = modules[side];
        if (modules[side] != NULL)
            code = child_variables_mark(child, modules[side]);
    }
    if (code == CUDA_SUCCESS)
        code = time_events(child, &s->clock_ns);
    if (code == CUDA_SUCCESS && request->nr_launches > 1)
        code = time_each(child, modules[TIMING_CANDIDATE], launches, request->nr_launches, time);
    if (code == CUDA_SUCCESS)
        code = make_graphs(s, request, modules, launches);
    if (code == CUDA_SUCCESS && !timing_run(&s->base, &options, &time->result, &ignored))
        code = s->code != CUDA_SUCCESS ? s->code : CUDA_ERROR_UNKNOWN;
    destroy_graphs(s);
    return code;
}

static bool makes_sense(const struct worker_request *r)
{
    const uint64_t launches = (uint64_t)r->nr_sets * (r->nr_launches + (uint64_t)r->nr_baseline);

    return r->nr_sets >= 1 && r->nr_sets <= WORKER_MAX_SETS && r->nr_launches > 0 &&
           r->nr_copies <= WORKER_MAX_LAUNCHES &&
           launches * sizeof(struct worker_launch) +
                   (uint64_t)r->nr_sets * r->nr_copies * sizeof(struct worker_copy) <=
               WORKER_WINDOW_BYTES;
}

void child_measure(
    struct child *child, const struct worker_request *request, struct worker_reply *reply)
{
    struct sampler sampler = {.base = {.sample = sample}, .child = child};
    struct child_module *modules[NR_TIMING_SIDES] = {NULL, NULL};
    struct worker_time time = {0};
    struct worker_launch *launches;
    size_t nr, bytes;

    modules[TIMING_CANDIDATE] = child_module(
        child, request->module, makes_sense(request) ? request->nr_launches : UINT32_MAX, reply);
    if (modules[TIMING_CANDIDATE] != NULL && request->nr_baseline > 0)
        modules[TIMING_BASELINE] =
            child_module(child, request->baseline, request->nr_baseline, reply);
    if (reply->outcome != WORKER_GOOD)
        return;
    /* The answer goes into the window, so the request moves out of it. */
    nr = (size_t)request->nr_sets * (request->nr_launches + request->nr_baseline);
    bytes = nr * sizeof(*launches) +
            (size_t)request->nr_sets * request->nr_copies * sizeof(*sampler.copies);
    launches = xmalloc(bytes);
    memcpy(launches, child->window, bytes);
    sampler.copies = (const struct worker_copy *)(const void *)(launches + nr);
    sampler.nr_sets = request->nr_sets;
    sampler.nr_copies = request->nr_copies;
    if (child_reply(child, reply, measure(&sampler, request, modules, launches, &time)))
        memcpy(child->window, &time, sizeof(time));
    free(launches);
}
