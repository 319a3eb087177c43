// The charges of particles, added up in the 128 cells of a line.
#pragma keet size   N = 1048576
#pragma keet check  N = 4096
#pragma keet in     P : f32[N] = uniform(0, 127.9)
#pragma keet in     Q : f32[N] = uniform(0, 1)
#pragma keet inout  C : f32[128] = constant(0)
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet launch deposit<<<N/4096, 512>>>(P, Q, C)

__global__ void deposit(const float *__restrict__ P, const float *__restrict__ Q, float *C)
{
    __shared__ float cells[128];
    if (threadIdx.x < 128)
        cells[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4096; k += 512) {
        int i = blockIdx.x * 4096 + k + threadIdx.x;
        atomicAdd(&cells[(int)P[i]], Q[i]);
    }
    __syncthreads();
    if (threadIdx.x < 128)
        atomicAdd(&C[threadIdx.x], cells[threadIdx.x]);
}
