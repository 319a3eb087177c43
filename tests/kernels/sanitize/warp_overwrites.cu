#pragma keet size n = 1024
#pragma keet in x : f32[n]
#pragma keet out y : f32[n]
#pragma keet launch k<<<n / 32, 32>>>(x, y)
__global__ void k(const float *x, float *y)
{
    __shared__ float t[32];
    int i = threadIdx.x;
    t[i] = x[blockIdx.x * 32 + i];
    __syncwarp();
    float v = t[0];
    if (i == 0)
        t[0] = v + 1;
    __syncwarp();
    y[blockIdx.x * 32 + i] = v + t[i];
}
