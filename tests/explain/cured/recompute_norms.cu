// A block computes the norms once, in shared memory.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet in     P : f32[64][2] = uniform(1, 2)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 512*N, bytes = 8*N
#pragma keet launch nearest<<<ceil_div(N, 256), 256>>>(X, P, Y, N)

__global__ void nearest(const float *__restrict__ X, const float *__restrict__ P, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float norm[64];
    if (threadIdx.x < 64)
        norm[threadIdx.x] = sqrtf(P[2 * threadIdx.x] * P[2 * threadIdx.x] + P[2 * threadIdx.x + 1] * P[2 * threadIdx.x + 1]);
    __syncthreads();
    if (i >= n)
        return;
    float x = X[i], best = 1e30f;
#pragma unroll 4
    for (int k = 0; k < 64; k++)
        best = fminf(best, fabsf(x - norm[k]));
    Y[i] = best;
}
