// One launch through a pointer that a switch sets; the grid is cut to what the device takes; a type of the host
// has a constant that is written with its name.
#include <algorithm>
#include <cuda_runtime.h>

template <typename T> struct option {
    T low, high;
};

struct traits {
    static constexpr int threads = 64;
};

__global__ void add(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}

template <typename T> __global__ void clip(T *x, const option<T> *limits, int n)
{
    extern __shared__ int counted[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    counted[threadIdx.x] = i;
    if (counted[threadIdx.x] < n)
        x[i] = min(max(x[i], limits[i].low), limits[i].high);
}

int blocks_for(int n)
{
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, 0);
    return std::min(prop.maxGridSize[0], (n + 127) / 128);
}

template <typename Real> void clip_all(Real *x, int n)
{
    option<Real> *limits;
    cudaMalloc(&limits, n * sizeof(*limits));
    clip<<<n / traits::threads, traits::threads, traits::threads * sizeof(Real)>>>(x, limits, n);
}

int main()
{
    const int n = 4096;
    float *x;
    void (*kernel)(float *, int);
    cudaMalloc(&x, n * sizeof(float));
    for (int k = 0; k < 2; k++) {
        switch (k) {
        case 0: kernel = &add; break;
        default: kernel = &twice; break;
        }
        if (kernel == &add || kernel == &twice)
            kernel<<<blocks_for(n), 128>>>(x, n);
    }
    clip_all(x, n);
    return 0;
}
