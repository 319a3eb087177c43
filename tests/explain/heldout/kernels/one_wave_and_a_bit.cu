// 140 blocks of 1024 threads that fill a multiprocessor's shared memory, one each.
#pragma keet size   B = 140
#pragma keet check  B = 3
#pragma keet in     X : f32[B*1024] = uniform(-1, 1)
#pragma keet out    Y : f32[B*1024]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 4194304*B, bytes = 8192*B
#pragma keet launch grind<<<B, 1024, 131072>>>(X, Y)

extern __shared__ float room[];
__global__ void grind(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    float a = X[i], b = a + 1, c = a + 2, d = a + 3;
    room[threadIdx.x] = a;
#pragma unroll 8
    for (int k = 0; k < 512; k++) {
        a = a * 0.99f + 0.01f;
        b = b * 0.98f + 0.02f;
        c = c * 0.97f + 0.03f;
        d = d * 0.96f + 0.04f;
    }
    Y[i] = a + b + c + d + room[threadIdx.x];
}
