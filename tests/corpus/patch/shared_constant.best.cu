


constexpr int TILE = 64;

__global__ void copy(float *y, const float *x, int n)
{
    __shared__ float tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < n) {
        tile[threadIdx.x] = x[i];
        y[i] = tile[threadIdx.x];
    }
}

#pragma keet size   n = 4096
#pragma keet out    y : f32[n]
#pragma keet in     x : f32[n]
#pragma keet launch copy<<<(n+63)/64, 64>>>(y, x, n)
