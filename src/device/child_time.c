/* Owns the timing of launches in the worker: where the samples of timing.h come from. */
#include "device/timing.h"
#include "device/worker_child.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Where timing.c's samples come from: all launches once, as a graph between two events, with L2
 * flushed before. */
struct sampler {
    struct timing_source base;
    struct child *child;
    CUgraphExec graph;
    CUresult code; /* what ended the sampling */
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

static bool sample(struct timing_source *source, enum timing_side side,
    struct timing_sample *result, struct err *err)
{
    struct sampler *s = (struct sampler *)source;
    const struct driver *d = s->child->driver;
    CUresult code = d->ctx_reset_l2();

    if (code == CUDA_SUCCESS)
        code = flush_l2(s->child);
    if (code == CUDA_SUCCESS)
        code = d->event_record(s->child->start, s->child->stream);
    if (code == CUDA_SUCCESS)
        code = d->graph_launch(s->graph, s->child->stream);
    if (code == CUDA_SUCCESS)
        code = d->event_record(s->child->end, s->child->stream);
    if (code == CUDA_SUCCESS)
        code = time_between(s->child, &result->time_ns);
    s->code = code;
    if (code == CUDA_SUCCESS && result->time_ns > 0)
        return true;
    return err_set(err, "a run of no time");
}

static CUresult make_graph(struct child *child, struct child_module *m,
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

/* Each launch between events of its own, to tell which is the longest. */
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

/* Modelled time does not vary: one sample says all. */
static struct timing_options timing_of(
    const struct child *child, const struct worker_request *request)
{
    struct timing_options options = timing_defaults();

    options.alone = true;
    options.seed = request->seed;
    options.time_limit_s = request->time_limit_s;
    options.resolution_ns = 500; /* of events, by the manual of cuEventElapsedTime */
    if (child->software) {
        options.nr_warmups = 0;
        options.min_pairs = options.max_pairs = 1;
    }
    return options;
}

static CUresult measure(struct child *child, const struct worker_request *request,
    struct child_module *m, struct worker_launch *launches, struct worker_time *time)
{
    const struct timing_options options = timing_of(child, request);
    struct sampler sampler = {.base = {.sample = sample}, .child = child};
    const unsigned nr = request->nr_launches;
    struct timing_result result;
    struct err ignored;
    CUresult code = CUDA_SUCCESS;

    if (child->start == NULL)
        code = child->driver->event_create(&child->start, CU_EVENT_DEFAULT);
    if (code == CUDA_SUCCESS && child->end == NULL)
        code = child->driver->event_create(&child->end, CU_EVENT_DEFAULT);
    if (code == CUDA_SUCCESS && nr > 1)
        code = time_each(child, m, launches, nr, time);
    if (code == CUDA_SUCCESS)
        code = make_graph(child, m, launches, nr, &sampler.graph);
    if (code != CUDA_SUCCESS)
        return code;
    if (timing_run(&sampler.base, &options, &result, &ignored)) {
        time->time_ns = result.time[TIMING_CANDIDATE].value;
        time->low_ns = result.time[TIMING_CANDIDATE].low;
        time->high_ns = result.time[TIMING_CANDIDATE].high;
    } else {
        code = sampler.code != CUDA_SUCCESS ? sampler.code : CUDA_ERROR_UNKNOWN;
    }
    child->driver->graph_exec_destroy(sampler.graph);
    return code;
}

void child_measure(
    struct child *child, const struct worker_request *request, struct worker_reply *reply)
{
    struct child_module *m = child_module(child, request, reply);
    struct worker_launch *launches;
    struct worker_time time = {0};
    size_t bytes;

    if (m == NULL)
        return;
    /* The window takes the answer, so that the question moves out. */
    bytes = request->nr_launches * sizeof(*launches);
    launches = xmalloc(bytes + 1);
    memcpy(launches, child->window, bytes);
    if (child_reply(child, reply, measure(child, request, m, launches, &time)))
        memcpy(child->window, &time, sizeof(time));
    free(launches);
}
