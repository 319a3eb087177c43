/* Owns memory, copies and fills. */
#include "cudart/rt.h"

#include <string.h>

/* Nothing is asked for, and nothing is given. */
CUresult rt_malloc(void **address, size_t bytes)
{
    CUdeviceptr at = 0;
    CUresult code;

    if (address == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    code = bytes > 0 ? cuMemAlloc(&at, bytes) : CUDA_SUCCESS;
    if (code == CUDA_SUCCESS)
        *address = (void *)(uintptr_t)at;
    return code;
}

CUresult rt_malloc_managed(void **address, size_t bytes, unsigned flags)
{
    CUdeviceptr at = 0;
    CUresult code;

    if (address == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    code = bytes > 0 ? cuMemAllocManaged(&at, bytes, flags) : CUDA_SUCCESS;
    if (code == CUDA_SUCCESS)
        *address = (void *)(uintptr_t)at;
    return code;
}

CUresult rt_malloc_host(void **host, size_t bytes, unsigned flags)
{
    if (host == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *host = NULL;
    return bytes > 0 ? cuMemHostAlloc(host, bytes, flags) : CUDA_SUCCESS;
}

CUresult rt_malloc_pitch(void **address, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr at = 0;
    CUresult code;

    if (address == NULL || pitch == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *pitch = 0;
    code = width > 0 && height > 0 ? cuMemAllocPitch(&at, pitch, width, height, 4) : CUDA_SUCCESS;
    if (code == CUDA_SUCCESS)
        *address = (void *)(uintptr_t)at;
    return code;
}

CUresult rt_malloc_3d(struct cudaPitchedPtr *to, struct cudaExtent extent)
{
    if (to == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    to->xsize = extent.width;
    to->ysize = extent.height;
    return rt_malloc_pitch(&to->ptr, &to->pitch, extent.width,
        (extent.height > 0 ? extent.height : 1) * (extent.depth > 0 ? extent.depth : 1));
}

/* The struct of CUDA 12 ends behind hostPointer, that of CUDA 13 has room for more. */
CUresult rt_address_facts(struct cudaPointerAttributes *facts, const void *address)
{
    const CUdeviceptr at = (uintptr_t)address;
    unsigned managed = 0, type = 0;

    if (facts == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memset(facts, 0,
        RT_VERSION >= 13 ? sizeof(*facts)
                         : offsetof(struct cudaPointerAttributes, hostPointer) + sizeof(void *));
    facts->type = cudaMemoryTypeUnregistered;
    facts->device = -2;
    facts->hostPointer = (void *)(uintptr_t)at;
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS)
        return CUDA_SUCCESS;
    cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at);
    cuPointerGetAttribute(&facts->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at);
    facts->type = managed                      ? cudaMemoryTypeManaged
                  : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                               : cudaMemoryTypeDevice;
    facts->devicePointer = (void *)(uintptr_t)at;
    facts->hostPointer = facts->type == cudaMemoryTypeDevice ? NULL : facts->devicePointer;
    return CUDA_SUCCESS;
}

/* --- copies --- */

static bool on_device(const void *address)
{
    unsigned type;

    return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)address) ==
           CUDA_SUCCESS;
}

/* Which side is the host's, by what the user says, as far as that can be. */
static bool to_host(enum cudaMemcpyKind kind, const void *to, const void *from)
{
    return kind == cudaMemcpyHostToHost || (kind == cudaMemcpyDeviceToHost && on_device(from)) ||
           !on_device(to);
}

static bool from_host(enum cudaMemcpyKind kind, const void *to, const void *from)
{
    return kind == cudaMemcpyHostToHost || (kind == cudaMemcpyHostToDevice && on_device(to)) ||
           !on_device(from);
}

CUresult rt_copy(
    void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, CUstream stream)
{
    bool out, in;

    if (bytes == 0)
        return CUDA_SUCCESS;
    if (to == NULL || from == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if ((unsigned)kind > cudaMemcpyDefault)
        return rt_code(cudaErrorInvalidMemcpyDirection);
    out = to_host(kind, to, from);
    in = from_host(kind, to, from);
    if ((kind == cudaMemcpyHostToDevice && out) || (kind == cudaMemcpyDeviceToHost && in) ||
        (kind == cudaMemcpyDeviceToDevice && (in || out)))
        return CUDA_ERROR_INVALID_VALUE;
    if (out && in)
        return cuMemcpyAsync((uintptr_t)to, (uintptr_t)from, bytes, stream);
    if (out)
        return cuMemcpyDtoHAsync(to, (uintptr_t)from, bytes, stream);
    return in ? cuMemcpyHtoDAsync((uintptr_t)to, from, bytes, stream)
              : cuMemcpyDtoDAsync((uintptr_t)to, (uintptr_t)from, bytes, stream);
}

CUresult rt_copy_symbol(const void *symbol, size_t offset, void *other, size_t bytes,
    enum cudaMemcpyKind kind, bool in, CUstream stream)
{
    CUdeviceptr address;
    size_t size;
    void *place;
    const CUresult code = rt_symbol(symbol, &address, &size);

    if (code != CUDA_SUCCESS)
        return code;
    if (offset > size || bytes > size - offset || (bytes > 0 && other == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes == 0)
        return CUDA_SUCCESS;
    place = (void *)(uintptr_t)(address + offset);
    if (kind == cudaMemcpyDeviceToDevice || (kind == cudaMemcpyDefault && on_device(other)))
        return in ? cuMemcpyDtoDAsync(address + offset, (uintptr_t)other, bytes, stream)
                  : cuMemcpyDtoDAsync((uintptr_t)other, address + offset, bytes, stream);
    return in ? cuMemcpyHtoDAsync((uintptr_t)place, other, bytes, stream)
              : cuMemcpyDtoHAsync(other, (uintptr_t)place, bytes, stream);
}

CUresult rt_copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
    size_t height, enum cudaMemcpyKind kind, CUstream stream)
{
    const CUDA_MEMCPY2D copy = {
        .srcMemoryType = from_host(kind, to, from) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .srcHost = from,
        .srcDevice = (uintptr_t)from,
        .srcPitch = from_pitch,
        .dstMemoryType = to_host(kind, to, from) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstHost = to,
        .dstDevice = (uintptr_t)to,
        .dstPitch = to_pitch,
        .WidthInBytes = width,
        .Height = height,
    };

    if (width > to_pitch || width > from_pitch)
        return rt_code(cudaErrorInvalidPitchValue);
    return cuMemcpy2DAsync(&copy, stream);
}

/* Positions and widths are in bytes, and in texels where an array is part of the copy. */
CUresult rt_copy_3d(const struct cudaMemcpy3DParms *p, CUstream stream)
{
    const void *to, *from;
    CUDA_MEMCPY3D copy;
    size_t to_texel = 1, from_texel = 1;

    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    to = p->dstPtr.ptr;
    from = p->srcPtr.ptr;
    if (p->dstArray != NULL)
        to_texel = rt_texel_bytes((CUarray)(void *)p->dstArray);
    if (p->srcArray != NULL)
        from_texel = rt_texel_bytes((CUarray)(void *)p->srcArray);
    copy = (CUDA_MEMCPY3D){
        .srcXInBytes = p->srcPos.x * from_texel,
        .srcY = p->srcPos.y,
        .srcZ = p->srcPos.z,
        .srcMemoryType = p->srcArray != NULL            ? CU_MEMORYTYPE_ARRAY
                         : from_host(p->kind, to, from) ? CU_MEMORYTYPE_HOST
                                                        : CU_MEMORYTYPE_DEVICE,
        .srcHost = from,
        .srcDevice = (uintptr_t)from,
        .srcArray = (CUarray)(void *)p->srcArray,
        .srcPitch = p->srcPtr.pitch,
        .srcHeight = p->srcPtr.ysize,
        .dstXInBytes = p->dstPos.x * to_texel,
        .dstY = p->dstPos.y,
        .dstZ = p->dstPos.z,
        .dstMemoryType = p->dstArray != NULL          ? CU_MEMORYTYPE_ARRAY
                         : to_host(p->kind, to, from) ? CU_MEMORYTYPE_HOST
                                                      : CU_MEMORYTYPE_DEVICE,
        .dstHost = (void *)(uintptr_t)to,
        .dstDevice = (uintptr_t)to,
        .dstArray = (CUarray)(void *)p->dstArray,
        .dstPitch = p->dstPtr.pitch,
        .dstHeight = p->dstPtr.ysize,
        .WidthInBytes = p->extent.width * (p->dstArray != NULL ? to_texel : from_texel),
        .Height = p->extent.height,
        .Depth = p->extent.depth,
    };
    return cuMemcpy3DAsync(&copy, stream);
}

/* --- fills --- */

CUresult rt_set(void *to, int value, size_t bytes, CUstream stream)
{
    return bytes == 0 ? CUDA_SUCCESS
                      : cuMemsetD8Async((uintptr_t)to, (unsigned char)value, bytes, stream);
}

CUresult rt_set_2d(void *to, size_t pitch, int value, size_t width, size_t height, CUstream stream)
{
    return cuMemsetD2D8Async((uintptr_t)to, pitch, (unsigned char)value, width, height, stream);
}

CUresult rt_set_3d(struct cudaPitchedPtr to, int value, struct cudaExtent extent, CUstream stream)
{
    CUresult code = CUDA_SUCCESS;

    for (size_t z = 0; code == CUDA_SUCCESS && z < extent.depth; z++)
        code = rt_set_2d((char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value, extent.width,
            extent.height, stream);
    return code;
}
