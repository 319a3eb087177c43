// A sum kept in a double although inputs and result are single.
#pragma keet size   N = 131072
#pragma keet check  N = 1000
#pragma keet in     X : f32[N*64] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 512*N, bytes = 260*N
#pragma keet launch powers<<<ceil_div(N, 128), 128>>>(X, Y, N)

__global__ void powers(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0;
    for (int k = 0; k < 64; k++) {
        float x = X[k * n + i];
        sum += x * (1 + sum * (x + sum * (x + sum * (x + sum * (x + sum * 1e-9)))));
    }
    Y[i] = (float)sum;
}
