// All-pairs gravity with tiles of bodies in shared memory.
#pragma keet size   N = 3072
#pragma keet in     P : f32[N][4]
#pragma keet out    A : f32[N][4]
#pragma keet launch nbody<<<N/128, 128>>>(P, A, N)

__global__ void nbody(const float4 *P, float4 *A, int n)
{
    __shared__ float4 tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 me = P[i];
    float ax = 0, ay = 0, az = 0;
    for (int t = 0; t < n; t += 128) {
        tile[threadIdx.x] = P[t + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            float4 o = tile[j];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-4f), f = o.w * r * r * r;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        __syncthreads();
    }
    A[i] = make_float4(ax, ay, az, 0);
}
