// Bytes to single precision with a scale for each block of 4096.
#pragma keet size   N = 16777216
#pragma keet check  N = 8192
#pragma keet in     Q : u8[N] = integers(0, 255)
#pragma keet in     S : f32[N/4096] = uniform(0, 0.1)
#pragma keet out    W : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 5*N
#pragma keet launch weights<<<N/4096, 256>>>(Q, S, W)

__global__ void weights(const unsigned *__restrict__ Q, const float *__restrict__ S, float4 *__restrict__ W)
{
    int first = blockIdx.x * 1024 + threadIdx.x;
    float scale = S[blockIdx.x];
    unsigned q[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        q[k] = Q[first + k * 256];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float4 w = {(float)(q[k] & 255), (float)(q[k] >> 8 & 255), (float)(q[k] >> 16 & 255), (float)(q[k] >> 24)};
        W[first + k * 256] = make_float4(scale * (w.x - 128), scale * (w.y - 128), scale * (w.z - 128), scale * (w.w - 128));
    }
}
