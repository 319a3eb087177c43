// A type that kernels share a name with has a constructor with directives before its body; an enum's
// value comes to the launch through macros.
#include <cuda_runtime.h>
#include <pthread.h>

class mutex {
public:
    mutex()
#ifdef _WIN32
        : owner(0)
#endif
    {
        pthread_mutex_init(&handle, NULL);
    }
    int owner;
private:
#ifndef __CUDACC_RTC__
    long handle;
#endif
};

enum class kind { plain, twice };

template <kind KIND> __global__ void mix(float *x, int n)
{
    __shared__ int mutex;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) mutex = 2;
    __syncthreads();
    if (i < n) x[i] *= KIND == kind::twice ? mutex : 1;
}

#define LAUNCH(KIND) mix<KIND><<<(n + 63) / 64, 64>>>(x, n)
#define LAUNCH_ONE(WHICH) \
    switch (WHICH) { \
    case kind::plain: { LAUNCH(kind::plain); break; } \
    default: { LAUNCH(kind::twice); } \
    }

int main()
{
    const int n = 1024;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    kind which = kind::twice;
    LAUNCH_ONE(which)
    return 0;
}
