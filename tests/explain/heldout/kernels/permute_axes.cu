// Moves data by an index that is taken apart along five axes and put together again; none moves in the end.
#pragma keet size   N = 2097152
#pragma keet check  N = 2000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet work   flops = 0*N, bytes = 8*N
#pragma keet launch permute<<<ceil_div(N, 256), 256>>>(X, Y, N, 7, 11, 13, 5)

__global__ void permute(const float *__restrict__ X, float *__restrict__ Y, int n, int a, int b, int c, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int r = i;
    int ia = r % a; r /= a;
    int ib = r % b; r /= b;
    int ic = r % c; r /= c;
    int id = r % d; r /= d;
    int at = (((r * d + id) * c + ic) * b + ib) * a + ia;
    Y[at] = X[i];
}
