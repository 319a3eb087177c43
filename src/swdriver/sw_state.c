/* Owns the contexts, which of them is current in each thread, and the lock. */
#include "swdriver/sw_state.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { STACK_DEPTH = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised;
static CUcontext contexts;
static struct {
    struct CUctx_st *ctx;
    unsigned retained, flags;
} primaries[SW_MOST_DEVICES];
static __thread CUcontext stack[STACK_DEPTH];
static __thread unsigned depth;

const struct chip *sw_chip(void)
{
    return chip_default();
}

static uint64_t number_in(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text != NULL && text[0] ? strtoull(text, NULL, 0) : otherwise;
}

unsigned sw_nr_threads(void)
{
    return (unsigned)number_in("KEET_CUDA_THREADS", 0);
}

uint64_t sw_step_limit(void)
{
    return number_in("KEET_CUDA_STEPS", UINT64_C(1) << 36);
}

void sw_tell(const char *what, const char *why)
{
    const char *wanted = getenv("KEET_CUDA_VERBOSE");

    if (wanted != NULL && wanted[0] != '\0' && wanted[0] != '0')
        fprintf(stderr, "libkeet-cuda: %s: %s\n", what, why);
}

static bool is_alive(CUcontext ctx)
{
    CUcontext c = contexts;

    while (c != NULL && c != ctx)
        c = c->next;
    return c != NULL;
}

CUcontext sw_current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

CUresult sw_begin_any(void)
{
    pthread_mutex_lock(&lock);
    return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult sw_begin(CUcontext *ctx)
{
    const CUresult code = sw_begin_any();

    if (code != CUDA_SUCCESS)
        return code;
    *ctx = sw_current();
    if (*ctx == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!is_alive(*ctx))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return (*ctx)->sticky;
}

CUresult sw_begin_owner(CUcontext *ctx, sw_owns_fn *owns, const void *handle)
{
    const CUresult code = sw_begin(ctx);

    if (code != CUDA_ERROR_INVALID_CONTEXT && (code != CUDA_SUCCESS || owns(*ctx, handle)))
        return code;
    for (CUcontext c = contexts; c != NULL; c = c->next) {
        if (!owns(c, handle))
            continue;
        *ctx = c;
        return c->sticky;
    }
    return code;
}

CUresult sw_end(CUresult code)
{
    pthread_mutex_unlock(&lock);
    return code;
}

CUresult CUDAAPI cuInit(unsigned flags)
{
    pthread_mutex_lock(&lock);
    if (flags != 0)
        return sw_end(CUDA_ERROR_INVALID_VALUE);
    initialised = true;
    return sw_end(CUDA_SUCCESS);
}

static void open_context(CUcontext ctx)
{
    ctx->emu = emu_create(sw_chip(), sw_nr_threads());
    ctx->null_stream.ctx = ctx;
    ctx->limits[CU_LIMIT_STACK_SIZE] = 1024;
    ctx->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    ctx->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
}

static CUcontext make_context(unsigned flags)
{
    CUcontext ctx = xcalloc(1, sizeof(*ctx));

    ctx->flags = flags;
    open_context(ctx);
    ctx->next = contexts;
    contexts = ctx;
    return ctx;
}

void sw_clear(CUcontext ctx)
{
    while (ctx->modules != NULL)
        sw_module_free(ctx, ctx->modules);
    for (CUstream s = ctx->streams, next; s != NULL; s = next) {
        next = s->next;
        free(s);
    }
    for (CUevent e = ctx->events, next; e != NULL; e = next) {
        next = e->next;
        free(e);
    }
    for (CUgraph g = ctx->graphs, next; g != NULL; g = next) {
        next = g->next;
        sw_graph_free(g);
    }
    for (CUgraphExec x = ctx->execs, next; x != NULL; x = next) {
        next = x->next;
        sw_exec_free(x);
    }
    for (CUarray a = ctx->arrays, next; a != NULL; a = next) {
        next = a->next;
        free(a);
    }
    free(ctx->allocs);
    free(ctx->times);
    emu_destroy(ctx->emu);
    *ctx = (struct CUctx_st){
        .next = ctx->next, .primary = ctx->primary, .device = ctx->device, .flags = ctx->flags};
}

static void destroy_context(CUcontext ctx)
{
    CUcontext *link = &contexts;

    while (*link != ctx)
        link = &(*link)->next;
    *link = ctx->next;
    sw_clear(ctx);
    free(ctx);
}

static CUresult push(CUcontext ctx)
{
    if (depth == STACK_DEPTH)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack[depth++] = ctx;
    return CUDA_SUCCESS;
}

static CUresult create(CUcontext *ctx, unsigned flags, CUdevice dev)
{
    CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS && ctx == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && !sw_is_device(dev))
        code = CUDA_ERROR_INVALID_DEVICE;
    if (code == CUDA_SUCCESS && depth == STACK_DEPTH)
        code = CUDA_ERROR_OUT_OF_MEMORY;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    *ctx = make_context(flags);
    (*ctx)->device = dev;
    return sw_end(push(*ctx));
}

/* The header declares only the newest; programs ask for the older ones by name. */
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *ctx, unsigned flags, CUdevice dev);
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *ctx, unsigned flags, CUdevice dev)
{
    return create(ctx, flags, dev);
}

CUresult CUDAAPI cuCtxCreate_v4(
    CUcontext *ctx, CUctxCreateParams *how, unsigned flags, CUdevice dev);
CUresult CUDAAPI cuCtxCreate_v4(
    CUcontext *ctx, CUctxCreateParams *how, unsigned flags, CUdevice dev)
{
    return create(ctx, flags, dev);
}

CUresult CUDAAPI cuCtxDestroy(CUcontext ctx)
{
    CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS && (!is_alive(ctx) || ctx->primary))
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    if (sw_current() == ctx)
        depth--;
    destroy_context(ctx);
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
    CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS && !sw_is_device(dev))
        code = CUDA_ERROR_INVALID_DEVICE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    if (primaries[dev].ctx == NULL) {
        primaries[dev].ctx = make_context(primaries[dev].flags);
        primaries[dev].ctx->primary = true;
        primaries[dev].ctx->device = dev;
    }
    if (primaries[dev].ctx->emu == NULL)
        open_context(primaries[dev].ctx);
    primaries[dev].retained++;
    *ctx = primaries[dev].ctx;
    return sw_end(CUDA_SUCCESS);
}

/* The object of the primary context lives on, so that threads in which the context is current still
 * find it. */
CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice dev)
{
    CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS && !sw_is_device(dev))
        code = CUDA_ERROR_INVALID_DEVICE;
    if (code == CUDA_SUCCESS && primaries[dev].retained == 0)
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (code == CUDA_SUCCESS && --primaries[dev].retained == 0) {
        destroy_context(primaries[dev].ctx);
        primaries[dev].ctx = NULL;
    }
    return sw_end(code);
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice dev)
{
    CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS && !sw_is_device(dev))
        code = CUDA_ERROR_INVALID_DEVICE;
    if (code == CUDA_SUCCESS && primaries[dev].ctx != NULL) {
        sw_clear(primaries[dev].ctx);
        open_context(primaries[dev].ctx);
    }
    return sw_end(code);
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned flags)
{
    CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS && !sw_is_device(dev))
        code = CUDA_ERROR_INVALID_DEVICE;
    if (code == CUDA_SUCCESS)
        primaries[dev].flags = flags;
    return sw_end(code);
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice dev, unsigned *flags, int *active)
{
    CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS && !sw_is_device(dev))
        code = CUDA_ERROR_INVALID_DEVICE;
    if (code == CUDA_SUCCESS) {
        *flags = primaries[dev].flags;
        *active = primaries[dev].ctx != NULL;
    }
    return sw_end(code);
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext ctx)
{
    CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS)
        code = is_alive(ctx) ? push(ctx) : CUDA_ERROR_INVALID_CONTEXT;
    return sw_end(code);
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext *ctx)
{
    CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS && depth == 0)
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (code == CUDA_SUCCESS) {
        depth--;
        if (ctx != NULL)
            *ctx = stack[depth];
    }
    return sw_end(code);
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx)
{
    CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS && ctx != NULL && !is_alive(ctx))
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (code == CUDA_SUCCESS && depth > 0)
        depth--;
    if (code == CUDA_SUCCESS && ctx != NULL)
        code = push(ctx);
    return sw_end(code);
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *ctx)
{
    const CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS)
        *ctx = sw_current();
    return sw_end(code);
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *dev)
{
    CUcontext ctx;
    const CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS)
        *dev = ctx->device;
    return sw_end(code);
}

CUresult CUDAAPI cuCtxGetFlags(unsigned *flags)
{
    CUcontext ctx;
    const CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS)
        *flags = ctx->flags;
    return sw_end(code);
}

CUresult CUDAAPI cuCtxGetApiVersion(CUcontext ctx, unsigned *version)
{
    const CUresult code = sw_begin_any();

    *version = 3020; /* what all drivers have said since CUDA 3.2 */
    return sw_end(code);
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
    CUcontext ctx;

    return sw_end(sw_begin(&ctx));
}

CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, size_t value)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (unsigned)limit >= SW_NR_LIMITS)
        code = CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (code == CUDA_SUCCESS)
        ctx->limits[limit] = value;
    return sw_end(code);
}

CUresult CUDAAPI cuCtxGetLimit(size_t *value, CUlimit limit)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (unsigned)limit >= SW_NR_LIMITS)
        code = CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (code == CUDA_SUCCESS)
        *value = ctx->limits[limit];
    return sw_end(code);
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUcontext ctx;
    const CUresult code = sw_begin(&ctx);

    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = -5;
    return sw_end(code);
}

CUresult CUDAAPI cuCtxSetCacheConfig(CUfunc_cache config)
{
    CUcontext ctx;

    return sw_end(sw_begin(&ctx));
}

CUresult CUDAAPI cuCtxResetPersistingL2Cache(void)
{
    CUcontext ctx;

    return sw_end(sw_begin(&ctx));
}

CUstream sw_stream(CUcontext ctx, CUstream stream)
{
    CUstream s = ctx->streams;

    if (stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
        return &ctx->null_stream;
    if (stream == &ctx->feeder)
        return stream;
    while (s != NULL && s != stream)
        s = s->next;
    return s;
}

const struct sw_alloc *sw_find(CUcontext ctx, uint64_t address)
{
    for (size_t i = 0; i < ctx->nr_allocs; i++)
        if (address - ctx->allocs[i].address < ctx->allocs[i].bytes)
            return &ctx->allocs[i];
    return NULL;
}

bool sw_is_ours(CUcontext ctx, uint64_t address)
{
    struct emu_global global;

    if (sw_find(ctx, address) != NULL)
        return true;
    for (CUmodule m = ctx->modules; m != NULL; m = m->next)
        for (unsigned i = 0; emu_global(m->module, i, &global); i++)
            if (address - global.address < global.bytes)
                return true;
    return false;
}
