// A stack per thread with a pointer that only the data knows.
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
    int stack[64], top = 0, sum = 0, x = X[i];
    stack[top++] = x;
    for (int k = 0; k < 48 && top > 0; k++) {
        int at = stack[--top];
        sum += at;
        stack[top++] = at >> 1;
        if (at & 1)
            stack[top++] = at >> 2;
    }
    Y[i] = sum;
}
