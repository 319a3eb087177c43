/* Owns the way from the driver to the recorder: NVIDIA's driver loads this library into a program
 * where CUDA_INJECTION64_PATH names it, and CUPTI calls back at the begin and the end of each
 * launch, whichever runtime the program is linked with. KEET_CUPTI names CUPTI's library; what is
 * recorded, record/record.h says.
 *
 * Source: "CUPTI, User's Guide", the sections on callbacks, activities, and injection. */
#include "inject/inject.h"

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <generated_cuda_meta.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER_BYTES = 1 << 20, BUFFER_ALIGN = 8 };

#define CUPTI_FUNCTIONS(FUNCTION)                                                                  \
    FUNCTION(subscribe, cuptiSubscribe)                                                            \
    FUNCTION(enable, cuptiEnableCallback)                                                          \
    FUNCTION(activity_callbacks, cuptiActivityRegisterCallbacks)                                   \
    FUNCTION(activity_enable, cuptiActivityEnable)                                                 \
    FUNCTION(activity_flush, cuptiActivityFlushAll)                                                \
    FUNCTION(activity_next, cuptiActivityGetNextRecord)

static struct {
#define FIELD(field, symbol) __typeof__(&symbol) field;
    CUPTI_FUNCTIONS(FIELD)
#undef FIELD
} cupti;

/* One launch is recorded at a time: other threads' launches wait until its contents are read. Who
 * has this lock asks the driver and CUPTI, which have locks of their own: so only launches take it,
 * at whose begin a thread has none of theirs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Of the thread: what the driver is asked by us calls back as well. */
static _Thread_local bool inside;
static _Thread_local struct {
    struct inject_launch launch;
    struct record_shot *shot; /* NULL: none is under way */
} now;

/* --- times, by activity records --- */

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    *buffer = aligned_alloc(BUFFER_ALIGN, BUFFER_BYTES);
    *bytes = *buffer != NULL ? BUFFER_BYTES : 0;
    *max_records = 0; /* as many as fit */
}

static void CUPTIAPI take_buffer(
    CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    CUpti_Activity *record = NULL;

    (void)context, (void)stream, (void)bytes;
    while (valid > 0 && cupti.activity_next(buffer, valid, &record) == CUPTI_SUCCESS) {
        const CUpti_ActivityKernel10 *kernel = (const CUpti_ActivityKernel10 *)(const void *)record;

        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && kernel->name != NULL &&
            kernel->start > 0 && kernel->end >= kernel->start)
            record_took(kernel->name,
                &(struct record_time){.time_ns = (double)(kernel->end - kernel->start)});
    }
    free(buffer);
}

static void flush(void)
{
    inside = true;
    cupti.activity_flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

/* --- launches --- */

static void set_three(uint32_t *three, unsigned x, unsigned y, unsigned z)
{
    three[0] = x;
    three[1] = y;
    three[2] = z;
}

static void from_plain(struct inject_config *c, const cuLaunchKernel_params *p)
{
    c->function = p->f;
    set_three(c->grid, p->gridDimX, p->gridDimY, p->gridDimZ);
    set_three(c->block, p->blockDimX, p->blockDimY, p->blockDimZ);
    c->smem_bytes = p->sharedMemBytes;
    c->stream = p->hStream;
    c->params = p->kernelParams;
}

static void from_config(struct inject_config *c, const cuLaunchKernelEx_params *p)
{
    const CUlaunchConfig *how = p->config;

    c->function = p->f;
    set_three(c->grid, how->gridDimX, how->gridDimY, how->gridDimZ);
    set_three(c->block, how->blockDimX, how->blockDimY, how->blockDimZ);
    c->smem_bytes = how->sharedMemBytes;
    c->stream = how->hStream;
    c->params = p->kernelParams;
    c->extra = p->extra;
    for (unsigned i = 0; i < how->numAttrs; i++)
        if (how->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            set_three(c->cluster, how->attrs[i].value.clusterDim.x,
                how->attrs[i].value.clusterDim.y, how->attrs[i].value.clusterDim.z);
}

/* The structs of the variants for per-thread default streams have the same members; NULL is another
 * stream there. */
static bool read_call(struct inject_config *c, CUpti_CallbackId id, const CUpti_CallbackData *data)
{
    *c = (struct inject_config){.symbol = data->symbolName};
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
        from_plain(c, data->functionParams);
        c->extra = ((const cuLaunchKernel_params *)data->functionParams)->extra;
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel: /* as cuLaunchKernel, without extra */
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
        from_plain(c, data->functionParams);
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
        from_config(c, data->functionParams);
        break;
    default:
        return false;
    }
    if (c->stream == NULL && (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz ||
                                 id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz ||
                                 id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz))
        c->stream = CU_STREAM_PER_THREAD;
    return true;
}

/* The lock stays with a launch that is recorded. */
static void launch_begins(const struct inject_config *config)
{
    pthread_mutex_lock(&lock);
    if (inject_begin(&now.launch, config)) {
        now.shot = record_begin(&now.launch.is, &now.launch.view);
        if (now.shot != NULL)
            return;
        inject_finish(&now.launch);
    }
    pthread_mutex_unlock(&lock);
}

static void launch_ends(const CUpti_CallbackData *data)
{
    const CUresult *result = data->functionReturnValue;
    const char *fault = inject_wait(now.launch.stream);

    if (fault == NULL && result != NULL && *result != CUDA_SUCCESS)
        fault = "the driver refused the launch";
    record_end(now.launch.is.kernel, now.shot, &now.launch.view, NULL, fault);
    now.shot = NULL;
    inject_finish(&now.launch);
    pthread_mutex_unlock(&lock);
}

static void CUPTIAPI on_event(
    void *ours, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *event)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    struct inject_config config;

    (void)ours;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        const CUpti_ResourceData *resource = event;
        const CUpti_ModuleResourceData *module = resource->resourceDescriptor;

        inject_module(module->pCubin, module->cubinSize);
    } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API && !inside) {
        const CUpti_CallbackData *data = event;

        inside = true;
        inject_exchange(&mode);
        if (data->callbackSite == CUPTI_API_EXIT && now.shot != NULL)
            launch_ends(data);
        else if (data->callbackSite == CUPTI_API_ENTER && now.shot == NULL &&
                 read_call(&config, id, data))
            launch_begins(&config);
        inject_exchange(&mode);
        inside = false;
    }
}

/* --- the begin --- */

static bool open_cupti(const char **missing)
{
    const char *path = getenv("KEET_CUPTI");
    void *library = dlopen(path != NULL ? path : "libcupti.so.13", RTLD_NOW | RTLD_LOCAL);

    *missing = path != NULL ? path : "libcupti.so.13";
    if (library == NULL)
        return false;
#define FIND(field, symbol)                                                                        \
    if (!inject_find(library, #symbol, &cupti.field, missing))                                     \
        return false;
    CUPTI_FUNCTIONS(FIND)
#undef FIND
    return true;
}

static CUptiResult subscribe(void)
{
    static const CUpti_CallbackId calls[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz};
    CUpti_SubscriberHandle subscriber;
    CUptiResult result = cupti.subscribe(&subscriber, on_event, NULL);

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && result == CUPTI_SUCCESS; i++)
        result = cupti.enable(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, calls[i]);
    if (result == CUPTI_SUCCESS)
        result = cupti.enable(
            1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
    if (result == CUPTI_SUCCESS)
        result = cupti.activity_callbacks(give_buffer, take_buffer);
    if (result == CUPTI_SUCCESS)
        result = cupti.activity_enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    return result;
}

/* The driver calls this when it starts. The program goes on in any case. */
int InitializeInjection(void);
int InitializeInjection(void)
{
    const char *missing;
    CUptiResult result;

    if (!record_on())
        return 1;
    if (!inject_driver(&missing) || !open_cupti(&missing)) {
        fprintf(stderr, "keet-opt: nothing is captured, since %s cannot be used\n", missing);
        return 1;
    }
    result = subscribe();
    if (result == CUPTI_SUCCESS)
        atexit(flush);
    else
        fprintf(stderr,
            "keet-opt: nothing is captured, since CUPTI refuses to call back (result %d%s)\n",
            (int)result,
            result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
                ? ": another tool has subscribed already"
                : "");
    return 1;
}
