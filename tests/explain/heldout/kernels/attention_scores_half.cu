// Scores of 16-bit queries and keys, 8 heads.
#pragma keet size   H = 8, T = 512, D = 64
#pragma keet check  H = 2, T = 32, D = 32
#pragma keet in     Q : f16[H][T][D] = uniform(-1, 1)
#pragma keet in     K : f16[H][D][T] = uniform(-1, 1)
#pragma keet out    S : f32[H][T][T]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 2*H*T*T*D, bytes = 4*H*T*D + 4*H*T*T
#pragma keet launch scores<<<dim3(ceil_div(T, 64), ceil_div(T, 4), H), dim3(64, 4)>>>(Q, K, S, T, D)

#include <cuda_fp16.h>
__global__ void scores(const __half *__restrict__ Q, const __half *__restrict__ K, float *__restrict__ S, int T, int D)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    const __half *q = Q + ((size_t)blockIdx.z * T + row) * D;
    const __half *k = K + (size_t)blockIdx.z * T * D + col;
    if (row >= T || col >= T)
        return;
    float acc = 0.0f;
    for (int d = 0; d < D; ++d)
        acc += __half2float(q[d]) * __half2float(k[(size_t)d * T]);
    S[((size_t)blockIdx.z * T + row) * T + col] = acc;
}
