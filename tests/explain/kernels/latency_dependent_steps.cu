// The next element's place follows from this one's value: one load in flight per warp.
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
    int sum = 0, at = i;
#pragma unroll 1
    for (int k = 0; k < 16; k++) {
        int v = X[at];
        sum += v;
        at = v < 1000 ? at + n : i;
    }
    Y[i] = sum;
}
