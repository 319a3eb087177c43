/* Owns launches, and what is asked of functions. */
#include "cudart/rt.h"

#include <string.h>

CUresult rt_launch(const void *host, dim3 grid, dim3 block, void **args, size_t smem_bytes,
    CUstream stream, bool cooperative)
{
    CUfunction f;
    CUresult code = rt_function(host, &f);

    if (code != CUDA_SUCCESS)
        return code;
    code = cooperative ? cuLaunchCooperativeKernel(f, grid.x, grid.y, grid.z, block.x, block.y,
                             block.z, (unsigned)smem_bytes, stream, args)
                       : cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                             (unsigned)smem_bytes, stream, args, NULL);
    return code == CUDA_ERROR_INVALID_VALUE ? rt_code(cudaErrorInvalidConfiguration) : code;
}

static CUlaunchConfig config_of(const cudaLaunchConfig_t *c, CUlaunchAttribute *attrs)
{
    _Static_assert(sizeof(*c->attrs) == sizeof(*attrs), "one layout for both");
    for (unsigned i = 0; i < c->numAttrs; i++)
        memcpy(&attrs[i], &c->attrs[i], sizeof(*attrs));
    return (CUlaunchConfig){
        .gridDimX = c->gridDim.x,
        .gridDimY = c->gridDim.y,
        .gridDimZ = c->gridDim.z,
        .blockDimX = c->blockDim.x,
        .blockDimY = c->blockDim.y,
        .blockDimZ = c->blockDim.z,
        .sharedMemBytes = (unsigned)c->dynamicSmemBytes,
        .hStream = c->stream,
        .attrs = attrs,
        .numAttrs = c->numAttrs,
    };
}

enum { MOST_ATTRS = 16 };

CUresult rt_launch_config(const cudaLaunchConfig_t *c, const void *host, void **args)
{
    CUlaunchAttribute attrs[MOST_ATTRS];
    CUlaunchConfig config;
    CUfunction f;
    CUresult code;

    if (c == NULL || c->numAttrs > MOST_ATTRS)
        return CUDA_ERROR_INVALID_VALUE;
    config = config_of(c, attrs);
    code = rt_function(host, &f);
    if (code == CUDA_SUCCESS)
        code = cuLaunchKernelEx(&config, f, args, NULL);
    return code == CUDA_ERROR_INVALID_VALUE ? rt_code(cudaErrorInvalidConfiguration) : code;
}

static int of(CUfunction f, CUfunction_attribute which)
{
    int value = 0;

    cuFuncGetAttribute(&value, which, f);
    return value;
}

CUresult rt_function_facts(struct cudaFuncAttributes *facts, const void *host)
{
    CUfunction f;
    const CUresult code = rt_function(host, &f);

    if (code != CUDA_SUCCESS || facts == NULL)
        return code != CUDA_SUCCESS ? code : CUDA_ERROR_INVALID_VALUE;
    *facts = (struct cudaFuncAttributes){
        .sharedSizeBytes = (size_t)of(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .constSizeBytes = (size_t)of(f, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
        .localSizeBytes = (size_t)of(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .maxThreadsPerBlock = of(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .numRegs = of(f, CU_FUNC_ATTRIBUTE_NUM_REGS),
        .ptxVersion = of(f, CU_FUNC_ATTRIBUTE_PTX_VERSION),
        .binaryVersion = of(f, CU_FUNC_ATTRIBUTE_BINARY_VERSION),
        .maxDynamicSharedSizeBytes = of(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        .preferredShmemCarveout = of(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT),
        .requiredClusterWidth = of(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
        .requiredClusterHeight = of(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
        .requiredClusterDepth = of(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH),
        .nonPortableClusterSizeAllowed = of(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED),
    };
    return CUDA_SUCCESS;
}

/* The numbers of cudaFuncAttribute are the driver's. */
CUresult rt_set_function(const void *host, enum cudaFuncAttribute which, int value)
{
    CUfunction f;
    const CUresult code = rt_function(host, &f);

    return code != CUDA_SUCCESS ? code : cuFuncSetAttribute(f, (CUfunction_attribute)which, value);
}

CUresult rt_function_name(const char **name, const void *host)
{
    CUfunction f;
    const CUresult code = rt_function(host, &f);

    return code != CUDA_SUCCESS ? code : cuFuncGetName(name, f);
}

CUresult rt_param_info(const void *host, size_t i, size_t *offset, size_t *bytes)
{
    CUfunction f;
    const CUresult code = rt_function(host, &f);

    return code != CUDA_SUCCESS ? code : cuFuncGetParamInfo(f, i, offset, bytes);
}

CUresult rt_resident_blocks(
    int *nr, const void *host, int threads, size_t smem_bytes, unsigned flags)
{
    CUfunction f;
    const CUresult code = rt_function(host, &f);

    return code != CUDA_SUCCESS ? code
                                : cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                                      nr, f, threads, smem_bytes, flags);
}

/* The most dynamic shared memory with which so many blocks are resident, in steps of its unit. */
CUresult rt_spare_smem(size_t *bytes, const void *host, int nr_blocks, int threads)
{
    enum { UNIT = 128 };
    CUfunction f;
    CUresult code = rt_function(host, &f);
    int resident = 0;

    if (code != CUDA_SUCCESS || bytes == NULL)
        return code != CUDA_SUCCESS ? code : CUDA_ERROR_INVALID_VALUE;
    *bytes = (size_t)of(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) / UNIT * UNIT;
    do {
        code = cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, f, threads, *bytes);
        if (code != CUDA_SUCCESS || resident >= nr_blocks || *bytes < UNIT)
            break;
        *bytes -= UNIT;
    } while (true);
    return code;
}

CUresult rt_largest_cluster(int *blocks, const void *host, const cudaLaunchConfig_t *config)
{
    CUfunction f;
    const CUresult code = rt_function(host, &f);

    if (code == CUDA_SUCCESS)
        *blocks = of(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) ? 16 : 8;
    return code;
}

/* As many as the SMs hold blocks for, if no SM's place is left over. */
CUresult rt_resident_clusters(int *nr, const void *host, const cudaLaunchConfig_t *c)
{
    unsigned blocks = 1;
    int per_sm, sms;
    CUfunction f;
    CUresult code = rt_function(host, &f);

    if (code != CUDA_SUCCESS || c == NULL)
        return code != CUDA_SUCCESS ? code : CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
            blocks = c->attrs[i].val.clusterDim.x * c->attrs[i].val.clusterDim.y *
                     c->attrs[i].val.clusterDim.z;
    code = cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_sm, f, (int)(c->blockDim.x * c->blockDim.y * c->blockDim.z), c->dynamicSmemBytes);
    if (code == CUDA_SUCCESS)
        code = cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, rt_device());
    if (code == CUDA_SUCCESS)
        *nr = blocks > 0 ? per_sm * sms / (int)blocks : 0;
    return code;
}
