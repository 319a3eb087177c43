// What nvcc gives without a word: std::exp, 64-bit integers that are `unsigned long`, the system's name;
// and a header of thrust's that names the host's own complex numbers and streams.
#include <cstdint>
#include <cstdio>
#include <thrust/complex.h>

#if !defined(__linux__) && !defined(_WIN32)
#error "which system is this?"
#endif

__device__ float uniform(unsigned long *state)
{
    *state = *state * 2862933555777941757ul + 3037000493ul;
    return (float)(*state >> 40) / (float)(1 << 24);
}

__global__ void phases(const float *decay, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        uint64_t state = (uint64_t)i + 1;
        const thrust::complex<float> z(std::exp(-decay[i] * decay[i]), uniform(&state));

        out[i] = (z * thrust::conj(z)).real() + std::sqrt(std::abs(z.imag()));
    }
}

int main()
{
    const int n = 2000;
    float *decay, *out;

    cudaMalloc(&decay, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(decay, 0, n * sizeof(float));
    phases<<<(n + 127) / 128, 128>>>(decay, out, n);
    cudaDeviceSynchronize();
    cudaFree(decay);
    cudaFree(out);
    return 0;
}
