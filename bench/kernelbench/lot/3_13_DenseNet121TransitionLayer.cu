// KernelBench level 3, problem 13: batch norm by the batch's own mean and variance, relu, 1 x 1 convolution, means of windows of 2.
// Two launches.
#pragma keet size   batch_size = 128, num_input_features = 32, num_output_features = 64, height = 256, width = 256
#pragma keet check  batch_size = 3, num_input_features = 5, num_output_features = 7, height = 6, width = 10
#pragma keet check  batch_size = 2, num_input_features = 8, num_output_features = 16, height = 8, width = 32
#pragma keet in     x : f32[batch_size][num_input_features][height][width] = uniform(0, 1)
#pragma keet in     transition_0_weight : f32[num_input_features] = uniform(0.5, 1.5)
#pragma keet in     transition_0_bias : f32[num_input_features] = uniform(-0.5, 0.5)
#pragma keet in     transition_2_weight : f32[num_output_features][num_input_features][1][1] = uniform(-0.17678, 0.17678)
#pragma keet out    output : f32[batch_size][num_output_features][height/2][width/2]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 2*batch_size*num_input_features*height*width + batch_size*num_input_features*num_output_features*height*width/2, bytes = 4*batch_size*height*width*(2*num_input_features + num_output_features/4)
#pragma keet temp   factor : f32[num_input_features]
#pragma keet temp   shift : f32[num_input_features]
#pragma keet launch statistics<<<num_input_features, 1024>>>(x, transition_0_weight, transition_0_bias, factor, shift, batch_size, num_input_features, height*width)
#pragma keet launch transition<<<dim3(ceil_div((height/2)*(width/2), 256), num_output_features, batch_size), 256>>>(x, factor, shift, transition_2_weight, output, num_input_features, height, width)

__device__ float block_sum(float mine)
{
    __shared__ float part[1024];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int n = 512; n > 0; n /= 2) {
        if (threadIdx.x < n)
            part[threadIdx.x] += part[threadIdx.x + n];
        __syncthreads();
    }
    float sum = part[0];
    __syncthreads();
    return sum;
}

__global__ void statistics(const float *x, const float *weight, const float *bias, float *factor, float *shift, int batch, int channels, int pixels)
{
    int c = blockIdx.x;
    float sum = 0, squares = 0, count = (float)batch * pixels;
    for (int b = 0; b < batch; b++) {
        float some = 0;
        for (int i = threadIdx.x; i < pixels; i += blockDim.x)
            some += x[((size_t)b * channels + c) * pixels + i];
        sum += some;
    }
    float mean = block_sum(sum) / count;
    for (int b = 0; b < batch; b++) {
        float some = 0;
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
            float off = x[((size_t)b * channels + c) * pixels + i] - mean;
            some += off * off;
        }
        squares += some;
    }
    float variance = block_sum(squares) / count;
    if (threadIdx.x == 0) {
        factor[c] = weight[c] * rsqrtf(variance + 1e-5f);
        shift[c] = bias[c] - mean * factor[c];
    }
}

__global__ void transition(const float *x, const float *factor, const float *shift, const float *weight, float *y, int channels, int h, int w)
{
    int oh = h / 2, ow = w / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= oh * ow)
        return;
    int row = i / ow * 2, col = i % ow * 2;
    float sum = 0;
    for (int c = 0; c < channels; c++) {
        const float *image = x + ((size_t)blockIdx.z * channels + c) * h * w;
        float four = 0;
        for (int k = 0; k < 4; k++)
            four += fmaxf(image[(row + k / 2) * w + col + k % 2] * factor[c] + shift[c], 0.0f);
        sum += four * weight[blockIdx.y * channels + c];
    }
    y[((size_t)blockIdx.z * gridDim.y + blockIdx.y) * oh * ow + i] = sum / 4;
}
