// A block per row, and there are twenty rows.
#pragma keet size   R = 20, C = 65536
#pragma keet check  R = 3, C = 1024
#pragma keet in     X : f32[R][4*C] = uniform(-1, 1)
#pragma keet out    Y : f32[R]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet work   flops = 4*R*C, bytes = 16*R*C
#pragma keet launch rows<<<R, 512>>>(X, Y, C)

__global__ void rows(const float *__restrict__ X, float *__restrict__ Y, int c)
{
    __shared__ float part[16];
    const float4 *row = reinterpret_cast<const float4 *>(X) + (long)blockIdx.x * c;
    float sum = 0;
#pragma unroll 4
    for (int k = threadIdx.x; k < c; k += 512) {
        float4 v = row[k];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 16; k++)
            sum += part[k];
        Y[blockIdx.x] = sum;
    }
}
