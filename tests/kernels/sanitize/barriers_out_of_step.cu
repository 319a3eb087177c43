#pragma keet size n = 1024
#pragma keet in x : f32[n]
#pragma keet out y : f32[n]
#pragma keet launch k<<<n / 256, 256>>>(x, y)
__global__ void k(const float *x, float *y)
{
    __shared__ float t[256];
    int i = threadIdx.x;
    t[i] = x[blockIdx.x * 256 + i];
    if (i < 128)
        __syncthreads();
    t[i] += 1;
    __syncthreads();
    y[blockIdx.x * 256 + i] = t[255 - i] * 2;
}
