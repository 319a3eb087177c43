// Sixteen layers of a one-neuron network: an exponential and a division each.
#pragma keet size   N = 1048576
#pragma keet check  N = 500
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 64*N, bytes = 8*N
#pragma keet launch network<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void network(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i];
#pragma unroll
    for (int layer = 0; layer < 16; layer++)
        x = 1.0f / (1.0f + __expf(-x));
    Y[i] = x;
}
