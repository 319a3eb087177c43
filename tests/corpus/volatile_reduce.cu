// A reduction by one warp on volatile shared memory; dynamic shared memory in bytes.
#include <cuda_runtime.h>

__device__ void finish(volatile float *s, int t)
{
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}

__global__ void reduce(const float *__restrict__ in, float *__restrict__ out)
{
    extern __shared__ float s[];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 32; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) {
        float sum = 0;
        for (int i = 0; i < 64; i++)
            sum += s[i];
        out[blockIdx.x] = sum;
    }
}

int main()
{
    const int blocks = 20, threads = 128;
    float *d_in, *d_out;
    cudaMalloc(&d_in, blocks * threads * sizeof(float));
    cudaMalloc(&d_out, blocks * sizeof(float));
    reduce<<<blocks, threads, threads * sizeof(float)>>>(d_in, d_out);
}
