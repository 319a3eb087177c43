/* Owns errors: the runtime's names and texts for them, and the last one of each thread. */
#include "cudart/rt.h"

static __thread cudaError_t last;

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
#define ERROR(name, text) {name, #name, text},
#include "cudart/rt_errors.def"
#undef ERROR
};

/* The codes of the runtime are the driver's, as far as the driver has them. */
CUresult rt_code(enum cudaError error)
{
    return (CUresult)error;
}

cudaError_t rt_done(CUresult code)
{
    const cudaError_t error = (cudaError_t)code;

    if (error != cudaSuccess && error != cudaErrorNotReady)
        last = error;
    return error;
}

/* A kernel's fault is found by the next call, also by this one. */
cudaError_t rt_last_error(bool forget)
{
    const cudaError_t error = last;

    if (forget)
        last = cudaSuccess;
    return error;
}

static const char *find(int code, bool name)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
        if (errors[i].code == code)
            return name ? errors[i].name : errors[i].text;
    return "unrecognized error code";
}

const char *CUDARTAPI cudaGetErrorName(cudaError_t error)
{
    return find((int)error, true);
}

const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
    return find((int)error, false);
}

cudaError_t CUDARTAPI cudaGetLastError(void)
{
    return rt_last_error(true);
}

cudaError_t CUDARTAPI cudaPeekAtLastError(void)
{
    return rt_last_error(false);
}
