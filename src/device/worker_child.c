/* Owns the worker's side: the driver, the context, one request after another. */
#include "device/worker.h"

#include "base/mem.h"
#include "base/sandbox.h"
#include "device/timing.h"
#include "nv/driver.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_MODULES = 256 };

struct module {
    CUmodule handle;
    CUfunction functions[WORKER_MAX_KERNELS];
    unsigned nr_functions;
    bool used;
};

struct child {
    int fd;
    uint8_t *window;
    struct driver *driver;
    CUdevice device;
    CUstream stream;
    CUevent start, end;
    uint64_t flush_address, flush_bytes; /* 0: not made yet */
    bool software;
    struct module modules[MAX_MODULES];
};

/* ---- what an error code means for the worker ---- */

static enum worker_outcome outcome_of(CUresult code)
{
    switch (code) {
    case CUDA_SUCCESS:
        return WORKER_GOOD;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return WORKER_NO_MEMORY;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
        return WORKER_REFUSED;
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        return WORKER_NOT_KNOWN;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_FAILED:
        return WORKER_FAULTED;
    case CUDA_ERROR_LAUNCH_TIMEOUT:
        return WORKER_TIMED_OUT;
    default:
        return WORKER_BROKEN;
    }
}

static bool reply_with(const struct child *child, struct worker_reply *reply, CUresult code)
{
    reply->outcome = outcome_of(code);
    if (code != CUDA_SUCCESS && reply->text[0] == '\0')
        driver_error(child->driver, code, reply->text, sizeof(reply->text));
    return code == CUDA_SUCCESS;
}

/* ---- start ---- */

static bool ready(CUresult code, const struct child *child, const char *what, struct err *err)
{
    const char *advice = driver_advice(code);
    char text[256];

    if (code == CUDA_SUCCESS)
        return true;
    return err_set(err, "%s: %s%s%s", what, driver_error(child->driver, code, text, sizeof(text)),
        advice[0] ? "; " : "", advice);
}

static int attribute(const struct child *child, CUdevice_attribute which)
{
    int value = 0;

    child->driver->device_attribute(&value, which, child->device);
    return value;
}

static void fill_info(const struct child *child, struct worker_info *info)
{
    const struct driver *d = child->driver;
    size_t bytes = 0;
    CUuuid uuid = {{0}};

    d->device_name(info->name, sizeof(info->name), child->device);
    info->name[sizeof(info->name) - 1] = '\0';
    d->device_uuid(&uuid, child->device);
    for (size_t i = 0; i < sizeof(uuid.bytes); i++)
        snprintf(info->uuid + 2 * i, 3, "%02x", (unsigned char)uuid.bytes[i]);
    d->device_total_mem(&bytes, child->device);
    info->memory_bytes = bytes;
    snprintf(info->driver, sizeof(info->driver), "CUDA %d.%d%s", d->version / 1000,
        d->version % 1000 / 10, d->software ? " (software)" : "");
    info->major = attribute(child, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    info->minor = attribute(child, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    info->nr_sms = attribute(child, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->clock_khz = attribute(child, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    info->l2_bytes = attribute(child, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    info->memory_clock_khz = attribute(child, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    info->memory_bus_bits = attribute(child, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    info->software = d->software;
}

static bool open_context(struct child *child, unsigned ordinal, struct err *err)
{
    struct driver *d = child->driver = driver_open(err);
    CUcontext ctx;
    int nr = 0;

    if (d == NULL || !ready(d->init(0), child, "the CUDA driver does not start", err) ||
        !ready(d->device_count(&nr), child, "the CUDA driver does not count its GPUs", err))
        return false;
    child->software = d->software;
    if (ordinal >= (unsigned)nr)
        return err_set(err, "there is no GPU %u; the driver sees %d", ordinal, nr);
    return ready(d->device_get(&child->device, (int)ordinal), child, "the GPU", err) &&
           ready(d->primary_retain(&ctx, child->device), child, "no context on the GPU", err) &&
           ready(d->ctx_set_current(ctx), child, "the GPU's context", err) &&
           ready(d->stream_create(&child->stream, CU_STREAM_NON_BLOCKING), child, "a stream", err);
}

/* With the context made, the driver has its device files open, and reads libraries at most. */
static bool lock_up(const struct child *child)
{
    char path[PATH_MAX];
    const char *readable[] = {
        "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/proc", "/sys/devices", NULL, NULL};

    snprintf(path, sizeof(path), "%s", child->driver->path);
    if (path[0] == '/')
        readable[ARRAY_SIZE(readable) - 2] = dirname(path);
    const bool files_closed = sandbox_read_only(readable); /* the second is tried in any case */
    return sandbox_no_escape() && files_closed;
}

/* ---- memory and modules ---- */

static void do_load(struct child *child, struct worker_reply *reply)
{
    struct worker_load *load = (struct worker_load *)(void *)child->window;
    const struct driver *d = child->driver;
    char log[sizeof(reply->text)] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
    CUresult code = CUDA_ERROR_NO_BINARY_FOR_GPU;
    struct module *m;
    unsigned slot = 0;

    while (slot < MAX_MODULES && child->modules[slot].used)
        slot++;
    if (slot == MAX_MODULES) {
        reply->outcome = WORKER_NO_MEMORY;
        snprintf(reply->text, sizeof(reply->text), "more than %d modules", MAX_MODULES);
        return;
    }
    m = &child->modules[slot];
    *m = (struct module){0};
    /* The cubin is what ptxas was asked about; PTX is for drivers that cannot load it. */
    if (load->cubin_bytes > 0)
        code = d->module_load(&m->handle, load->data, 0, NULL, NULL);
    if (code == CUDA_ERROR_NO_BINARY_FOR_GPU && load->ptx_bytes > 0)
        code = d->module_load(
            &m->handle, load->data + load->cubin_bytes, ARRAY_SIZE(options), options, values);
    snprintf(reply->text, sizeof(reply->text), "%s", log);
    if (!reply_with(child, reply, code))
        return;
    m->used = true;
    reply->module = slot;
    for (unsigned i = 0; i < load->nr_kernels && i < WORKER_MAX_KERNELS; i++) {
        struct worker_kernel *k = &load->kernels[i];
        size_t offset, bytes;

        if (!reply_with(child, reply, d->module_function(&m->functions[i], m->handle, k->name)))
            return;
        m->nr_functions = i + 1;
        if (d->software_facts != NULL)
            d->software_facts(m->functions[i], k->registers, k->spill_bytes);
        for (k->nr_params = 0;
             k->nr_params < WORKER_MAX_PARAMS &&
             d->func_param(m->functions[i], k->nr_params, &offset, &bytes) == CUDA_SUCCESS;
             k->nr_params++) {
            k->offsets[k->nr_params] = (uint32_t)offset;
            k->bytes_each[k->nr_params] = (uint32_t)bytes;
            k->total_bytes = (uint32_t)(offset + bytes);
        }
    }
}

static void do_unload(struct child *child, uint32_t slot, struct worker_reply *reply)
{
    if (slot >= MAX_MODULES || !child->modules[slot].used)
        return;
    child->modules[slot].used = false;
    reply_with(child, reply, child->driver->module_unload(child->modules[slot].handle));
}

/* ---- launches ---- */

static CUresult enqueue(
    struct child *child, struct module *m, struct worker_launch *l, CUstream stream)
{
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    CUlaunchConfig config = {
        .gridDimX = l->grid[0],
        .gridDimY = l->grid[1],
        .gridDimZ = l->grid[2],
        .blockDimX = l->block[0],
        .blockDimY = l->block[1],
        .blockDimZ = l->block[2],
        .sharedMemBytes = l->smem_bytes,
        .hStream = stream,
        .attrs = &cluster,
    };
    size_t bytes = l->params_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, l->params, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
        CU_LAUNCH_PARAM_END};
    CUresult code;

    if (l->kernel >= m->nr_functions || bytes > WORKER_PARAM_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    if ((uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2] > 1) {
        cluster.value.clusterDim.x = l->cluster[0];
        cluster.value.clusterDim.y = l->cluster[1];
        cluster.value.clusterDim.z = l->cluster[2];
        config.numAttrs = 1;
    }
    if (l->smem_bytes > 0) {
        code = child->driver->func_set_attribute(m->functions[l->kernel],
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)l->smem_bytes);
        if (code != CUDA_SUCCESS)
            return code;
    }
    return child->driver->launch(&config, m->functions[l->kernel], NULL, extra);
}

static CUresult enqueue_all(
    struct child *child, struct module *m, struct worker_launch *launches, unsigned nr)
{
    CUresult code = CUDA_SUCCESS;

    for (unsigned i = 0; code == CUDA_SUCCESS && i < nr; i++)
        code = enqueue(child, m, &launches[i], child->stream);
    return code;
}

static struct module *module_of(
    struct child *child, const struct worker_request *request, struct worker_reply *reply)
{
    if (request->module < MAX_MODULES && child->modules[request->module].used &&
        request->nr_launches <= WORKER_MAX_LAUNCHES)
        return &child->modules[request->module];
    reply->outcome = WORKER_BROKEN;
    snprintf(reply->text, sizeof(reply->text), "a request that makes no sense");
    return NULL;
}

static void do_launch(
    struct child *child, const struct worker_request *request, struct worker_reply *reply)
{
    struct module *m = module_of(child, request, reply);

    if (m != NULL && reply_with(child, reply,
                         enqueue_all(child, m, (struct worker_launch *)(void *)child->window,
                             request->nr_launches)))
        reply_with(child, reply, child->driver->stream_synchronize(child->stream));
}

/* ---- time ---- */

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

        child->flush_bytes = 2 * (uint64_t)attribute(child, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
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

static CUresult make_graph(struct child *child, struct module *m, struct worker_launch *launches,
    unsigned nr, CUgraphExec *exec)
{
    const struct driver *d = child->driver;
    CUgraph graph = NULL;
    CUresult code = d->stream_begin_capture(child->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    CUresult ended;

    if (code != CUDA_SUCCESS)
        return code;
    code = enqueue_all(child, m, launches, nr);
    ended = d->stream_end_capture(child->stream, &graph);
    code = code != CUDA_SUCCESS ? code : ended;
    if (code == CUDA_SUCCESS)
        code = d->graph_instantiate(exec, graph, 0);
    if (graph != NULL)
        d->graph_destroy(graph);
    return code;
}

/* Each launch between events of its own, to tell which is the longest. */
static CUresult time_each(struct child *child, struct module *m, struct worker_launch *launches,
    unsigned nr, struct worker_time *time)
{
    const struct driver *d = child->driver;
    CUresult code = CUDA_SUCCESS;

    for (unsigned i = 0; code == CUDA_SUCCESS && i < nr; i++) {
        code = d->event_record(child->start, child->stream);
        if (code == CUDA_SUCCESS)
            code = enqueue(child, m, &launches[i], child->stream);
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

static CUresult measure(struct child *child, const struct worker_request *request, struct module *m,
    struct worker_launch *launches, struct worker_time *time)
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

static void do_measure(
    struct child *child, const struct worker_request *request, struct worker_reply *reply)
{
    struct module *m = module_of(child, request, reply);
    struct worker_launch *launches;
    struct worker_time time = {0};
    size_t bytes;

    if (m == NULL)
        return;
    /* The window takes the answer, so that the question moves out. */
    bytes = request->nr_launches * sizeof(*launches);
    launches = xmalloc(bytes + 1);
    memcpy(launches, child->window, bytes);
    if (reply_with(child, reply, measure(child, request, m, launches, &time)))
        memcpy(child->window, &time, sizeof(time));
    free(launches);
}

/* ---- requests ---- */

static void serve(struct child *child, const struct worker_request *r, struct worker_reply *reply)
{
    const struct driver *d = child->driver;
    CUdeviceptr address = 0;

    switch (r->op) {
    case WORKER_ALLOC:
        reply_with(child, reply, d->mem_alloc(&address, r->bytes));
        reply->address = address;
        break;
    case WORKER_FREE:
        reply_with(child, reply, d->mem_free(r->address));
        break;
    case WORKER_WRITE:
        reply_with(child, reply, d->copy_to_device(r->address, child->window, r->bytes));
        break;
    case WORKER_READ:
        reply_with(child, reply, d->copy_to_host(child->window, r->address, r->bytes));
        break;
    case WORKER_FILL:
        reply_with(child, reply, d->memset8(r->address, (unsigned char)r->value, r->bytes));
        if (reply->outcome == WORKER_GOOD)
            reply_with(child, reply, d->ctx_synchronize());
        break;
    case WORKER_LOAD:
        do_load(child, reply);
        break;
    case WORKER_UNLOAD:
        do_unload(child, r->module, reply);
        break;
    case WORKER_LAUNCH:
        do_launch(child, r, reply);
        break;
    case WORKER_MEASURE:
        do_measure(child, r, reply);
        break;
    }
}

_Noreturn void worker_child(int fd, void *window, unsigned ordinal)
{
    struct child *child = xcalloc(1, sizeof(*child));
    struct worker_hello hello = {0};
    struct worker_request request;
    struct err err;

    child->fd = fd;
    child->window = window;
    hello.ok = open_context(child, ordinal, &err);
    if (hello.ok) {
        fill_info(child, &hello.info);
        hello.info.sandboxed = lock_up(child);
    } else {
        snprintf(hello.text, sizeof(hello.text), "%.1000s", err.text);
    }
    if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != (ssize_t)sizeof(hello) || !hello.ok)
        _exit(1);
    while (recv(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
        struct worker_reply reply = {0};

        serve(child, &request, &reply);
        if (send(fd, &reply, sizeof(reply), MSG_NOSIGNAL) != (ssize_t)sizeof(reply))
            break;
    }
    _exit(0);
}
