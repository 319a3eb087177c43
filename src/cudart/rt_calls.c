/* Owns the entry points: each row of rt_calls.def as a function. */
#include "cudart/rt.h"

/* A function that answers once the thread has a context. */
#define CALL(name, params, answer)                                                                 \
    cudaError_t CUDARTAPI name params;                                                             \
    cudaError_t CUDARTAPI name params                                                              \
    {                                                                                              \
        CUresult code = rt_ready();                                                                \
                                                                                                   \
        if (code == CUDA_SUCCESS)                                                                  \
            code = answer;                                                                         \
        return rt_done(code);                                                                      \
    }
/* The same, and under the name that programs with a default stream for each thread call. Work is
 * done when it is submitted, so that both do the same. */
#define CALL_PTSZ(name, params, answer) CALL(name, params, answer) CALL(name##_ptsz, params, answer)
#define CALL_PTDS(name, params, answer) CALL(name, params, answer) CALL(name##_ptds, params, answer)

/* Some answers are two calls. */
static CUresult store_int(int *to, int value)
{
    if (to == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *to = value;
    return CUDA_SUCCESS;
}

#include "cudart/rt_calls.def"
