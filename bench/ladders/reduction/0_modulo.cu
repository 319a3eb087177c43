// Block sums, one element a thread; a thread works when its number is a multiple of the distance.
#pragma keet size   N = 33554432
#pragma keet check  N = 65536
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    SUMS : f32[N/256]
#pragma keet tolerance rel = 1e-4, abs = 1e-3
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch reduce<<<N/256, 256>>>(X, SUMS)

__global__ void reduce(const float *x, float *sums)
{
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = s[0];
}
