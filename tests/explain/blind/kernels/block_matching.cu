// Squared differences of one 16x16 block at 32x32 displacements of its search window, one block of the frame per
// thread block.
#pragma keet size   B = 1056
#pragma keet check  B = 5
#pragma keet in     R : f32[B][16][16] = uniform(0, 1)
#pragma keet in     F : f32[B][47][48] = uniform(0, 1)
#pragma keet out    E : f32[B][32][32]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 3*256*1024*B, bytes = 4*B*(256 + 47*48 + 1024)
#pragma keet launch match<<<B, dim3(32, 8)>>>(R, F, E)

__global__ void match(const float *__restrict__ R, const float *__restrict__ F, float *__restrict__ E)
{
    __shared__ float r[256], f[47 * 48];
    int t = threadIdx.y * 32 + threadIdx.x;
    r[t] = R[blockIdx.x * 256 + t];
    for (int k = t; k < 47 * 48; k += 256)
        f[k] = F[blockIdx.x * 47 * 48 + k];
    __syncthreads();
    for (int dy = threadIdx.y; dy < 32; dy += 8) {
        float sum = 0;
        for (int y = 0; y < 16; y++)
#pragma unroll
            for (int x = 0; x < 16; x++) {
                float d = r[y * 16 + x] - f[(dy + y) * 48 + threadIdx.x + x];
                sum += d * d;
            }
        E[(blockIdx.x * 32 + dy) * 32 + threadIdx.x] = sum;
    }
}
