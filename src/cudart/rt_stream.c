/* Owns what streams, events and entry points need beyond the driver's functions. */
#include "cudart/rt.h"

#include "base/mem.h"

#include <stdlib.h>

struct stream_call {
    cudaStreamCallback_t callback;
    void *data;
};

static void CUDA_CB call_back(CUstream stream, CUresult status, void *data)
{
    struct stream_call *call = data;

    call->callback(stream, (cudaError_t)status, call->data);
    free(call);
}

CUresult rt_add_callback(CUstream stream, cudaStreamCallback_t callback, void *data)
{
    struct stream_call *call;
    CUresult code;

    if (callback == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    call = xmalloc(sizeof(*call));
    *call = (struct stream_call){callback, data};
    code = cuStreamAddCallback(stream, call_back, call, 0);
    if (code != CUDA_SUCCESS)
        free(call);
    return code;
}

CUresult rt_entry_point(const char *name, void **address, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found;
    const CUresult code = cuGetProcAddress_v2(name, address, CUDA_VERSION, flags, &found);

    if (status != NULL)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    return code == CUDA_ERROR_NOT_FOUND && status != NULL ? CUDA_SUCCESS : code;
}
