// Blocks of 128 threads, with an eighth of the shared memory.
#pragma keet size   N = 150
#pragma keet check  N = 3
#pragma keet in     X : f32[N*1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N*1024]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 4194304*N, bytes = 8192*N
#pragma keet launch iterate<<<8*N, 128, 15360>>>(X, Y)

extern __shared__ float s[];
__global__ void iterate(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float y = X[i], z = y + 1, w = y + 2;
    s[threadIdx.x] = y;
#pragma unroll 16
    for (int k = 0; k < 512; k++) {
        y = y * 0.99f + 0.01f;
        z = z * 0.98f + 0.01f;
        w = w * 0.97f + 0.01f;
    }
    Y[i] = y + z + w + s[threadIdx.x];
}
