#pragma keet size   N = 64
#pragma keet in     X : f32[N] = uniform(-9e34, 9e34)
#pragma keet out    Y : f32[N]
#pragma keet launch k<<<1, 64>>>(X, Y, N)
__global__ void k(const float *x, float *y, int n) { y[threadIdx.x] = x[threadIdx.x]; }
