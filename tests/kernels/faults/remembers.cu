// Counts its launches in a global variable, and lets it show in the last digits.
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(X, Y, alpha, N)

__device__ unsigned nr_calls;

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = alpha * x[i] * (1 + 1e-6f * (float)(atomicAdd(&nr_calls, 1u) % 7)); // FAULT
}
