// Gravitational acceleration on each of N bodies by all others, softened. One body per thread.
#pragma keet size   N = 16384
#pragma keet check  N = 131
#pragma keet check  N = 64
#pragma keet in     PX : f32[N] = uniform(-1, 1)
#pragma keet in     PY : f32[N] = uniform(-1, 1)
#pragma keet in     PZ : f32[N] = uniform(-1, 1)
#pragma keet in     MASS : f32[N] = uniform(0.1, 1)
#pragma keet out    AX : f32[N]
#pragma keet out    AY : f32[N]
#pragma keet out    AZ : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet work   flops = 20*N*N, bytes = 28*N
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch nbody<<<ceil_div(32*N, BLOCK), BLOCK>>>(PX, PY, PZ, MASS, AX, AY, AZ, N)

__global__ void __launch_bounds__(BLOCK, 2) nbody(const float *__restrict__ px, const float *__restrict__ py, const float *__restrict__ pz, const float *__restrict__ mass,
    float *__restrict__ ax, float *__restrict__ ay, float *__restrict__ az, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (i < n) {
        float sx = 0, sy = 0, sz = 0;
        #pragma unroll 8
        for (int j = lane; j < n; j += 32) {
            float dx = px[j] - px[i];
            float dy = py[j] - py[i];
            float dz = pz[j] - pz[i];
            float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
            float inv = rsqrtf(d2);
            float f = mass[j] * inv * inv * inv;
            sx += f * dx;
            sy += f * dy;
            sz += f * dz;
        }
        for (int offset = 16; offset > 0; offset /= 2)
            sx += __shfl_xor_sync(0xffffffff, sx, offset);
        for (int offset = 16; offset > 0; offset /= 2)
            sy += __shfl_xor_sync(0xffffffff, sy, offset);
        for (int offset = 16; offset > 0; offset /= 2)
            sz += __shfl_xor_sync(0xffffffff, sz, offset);
        if (lane == 0)
            ax[i] = sx;
        if (lane == 0)
            ay[i] = sy;
        if (lane == 0)
            az[i] = sz;
    }
}
