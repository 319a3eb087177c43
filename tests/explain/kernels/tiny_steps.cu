// Sixteen launches of a step that takes less time than its launch.
#pragma keet size   N = 16384
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet temp   T : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 32*N, bytes = 8*N
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(X, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, T, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(T, Y, N)

__global__ void step(const float *A, float *B, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        B[i] = A[i] * 0.5f + 1;
}
