// A four-dimensional index taken apart by divisions for each element.
#pragma keet size   N = 4194304
#pragma keet check  N = 1000
#pragma keet in     X : i32[N] = integers(0, 1000)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = N, bytes = 8*N
#pragma keet launch split<<<ceil_div(N, 256), 256>>>(X, Y, N, 7, 11, 13)

__global__ void split(const int *__restrict__ X, int *__restrict__ Y, int n, int a, int b, int c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int w = i % a, x = i / a % b, y = i / a / b % c, z = i / a / b / c;
    Y[i] = X[i] + w + x + y + z;
}
