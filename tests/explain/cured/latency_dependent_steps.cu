// The next places do not wait for the values; these decide afterwards.
#pragma keet size   N = 135168
#pragma keet check  N = 1024
#pragma keet in     X : i32[16*N] = integers(0, 4)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = 48*N, bytes = 68*N
#pragma keet launch steps<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void steps(const int *__restrict__ X, int *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int sum = 0, v[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        v[k] = X[i + k * n];
    for (int k = 0, at = 0; k < 16; k++) {
        sum += v[at];
        at = v[at] < 1000 ? at + 1 : 0;
    }
    Y[i] = sum;
}
