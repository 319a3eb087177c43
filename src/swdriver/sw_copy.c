/* Owns copies by rows: boxes of two and three dimensions, of linear memory and of arrays. */
#include "swdriver/sw_state.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* One side of a copy: where byte 0 of row 0 of slice 0 is. */
struct box_side {
    uint8_t *host;    /* NULL: on the device */
    uint64_t address; /* on the device */
    uint64_t pitch, slice;
};

static bool side_of(CUcontext ctx, struct box_side *side, CUmemorytype type, const void *host,
    CUdeviceptr device, CUarray array, const uint64_t at[3], uint64_t pitch, uint64_t height)
{
    uint64_t first;

    *side = (struct box_side){.pitch = pitch, .slice = pitch * height};
    if (type == CU_MEMORYTYPE_UNIFIED) {
        type = sw_is_ours(ctx, device) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        host = (const void *)(uintptr_t)device;
    }
    if (type == CU_MEMORYTYPE_ARRAY) {
        if (array == NULL)
            return false;
        side->pitch = array->pitch_bytes;
        side->slice = array->layer_bytes;
        device = array->address;
    }
    first = at[0] + at[1] * side->pitch + at[2] * side->slice;
    if (type == CU_MEMORYTYPE_HOST)
        side->host = (uint8_t *)(uintptr_t)host + first;
    else
        side->address = device + first;
    return type != CU_MEMORYTYPE_HOST || host != NULL;
}

static bool copy_row(CUcontext ctx, const struct box_side *to, const struct box_side *from,
    uint64_t y, uint64_t z, uint64_t bytes, uint8_t *row)
{
    const uint64_t into = y * to->pitch + z * to->slice, out = y * from->pitch + z * from->slice;
    const uint8_t *source = row;
    struct err err;

    if (from->host != NULL)
        source = from->host + out;
    else if (!emu_read(ctx->emu, from->address + out, row, bytes, &err))
        return false;
    if (to->host == NULL)
        return emu_write(ctx->emu, to->address + into, source, bytes, &err);
    memmove(to->host + into, source, bytes);
    return true;
}

bool sw_run_copy_3d(CUcontext ctx, const CUDA_MEMCPY3D *c)
{
    const uint64_t to_at[3] = {c->dstXInBytes, c->dstY, c->dstZ},
                   from_at[3] = {c->srcXInBytes, c->srcY, c->srcZ};
    struct box_side to, from;
    uint8_t *row;
    bool ok = side_of(ctx, &to, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, to_at,
                  c->dstPitch, c->dstHeight) &&
              side_of(ctx, &from, c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, from_at,
                  c->srcPitch, c->srcHeight);

    if (!ok)
        return false;
    row = xmalloc(c->WidthInBytes + 1);
    for (uint64_t z = 0; ok && z < c->Depth; z++)
        for (uint64_t y = 0; ok && y < c->Height; y++)
            ok = copy_row(ctx, &to, &from, y, z, c->WidthInBytes, row);
    free(row);
    return ok;
}

CUresult CUDAAPI cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    struct sw_op op = {.kind = SW_COPY_3D, .params_bytes = sizeof(*copy)};

    if (copy == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (copy->WidthInBytes == 0 || copy->Height == 0 || copy->Depth == 0)
        return CUDA_SUCCESS;
    op.bytes = copy->WidthInBytes * copy->Height * copy->Depth;
    op.params = xmalloc(sizeof(*copy));
    memcpy(op.params, copy, sizeof(*copy));
    return sw_submit_op(stream, op);
}

CUresult CUDAAPI cuMemcpy3D(const CUDA_MEMCPY3D *copy)
{
    return cuMemcpy3DAsync(copy, NULL);
}

CUresult CUDAAPI cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream)
{
    CUDA_MEMCPY3D copy;

    if (c == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    copy = (CUDA_MEMCPY3D){
        .srcXInBytes = c->srcXInBytes,
        .srcY = c->srcY,
        .srcMemoryType = c->srcMemoryType,
        .srcHost = c->srcHost,
        .srcDevice = c->srcDevice,
        .srcArray = c->srcArray,
        .srcPitch = c->srcPitch,
        .dstXInBytes = c->dstXInBytes,
        .dstY = c->dstY,
        .dstMemoryType = c->dstMemoryType,
        .dstHost = c->dstHost,
        .dstDevice = c->dstDevice,
        .dstArray = c->dstArray,
        .dstPitch = c->dstPitch,
        .WidthInBytes = c->WidthInBytes,
        .Height = c->Height,
        .Depth = 1,
    };
    return cuMemcpy3DAsync(&copy, stream);
}

CUresult CUDAAPI cuMemcpy2D(const CUDA_MEMCPY2D *copy)
{
    return cuMemcpy2DAsync(copy, NULL);
}

CUresult CUDAAPI cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy)
{
    return cuMemcpy2DAsync(copy, NULL);
}
