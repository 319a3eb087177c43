// In order: whole warps return before a barrier, and the others go on.
#pragma keet size n = 1024
#pragma keet in x : f32[n]
#pragma keet out y : f32[n / 2]
#pragma keet launch k<<<n / 256, 256>>>(x, y)
__global__ void k(const float *x, float *y)
{
    __shared__ float t[256];
    int i = threadIdx.x;
    t[i] = x[blockIdx.x * 256 + i];
    __syncthreads();
    if (i >= 128)
        return;
    float v = t[i] + t[i + 128];
    __syncthreads();
    t[i] = v;
    __syncthreads();
    y[blockIdx.x * 128 + i] = t[127 - i];
}
