// A block per piece of the vector, shuffles, one barrier.
#pragma keet size   N = 8448
#pragma keet check  N = 4
#pragma keet in     X : f32[N][8192] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet work   flops = 8192*N, bytes = 32768*N
#pragma keet launch sums<<<N, 256>>>(X, Y)

__global__ void sums(const float4 *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float part[8];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float4 v = X[blockIdx.x * 2048L + k * 256 + threadIdx.x];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            sum += part[k];
        Y[blockIdx.x] = sum;
    }
}
