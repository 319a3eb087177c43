// The sum of 16 trees of depth 10 over 24 features, one sample per thread.
#pragma keet size   N = 131072
#pragma keet check  N = 200
#pragma keet in     X : f32[24][N] = uniform(0, 1)
#pragma keet in     F : i32[16][1024] = integers(0, 23)
#pragma keet in     C : f32[16][1024] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 160*N, bytes = 100*N
#pragma keet launch vote<<<ceil_div(N, 64), 64>>>(X, F, C, Y, N)

__global__ void vote(const float *__restrict__ X, const int *__restrict__ F, const float *__restrict__ C,
    float *__restrict__ Y, int n)
{
    __shared__ float x[180][64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i >= n)
        return;
    for (int k = 0; k < 24; k++)
        x[k][t] = X[k * n + i];
    float sum = 0;
    for (int tree = 0; tree < 16; tree++) {
        int node = 1;
        while (node < 512)
            node = 2 * node + (x[F[tree * 1024 + node]][t] > C[tree * 1024 + node]);
        sum += C[tree * 1024 + node];
    }
    Y[i] = sum;
}
