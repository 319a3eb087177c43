/* Owns memory that the host and kernels share: pinned, registered, managed; and what is known of an
 * address. */
#include "swdriver/sw_state.h"

#include <sys/mman.h>
#include <unistd.h>

static CUresult allocate_shared(
    CUcontext ctx, uint64_t *address, size_t bytes, enum sw_memory memory, unsigned flags)
{
    struct err err;

    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > sw_bytes_free(ctx) / 8 * 7)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *address = emu_alloc_host(
        ctx->emu, bytes, memory == SW_MANAGED ? "managed memory" : "pinned memory", &err);
    if (*address == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sw_note(ctx, &(struct sw_alloc){*address, bytes, memory, flags});
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    CUcontext ctx;
    uint64_t at = 0;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && address == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = allocate_shared(ctx, &at, bytes, SW_MANAGED, flags);
    if (code == CUDA_SUCCESS)
        *address = at;
    return sw_end(code);
}

CUresult CUDAAPI cuMemHostAlloc(void **host, size_t bytes, unsigned flags)
{
    CUcontext ctx;
    uint64_t at = 0;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && host == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = allocate_shared(ctx, &at, bytes, SW_HOST, flags);
    if (code == CUDA_SUCCESS)
        *host = (void *)(uintptr_t)at;
    return sw_end(code);
}

CUresult CUDAAPI cuMemAllocHost(void **host, size_t bytes)
{
    return cuMemHostAlloc(host, bytes, 0);
}

CUresult CUDAAPI cuMemFreeHost(void *host)
{
    CUcontext ctx;
    CUresult code;

    if (host == NULL)
        return CUDA_SUCCESS;
    code = sw_begin_owner(&ctx, sw_owns_address, host);
    if (code == CUDA_SUCCESS && !sw_forget(ctx, (uintptr_t)host))
        code = CUDA_ERROR_INVALID_VALUE;
    return sw_end(code);
}

/* The emulator reads rows whole. Where the page behind the memory is nobody's, one of ours is put
 * there. */
static void back_slack(uint64_t end)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t next = (end + page - 1) / page * page;

    if (next < end + EMU_SHARED_SLACK)
        mmap((void *)(uintptr_t)next, page, PROT_READ,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

CUresult CUDAAPI cuMemHostRegister(void *host, size_t bytes, unsigned flags)
{
    const uint64_t address = (uintptr_t)host;
    struct err err;
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (host == NULL || bytes == 0))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    back_slack(address + bytes);
    if (!emu_share(ctx->emu, host, bytes, "registered memory", &err))
        return sw_end(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    sw_note(ctx, &(struct sw_alloc){address, bytes, SW_REGISTERED, flags});
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemHostUnregister(void *host)
{
    CUcontext ctx;
    const struct sw_alloc *alloc;
    CUresult code = sw_begin_owner(&ctx, sw_owns_address, host);

    if (code != CUDA_SUCCESS)
        return sw_end(code);
    alloc = sw_find(ctx, (uintptr_t)host);
    if (alloc == NULL || alloc->memory != SW_REGISTERED || !sw_forget(ctx, (uintptr_t)host))
        code = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    return sw_end(code);
}

CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr *address, void *host, unsigned flags)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (address == NULL || sw_find(ctx, (uintptr_t)host) == NULL))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *address = (uintptr_t)host;
    return sw_end(code);
}

CUresult CUDAAPI cuMemHostGetFlags(unsigned *flags, void *host)
{
    CUcontext ctx;
    const struct sw_alloc *alloc;
    CUresult code = sw_begin(&ctx);

    alloc = code == CUDA_SUCCESS ? sw_find(ctx, (uintptr_t)host) : NULL;
    if (code == CUDA_SUCCESS && (flags == NULL || alloc == NULL || alloc->memory < SW_HOST))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *flags = alloc->flags;
    return sw_end(code);
}

/* --- what managed memory is told: it never moves --- */

static CUresult advise(void)
{
    CUcontext ctx;

    return sw_end(sw_begin(&ctx));
}

/* The header of each version of CUDA declares one of each two. */
#undef cuMemAdvise
#undef cuMemPrefetchAsync
CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice dev);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice dev)
{
    return advise();
}

CUresult CUDAAPI cuMemAdvise_v2(
    CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
    return advise();
}

CUresult CUDAAPI cuMemPrefetchAsync(
    CUdeviceptr address, size_t bytes, CUdevice dev, CUstream stream);
CUresult CUDAAPI cuMemPrefetchAsync(
    CUdeviceptr address, size_t bytes, CUdevice dev, CUstream stream)
{
    return advise();
}

CUresult CUDAAPI cuMemPrefetchAsync_v2(
    CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags, CUstream stream)
{
    return advise();
}

CUresult CUDAAPI cuStreamAttachMemAsync(
    CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags)
{
    return advise();
}

/* --- what is known of an address --- */

static CUresult pointer_attribute(
    CUcontext ctx, void *value, CUpointer_attribute which, CUdeviceptr address)
{
    const struct sw_alloc *alloc = sw_find(ctx, address);

    if (alloc == NULL)
        return CUDA_ERROR_INVALID_VALUE; /* the address is the host's: the driver knows nothing of
                                            it */
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)value = ctx;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value = alloc->memory >= SW_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)value = (void *)(uintptr_t)address;
        return alloc->memory == SW_DEVICE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)value = alloc->memory == SW_MANAGED;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = ctx->device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)value = alloc->address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)value = alloc->bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned *)value = 1;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult CUDAAPI cuPointerGetAttribute(void *value, CUpointer_attribute which, CUdeviceptr address)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && value == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = pointer_attribute(ctx, value, which, address);
    return sw_end(code);
}
