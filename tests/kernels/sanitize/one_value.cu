#pragma keet size  N = 256
#pragma keet in    x : f32[N]
#pragma keet out   y : f32[N]
#pragma keet launch k<<<1, 256>>>(x, y)
__global__ void k(const float *x, float *y)
{
    __shared__ int n;
    n = (int)x[0] + 3;
    __syncthreads();
    y[threadIdx.x] = n * x[threadIdx.x];
}
