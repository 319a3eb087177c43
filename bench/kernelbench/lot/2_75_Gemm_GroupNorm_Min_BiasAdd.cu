// KernelBench level 2, problem 75: linear layer, group norm (groups of 16 features), the least feature of a row, which the bias is
// added to: output[0][n][row][0]. Three launches.
#pragma keet size   batch_size = 1024, in_features = 8192, out_features = 8192
#pragma keet check  batch_size = 33, in_features = 70, out_features = 48
#pragma keet check  batch_size = 16, in_features = 64, out_features = 64
#pragma keet in     x : f32[batch_size][in_features] = uniform(0, 1)
#pragma keet in     bias : f32[1][out_features][1][1] = normal(0, 1)
#pragma keet in     gemm_weight : f32[out_features][in_features] = uniform(-0.01105, 0.01105)
#pragma keet in     gemm_bias : f32[out_features] = uniform(-0.01105, 0.01105)
#pragma keet in     group_norm_weight : f32[out_features] = uniform(0.5, 1.5)
#pragma keet in     group_norm_bias : f32[out_features] = uniform(-0.5, 0.5)
#pragma keet out    output : f32[1][out_features][batch_size][1]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 2*batch_size*in_features*out_features, bytes = 4*(batch_size*in_features + out_features*in_features + batch_size*out_features)
#pragma keet temp   product : f32[batch_size][out_features]
#pragma keet temp   least : f32[batch_size]
#pragma keet launch linear<<<dim3(ceil_div(out_features, 32), ceil_div(batch_size, 8)), dim3(32, 8)>>>(x, gemm_weight, gemm_bias, product, batch_size, in_features, out_features)
#pragma keet launch norm_min<<<batch_size, 128>>>(product, group_norm_weight, group_norm_bias, least, out_features)
#pragma keet launch add_bias<<<dim3(ceil_div(batch_size, 256), out_features), 256>>>(least, bias, output, batch_size)

__global__ void linear(const float *x, const float *weight, const float *bias, float *y, int rows, int k, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= n || row >= rows)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += x[(size_t)row * k + i] * weight[(size_t)col * k + i];
    y[(size_t)row * n + col] = sum + bias[col];
}

__global__ void norm_min(const float *y, const float *weight, const float *bias, float *least, int n)
{
    __shared__ float all[128];
    float lowest = INFINITY;
    y += (size_t)blockIdx.x * n;
    for (int group = threadIdx.x; group < n / 16; group += blockDim.x) {
        float mean = 0, variance = 0;
        for (int i = 0; i < 16; i++)
            mean += y[group * 16 + i] / 16;
        for (int i = 0; i < 16; i++)
            variance += (y[group * 16 + i] - mean) * (y[group * 16 + i] - mean) / 16;
        for (int i = 0; i < 16; i++) {
            int at = group * 16 + i;
            lowest = fminf(lowest, (y[at] - mean) * rsqrtf(variance + 1e-5f) * weight[at] + bias[at]);
        }
    }
    all[threadIdx.x] = lowest;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x; i++)
            lowest = fminf(lowest, all[i]);
        least[blockIdx.x] = lowest;
    }
}

__global__ void add_bias(const float *least, const float *bias, float *output, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        output[(size_t)blockIdx.y * rows + row] = least[row] + bias[blockIdx.y];
}
