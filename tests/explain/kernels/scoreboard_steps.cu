// Each step of a recurrence waits for the table in shared memory.
#pragma keet size   N = 33792
#pragma keet check  N = 1024
#pragma keet in     X : f32[256] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 512*N, bytes = 4*N
#pragma keet launch run<<<N/128, 128>>>(X, Y)

__global__ void run(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float table[256];
    for (int k = threadIdx.x; k < 256; k += 128)
        table[k] = X[k];
    __syncthreads();
    float y = threadIdx.x;
    for (int k = 0; k < 256; k++)
        y = y * 0.5f + table[(int)y & 255];
    Y[blockIdx.x * 128 + threadIdx.x] = y;
}
