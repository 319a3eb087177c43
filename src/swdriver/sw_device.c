/* Owns what the software driver says of itself and of its device: version, names, attributes, error
 * texts, and which function has which address. */
#include "swdriver/sw_state.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *keet_software_driver(void);
const char *keet_software_driver(void)
{
    return KEET_VERSION;
}

CUresult CUDAAPI cuDriverGetVersion(int *version)
{
    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
        "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE",
        "the operation cannot be performed in the present state"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
        "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        "too many resources requested for launch"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
        "operation not permitted when stream is capturing"},
    {CUDA_ERROR_INVALID_CLUSTER_SIZE, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "invalid cluster size"},
    {CUDA_ERROR_UNSUPPORTED_LIMIT, "CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static CUresult find_text(CUresult code, const char **text, bool name)
{
    *text = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
        if (errors[i].code == code)
            *text = name ? errors[i].name : errors[i].text;
    return *text != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuGetErrorName(CUresult code, const char **name)
{
    return find_text(code, name, true);
}

CUresult CUDAAPI cuGetErrorString(CUresult code, const char **text)
{
    return find_text(code, text, false);
}

CUresult CUDAAPI cuDeviceGetCount(int *count)
{
    const CUresult code = sw_begin_any();

    if (code == CUDA_SUCCESS)
        *count = (int)sw_nr_devices();
    return sw_end(code);
}

unsigned sw_nr_devices(void)
{
    const char *text = getenv("KEET_CUDA_DEVICES");
    const unsigned long nr = text != NULL ? strtoul(text, NULL, 10) : 1;

    return nr < 1 ? 1 : nr > SW_MOST_DEVICES ? SW_MOST_DEVICES : (unsigned)nr;
}

bool sw_is_device(CUdevice dev)
{
    return dev >= 0 && (unsigned)dev < sw_nr_devices();
}

static CUresult begin_device(CUdevice dev)
{
    const CUresult code = sw_begin_any();

    return code != CUDA_SUCCESS ? code
           : sw_is_device(dev)  ? CUDA_SUCCESS
                                : CUDA_ERROR_INVALID_DEVICE;
}

CUresult CUDAAPI cuDeviceGet(CUdevice *dev, int ordinal)
{
    const CUresult code = begin_device(ordinal);

    if (code == CUDA_SUCCESS)
        *dev = ordinal;
    return sw_end(code);
}

CUresult CUDAAPI cuDeviceGetName(char *name, int bytes, CUdevice dev)
{
    const CUresult code = begin_device(dev);

    if (code == CUDA_SUCCESS && bytes > 0)
        snprintf(name, (size_t)bytes, "NVIDIA H100 (software)");
    return sw_end(code);
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    const CUresult code = begin_device(dev);

    if (code == CUDA_SUCCESS)
        memcpy(uuid->bytes, "keet-opt emulat", sizeof(uuid->bytes));
    if (code == CUDA_SUCCESS)
        uuid->bytes[sizeof(uuid->bytes) - 1] = (char)('e' + dev);
    return sw_end(code);
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char *id, int bytes, CUdevice dev)
{
    const CUresult code = begin_device(dev);

    if (code == CUDA_SUCCESS)
        snprintf(id, (size_t)bytes, "0000:%02x:00.0", (unsigned)dev);
    return sw_end(code);
}

CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
    const CUresult code = begin_device(dev);

    if (code == CUDA_SUCCESS)
        *bytes = sw_chip()->dram_bytes;
    return sw_end(code);
}

CUresult CUDAAPI cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    const CUresult code = begin_device(dev);

    if (code == CUDA_SUCCESS) {
        *major = 9;
        *minor = 0;
    }
    return sw_end(code);
}

/* What the CUDA programming guide says of compute capability 9.0, and what the driver can. An
 * attribute that does not stand here is 0, which means "not supported" for most attributes. */
static int fixed_attribute(CUdevice_attribute which)
{
    static const struct {
        CUdevice_attribute which;
        int value;
    } fixed[] = {
        {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
        {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
        {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
        {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
        {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
        {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
        {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
        {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
        {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
        {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
    };

    for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
        if (fixed[i].which == which)
            return fixed[i].value;
    return 0;
}

/* Figures of the chip's profile; what is the same for all. */
static int attribute(CUdevice_attribute which, CUdevice dev)
{
    const struct chip *chip = sw_chip();

    switch (which) {
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        return dev;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        return (int)chip->max_threads_per_block;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
        return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
        return INT32_MAX;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
        return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        return (int)chip->smem_per_block_static_max_bytes;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return (int)chip->smem_per_block_max_bytes;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return (int)chip->smem_per_sm_bytes;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
        return (int)chip->smem_reserved_bytes;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
        return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
        return INT32_MAX;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
        return (int)chip->registers_per_sm;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        return (int)(chip->clock_hz / 1e3);
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return (int)chip->nr_sms;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        return 5120;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        return (int)(chip->dram_bytes_per_s / 2 / (5120 / 8) / 1e3);
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        return (int)chip->l2_bytes;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        return (int)chip->max_warps_per_sm * 32;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
        return (int)chip->max_blocks_per_sm;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return 9;
    default:
        return fixed_attribute(which);
    }
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice dev)
{
    CUresult code = begin_device(dev);

    if (code == CUDA_SUCCESS && (value == NULL || which <= 0 || which >= CU_DEVICE_ATTRIBUTE_MAX))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *value = attribute(which, dev);
    return sw_end(code);
}

/* No device is the peer of another. */
CUresult CUDAAPI cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
    CUresult code = begin_device(dev);

    if (code == CUDA_SUCCESS && (can == NULL || !sw_is_device(peer)))
        code = can == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
    if (code == CUDA_SUCCESS)
        *can = 0;
    return sw_end(code);
}

CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice *dev, const char *id)
{
    CUresult code = sw_begin_any();
    unsigned bus = 0;

    if (code == CUDA_SUCCESS && (dev == NULL || id == NULL))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && (sscanf(id, "0000:%x:00.0", &bus) != 1 || bus >= sw_nr_devices()))
        code = CUDA_ERROR_INVALID_DEVICE;
    if (code == CUDA_SUCCESS)
        *dev = (CUdevice)bus;
    return sw_end(code);
}

/* cudaProfiler.h declares these two; NVIDIA's wheels of the compiler do not hold that header. */
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

/* There is no profiler to start and stop, which is no error on a card either. */
CUresult CUDAAPI cuProfilerStart(void)
{
    CUcontext ctx;

    return sw_end(sw_begin(&ctx));
}

CUresult CUDAAPI cuProfilerStop(void)
{
    CUcontext ctx;

    return sw_end(sw_begin(&ctx));
}

/* A name without a version means the newest function that the asker's version of CUDA knew. Of the
 * functions that changed after CUDA 11, both are here. */
static const char *symbol_of(const char *name, int version, char *text, size_t bytes)
{
    if (strcmp(name, "cuGraphInstantiate") == 0)
        return "cuGraphInstantiateWithFlags";
    if (strcmp(name, "cuCtxCreate") == 0)
        return version >= 13000 ? "cuCtxCreate_v4" : "cuCtxCreate_v2";
    snprintf(text, bytes, "%s_v2", name);
    return text;
}

CUresult CUDAAPI cuGetProcAddress(const char *name, void **address, int version, cuuint64_t flags,
    CUdriverProcAddressQueryResult *status)
{
    char text[128];
    Dl_info self;
    void *handle;

    if (name == NULL || address == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *address = NULL;
    if (status != NULL)
        *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (dladdr(errors, &self) == 0)
        return CUDA_ERROR_UNKNOWN;
    handle = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (handle == NULL || strncmp(name, "cu", 2) != 0)
        return CUDA_ERROR_NOT_FOUND;
    *address = dlsym(handle, symbol_of(name, version, text, sizeof(text)));
    if (*address == NULL)
        *address = dlsym(handle, name);
    dlclose(handle);
    if (*address == NULL)
        return CUDA_ERROR_NOT_FOUND;
    if (status != NULL)
        *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
}

#undef cuGetProcAddress
CUresult CUDAAPI cuGetProcAddress(const char *name, void **address, int version, cuuint64_t flags);
CUresult CUDAAPI cuGetProcAddress(const char *name, void **address, int version, cuuint64_t flags)
{
    return cuGetProcAddress_v2(name, address, version, flags, NULL);
}
