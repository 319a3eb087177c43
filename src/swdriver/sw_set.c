/* Owns fills of memory, linear and by rows. */
#include "swdriver/sw_state.h"

static CUresult set(CUdeviceptr to, uint32_t value, uint32_t each, size_t nr, CUstream stream)
{
    if (to % each != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return sw_submit_op(stream,
        (struct sw_op){SW_SET, .to = to, .value = value, .value_bytes = each, .bytes = nr * each});
}

static CUresult set_rows(CUdeviceptr to, size_t pitch, uint32_t value, uint32_t each, size_t width,
    size_t height, CUstream stream)
{
    if (to % each != 0 || pitch % each != 0 || (height > 1 && pitch < width * each))
        return CUDA_ERROR_INVALID_VALUE;
    if (width == 0 || height == 0)
        return CUDA_SUCCESS;
    return sw_submit_op(
        stream, (struct sw_op){SW_SET, .to = to, .value = value, .value_bytes = each,
                    .bytes = width * each, .pitch = pitch, .height = height});
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t nr, CUstream stream)
{
    return set(to, value, 1, nr, stream);
}

CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t nr, CUstream stream)
{
    return set(to, value, 2, nr, stream);
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t nr, CUstream stream)
{
    return set(to, value, 4, nr, stream);
}

CUresult CUDAAPI cuMemsetD8(CUdeviceptr to, unsigned char value, size_t nr)
{
    return set(to, value, 1, nr, NULL);
}

CUresult CUDAAPI cuMemsetD16(CUdeviceptr to, unsigned short value, size_t nr)
{
    return set(to, value, 2, nr, NULL);
}

CUresult CUDAAPI cuMemsetD32(CUdeviceptr to, unsigned value, size_t nr)
{
    return set(to, value, 4, nr, NULL);
}

CUresult CUDAAPI cuMemsetD2D8Async(
    CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream)
{
    return set_rows(to, pitch, value, 1, width, height, stream);
}

CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value,
    size_t width, size_t height, CUstream stream)
{
    return set_rows(to, pitch, value, 2, width, height, stream);
}

CUresult CUDAAPI cuMemsetD2D32Async(
    CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, CUstream stream)
{
    return set_rows(to, pitch, value, 4, width, height, stream);
}

CUresult CUDAAPI cuMemsetD2D8(
    CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height)
{
    return set_rows(to, pitch, value, 1, width, height, NULL);
}

CUresult CUDAAPI cuMemsetD2D16(
    CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height)
{
    return set_rows(to, pitch, value, 2, width, height, NULL);
}

CUresult CUDAAPI cuMemsetD2D32(
    CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height)
{
    return set_rows(to, pitch, value, 4, width, height, NULL);
}
