// Softmax of rows of 1024, one warp per row, the row in registers.
#pragma keet size   N = 32768
#pragma keet check  N = 24
#pragma keet in     X : f32[N][1024] = normal(0, 1)
#pragma keet out    Y : f32[N][1024]
#pragma keet tolerance rel = 1e-4, abs = 1e-6
#pragma keet work   flops = 5*1024*N, bytes = 8*1024*N
#pragma keet launch softmax<<<N/4, 128>>>(X, Y)

__global__ void softmax(const float4 *__restrict__ X, float4 *__restrict__ Y)
{
    int lane = threadIdx.x % 32;
    size_t at = (blockIdx.x * 4 + threadIdx.x / 32) * (size_t)256 + lane;
    float4 v[8];
    float top = -1e30f, sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = X[at + k * 32];
#pragma unroll
    for (int k = 0; k < 8; k++)
        top = fmaxf(top, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
#pragma unroll
    for (int d = 16; d; d /= 2)
        top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
#pragma unroll
    for (int k = 0; k < 8; k++) {
        v[k] = make_float4(__expf(v[k].x - top), __expf(v[k].y - top), __expf(v[k].z - top), __expf(v[k].w - top));
        sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
#pragma unroll
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    float scale = 1 / sum;
#pragma unroll
    for (int k = 0; k < 8; k++)
        Y[at + k * 32] = make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale);
}
