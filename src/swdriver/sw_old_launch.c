/* Owns launches as CUDA 3 had them: block, shared memory and parameters are set in the function
 * first. PyCUDA and older programs call these. */
#include "swdriver/sw_state.h"

#include "base/mem.h"

#include <string.h>

static CUresult begin(CUfunction f)
{
    CUcontext ctx;
    const CUresult code = sw_begin(&ctx);

    return code == CUDA_SUCCESS && f == NULL ? CUDA_ERROR_INVALID_HANDLE : code;
}

CUresult CUDAAPI cuFuncSetBlockShape(CUfunction f, int x, int y, int z)
{
    CUresult code = begin(f);

    if (code == CUDA_SUCCESS && (x <= 0 || y <= 0 || z <= 0))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        memcpy(f->block, (uint32_t[3]){(uint32_t)x, (uint32_t)y, (uint32_t)z}, sizeof(f->block));
    return sw_end(code);
}

CUresult CUDAAPI cuFuncSetSharedSize(CUfunction f, unsigned bytes)
{
    const CUresult code = begin(f);

    if (code == CUDA_SUCCESS)
        f->smem_bytes = bytes;
    return sw_end(code);
}

CUresult CUDAAPI cuParamSetSize(CUfunction f, unsigned bytes)
{
    CUresult code = begin(f);

    if (code == CUDA_SUCCESS && bytes > f->kernel.params_bytes)
        code = CUDA_ERROR_INVALID_VALUE;
    return sw_end(code);
}

static CUresult set_param(CUfunction f, int offset, const void *value, unsigned bytes)
{
    CUresult code = begin(f);

    if (code == CUDA_SUCCESS &&
        (value == NULL || offset < 0 || (uint64_t)offset + bytes > f->kernel.params_bytes))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && f->params == NULL)
        f->params = xcalloc(1, f->kernel.params_bytes);
    if (code == CUDA_SUCCESS)
        memcpy(f->params + offset, value, bytes);
    return sw_end(code);
}

CUresult CUDAAPI cuParamSeti(CUfunction f, int offset, unsigned value)
{
    return set_param(f, offset, &value, sizeof(value));
}

CUresult CUDAAPI cuParamSetf(CUfunction f, int offset, float value)
{
    return set_param(f, offset, &value, sizeof(value));
}

CUresult CUDAAPI cuParamSetv(CUfunction f, int offset, void *value, unsigned bytes)
{
    return set_param(f, offset, value, bytes);
}

static CUresult launch(CUfunction f, int width, int height, CUstream stream)
{
    size_t bytes = f != NULL && f->params != NULL ? f->kernel.params_bytes : 0;
    uint8_t none = 0;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes > 0 ? f->params : &none,
        CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};

    if (f == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (width <= 0 || height <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    return cuLaunchKernel(f, (unsigned)width, (unsigned)height, 1, f->block[0], f->block[1],
        f->block[2], f->smem_bytes, stream, NULL, extra);
}

CUresult CUDAAPI cuLaunch(CUfunction f)
{
    return launch(f, 1, 1, NULL);
}

CUresult CUDAAPI cuLaunchGrid(CUfunction f, int width, int height)
{
    return launch(f, width, height, NULL);
}

CUresult CUDAAPI cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream)
{
    return launch(f, width, height, stream);
}
