// KernelBench level 1, problem 44: means over windows of 8, stride 1, 4 zeros at each end that count. One output per thread.
#pragma keet size   batch_size = 64, in_channels = 128, input_length = 65536
#pragma keet check  batch_size = 2, in_channels = 3, input_length = 301
#pragma keet check  batch_size = 1, in_channels = 4, input_length = 512
#pragma keet in     x : f32[batch_size][in_channels][input_length] = uniform(0, 1)
#pragma keet out    output : f32[batch_size][in_channels][input_length + 1]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 9*batch_size*in_channels*(input_length + 1), bytes = 4*batch_size*in_channels*(2*input_length + 1)
#pragma keet launch pool<<<dim3(ceil_div(input_length + 1, 256), batch_size*in_channels), 256>>>(x, output, input_length)

__global__ void pool(const float *x, float *y, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    size_t row = blockIdx.y;
    if (i > length)
        return;
    float sum = 0;
    for (int k = i - 4; k < i + 4; k++)
        if (k >= 0 && k < length)
            sum += x[row * length + k];
    y[row * (length + 1) + i] = sum / 8;
}
