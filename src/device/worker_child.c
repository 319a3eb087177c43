/* Owns the worker's side: the driver, the context, one request after another. */
#include "device/worker_child.h"

#include "base/mem.h"
#include "base/sandbox.h"
#include "core/tensor_map.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- error codes ---- */

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

bool child_reply(const struct child *child, struct worker_reply *reply, CUresult code)
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

int child_attribute(const struct child *child, CUdevice_attribute which)
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
    info->major = child_attribute(child, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    info->minor = child_attribute(child, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    info->nr_sms = child_attribute(child, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->clock_khz = child_attribute(child, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    info->l2_bytes = child_attribute(child, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    info->memory_clock_khz = child_attribute(child, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    info->memory_bus_bits = child_attribute(child, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    info->software = d->software;
}

static bool open_context(struct child *child, unsigned ordinal, struct err *err)
{
    struct driver *d = child->driver;
    int nr = 0;

    if (!ready(d->init(0), child, "the CUDA driver does not start", err) ||
        !ready(d->device_count(&nr), child, "the CUDA driver does not count its GPUs", err))
        return false;
    child->software = d->software;
    if (ordinal >= (unsigned)nr)
        return err_set(err, "there is no GPU %u; the driver sees %d", ordinal, nr);
    return ready(d->device_get(&child->device, (int)ordinal), child, "the GPU", err) &&
           ready(d->primary_retain(&child->ctx, child->device), child, "no context on the GPU",
               err) &&
           ready(d->ctx_set_current(child->ctx), child, "the GPU's context", err) &&
           ready(d->stream_create(&child->stream, CU_STREAM_NON_BLOCKING), child, "a stream", err);
}

/* Finds this GPU among NVML's. Without NVML, or where NVML does not know this GPU, clocks are not
 * known. */
static void find_clocks(struct child *child)
{
    struct nvml_reading reading;
    struct err ignored;
    char bus_id[32];

    snprintf(bus_id, sizeof(bus_id), "%04x:%02x:%02x.0",
        (unsigned)child_attribute(child, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
        (unsigned)child_attribute(child, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
        (unsigned)child_attribute(child, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
    child->nvml = nvml_open(&ignored);
    if (child->nvml == NULL)
        return;
    if (nvml_find(child->nvml, bus_id, &child->nvml_device, &ignored) &&
        nvml_read_clocks(child->nvml, child->nvml_device, &reading))
        return;
    nvml_close(child->nvml);
    child->nvml = NULL;
}

/* The rights of the worker once it has its context. We know the needs of the driver only in part,
 * so in doubt the driver may work. It may read libraries, since it loads its JIT compiler when it
 * first needs it; and of /proc and /sys its own process, the machine and the module's parameters,
 * but no other process, least of all the parent with the keys in its environment. It may open its
 * device files, since it opens them again for each piece of memory that it maps. Threads and memory
 * are free. No cache of compiled code is read or written (CUDA_CACHE_DISABLE). Nobody knows which
 * files CUPTI opens, so a worker with CUPTI may open all, and runs only kernels that passed the
 * check. */
static bool lock_up(const struct child *child)
{
    char path[PATH_MAX], gpus[16][24];
    const char *readable[] = {"/usr/lib", "/usr/lib64", "/lib", "/lib64", "/proc/self",
        "/proc/driver", "/proc/cpuinfo", "/proc/meminfo", "/proc/modules", "/proc/devices",
        "/proc/version", "/proc/stat", "/proc/filesystems", "/proc/sys", "/sys/devices",
        "/sys/module", "/sys/bus/pci", NULL, NULL};
    const char *devices[ARRAY_SIZE(gpus) + 7] = {"/dev/nvidiactl", "/dev/nvidia-uvm",
        "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/nvidia-caps", "/dev/null"};

    if (child->profiler != NULL)
        return sandbox_no_escape();
    for (unsigned i = 0; i < ARRAY_SIZE(gpus); i++) {
        snprintf(gpus[i], sizeof(gpus[i]), "/dev/nvidia%u", i);
        devices[6 + i] = gpus[i];
    }
    snprintf(path, sizeof(path), "%s", child->driver->path);
    if (path[0] == '/')
        readable[ARRAY_SIZE(readable) - 2] = dirname(path);
    /* The second sandbox is tried in any case. */
    const bool files_closed = sandbox_files(readable, child->software ? NULL : devices);
    return sandbox_no_escape() && files_closed;
}

/* ---- memory and modules ---- */

/* Loads the cubin, about which ptxas reported; PTX is for drivers that cannot load the cubin. */
static CUresult load_code(struct child *child, const struct worker_load *load,
    struct child_module *m, char *log, size_t log_bytes)
{
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)log_bytes};
    const struct driver *d = child->driver;
    CUresult code = CUDA_ERROR_NO_BINARY_FOR_GPU;

    m->from_cubin = false;
    if (load->cubin_bytes > 0)
        code = d->module_load(&m->handle, load->data, 0, NULL, NULL);
    if (code == CUDA_SUCCESS)
        m->from_cubin = true;
    else if (code == CUDA_ERROR_NO_BINARY_FOR_GPU && load->ptx_bytes > 0)
        code = d->module_load(
            &m->handle, load->data + load->cubin_bytes, ARRAY_SIZE(options), options, values);
    return code;
}

static CUresult find_function(
    struct child *child, struct child_module *m, const struct worker_kernel *k, unsigned i)
{
    const struct driver *d = child->driver;
    const CUresult code = d->module_function(&m->functions[i], m->handle, k->name);

    if (code != CUDA_SUCCESS)
        return code;
    d->func_set_attribute(m->functions[i], CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
        CU_SHAREDMEM_CARVEOUT_DEFAULT); /* a hint: no harm if it is not taken */
    if (d->software_facts != NULL)
        d->software_facts(m->functions[i], k->registers, k->spill_bytes, 0, false);
    return code;
}

static void find_params(struct child *child, CUfunction function, struct worker_kernel *k)
{
    size_t offset, bytes;

    for (k->nr_params = 0;
         k->nr_params < WORKER_MAX_PARAMS &&
         child->driver->func_param(function, k->nr_params, &offset, &bytes) == CUDA_SUCCESS;
         k->nr_params++) {
        k->offsets[k->nr_params] = (uint32_t)offset;
        k->bytes_each[k->nr_params] = (uint32_t)bytes;
        k->total_bytes = (uint32_t)(offset + bytes);
    }
}

static CUresult find_variables(
    struct child *child, struct child_module *m, const struct worker_load *load)
{
    return load->ptx_bytes == 0
               ? CUDA_SUCCESS
               : child_variables_find(child, m, (const char *)load->data + load->cubin_bytes);
}

/* A worker that counts needs the code again. */
static void keep_code(struct child *child, const struct worker_load *load, struct child_module *m)
{
    const size_t bytes = sizeof(*load) + load->cubin_bytes + load->ptx_bytes + 1;

    if (child->profiler == NULL || bytes > WORKER_WINDOW_BYTES)
        return;
    m->load = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (m->load != NULL)
        memcpy(m->load, load, bytes);
}

CUresult child_reload(struct child *child, struct child_module *m)
{
    CUresult code;
    char log[64];

    if (m->load == NULL)
        return CUDA_SUCCESS;
    child_variables_forget(child, m);
    code = child->driver->module_unload(m->handle);
    if (code == CUDA_SUCCESS)
        code = load_code(child, m->load, m, log, sizeof(log));
    if (code == CUDA_SUCCESS)
        code = find_variables(child, m, m->load);
    for (unsigned i = 0; code == CUDA_SUCCESS && i < m->nr_functions; i++)
        code = find_function(child, m, &m->load->kernels[i], i);
    return code;
}

static void do_load(struct child *child, struct worker_reply *reply)
{
    struct worker_load *load = (struct worker_load *)(void *)child->window;
    char log[sizeof(reply->text)] = "";
    struct child_module *m;
    unsigned slot = 0;
    CUresult code;

    while (slot < MAX_MODULES && child->modules[slot].used)
        slot++;
    if (slot == MAX_MODULES) {
        reply->outcome = WORKER_NO_MEMORY;
        snprintf(reply->text, sizeof(reply->text), "more than %d modules", MAX_MODULES);
        return;
    }
    m = &child->modules[slot];
    *m = (struct child_module){0};
    code = load_code(child, load, m, log, sizeof(log));
    snprintf(reply->text, sizeof(reply->text), "%s", log);
    if (!child_reply(child, reply, code))
        return;
    m->used = true;
    reply->module = slot;
    for (unsigned i = 0; i < load->nr_kernels && i < WORKER_MAX_KERNELS; i++) {
        if (!child_reply(child, reply, find_function(child, m, &load->kernels[i], i)))
            return;
        m->nr_functions = i + 1;
        find_params(child, m->functions[i], &load->kernels[i]);
    }
    if (!child_reply(child, reply, find_variables(child, m, load)))
        return;
    load->nr_variables = m->nr_variables;
    keep_code(child, load, m);
}

static void do_unload(struct child *child, uint32_t slot, struct worker_reply *reply)
{
    if (slot >= MAX_MODULES || !child->modules[slot].used)
        return;
    child->modules[slot].used = false;
    child_variables_forget(child, &child->modules[slot]);
    free(child->modules[slot].load);
    child->modules[slot].load = NULL;
    child_reply(child, reply, child->driver->module_unload(child->modules[slot].handle));
}

static void do_symbol(struct child *child, uint32_t slot, struct worker_reply *reply)
{
    CUdeviceptr address = 0;
    size_t bytes = 0;
    char *name = (char *)child->window;

    if (slot >= MAX_MODULES || !child->modules[slot].used) {
        child_reply(child, reply, CUDA_ERROR_INVALID_HANDLE);
        return;
    }
    name[WORKER_NAME_BYTES - 1] = 0;
    child_reply(child, reply,
        child->driver->module_global(&address, &bytes, child->modules[slot].handle, name));
    reply->address = address;
    reply->bytes = bytes;
}

/* ---- launches ---- */

/* Tensor maps as the driver makes them, in the place of ours. */
static CUresult make_maps(struct child *child, struct worker_launch *l)
{
    CUresult code = CUDA_SUCCESS;

    for (; code == CUDA_SUCCESS && l->nr_maps > 0; l->nr_maps--) {
        const uint32_t at = l->maps[l->nr_maps - 1];
        struct tensor_map m;
        cuuint64_t size[TENSOR_MAP_DIMS], stride[TENSOR_MAP_DIMS];
        CUtensorMap made;

        if (l->nr_maps > WORKER_MAX_MAPS || at > WORKER_PARAM_BYTES - sizeof(made) ||
            !tensor_map_decode(&m, l->params + at))
            return CUDA_ERROR_INVALID_VALUE;
        for (unsigned d = 0; d < m.nr_dims; d++) {
            size[d] = m.size[d];
            if (d > 0)
                stride[d - 1] = m.stride_bytes[d];
        }
        code = child->driver->tensor_map(&made, (CUtensorMapDataType)m.type, m.nr_dims,
            (void *)(uintptr_t)m.address, size, stride, m.box, m.step,
            CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)m.swizzle,
            CU_TENSOR_MAP_L2_PROMOTION_L2_256B, (CUtensorMapFloatOOBfill)m.fill);
        memcpy(l->params + at, &made, sizeof(made));
    }
    return code;
}

CUresult child_enqueue(
    struct child *child, struct child_module *m, struct worker_launch *l, CUstream stream)
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
    code = make_maps(child, l);
    if (code != CUDA_SUCCESS)
        return code;
    if (l->smem_bytes > 0) {
        code = child->driver->func_set_attribute(m->functions[l->kernel],
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)l->smem_bytes);
        if (code != CUDA_SUCCESS)
            return code;
    }
    return child->driver->launch(&config, m->functions[l->kernel], NULL, extra);
}

CUresult child_enqueue_all(
    struct child *child, struct child_module *m, struct worker_launch *launches, unsigned nr)
{
    CUresult code = CUDA_SUCCESS;

    for (unsigned i = 0; code == CUDA_SUCCESS && i < nr; i++)
        code = child_enqueue(child, m, &launches[i], child->stream);
    return code;
}

struct child_module *child_module(
    struct child *child, uint32_t number, uint32_t nr_launches, struct worker_reply *reply)
{
    if (number < MAX_MODULES && child->modules[number].used && nr_launches <= WORKER_MAX_LAUNCHES)
        return &child->modules[number];
    reply->outcome = WORKER_BROKEN;
    snprintf(reply->text, sizeof(reply->text), "a request that makes no sense");
    return NULL;
}

static void do_launch(
    struct child *child, const struct worker_request *request, struct worker_reply *reply)
{
    struct child_module *m = child_module(child, request->module, request->nr_launches, reply);

    if (m != NULL && child_reply(child, reply,
                         child_enqueue_all(child, m, (struct worker_launch *)(void *)child->window,
                             request->nr_launches)))
        child_reply(child, reply, child->driver->stream_synchronize(child->stream));
}

/* ---- requests ---- */

/* Copies and fills go to the null stream and may return before they are done, and our own stream
 * does not wait for the null stream. So we wait here. */
static void settle(struct child *child, struct worker_reply *reply, CUresult code)
{
    child_reply(child, reply, code == CUDA_SUCCESS ? child->driver->ctx_synchronize() : code);
}

static void do_reset(struct child *child, uint32_t slot, struct worker_reply *reply)
{
    const struct child_module *m = child_module(child, slot, 0, reply);

    if (m != NULL)
        settle(child, reply, child_variables_reset(child, m));
}

static void serve(struct child *child, const struct worker_request *r, struct worker_reply *reply)
{
    const struct driver *d = child->driver;
    CUdeviceptr address = 0;

    switch (r->op) {
    case WORKER_ALLOC:
        child_reply(child, reply, d->mem_alloc(&address, r->bytes));
        reply->address = address;
        break;
    case WORKER_FREE:
        child_reply(child, reply, d->mem_free(r->address));
        break;
    case WORKER_WRITE:
        settle(child, reply, d->copy_to_device(r->address, child->window, r->bytes));
        break;
    case WORKER_READ:
        child_reply(child, reply, d->copy_to_host(child->window, r->address, r->bytes));
        break;
    case WORKER_FILL:
        settle(child, reply, d->memset8(r->address, (unsigned char)r->value, r->bytes));
        break;
    case WORKER_COPY:
        settle(child, reply, d->copy_on_device(r->address, r->from, r->bytes));
        break;
    case WORKER_LOAD:
        do_load(child, reply);
        break;
    case WORKER_UNLOAD:
        do_unload(child, r->module, reply);
        break;
    case WORKER_RESET:
        do_reset(child, r->module, reply);
        break;
    case WORKER_SYMBOL:
        do_symbol(child, r->module, reply);
        break;
    case WORKER_LAUNCH:
        do_launch(child, r, reply);
        break;
    case WORKER_MEASURE:
        child_measure(child, r, reply);
        break;
    case WORKER_COUNT:
        child_count(child, r, reply);
        break;
    case WORKER_ENERGY:
        child_energy(child, r, reply);
        break;
    }
}

_Noreturn void worker_child(int fd, void *window, const struct worker_options *options)
{
    struct child *child = xcalloc(1, sizeof(*child));
    struct worker_hello hello = {0};
    struct worker_request request;
    struct err err;

    child->fd = fd;
    child->window = window;
    child->driver = driver_open(&err);
    /* CUPTI must see the driver start. */
    if (child->driver != NULL && options->counts)
        child->profiler = child_profiler_create();
    hello.ok = child->driver != NULL && open_context(child, options->ordinal, &err);
    if (hello.ok) {
        fill_info(child, &hello.info);
        find_clocks(child);
        hello.info.clocks = child->nvml != NULL;
        hello.info.sandboxed = !options->no_sandbox && lock_up(child);
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
