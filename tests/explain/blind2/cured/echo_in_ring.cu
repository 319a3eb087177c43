// Sixteen echoes out of a ring of samples.
#pragma keet size   N = 1000000
#pragma keet check  N = 4000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch echo<<<ceil_div(N, 256), 256>>>(X, Y, N, 480)

__global__ void echo(const float *__restrict__ X, float *__restrict__ Y, int n, int delay)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0, gain = 1;
    int at = i;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        sum += gain * X[at];
        gain *= 0.7f;
        at += delay;
        at -= at >= n ? n : 0;
    }
    Y[i] = sum;
}
