// How far N places are from the 512 anchors of their group, where later anchors count more.
#pragma keet size   N = 524288
#pragma keet check  N = 4096
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet in     A : f32[N/1024][512] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet launch surface<<<N/1024, 128>>>(X, A, Y)

__global__ void surface(const float *__restrict__ X, const float *__restrict__ A, float *__restrict__ Y)
{
    __shared__ float a[512];
    const float *anchors = A + blockIdx.x * 512;
    for (int k = threadIdx.x; k < 512; k += 128)
        a[k] = anchors[k];
    __syncthreads();
    int i = blockIdx.x * 1024 + threadIdx.x;
    float x[8], sum[8];
#pragma unroll
    for (int j = 0; j < 8; j++)
        x[j] = X[i + j * 128], sum[j] = 0;
#pragma unroll 4
    for (int k = 0; k < 512; k++)
#pragma unroll
        for (int j = 0; j < 8; j++)
            sum[j] = sum[j] * 0.9f + fabsf(x[j] - a[k]);
#pragma unroll
    for (int j = 0; j < 8; j++)
        Y[i + j * 128] = sum[j];
}
