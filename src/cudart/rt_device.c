/* Owns the thread's device and what is said of devices. */
#include "cudart/rt.h"

#include <pthread.h>
#include <string.h>

enum { MOST_DEVICES = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primaries[MOST_DEVICES];
static __thread int current;

int rt_device(void)
{
    CUdevice device;

    return cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : current;
}

static CUresult primary_of(int device, CUcontext *ctx)
{
    CUresult code = CUDA_SUCCESS;

    pthread_mutex_lock(&lock);
    if (primaries[device] == NULL)
        code = cuDevicePrimaryCtxRetain(&primaries[device], device);
    *ctx = primaries[device];
    pthread_mutex_unlock(&lock);
    return code;
}

/* A context that the program made current itself is as good as the device's own. */
CUresult rt_ready(void)
{
    CUcontext ctx = NULL;
    CUresult code = cuCtxGetCurrent(&ctx);

    if (code == CUDA_ERROR_NOT_INITIALIZED && (code = cuInit(0)) == CUDA_SUCCESS)
        code = cuCtxGetCurrent(&ctx);
    if (code == CUDA_SUCCESS && ctx == NULL && (code = primary_of(current, &ctx)) == CUDA_SUCCESS)
        code = cuCtxSetCurrent(ctx);
    return code;
}

CUresult rt_set_device(int device)
{
    CUcontext ctx;
    int nr;
    CUresult code = cuDeviceGetCount(&nr);

    if (code == CUDA_SUCCESS && (device < 0 || device >= nr || device >= MOST_DEVICES))
        return CUDA_ERROR_INVALID_DEVICE;
    if (code == CUDA_SUCCESS)
        code = primary_of(device, &ctx);
    if (code == CUDA_SUCCESS)
        code = cuCtxSetCurrent(ctx);
    if (code == CUDA_SUCCESS)
        current = device;
    return code;
}

CUresult rt_reset_device(void)
{
    const int device = rt_device();

    rt_forget_modules(device);
    return cuDevicePrimaryCtxReset(device);
}

CUresult rt_device_flags(unsigned *flags)
{
    int active;

    return cuDevicePrimaryCtxGetState(rt_device(), flags, &active);
}

static int of(CUdevice_attribute which, int device)
{
    int value = 0;

    cuDeviceGetAttribute(&value, which, device);
    return value;
}

CUresult rt_properties(struct cudaDeviceProp *p, int device)
{
    CUresult code;

    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memset(p, 0, sizeof(*p));
    code = cuDeviceGetName(p->name, sizeof(p->name), device);
    if (code != CUDA_SUCCESS)
        return code;
    cuDeviceGetUuid((CUuuid *)&p->uuid, device);
    cuDeviceTotalMem(&p->totalGlobalMem, device);
#define SIZE(field, which) p->field = (size_t)of(CU_DEVICE_ATTRIBUTE_##which, device);
#define NUMBER(field, which) p->field = of(CU_DEVICE_ATTRIBUTE_##which, device);
#include "cudart/rt_properties.def"
#undef SIZE
#undef NUMBER
    return CUDA_SUCCESS;
}
