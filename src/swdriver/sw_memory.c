/* Owns device memory as callers see it: allocations, copies, fills. */
#include "swdriver/sw_record.h"

#include "base/mem.h"

#include <string.h>
#include <unistd.h>

/* Device memory is host memory: what the host does not have, the device does not have either. */
static uint64_t host_bytes_free(void)
{
    const long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

uint64_t sw_bytes_free(CUcontext ctx)
{
    const uint64_t host = host_bytes_free();
    uint64_t left = sw_chip()->dram_bytes;

    for (size_t i = 0; i < ctx->nr_allocs; i++)
        left -= ctx->allocs[i].bytes < left ? ctx->allocs[i].bytes : left;
    return left < host ? left : host;
}

CUresult CUDAAPI cuMemGetInfo(size_t *left, size_t *total)
{
    CUcontext ctx;
    const CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS) {
        *left = sw_bytes_free(ctx);
        *total = sw_chip()->dram_bytes;
    }
    return sw_end(code);
}

void sw_note(CUcontext ctx, const struct sw_alloc *alloc)
{
    ctx->allocs = grow(ctx->allocs, &ctx->cap_allocs, ctx->nr_allocs + 1, sizeof(*ctx->allocs));
    ctx->allocs[ctx->nr_allocs++] = *alloc;
}

bool sw_forget(CUcontext ctx, uint64_t address)
{
    for (size_t i = 0; i < ctx->nr_allocs; i++) {
        if (ctx->allocs[i].address != address)
            continue;
        emu_free(ctx->emu, address);
        ctx->allocs[i] = ctx->allocs[--ctx->nr_allocs];
        return true;
    }
    return false;
}

bool sw_owns_address(CUcontext ctx, const void *address)
{
    return sw_find(ctx, (uintptr_t)address) != NULL;
}

/* Where kernels do nothing, programs go on with zeros: a number that no kernel wrote is often an
 * index next. */
static CUresult allocate(CUcontext ctx, CUdeviceptr *address, size_t bytes)
{
    struct err err;

    if (address == NULL || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > sw_bytes_free(ctx) / 8 * 7)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *address = record_is_dry() ? emu_alloc_host(ctx->emu, bytes, "an allocation", &err)
                               : emu_alloc(ctx->emu, bytes, "an allocation", &err);
    if (*address == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sw_note(ctx, &(struct sw_alloc){*address, bytes, SW_DEVICE, 0});
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS)
        code = allocate(ctx, address, bytes);
    return sw_end(code);
}

CUresult CUDAAPI cuMemAllocPitch(
    CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element_bytes)
{
    enum { PITCH = 512 };
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && pitch == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        *pitch = (width + PITCH - 1) / PITCH * PITCH;
        code = allocate(ctx, address, *pitch * height);
    }
    return sw_end(code);
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address)
{
    CUcontext ctx;
    CUresult code = sw_begin_owner(&ctx, sw_owns_address, (const void *)(uintptr_t)address);

    if (code == CUDA_SUCCESS && address != 0 && !sw_forget(ctx, address))
        code = CUDA_ERROR_INVALID_VALUE;
    return sw_end(code);
}

/* All work is done when it is submitted, so the order within a stream needs no care. */
CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    return cuMemAlloc(address, bytes);
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    return cuMemFree(address);
}

CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    const struct sw_alloc *alloc;
    CUcontext ctx;
    const CUresult code = sw_begin(&ctx);

    if (code != CUDA_SUCCESS)
        return sw_end(code);
    alloc = sw_find(ctx, address);
    if (alloc == NULL)
        return sw_end(CUDA_ERROR_NOT_FOUND);
    if (base != NULL)
        *base = alloc->address;
    if (bytes != NULL)
        *bytes = alloc->bytes;
    return sw_end(CUDA_SUCCESS);
}

CUresult sw_submit_op(CUstream stream, struct sw_op op)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS)
        code = sw_submit(ctx, stream, &op);
    return sw_end(code);
}

static void *host_of(const void *host)
{
    return (void *)(uintptr_t)host;
}

CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return sw_submit_op(
        stream, (struct sw_op){SW_COPY_IN, .to = to, .host = host_of(from), .bytes = bytes});
}

CUresult CUDAAPI cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return sw_submit_op(
        stream, (struct sw_op){SW_COPY_OUT, .from = from, .host = to, .bytes = bytes});
}

CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return sw_submit_op(stream, (struct sw_op){SW_COPY, .to = to, .from = from, .bytes = bytes});
}

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return cuMemcpyHtoDAsync(to, from, bytes, NULL);
}

CUresult CUDAAPI cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return cuMemcpyDtoHAsync(to, from, bytes, NULL);
}

CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return cuMemcpyDtoDAsync(to, from, bytes, NULL);
}

/* An address tells where it belongs. */
CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    CUcontext ctx;
    const CUresult code = sw_begin(&ctx);
    const bool to_device = code == CUDA_SUCCESS && sw_is_ours(ctx, to);
    const bool from_device = code == CUDA_SUCCESS && sw_is_ours(ctx, from);

    sw_end(code);
    if (code != CUDA_SUCCESS)
        return code;
    if (to_device && from_device)
        return cuMemcpyDtoDAsync(to, from, bytes, stream);
    if (to_device)
        return cuMemcpyHtoDAsync(to, (const void *)(uintptr_t)from, bytes, stream);
    if (from_device)
        return cuMemcpyDtoHAsync((void *)(uintptr_t)to, from, bytes, stream);
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return cuMemcpyAsync(to, from, bytes, NULL);
}
