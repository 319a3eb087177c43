// KernelBench level 1, problem 21: sigmoid. One element per thread.
#pragma keet size   batch_size = 4096, dim = 393216
#pragma keet check  batch_size = 5, dim = 1001
#pragma keet check  batch_size = 8, dim = 1024
#pragma keet in     x : f32[batch_size][dim] = uniform(0, 1)
#pragma keet out    output : f32[batch_size][dim]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 4*batch_size*dim, bytes = 8*batch_size*dim
#pragma keet launch sigmoid<<<ceil_div(batch_size*dim, 256), 256>>>(x, output, batch_size*dim)

__global__ void sigmoid(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 1.0f / (1.0f + expf(-x[i]));
}
