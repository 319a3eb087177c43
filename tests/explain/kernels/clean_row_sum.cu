// A warp per row, 16 bytes per lane, shuffles at the end.
#pragma keet size   R = 16896, C = 1024
#pragma keet check  R = 64, C = 128
#pragma keet in     X : f32[R][4*C] = uniform(-1, 1)
#pragma keet out    Y : f32[R]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet work   flops = 4*R*C, bytes = 16*R*C
#pragma keet launch rows<<<ceil_div(R, 8), 256>>>(X, Y, R, C)

__global__ void rows(const float4 *__restrict__ X, float *__restrict__ Y, int r, int c)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= r)
        return;
    float sum = 0;
#pragma unroll 8
    for (int k = threadIdx.x % 32; k < c; k += 32) {
        float4 v = X[(long)row * c + k];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        Y[row] = sum;
}
