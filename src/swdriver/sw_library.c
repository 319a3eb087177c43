/* Owns libraries and kernels (cuLibrary*, cuKernel*): a library is a module of the context in which
 * it was loaded, and a kernel is its function. */
#include "swdriver/sw_state.h"

#include "base/file.h"

#include <stdint.h>
#include <stdlib.h>

enum { MAX_FILE_BYTES = 256 << 20 };

static CUmodule module_of(CUlibrary library)
{
    return (CUmodule)(void *)library;
}

static CUfunction function_of(CUkernel kernel)
{
    return (CUfunction)(void *)kernel;
}

CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
    void **values, unsigned nr_options, CUlibraryOption *library_options, void **library_values,
    unsigned nr_library_options)
{
    CUmodule module;
    CUresult result;

    if (library == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = cuModuleLoadDataEx(&module, code, nr_options, options, values);
    if (result == CUDA_SUCCESS)
        *library = (CUlibrary)(void *)module;
    return result;
}

CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options,
    void **values, unsigned nr_options, CUlibraryOption *library_options, void **library_values,
    unsigned nr_library_options)
{
    struct err err;
    CUresult code;
    size_t len;
    char *text;

    if (path == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!file_read(path, MAX_FILE_BYTES, &text, &len, &err))
        return CUDA_ERROR_FILE_NOT_FOUND;
    code = len < 4 ? CUDA_ERROR_INVALID_IMAGE
                   : cuLibraryLoadData(library, text, options, values, nr_options, NULL, NULL, 0);
    free(text);
    return code;
}

CUresult CUDAAPI cuLibraryUnload(CUlibrary library)
{
    return cuModuleUnload(module_of(library));
}

CUresult CUDAAPI cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    if (module == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *module = module_of(library);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    CUfunction function;
    CUresult code;

    if (kernel == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    code = cuModuleGetFunction(&function, module_of(library), name);
    if (code == CUDA_SUCCESS)
        *kernel = (CUkernel)(void *)function;
    return code;
}

CUresult CUDAAPI cuLibraryGetKernelCount(unsigned *count, CUlibrary library)
{
    return cuModuleGetFunctionCount(count, module_of(library));
}

CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel *kernels, unsigned nr, CUlibrary library)
{
    return cuModuleEnumerateFunctions((CUfunction *)(void *)kernels, nr, module_of(library));
}

CUresult CUDAAPI cuLibraryGetGlobal(
    CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name)
{
    return cuModuleGetGlobal(address, bytes, module_of(library), name);
}

CUresult CUDAAPI cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    if (function == NULL || kernel == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *function = function_of(kernel);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    if (library == NULL || kernel == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *library = (CUlibrary)(void *)function_of(kernel)->module;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuKernelGetName(const char **name, CUkernel kernel)
{
    return cuFuncGetName(name, function_of(kernel));
}

CUresult CUDAAPI cuKernelGetAttribute(
    int *value, CUfunction_attribute which, CUkernel kernel, CUdevice dev)
{
    return !sw_is_device(dev) ? CUDA_ERROR_INVALID_DEVICE
                              : cuFuncGetAttribute(value, which, function_of(kernel));
}

CUresult CUDAAPI cuKernelSetAttribute(
    CUfunction_attribute which, int value, CUkernel kernel, CUdevice dev)
{
    return !sw_is_device(dev) ? CUDA_ERROR_INVALID_DEVICE
                              : cuFuncSetAttribute(function_of(kernel), which, value);
}

CUresult CUDAAPI cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    return cuFuncSetCacheConfig(function_of(kernel), config);
}

CUresult CUDAAPI cuKernelGetParamInfo(CUkernel kernel, size_t i, size_t *offset, size_t *bytes)
{
    return cuFuncGetParamInfo(function_of(kernel), i, offset, bytes);
}
