#pragma keet size n = 1024
#pragma keet in x : f32[n]
#pragma keet out y : f32[n]
#pragma keet launch k<<<n / 512, 256>>>(x, y)
__global__ void k(const float *x, float *y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = x[i] * 2;
}
