// KernelBench level 3, problem 1: three linear layers, relu behind the first two. Three launches.
#pragma keet size   batch_size = 128, input_size = 16384, hidden_size = 16384, output_size = 8192
#pragma keet check  batch_size = 17, input_size = 70, hidden_size = 45, output_size = 33
#pragma keet check  batch_size = 16, input_size = 64, hidden_size = 64, output_size = 64
#pragma keet in     x : f32[batch_size][input_size] = uniform(0, 1)
#pragma keet in     network_0_weight : f32[hidden_size][input_size] = uniform(-0.0078125, 0.0078125)
#pragma keet in     network_0_bias : f32[hidden_size] = uniform(-0.0078125, 0.0078125)
#pragma keet in     network_2_weight : f32[hidden_size][hidden_size] = uniform(-0.0078125, 0.0078125)
#pragma keet in     network_2_bias : f32[hidden_size] = uniform(-0.0078125, 0.0078125)
#pragma keet in     network_4_weight : f32[output_size][hidden_size] = uniform(-0.0078125, 0.0078125)
#pragma keet in     network_4_bias : f32[output_size] = uniform(-0.0078125, 0.0078125)
#pragma keet out    output : f32[batch_size][output_size]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 2*batch_size*hidden_size*(input_size + hidden_size + output_size), bytes = 4*(hidden_size*(input_size + hidden_size + output_size) + batch_size*(input_size + output_size))
#pragma keet temp   first : f32[batch_size][hidden_size]
#pragma keet temp   second : f32[batch_size][hidden_size]
#pragma keet launch linear<<<dim3(ceil_div(hidden_size, 32), ceil_div(batch_size, 8)), dim3(32, 8)>>>(x, network_0_weight, network_0_bias, first, batch_size, input_size, hidden_size, 1)
#pragma keet launch linear<<<dim3(ceil_div(hidden_size, 32), ceil_div(batch_size, 8)), dim3(32, 8)>>>(first, network_2_weight, network_2_bias, second, batch_size, hidden_size, hidden_size, 1)
#pragma keet launch linear<<<dim3(ceil_div(output_size, 32), ceil_div(batch_size, 8)), dim3(32, 8)>>>(second, network_4_weight, network_4_bias, output, batch_size, hidden_size, output_size, 0)

__global__ void linear(const float *x, const float *weight, const float *bias, float *y, int rows, int k, int n, int relu)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= n || row >= rows)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += x[(size_t)row * k + i] * weight[(size_t)col * k + i];
    sum += bias[col];
    y[(size_t)row * n + col] = relu ? fmaxf(sum, 0.0f) : sum;
}
