// What is pushed last is kept in a register; what lies below is never needed.
#pragma keet size   N = 262144
#pragma keet check  N = 1024
#pragma keet in     X : i32[N] = integers(0, 1000000)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = 48*N, bytes = 8*N
#pragma keet launch walk<<<ceil_div(N, 128), 128>>>(X, Y, N)

__global__ void walk(const int *__restrict__ X, int *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = X[i], sum = 0;
    for (int k = 0; k < 48; k++) {
        sum += at;
        at >>= 1 + (at & 1);
    }
    Y[i] = sum;
}
