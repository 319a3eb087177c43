// A step of stochastic gradient descent with momentum for eight small parameter tensors.
#pragma keet size   N = 32768
#pragma keet check  N = 300
#pragma keet inout  W : f32[8][N] = uniform(-1, 1)
#pragma keet inout  V : f32[8][N] = uniform(-1, 1)
#pragma keet in     G : f32[8][N] = uniform(-1, 1)
#pragma keet work   flops = 32*N, bytes = 160*N
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(W, V, G, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(W + N, V + N, G + N, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(W + 2*N, V + 2*N, G + 2*N, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(W + 3*N, V + 3*N, G + 3*N, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(W + 4*N, V + 4*N, G + 4*N, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(W + 5*N, V + 5*N, G + 5*N, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(W + 6*N, V + 6*N, G + 6*N, N)
#pragma keet launch step<<<ceil_div(N, 256), 256>>>(W + 7*N, V + 7*N, G + 7*N, N)

__global__ void step(float *__restrict__ W, float *__restrict__ V, const float *__restrict__ G, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = 0.9f * V[i] + G[i];
        V[i] = v;
        W[i] -= 0.01f * v;
    }
}
