// Blocks of 128 threads, so that all SMs have as many of them, but for one.
#pragma keet size   N = 274
#pragma keet check  N = 3
#pragma keet in     X : f32[N*1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N*1024]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2097152*N, bytes = 8192*N
#pragma keet launch iterate<<<8*N, 128>>>(X, Y)

__global__ void iterate(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float y = X[i], z = y + 1;
#pragma unroll 16
    for (int k = 0; k < 512; k++) {
        y = y * 0.99f + 0.01f;
        z = z * 0.98f + 0.01f;
    }
    Y[i] = y + z;
}
