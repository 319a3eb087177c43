// How far N places are from the 512 anchors of their group, where later anchors count more.
#pragma keet size   N = 524288
#pragma keet check  N = 4096
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet in     A : f32[N/1024][512] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet launch surface<<<N/128, 128>>>(X, A, Y)

__global__ void surface(const float *__restrict__ X, const float *__restrict__ A, float *__restrict__ Y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    const float *anchors = A + i / 1024 * 512;
    float x = X[i], sum = 0;
#pragma unroll 4
    for (int k = 0; k < 512; k++)
        sum = sum * 0.9f + fabsf(x - anchors[k]);
    Y[i] = sum;
}
