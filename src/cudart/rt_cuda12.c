/* Owns what programs of CUDA 12 call in another way than those of CUDA 13: functions with other
 * parameters, and the struct of device properties with other fields. The header of CUDA 13 is not
 * included, because it has other functions under these names. Layouts: cuda_runtime_api.h and
 * driver_types.h of CUDA 12.4. */
#if RT_VERSION == 12
#include <cuda.h>
#include <stddef.h>
#include <string.h>

CUresult rt_ready(void);
int rt_done(CUresult code);
CUresult rt_reset_device(void);

/* cudaDeviceProp: 1032 bytes. */
struct properties_12 {
    char name[256];
    CUuuid uuid;
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory;
    int computeMode, maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2];
    int maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3];
    int maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3];
    int maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
    int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
    int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
    int globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
    int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess;
    int concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem;
    int cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch;
    int unifiedFunctionPointers, reserved[63];
};
_Static_assert(sizeof(struct properties_12) == 1032, "the struct of CUDA 12");

static int of(CUdevice_attribute which, int device)
{
    int value = 0;

    cuDeviceGetAttribute(&value, which, device);
    return value;
}

static CUresult properties(struct properties_12 *p, int device)
{
    CUresult code;

    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memset(p, 0, sizeof(*p));
    code = cuDeviceGetName(p->name, sizeof(p->name), device);
    if (code != CUDA_SUCCESS)
        return code;
    cuDeviceGetUuid(&p->uuid, device);
    cuDeviceTotalMem(&p->totalGlobalMem, device);
#define SIZE(field, which) p->field = (size_t)of(CU_DEVICE_ATTRIBUTE_##which, device);
#define NUMBER(field, which) p->field = of(CU_DEVICE_ATTRIBUTE_##which, device);
#include "cudart/rt_properties.def"
    NUMBER(clockRate, CLOCK_RATE)
    NUMBER(memoryClockRate, MEMORY_CLOCK_RATE)
    NUMBER(deviceOverlap, GPU_OVERLAP)
#undef SIZE
#undef NUMBER
    return CUDA_SUCCESS;
}

#define CALL_12(name, params, answer)                                                              \
    int name params;                                                                               \
    int name params                                                                                \
    {                                                                                              \
        CUresult code = rt_ready();                                                                \
                                                                                                   \
        if (code == CUDA_SUCCESS)                                                                  \
            code = answer;                                                                         \
        return rt_done(code);                                                                      \
    }

struct location_12 {
    int type, id;
};

CALL_12(cudaGetDeviceProperties_v2, (void *to, int device), properties(to, device))
CALL_12(cudaThreadSynchronize, (void), cuCtxSynchronize())
CALL_12(cudaGraphAddDependencies,
    (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t nr),
    cuGraphAddDependencies(graph, from, to, NULL, nr))
CALL_12(cudaThreadExit, (void), rt_reset_device())
CALL_12(cudaMemAdvise_v2, (const void *address, size_t bytes, int advice, struct location_12 where),
    cuCtxSynchronize())
CALL_12(cudaMemPrefetchAsync, (const void *address, size_t bytes, int device, CUstream stream),
    cuStreamQuery(stream))
CALL_12(cudaMemPrefetchAsync_ptsz, (const void *address, size_t bytes, int device, CUstream stream),
    cuStreamQuery(stream))
CALL_12(cudaMemPrefetchAsync_v2,
    (const void *address, size_t bytes, struct location_12 where, unsigned flags, CUstream stream),
    cuStreamQuery(stream))
CALL_12(cudaMemPrefetchAsync_v2_ptsz,
    (const void *address, size_t bytes, struct location_12 where, unsigned flags, CUstream stream),
    cuStreamQuery(stream))
#endif
