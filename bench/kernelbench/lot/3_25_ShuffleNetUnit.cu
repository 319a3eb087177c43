// KernelBench level 3, problem 25: a unit of ShuffleNet with 3 groups. 1 x 1 convolution by groups, batch norm, relu; depthwise 3 x 3
// convolution, batch norm; channels shuffled; 1 x 1 convolution by groups, batch norm, relu; plus a shortcut, 1 x 1 convolution and
// batch norm. Batch norms are by the batch's own means and variances. Nine launches.
#pragma keet size   batch_size = 10, input_channels = 240, out_channels = 480, height = 224, width = 224
#pragma keet check  batch_size = 2, input_channels = 6, out_channels = 12, height = 5, width = 9
#pragma keet check  batch_size = 1, input_channels = 12, out_channels = 24, height = 8, width = 16
#pragma keet in     x : f32[batch_size][input_channels][height][width] = uniform(0, 1)
#pragma keet in     conv1_weight : f32[out_channels/4][input_channels/3][1][1] = uniform(-0.1118, 0.1118)
#pragma keet in     bn1_weight : f32[out_channels/4] = uniform(0.5, 1.5)
#pragma keet in     bn1_bias : f32[out_channels/4] = uniform(-0.5, 0.5)
#pragma keet in     conv2_weight : f32[out_channels/4][1][3][3] = uniform(-0.3333, 0.3333)
#pragma keet in     bn2_weight : f32[out_channels/4] = uniform(0.5, 1.5)
#pragma keet in     bn2_bias : f32[out_channels/4] = uniform(-0.5, 0.5)
#pragma keet in     conv3_weight : f32[out_channels][out_channels/12][1][1] = uniform(-0.1581, 0.1581)
#pragma keet in     bn3_weight : f32[out_channels] = uniform(0.5, 1.5)
#pragma keet in     bn3_bias : f32[out_channels] = uniform(-0.5, 0.5)
#pragma keet in     shortcut_0_weight : f32[out_channels][input_channels][1][1] = uniform(-0.06455, 0.06455)
#pragma keet in     shortcut_1_weight : f32[out_channels] = uniform(0.5, 1.5)
#pragma keet in     shortcut_1_bias : f32[out_channels] = uniform(-0.5, 0.5)
#pragma keet out    output : f32[batch_size][out_channels][height][width]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 2*batch_size*height*width*(out_channels*input_channels/12 + 9*out_channels/4 + out_channels*out_channels/12 + out_channels*input_channels), bytes = 4*batch_size*height*width*(input_channels + out_channels)
#pragma keet temp   one : f32[batch_size][out_channels/4][height][width]
#pragma keet temp   two : f32[batch_size][out_channels/4][height][width]
#pragma keet temp   three : f32[batch_size][out_channels][height][width]
#pragma keet temp   factor : f32[4][out_channels]
#pragma keet temp   shift : f32[4][out_channels]
#pragma keet launch pointwise<<<dim3(ceil_div(height*width, 256), out_channels/4, batch_size), 256>>>(x, conv1_weight, one, input_channels, 3, height*width)
#pragma keet launch statistics<<<out_channels/4, 1024>>>(one, bn1_weight, bn1_bias, factor, shift, batch_size, height*width)
#pragma keet launch depthwise<<<dim3(ceil_div(height*width, 256), out_channels/4, batch_size), 256>>>(one, factor, shift, conv2_weight, two, height, width)
#pragma keet launch statistics<<<out_channels/4, 1024>>>(two, bn2_weight, bn2_bias, factor + out_channels, shift + out_channels, batch_size, height*width)
#pragma keet launch shuffled<<<dim3(ceil_div(height*width, 256), out_channels, batch_size), 256>>>(two, factor + out_channels, shift + out_channels, conv3_weight, three, out_channels/4, height*width)
#pragma keet launch statistics<<<out_channels, 1024>>>(three, bn3_weight, bn3_bias, factor + 2*out_channels, shift + 2*out_channels, batch_size, height*width)
#pragma keet launch pointwise<<<dim3(ceil_div(height*width, 256), out_channels, batch_size), 256>>>(x, shortcut_0_weight, output, input_channels, 1, height*width)
#pragma keet launch statistics<<<out_channels, 1024>>>(output, shortcut_1_weight, shortcut_1_bias, factor + 3*out_channels, shift + 3*out_channels, batch_size, height*width)
#pragma keet launch join<<<dim3(ceil_div(height*width, 256), out_channels, batch_size), 256>>>(three, factor + 2*out_channels, shift + 2*out_channels, output, factor + 3*out_channels, shift + 3*out_channels, height*width)

__global__ void pointwise(const float *x, const float *weight, float *y, int channels, int groups, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, o = blockIdx.y, outputs = gridDim.y, some = channels / groups;
    if (i >= pixels)
        return;
    const float *image = x + ((size_t)blockIdx.z * channels + o / (outputs / groups) * some) * pixels;
    float sum = 0;
    for (int c = 0; c < some; c++)
        sum += image[(size_t)c * pixels + i] * weight[o * some + c];
    y[((size_t)blockIdx.z * outputs + o) * pixels + i] = sum;
}

__global__ void depthwise(const float *x, const float *factor, const float *shift, const float *weight, float *y, int h, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (i >= h * w)
        return;
    const float *image = x + ((size_t)blockIdx.z * gridDim.y + c) * h * w;
    float sum = 0;
    for (int k = 0; k < 9; k++) {
        int row = i / w + k / 3 - 1, col = i % w + k % 3 - 1;
        if (row >= 0 && row < h && col >= 0 && col < w)
            sum += fmaxf(image[row * w + col] * factor[c] + shift[c], 0.0f) * weight[c * 9 + k];
    }
    y[((size_t)blockIdx.z * gridDim.y + c) * h * w + i] = sum;
}

/* Channel c after the shuffle is channel c % 3 * channels/3 + c / 3 before it. */
__global__ void shuffled(const float *x, const float *factor, const float *shift, const float *weight, float *y, int channels, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, o = blockIdx.y, some = channels / 3;
    if (i >= pixels)
        return;
    float sum = 0;
    for (int k = 0; k < some; k++) {
        int c = o / (gridDim.y / 3) * some + k, before = c % 3 * some + c / 3;
        sum += (x[((size_t)blockIdx.z * channels + before) * pixels + i] * factor[before] + shift[before]) * weight[o * some + k];
    }
    y[((size_t)blockIdx.z * gridDim.y + o) * pixels + i] = sum;
}

__global__ void join(const float *x, const float *factor, const float *shift, float *y, const float *factor2, const float *shift2, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, o = blockIdx.y;
    size_t at = ((size_t)blockIdx.z * gridDim.y + o) * pixels + i;
    if (i < pixels)
        y[at] = fmaxf(x[at] * factor[o] + shift[o], 0.0f) + y[at] * factor2[o] + shift2[o];
}

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

__global__ void statistics(const float *x, const float *weight, const float *bias, float *factor, float *shift, int batch, int pixels)
{
    int c = blockIdx.x, channels = gridDim.x;
    float sum = 0, squares = 0, count = (float)batch * pixels;
    for (int b = 0; b < batch; b++)
        for (int i = threadIdx.x; i < pixels; i += blockDim.x)
            sum += x[((size_t)b * channels + c) * pixels + i];
    float mean = block_sum(sum) / count;
    for (int b = 0; b < batch; b++)
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
            float off = x[((size_t)b * channels + c) * pixels + i] - mean;
            squares += off * off;
        }
    float variance = block_sum(squares) / count;
    if (threadIdx.x == 0) {
        factor[c] = weight[c] * rsqrtf(variance + 1e-5f);
        shift[c] = bias[c] - mean * factor[c];
    }
}
