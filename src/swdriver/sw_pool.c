/* Owns memory pools: there is one, the device's own, and it keeps nothing that was freed. Pools
 * that programs make are names for it. */
#include "swdriver/sw_state.h"

#include "base/mem.h"

#include <stdlib.h>

struct CUmemPoolHandle_st {
    uint64_t threshold;
};

static struct CUmemPoolHandle_st own;

static CUresult give_own(CUmemoryPool *pool, CUdevice dev)
{
    CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS && pool == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && !sw_is_device(dev))
        code = CUDA_ERROR_INVALID_DEVICE;
    if (code == CUDA_SUCCESS)
        *pool = &own;
    return sw_end(code);
}

CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice dev)
{
    return give_own(pool, dev);
}

CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    return give_own(pool, dev);
}

CUresult CUDAAPI cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    return pool != NULL && sw_is_device(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *how)
{
    if (pool == NULL || how == NULL || how->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (how->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    *pool = xcalloc(1, sizeof(**pool));
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool)
{
    if (pool == NULL || pool == &own)
        return CUDA_ERROR_INVALID_VALUE;
    free(pool);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes)
{
    return pool != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *what, size_t nr)
{
    return pool != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value)
{
    if (pool == NULL || value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (which == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->threshold = *(const cuuint64_t *)value;
    return CUDA_SUCCESS;
}

/* The reuse attributes are ints, and on; the others are numbers of bytes, of a pool that keeps
 * nothing. */
CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value)
{
    if (pool == NULL || value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (which <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        *(int *)value = 1;
    else
        *(cuuint64_t *)value = which == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? pool->threshold : 0;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAllocFromPoolAsync(
    CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    return pool != NULL ? cuMemAllocAsync(address, bytes, stream) : CUDA_ERROR_INVALID_VALUE;
}
