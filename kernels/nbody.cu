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
#pragma keet launch nbody<<<ceil_div(N, BLOCK), BLOCK>>>(PX, PY, PZ, MASS, AX, AY, AZ, N)

__global__ void nbody(const float *px, const float *py, const float *pz, const float *mass,
    float *ax, float *ay, float *az, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sx = 0, sy = 0, sz = 0;
        for (int j = 0; j < n; j++) {
            float dx = px[j] - px[i];
            float dy = py[j] - py[i];
            float dz = pz[j] - pz[i];
            float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
            float inv = 1.0f / sqrtf(d2);
            float f = mass[j] * inv * inv * inv;
            sx += f * dx;
            sy += f * dy;
            sz += f * dz;
        }
        ax[i] = sx;
        ay[i] = sy;
        az[i] = sz;
    }
}
