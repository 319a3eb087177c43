// A stream of 67 MB without a work line: the counted bytes give the roofline.
#pragma keet size  N = 8388608
#pragma keet check N = 1000
#pragma keet in    X : f32[N]
#pragma keet out   Y : f32[N]
#pragma keet launch twice<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void twice(const float *X, float *Y, int N)
{
    const int i = 256 * blockIdx.x + threadIdx.x;

    if (i < N)
        Y[i] = 2 * X[i];
}
