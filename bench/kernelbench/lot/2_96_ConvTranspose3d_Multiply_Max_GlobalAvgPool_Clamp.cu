// KernelBench level 2, problem 96: transposed 3D convolution (windows of 3, stride 2, padding 1), times 0.5, maxima of windows of 2,
// the mean of each channel, clamped to 0 to 1. Two launches.
#pragma keet size   batch_size = 128, in_channels = 3, out_channels = 16, depth = 16, height = 32, width = 32
#pragma keet check  batch_size = 2, in_channels = 3, out_channels = 5, depth = 4, height = 5, width = 7
#pragma keet check  batch_size = 1, in_channels = 2, out_channels = 8, depth = 5, height = 8, width = 8
#pragma keet in     x : f32[batch_size][in_channels][depth][height][width] = uniform(0, 1)
#pragma keet in     conv_transpose_weight : f32[in_channels][out_channels][3][3][3] = uniform(-0.0481, 0.0481)
#pragma keet in     conv_transpose_bias : f32[out_channels] = uniform(-0.0481, 0.0481)
#pragma keet out    output : f32[batch_size][out_channels][1][1][1]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 54*batch_size*in_channels*out_channels*depth*height*width, bytes = 4*(batch_size*in_channels*depth*height*width + 27*in_channels*out_channels + batch_size*out_channels)
#pragma keet temp   wide : f32[batch_size][out_channels][2*depth - 1][2*height - 1][2*width - 1]
#pragma keet launch transposed<<<dim3(ceil_div((2*depth - 1)*(2*height - 1)*(2*width - 1), 256), out_channels, batch_size), 256>>>(x, conv_transpose_weight, conv_transpose_bias, wide, in_channels, depth, height, width)
#pragma keet launch pool<<<batch_size*out_channels, 256>>>(wide, output, 2*depth - 1, 2*height - 1, 2*width - 1)

__global__ void transposed(const float *x, const float *weight, const float *bias, float *y, int channels, int d, int h, int w)
{
    int od = 2 * d - 1, oh = 2 * h - 1, ow = 2 * w - 1, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= od * oh * ow)
        return;
    int c = i % ow, b = i / ow % oh, a = i / ow / oh;
    float sum = bias[blockIdx.y];
    for (int n = 0; n < channels; n++) {
        const float *image = x + (size_t)(blockIdx.z * channels + n) * d * h * w;
        const float *window = weight + (n * gridDim.y + blockIdx.y) * 27;
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
                for (int r = 0; r < 3; r++) {
                    int u = a + 1 - p, v = b + 1 - q, t = c + 1 - r; /* twice the place in x */
                    if (u >= 0 && v >= 0 && t >= 0 && u % 2 == 0 && v % 2 == 0 && t % 2 == 0 && u / 2 < d && v / 2 < h && t / 2 < w)
                        sum += image[(u / 2 * h + v / 2) * w + t / 2] * window[(p * 3 + q) * 3 + r];
                }
    }
    y[(size_t)(blockIdx.z * gridDim.y + blockIdx.y) * od * oh * ow + i] = sum * 0.5f;
}

__global__ void pool(const float *y, float *output, int d, int h, int w)
{
    __shared__ float part[256];
    int pd = d / 2, ph = h / 2, pw = w / 2;
    float sum = 0;
    y += (size_t)blockIdx.x * d * h * w;
    for (int i = threadIdx.x; i < pd * ph * pw; i += 256) {
        int c = i % pw, b = i / pw % ph, a = i / pw / ph;
        float most = -INFINITY;
        for (int k = 0; k < 8; k++)
            most = fmaxf(most, y[((2 * a + k / 4) * h + 2 * b + k / 2 % 2) * w + 2 * c + k % 2]);
        sum += most;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int n = 128; n > 0; n /= 2) {
        if (threadIdx.x < n)
            part[threadIdx.x] += part[threadIdx.x + n];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        output[blockIdx.x] = fminf(fmaxf(part[0] / (pd * ph * pw), 0.0f), 1.0f);
}
