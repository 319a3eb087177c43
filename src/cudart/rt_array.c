/* Owns arrays, textures and surfaces: the driver's, described in the runtime's structs. */
#include "cudart/rt.h"

#include <string.h>

struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(
    int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

static bool format_of(
    const struct cudaChannelFormatDesc *texel, CUarray_format *format, unsigned *nr)
{
    static const CUarray_format whole[2][3] = {
        {CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32},
        {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32}};
    const int size = texel->x == 8 ? 0 : texel->x == 16 ? 1 : texel->x == 32 ? 2 : -1;

    *nr = (texel->x > 0) + (texel->y > 0) + (texel->z > 0) + (texel->w > 0);
    if (size < 0 || (texel->y > 0 && texel->y != texel->x))
        return false;
    if (texel->f == cudaChannelFormatKindFloat)
        *format = size == 1 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    else if (texel->f == cudaChannelFormatKindSigned || texel->f == cudaChannelFormatKindUnsigned)
        *format = whole[texel->f == cudaChannelFormatKindUnsigned][size];
    else
        return false;
    return texel->f != cudaChannelFormatKindFloat || size > 0;
}

CUresult rt_malloc_array(cudaArray_t *array, const struct cudaChannelFormatDesc *texel,
    struct cudaExtent extent, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth};
    CUarray made;
    CUresult code;

    if (array == NULL || texel == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!format_of(texel, &shape.Format, &shape.NumChannels))
        return rt_code(cudaErrorInvalidChannelDescriptor);
    shape.Flags = (flags & cudaArrayLayered ? CUDA_ARRAY3D_LAYERED : 0u) |
                  (flags & cudaArrayCubemap ? CUDA_ARRAY3D_CUBEMAP : 0u) |
                  (flags & cudaArraySurfaceLoadStore ? CUDA_ARRAY3D_SURFACE_LDST : 0u) |
                  (flags & cudaArraySparse ? CUDA_ARRAY3D_SPARSE : 0u);
    code = cuArray3DCreate(&made, &shape);
    if (code == CUDA_SUCCESS)
        *array = (cudaArray_t)(void *)made;
    return code;
}

static CUarray array_of(cudaArray_const_t array)
{
    return (CUarray)(uintptr_t)(const void *)array;
}

static unsigned format_bits(CUarray_format format, enum cudaChannelFormatKind *kind)
{
    *kind = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT ? cudaChannelFormatKindFloat
            : format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16 ||
                    format == CU_AD_FORMAT_SIGNED_INT32
                ? cudaChannelFormatKindSigned
                : cudaChannelFormatKindUnsigned;
    return format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_UNSIGNED_INT8 ? 8
           : format == CU_AD_FORMAT_SIGNED_INT16 || format == CU_AD_FORMAT_UNSIGNED_INT16 ||
                   format == CU_AD_FORMAT_HALF
               ? 16
               : 32;
}

CUresult rt_array_facts(struct cudaChannelFormatDesc *texel, struct cudaExtent *extent,
    unsigned *flags, cudaArray_t array)
{
    enum cudaChannelFormatKind kind;
    CUDA_ARRAY3D_DESCRIPTOR shape;
    const CUresult code = cuArray3DGetDescriptor(&shape, array_of(array));
    int bits;

    if (code != CUDA_SUCCESS)
        return code;
    bits = (int)format_bits(shape.Format, &kind);
    if (texel != NULL)
        *texel = (struct cudaChannelFormatDesc){bits, shape.NumChannels > 1 ? bits : 0,
            shape.NumChannels > 2 ? bits : 0, shape.NumChannels > 3 ? bits : 0, kind};
    if (extent != NULL)
        *extent = (struct cudaExtent){shape.Width, shape.Height, shape.Depth};
    if (flags != NULL)
        *flags = (shape.Flags & CUDA_ARRAY3D_LAYERED ? cudaArrayLayered : 0u) |
                 (shape.Flags & CUDA_ARRAY3D_CUBEMAP ? cudaArrayCubemap : 0u) |
                 (shape.Flags & CUDA_ARRAY3D_SURFACE_LDST ? cudaArraySurfaceLoadStore : 0u);
    return CUDA_SUCCESS;
}

size_t rt_texel_bytes(CUarray array)
{
    enum cudaChannelFormatKind kind;
    CUDA_ARRAY3D_DESCRIPTOR shape;

    if (cuArray3DGetDescriptor(&shape, array) != CUDA_SUCCESS)
        return 1;
    return format_bits(shape.Format, &kind) / 8 * (size_t)shape.NumChannels;
}

CUresult rt_copy_array(cudaArray_const_t array, size_t x, size_t y, void *other, size_t pitch,
    size_t width, size_t height, enum cudaMemcpyKind kind, bool in, CUstream stream)
{
    const bool host = in ? kind == cudaMemcpyHostToDevice : kind == cudaMemcpyDeviceToHost;
    const CUmemorytype type = kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
                              : host                    ? CU_MEMORYTYPE_HOST
                                                        : CU_MEMORYTYPE_DEVICE;
    CUDA_MEMCPY2D copy = {.WidthInBytes = width, .Height = height};

    if (in) {
        copy.srcMemoryType = type;
        copy.srcHost = other;
        copy.srcDevice = (uintptr_t)other;
        copy.srcPitch = pitch;
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = array_of(array);
        copy.dstXInBytes = x;
        copy.dstY = y;
    } else {
        copy.dstMemoryType = type;
        copy.dstHost = other;
        copy.dstDevice = (uintptr_t)other;
        copy.dstPitch = pitch;
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = array_of(array);
        copy.srcXInBytes = x;
        copy.srcY = y;
    }
    return cuMemcpy2DAsync(&copy, stream);
}

/* A run of bytes that goes on in the next row: the rest of a row, whole rows, the start of one. */
CUresult rt_copy_array_line(cudaArray_const_t array, size_t x, size_t y, void *other, size_t bytes,
    enum cudaMemcpyKind kind, bool in, CUstream stream)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    CUresult code = cuArray3DGetDescriptor(&shape, array_of(array));
    size_t width;

    if (code != CUDA_SUCCESS)
        return code;
    width = shape.Width * rt_texel_bytes(array_of(array));
    while (code == CUDA_SUCCESS && bytes > 0) {
        const size_t rows = x == 0 && bytes >= width ? bytes / width : 1;
        const size_t row = x == 0 && bytes >= width ? width : bytes < width - x ? bytes : width - x;

        code = rt_copy_array(array, x, y, other, row, row, rows, kind, in, stream);
        other = (char *)other + row * rows;
        bytes -= row * rows;
        y += rows;
        x = 0;
    }
    return code;
}

static CUresult resource_of(CUDA_RESOURCE_DESC *to, const struct cudaResourceDesc *from)
{
    memset(to, 0, sizeof(*to));
    switch (from->resType) {
    case cudaResourceTypeArray:
        to->resType = CU_RESOURCE_TYPE_ARRAY;
        to->res.array.hArray = array_of(from->res.array.array);
        return CUDA_SUCCESS;
    case cudaResourceTypeLinear:
        to->resType = CU_RESOURCE_TYPE_LINEAR;
        to->res.linear.devPtr = (uintptr_t)from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return format_of(
                   &from->res.linear.desc, &to->res.linear.format, &to->res.linear.numChannels)
                   ? CUDA_SUCCESS
                   : rt_code(cudaErrorInvalidChannelDescriptor);
    case cudaResourceTypePitch2D:
        to->resType = CU_RESOURCE_TYPE_PITCH2D;
        to->res.pitch2D.devPtr = (uintptr_t)from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return format_of(
                   &from->res.pitch2D.desc, &to->res.pitch2D.format, &to->res.pitch2D.numChannels)
                   ? CUDA_SUCCESS
                   : rt_code(cudaErrorInvalidChannelDescriptor);
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* The numbers of address and filter modes are the driver's. */
CUresult rt_texture(cudaTextureObject_t *texture, const struct cudaResourceDesc *resource,
    const struct cudaTextureDesc *how, const struct cudaResourceViewDesc *view)
{
    CUDA_RESOURCE_DESC of;
    CUDA_TEXTURE_DESC desc = {0};
    CUresult code;

    if (texture == NULL || resource == NULL || how == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (view != NULL && view->format != cudaResViewFormatNone)
        return CUDA_ERROR_NOT_SUPPORTED;
    code = resource_of(&of, resource);
    if (code != CUDA_SUCCESS)
        return code;
    for (unsigned i = 0; i < 3; i++)
        desc.addressMode[i] = (CUaddress_mode)how->addressMode[i];
    desc.filterMode = (CUfilter_mode)how->filterMode;
    desc.flags = (how->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
                 (how->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
                 (how->sRGB ? CU_TRSF_SRGB : 0u);
    return cuTexObjectCreate(texture, &of, &desc, NULL);
}

CUresult rt_surface(cudaSurfaceObject_t *surface, const struct cudaResourceDesc *resource)
{
    CUDA_RESOURCE_DESC of;
    CUresult code;

    if (surface == NULL || resource == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    code = resource_of(&of, resource);
    return code != CUDA_SUCCESS ? code : cuSurfObjectCreate(surface, &of);
}
