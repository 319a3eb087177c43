// KernelBench level 2, problem 39: linear layer, scale, batch norm by the batch's own mean and variance. Two launches.
#pragma keet size   batch_size = 16384, in_features = 4096, out_features = 4096
#pragma keet check  batch_size = 70, in_features = 100, out_features = 45
#pragma keet check  batch_size = 64, in_features = 64, out_features = 64
#pragma keet in     x : f32[batch_size][in_features] = uniform(0, 1)
#pragma keet in     scale : f32[out_features] = normal(0, 1)
#pragma keet in     gemm_weight : f32[out_features][in_features] = uniform(-0.015625, 0.015625)
#pragma keet in     gemm_bias : f32[out_features] = uniform(-0.015625, 0.015625)
#pragma keet in     bn_weight : f32[out_features] = uniform(0.5, 1.5)
#pragma keet in     bn_bias : f32[out_features] = uniform(-0.5, 0.5)
#pragma keet out    output : f32[batch_size][out_features]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 2*batch_size*in_features*out_features, bytes = 4*(batch_size*in_features + out_features*in_features + batch_size*out_features)
#pragma keet launch linear<<<dim3(ceil_div(out_features, 32), ceil_div(batch_size, 8)), dim3(32, 8)>>>(x, gemm_weight, gemm_bias, scale, output, batch_size, in_features, out_features)
#pragma keet launch batch_norm<<<ceil_div(out_features, 32), dim3(32, 8)>>>(output, bn_weight, bn_bias, batch_size, out_features)

__global__ void linear(const float *x, const float *weight, const float *bias, const float *scale, float *y, int rows, int k, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= n || row >= rows)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += x[(size_t)row * k + i] * weight[(size_t)col * k + i];
    y[(size_t)row * n + col] = (sum + bias[col]) * scale[col];
}

/* 32 columns a block; 8 threads share a column. */
__global__ void batch_norm(float *y, const float *weight, const float *bias, int rows, int n)
{
    __shared__ float part[8][32];
    int col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0, squares = 0;
    if (col < n)
        for (int row = threadIdx.y; row < rows; row += 8)
            sum += y[(size_t)row * n + col];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < 8; i++)
        sum += part[i][threadIdx.x];
    float mean = sum / rows;
    __syncthreads();
    if (col < n)
        for (int row = threadIdx.y; row < rows; row += 8)
            squares += (y[(size_t)row * n + col] - mean) * (y[(size_t)row * n + col] - mean);
    part[threadIdx.y][threadIdx.x] = squares;
    __syncthreads();
    squares = 0;
    for (int i = 0; i < 8; i++)
        squares += part[i][threadIdx.x];
    float factor = rsqrtf(squares / rows + 1e-5f);
    if (col < n)
        for (int row = threadIdx.y; row < rows; row += 8)
            y[(size_t)row * n + col] = (y[(size_t)row * n + col] - mean) * factor * weight[col] + bias[col];
}
