// Branches of #if that open the same brace, headers of other systems, conditions that only name these, types of libraries, a value
// that ends in a name that the device uses.
#if defined(WIN32) || defined(_WIN32)
#include "windows_only.cuh" /* not there, nor wanted */
#elif defined(__APPLE__)
#include "swallowed.cuh"
#else
#include <unistd.h>
#endif
#if defined(USE_ROCM) || defined(__CUDACC__)
#ifdef __CUDACC__ // not only under WIN32
#include "other_sign.cuh"
#endif
#endif
#include <cstdio>
#include <cufft.h>

const float gain = 0.5f;
static float steps[2] = {1.0f, 2.0f}, host_only = steps[0], last = gain;

#ifdef USE_DOUBLES
template <int N> __device__ double total(const double *x) {
#else
template <int N> __device__ float total(const float *x) {
#endif
    auto sum = x[0];
    for (int i = 1; i < N; i++)
        sum += x[i];
    return sum;
}

__global__ void conjugate(const cufftComplex *in, cufftComplex *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        float parts[2] = {in[i].x, in[i].y};

        out[i].x = total<2>(parts) * gain;
        out[i].y = other_sign(in[i].y);
    }
}

static void report(cudaError_t status)
{
#ifdef QUIET
    if (status != cudaSuccess) {
#else
    {
        printf("%g %g\n", host_only, last);
#endif
        printf("%d\n", (int)status);
    }
}

int main()
{
    const int n = 640;
    cufftComplex *in, *out;

    cudaMalloc(&in, n * sizeof(cufftComplex));
    cudaMalloc(&out, n * sizeof(cufftComplex));
    conjugate<<<(n + 127) / 128, 128>>>(in, out, n);
    report(cudaDeviceSynchronize());
    return 0;
}
