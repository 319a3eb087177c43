// 96 lags of a signal's autocorrelation over windows of 128 samples, straight from global memory.
#pragma keet size   W = 4096
#pragma keet check  W = 5
#pragma keet in     X : f32[W*128 + 96] = uniform(-1, 1)
#pragma keet out    R : f32[W][96]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet work   flops = 24576*W, bytes = 896*W
#pragma keet launch correlate<<<W, 96>>>(X, R)

__global__ void correlate(const float *__restrict__ X, float *__restrict__ R)
{
    const float *x = X + blockIdx.x * 128;
    int lag = threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < 128; k++)
        sum += x[k] * x[k + lag];
    R[blockIdx.x * 96 + lag] = sum;
}
