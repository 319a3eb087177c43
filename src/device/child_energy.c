/* Owns the measurement of energy: launches run for seconds on end while NVML's counter is read. */
#include "device/worker_child.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The least length of a batch of runs. Two batches are under way at a time, so that the GPU is
 * never idle and the host often learns how many runs are done. The arrays of a run are put back
 * before each batch, since numbers that grow from run to run change the power; a batch is so long
 * that this takes little of its time. */
static const double batch_ns = 5e6, most_of_batch = 0.01;
enum { MOST_SAMPLES = 1 << 14, BATCHES = 2 };

struct energy_run {
    struct child *child;
    struct child_module *module;
    CUgraphExec graph;
    CUevent done[BATCHES];
    const struct worker_copy *copies;
    unsigned nr_copies;
    unsigned per_batch; /* runs of all launches */
    double nr_done;
    uint64_t start_ns;
    struct energy_sample *samples;
    unsigned nr_samples;
};

static CUresult restore(struct energy_run *run)
{
    const struct driver *d = run->child->driver;
    CUresult code = child_variables_to_mark(run->child, run->module);

    for (unsigned i = 0; code == CUDA_SUCCESS && i < run->nr_copies; i++)
        code = d->copy_on_device_async(
            run->copies[i].to, run->copies[i].from, run->copies[i].bytes, run->child->stream);
    return code;
}

static CUresult launch_batch(struct energy_run *run, unsigned slot)
{
    const struct driver *d = run->child->driver;
    CUresult code = restore(run);

    for (unsigned i = 0; code == CUDA_SUCCESS && i < run->per_batch; i++)
        code = d->graph_launch(run->graph, run->child->stream);
    return code == CUDA_SUCCESS ? d->event_record(run->done[slot], run->child->stream) : code;
}

static bool read_counter(struct energy_run *run)
{
    struct nvml_reading reading;
    struct err ignored;

    if (!nvml_read(run->child->nvml, run->child->nvml_device, &reading, &ignored) ||
        isnan(reading.energy_j))
        return false;
    if (run->nr_samples < MOST_SAMPLES)
        run->samples[run->nr_samples++] = (struct energy_sample){
            .time_s = (double)(clock_ns() - run->start_ns) * 1e-9,
            .nr_launches = run->nr_done,
            .energy_j = reading.energy_j,
        };
    return true;
}

/* The times of restoring and of one run on the host's clock, after a first time. */
static CUresult size_batches(struct energy_run *run)
{
    const struct driver *d = run->child->driver;
    CUresult code = CUDA_SUCCESS;
    double restore_ns = 0, run_ns = 0, wanted_ns;

    for (unsigned i = 0; code == CUDA_SUCCESS && i < 3; i++) {
        const uint64_t start_ns = clock_ns();
        uint64_t restored_ns;

        code = restore(run);
        if (code == CUDA_SUCCESS)
            code = d->stream_synchronize(run->child->stream);
        restored_ns = clock_ns();
        if (code == CUDA_SUCCESS)
            code = d->graph_launch(run->graph, run->child->stream);
        if (code == CUDA_SUCCESS)
            code = d->stream_synchronize(run->child->stream);
        restore_ns = run->nr_copies > 0 ? (double)(restored_ns - start_ns) : 0;
        run_ns = fmax((double)(clock_ns() - restored_ns), 1e3);
    }
    wanted_ns = fmin(fmax(batch_ns, restore_ns / most_of_batch), 20 * batch_ns);
    run->per_batch = run_ns < wanted_ns ? (unsigned)ceil(wanted_ns / run_ns) : 1;
    return code;
}

static CUresult run_for(struct energy_run *run, double seconds, bool *readable)
{
    const struct driver *d = run->child->driver;
    CUresult code = size_batches(run);

    run->start_ns = clock_ns();
    for (unsigned slot = 0; code == CUDA_SUCCESS && slot < BATCHES; slot++)
        code = launch_batch(run, slot);
    for (unsigned slot = 0; code == CUDA_SUCCESS && *readable; slot = (slot + 1) % BATCHES) {
        code = d->event_synchronize(run->done[slot]);
        run->nr_done += run->per_batch;
        *readable = read_counter(run);
        if ((double)(clock_ns() - run->start_ns) * 1e-9 >= seconds ||
            run->nr_samples == MOST_SAMPLES)
            break;
        if (code == CUDA_SUCCESS)
            code = launch_batch(run, slot);
    }
    return code == CUDA_SUCCESS ? d->stream_synchronize(run->child->stream) : code;
}

static CUresult measure(struct energy_run *run, const struct worker_request *request,
    struct child_module *m, struct worker_launch *launches, struct energy_estimate *estimate)
{
    const struct driver *d = run->child->driver;
    struct energy_options options = energy_defaults();
    bool readable = true;
    CUresult code = child_variables_mark(run->child, m);

    if (code == CUDA_SUCCESS)
        code = child_make_graph(run->child, m, launches, request->nr_launches, &run->graph);
    for (unsigned i = 0; code == CUDA_SUCCESS && i < BATCHES; i++)
        code = d->event_create(&run->done[i], CU_EVENT_DEFAULT);
    if (code == CUDA_SUCCESS)
        code = run_for(run, request->time_limit_s, &readable);
    options.seed = request->seed;
    if (code == CUDA_SUCCESS && readable)
        energy_estimate(run->samples, run->nr_samples, &options, estimate);
    else
        snprintf(estimate->reason, sizeof(estimate->reason), "NVML tells no energy of this GPU");
    for (unsigned i = 0; i < BATCHES; i++)
        if (run->done[i] != NULL)
            d->event_destroy(run->done[i]);
    if (run->graph != NULL)
        d->graph_exec_destroy(run->graph);
    return code;
}

void child_energy(
    struct child *child, const struct worker_request *request, struct worker_reply *reply)
{
    struct child_module *m = child_module(child, request->module, request->nr_launches, reply);
    struct energy_estimate estimate = {0};
    struct energy_run run = {.child = child, .module = m};
    const size_t nr = (size_t)request->nr_sets * request->nr_launches;
    const size_t bytes =
        nr * sizeof(struct worker_launch) + request->nr_copies * sizeof(struct worker_copy);
    struct worker_launch *launches;

    if (m == NULL)
        return;
    if (request->nr_sets < 1 || bytes > WORKER_WINDOW_BYTES) {
        reply->outcome = WORKER_BROKEN;
        snprintf(reply->text, sizeof(reply->text), "a request that makes no sense");
        return;
    }
    launches = xmalloc(bytes + 1);
    memcpy(launches, child->window, bytes);
    run.copies = (const struct worker_copy *)(const void *)(launches + nr);
    run.nr_copies = request->nr_copies;
    run.samples = xcalloc(MOST_SAMPLES, sizeof(*run.samples));
    if (child->nvml == NULL)
        snprintf(estimate.reason, sizeof(estimate.reason),
            "NVML, which tells the energy, is not there or does not know this GPU");
    else
        child_reply(child, reply, measure(&run, request, m, launches, &estimate));
    if (reply->outcome == WORKER_GOOD)
        memcpy(child->window, &estimate, sizeof(estimate));
    free(run.samples);
    free(launches);
}
