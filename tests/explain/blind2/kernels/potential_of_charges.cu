// The potential of 64 charges at N places.
#pragma keet size   N = 1081344
#pragma keet check  N = 1024
#pragma keet in     P : f32[N] = uniform(0, 1)
#pragma keet in     Q : f32[64][2] = uniform(0.1, 1)
#pragma keet out    V : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet launch potential<<<N/256, 256>>>(P, Q, V)

__global__ void potential(const float *__restrict__ P, const float *__restrict__ Q, float *__restrict__ V)
{
    __shared__ float2 q[64];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x < 64)
        q[threadIdx.x] = reinterpret_cast<const float2 *>(Q)[threadIdx.x];
    __syncthreads();
    float p = P[i], sum = 0;
#pragma unroll 16
    for (int k = 0; k < 64; k++) {
        float d = p - q[k].x;
        sum += q[k].y / sqrtf(d * d + 0.01f);
    }
    V[i] = sum;
}
