// A Walsh-Hadamard transform of 1024 values a block; each thread holds eight in a row.
#pragma keet size   B = 2112
#pragma keet check  B = 3
#pragma keet in     X : f32[B*1024] = uniform(-1, 1)
#pragma keet out    Y : f32[B*1024]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet work   flops = 10240*B, bytes = 8192*B
#pragma keet launch walsh<<<B, 128>>>(X, Y)

__global__ void walsh(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float v[1024];
    int t = threadIdx.x;
    const float *x = X + blockIdx.x * 1024;
    for (int k = t; k < 1024; k += 128)
        v[k] = x[k];
    __syncthreads();
    for (int stride = 1; stride < 1024; stride *= 2) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int pair = t * 4 + k;
            int at = pair / stride * 2 * stride + pair % stride;
            float a = v[at], b = v[at + stride];
            v[at] = a + b;
            v[at + stride] = a - b;
        }
        __syncthreads();
    }
    for (int k = t; k < 1024; k += 128)
        Y[blockIdx.x * 1024 + k] = v[k];
}
