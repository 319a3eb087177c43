// A running value in shared memory, taken over by the neighbouring warp; the barrier is missing.
#pragma keet size   N = 65536
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet launch turn_round<<<N / 256, 256>>>(X, Y)

__global__ void turn_round(const float *X, float *Y)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    tile[t] = X[blockIdx.x * 256 + t];
    Y[blockIdx.x * 256 + t] = tile[255 - t];
}
