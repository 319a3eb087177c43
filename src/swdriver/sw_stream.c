/* Owns streams and events: what runs at once, what is recorded, and the modelled clock. */
#include "swdriver/sw_state.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* --- operations --- */

void sw_ops_free(struct sw_op *ops, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        free(ops[i].params);
    free(ops);
}

CUresult sw_submit(CUcontext ctx, CUstream stream, struct sw_op *op)
{
    CUstream s = sw_stream(ctx, stream);
    CUresult code;

    if (s != NULL && s->capture != NULL) {
        sw_graph_append(s->capture, op);
        return CUDA_SUCCESS;
    }
    code = s != NULL ? sw_run(ctx, op) : CUDA_ERROR_INVALID_HANDLE;
    free(op->params);
    return code;
}

static bool fill(CUcontext ctx, const struct sw_op *op)
{
    const uint64_t rows = op->height > 0 ? op->height : 1;
    struct err err;
    bool ok = true;

    for (uint64_t y = 0; ok && y < rows; y++) {
        const uint64_t to = op->to + y * op->pitch;

        ok = op->value_bytes == 1
                 ? emu_fill(ctx->emu, to, (uint8_t)op->value, op->bytes, true, &err)
                 : emu_repeat(ctx->emu, to, op->bytes, &op->value, op->value_bytes, &err);
    }
    return ok; /* value: little endian */
}

static bool copy(CUcontext ctx, const struct sw_op *op)
{
    void *bytes = xmalloc(op->bytes + 1);
    struct err err;
    const bool ok = emu_read(ctx->emu, op->from, bytes, op->bytes, &err) &&
                    emu_write(ctx->emu, op->to, bytes, op->bytes, &err);

    free(bytes);
    return ok;
}

/* Copies and fills go at the speed of what they go through: PCIe 5.0 x16 (55 GB/s of its 63), or
 * DRAM, each byte read and written. */
CUresult sw_run(CUcontext ctx, const struct sw_op *op)
{
    static const double host_bytes_per_ns = 55;
    const double dram_bytes_per_ns = sw_chip()->dram_bytes_per_s * sw_chip()->dram_achievable / 1e9;
    struct err err;
    double rate = host_bytes_per_ns;
    bool ok = false;

    switch (op->kind) {
    case SW_LAUNCH:
        return sw_run_launch(ctx, op);
    case SW_COPY_IN:
        ok = emu_write(ctx->emu, op->to, op->host, op->bytes, &err);
        break;
    case SW_COPY_OUT:
        ok = emu_read(ctx->emu, op->from, op->host, op->bytes, &err);
        break;
    case SW_COPY:
        ok = copy(ctx, op);
        rate = dram_bytes_per_ns / 2;
        break;
    case SW_COPY_3D:
        ok = sw_run_copy_3d(ctx, op->params);
        break;
    case SW_SET:
        ok = fill(ctx, op);
        rate = dram_bytes_per_ns;
        break;
    case SW_CALL: /* the user's function may not call CUDA; one that does is not to hang */
        sw_end(CUDA_SUCCESS);
        op->call(op->host);
        return sw_begin_any();
    }
    if (!ok && op->bytes > 0)
        return CUDA_ERROR_INVALID_VALUE;
    ctx->now_ns += sw_chip()->launch_overhead_ns + (double)op->bytes / rate;
    return CUDA_SUCCESS;
}

/* --- streams --- */

CUresult CUDAAPI cuStreamCreate(CUstream *stream, unsigned flags)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (stream == NULL || flags > CU_STREAM_NON_BLOCKING))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    *stream = xcalloc(1, sizeof(**stream));
    (*stream)->ctx = ctx;
    (*stream)->flags = flags;
    (*stream)->next = ctx->streams;
    ctx->streams = *stream;
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    return cuStreamCreate(stream, flags);
}

static bool owns_stream(CUcontext ctx, const void *stream)
{
    CUstream s = ctx->streams;

    while (s != NULL && s != stream)
        s = s->next;
    return s != NULL;
}

CUresult CUDAAPI cuStreamDestroy(CUstream stream)
{
    CUcontext ctx;
    CUresult code = sw_begin_owner(&ctx, owns_stream, stream);
    CUstream *link;

    if (code != CUDA_SUCCESS)
        return sw_end(code);
    for (link = &ctx->streams; *link != NULL && *link != stream;)
        link = &(*link)->next;
    if (*link == NULL)
        return sw_end(CUDA_ERROR_INVALID_HANDLE);
    *link = stream->next;
    free(stream);
    return sw_end(CUDA_SUCCESS);
}

/* A call that takes a stream and has nothing to wait for. */
static CUresult stream_call(CUstream stream)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUstream s = code == CUDA_SUCCESS ? sw_stream(ctx, stream) : NULL;

    if (code == CUDA_SUCCESS && s == NULL)
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS && s->capture != NULL)
        code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return sw_end(code);
}

CUresult CUDAAPI cuStreamSynchronize(CUstream stream)
{
    return stream_call(stream);
}

CUresult CUDAAPI cuStreamQuery(CUstream stream)
{
    return stream_call(stream);
}

CUresult CUDAAPI cuStreamGetFlags(CUstream stream, unsigned *flags)
{
    const CUresult code = stream_call(stream);

    if (code == CUDA_SUCCESS)
        *flags = stream > CU_STREAM_PER_THREAD ? stream->flags : 0;
    return code;
}

CUresult CUDAAPI cuStreamGetPriority(CUstream stream, int *priority)
{
    *priority = 0;
    return stream_call(stream);
}

CUresult CUDAAPI cuStreamGetCtx(CUstream stream, CUcontext *of)
{
    CUcontext ctx;
    const CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS)
        *of = ctx;
    return sw_end(code);
}

/* All work before the call is done, so the caller's function runs at once, in the caller's thread.
 */
CUresult CUDAAPI cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    if (function == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return sw_submit_op(stream, (struct sw_op){SW_CALL, .call = function, .host = data});
}

CUresult CUDAAPI cuStreamAddCallback(
    CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
{
    const CUresult code = stream_call(stream);

    if (code == CUDA_SUCCESS && (callback == NULL || flags != 0))
        return CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        callback(stream, CUDA_SUCCESS, data);
    return code;
}

/* --- events --- */

static CUresult find_event(CUcontext ctx, CUevent event)
{
    CUevent e = ctx->events;

    while (e != NULL && e != event)
        e = e->next;
    return e != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult CUDAAPI cuEventCreate(CUevent *event, unsigned flags)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && event == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    *event = xcalloc(1, sizeof(**event));
    (*event)->ctx = ctx;
    (*event)->flags = flags;
    (*event)->next = ctx->events;
    ctx->events = *event;
    ctx->timed |= (flags & CU_EVENT_DISABLE_TIMING) == 0;
    return sw_end(CUDA_SUCCESS);
}

static bool owns_event(CUcontext ctx, const void *event)
{
    CUevent e = ctx->events;

    while (e != NULL && e != event)
        e = e->next;
    return e != NULL;
}

CUresult CUDAAPI cuEventDestroy(CUevent event)
{
    CUcontext ctx;
    CUresult code = sw_begin_owner(&ctx, owns_event, event);
    CUevent *link;

    if (code == CUDA_SUCCESS)
        code = find_event(ctx, event);
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    for (link = &ctx->events; *link != event;)
        link = &(*link)->next;
    *link = event->next;
    free(event);
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUstream s;

    if (code == CUDA_SUCCESS)
        code = find_event(ctx, event);
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    s = sw_stream(ctx, stream);
    if (s == NULL)
        return sw_end(CUDA_ERROR_INVALID_HANDLE);
    event->capture = s->capture;
    if (s->capture != NULL) /* an event inside a graph only orders; ours is in order */
        return sw_end(CUDA_SUCCESS);
    event->recorded = true;
    event->time_ns = ctx->now_ns;
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    return cuEventRecord(event, stream);
}

static CUresult event_call(CUevent event)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS)
        code = find_event(ctx, event);
    return sw_end(code);
}

CUresult CUDAAPI cuEventSynchronize(CUevent event)
{
    return event_call(event);
}

CUresult CUDAAPI cuEventQuery(CUevent event)
{
    return event_call(event);
}

/* A stream that waits for what another one was recorded to do is recorded into the same graph. */
CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    CUstream s = code == CUDA_SUCCESS ? sw_stream(ctx, stream) : NULL;

    if (code == CUDA_SUCCESS && s == NULL)
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS)
        code = find_event(ctx, event);
    if (code == CUDA_SUCCESS && event->capture != NULL && s->capture == NULL)
        s->capture = event->capture;
    return sw_end(code);
}

static CUresult elapsed(float *ms, CUevent start, CUevent end)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS)
        code = find_event(ctx, start);
    if (code == CUDA_SUCCESS)
        code = find_event(ctx, end);
    if (code == CUDA_SUCCESS &&
        (!start->recorded || !end->recorded || (start->flags & CU_EVENT_DISABLE_TIMING) ||
            (end->flags & CU_EVENT_DISABLE_TIMING)))
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS)
        *ms = (float)((end->time_ns - start->time_ns) / 1e6);
    return sw_end(code);
}

CUresult CUDAAPI cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end);
CUresult CUDAAPI cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
    return elapsed(ms, start, end);
}

#undef cuEventElapsedTime
CUresult CUDAAPI cuEventElapsedTime(float *ms, CUevent start, CUevent end);
CUresult CUDAAPI cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    return elapsed(ms, start, end);
}
