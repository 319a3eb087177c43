// The energy of each seismic trace, above its mean.
#pragma keet size   N = 4096, S = 2048
#pragma keet check  N = 64, S = 256
#pragma keet in     X : f32[N][S] = uniform(-1, 1)
#pragma keet out    E : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet launch energy<<<N/8, 256>>>(X, E, S)

__global__ void energy(const float *__restrict__ X, float *__restrict__ E, int s)
{
    int lane = threadIdx.x % 32, trace = blockIdx.x * 8 + threadIdx.x / 32;
    const float4 *x = reinterpret_cast<const float4 *>(X + (long)trace * s);
    float sum = 0, squares = 0;
#pragma unroll 4
    for (int k = lane; k < s / 4; k += 32) {
        float4 v = x[k];
        sum += v.x + v.y + v.z + v.w;
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(~0u, sum, d);
        squares += __shfl_xor_sync(~0u, squares, d);
    }
    if (lane == 0)
        E[trace] = squares - sum * sum / s;
}
