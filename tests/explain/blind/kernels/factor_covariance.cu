// Covariance of centred returns: S of N assets over T days.
#pragma keet size   N = 1024, T = 256
#pragma keet check  N = 70, T = 33
#pragma keet in     R : f32[T][N] = uniform(-1, 1)
#pragma keet out    S : f32[N][N]
#pragma keet tolerance rel = 1e-5, abs = 1e-5
#pragma keet work   flops = 2*N*N*T, bytes = 4*(T*N + N*N)
#pragma keet launch covariance<<<dim3(ceil_div(N, 32), ceil_div(N, 8)), dim3(32, 8)>>>(R, S, N, T)

__global__ void covariance(const float *__restrict__ R, float *__restrict__ S, int n, int days)
{
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
    if (i >= n || j >= n)
        return;
    float sum = 0;
    for (int t = 0; t < days; t++)
        sum += R[t * n + i] * R[t * n + j];
    S[i * n + j] = sum / (days - 1);
}
