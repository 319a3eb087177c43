// A gather by a random permutation.
#pragma keet size   N = 8388608
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet in     P : i32[N] = permutation()
#pragma keet out    Y : f32[N]
#pragma keet work   flops = 0, bytes = 12*N
#pragma keet launch gather<<<ceil_div(N, 256), 256>>>(X, P, Y, N)

__global__ void gather(const float *__restrict__ X, const int *__restrict__ P, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = P[i];
        Y[i] = X[at];
    }
}
