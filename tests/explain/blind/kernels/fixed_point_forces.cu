// Forces between all particles, summed in 64-bit fixed point, so that the sums do not depend on the order.
#pragma keet size   N = 67584
#pragma keet check  N = 512
#pragma keet in     P : f32[N][4] = uniform(-1, 1)
#pragma keet out    F : i64[3][N]
#pragma keet tolerance rel = 1e-3, abs = 1e7
#pragma keet work   flops = 20*N*256, bytes = 40*N
#pragma keet launch forces<<<ceil_div(N, 256), 256>>>(P, F, N)

__global__ void forces(const float4 *__restrict__ P, long long *__restrict__ F, int n)
{
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    __shared__ float4 other[256];
    float4 p = P[i];
    long long x = 0, y = 0, z = 0;
#pragma unroll 1
    for (int tile = 0; tile < 8; tile++) {
        __syncthreads();
        other[t] = P[(i + tile * 7919) % n];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 256; j++) {
            float4 q = other[j];
            float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
            float pull = q.w * fmaxf(1.0f - (dx * dx + dy * dy + dz * dz), 0.0f);
            x += (long long)(pull * dx * 16777216.0f);
            y += (long long)(pull * dy * 16777216.0f);
            z += (long long)(pull * dz * 16777216.0f);
        }
    }
    F[i] = x;
    F[n + i] = y;
    F[2 * n + i] = z;
}
