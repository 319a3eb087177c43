// KernelBench level 1, problem 60: 3D convolution by windows of 3 x 5 x 7, no padding, no bias. One output per thread.
#pragma keet size   batch_size = 16, in_channels = 3, out_channels = 64, width = 64, height = 64, depth = 64
#pragma keet check  batch_size = 2, in_channels = 3, out_channels = 5, width = 7, height = 9, depth = 12
#pragma keet check  batch_size = 1, in_channels = 2, out_channels = 16, width = 6, height = 8, depth = 22
#pragma keet in     x : f32[batch_size][in_channels][width][height][depth] = uniform(0, 1)
#pragma keet in     conv3d_weight : f32[out_channels][in_channels][3][5][7] = uniform(-0.05634, 0.05634)
#pragma keet out    output : f32[batch_size][out_channels][width - 2][height - 4][depth - 6]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 210*batch_size*in_channels*out_channels*(width - 2)*(height - 4)*(depth - 6), bytes = 4*(batch_size*in_channels*width*height*depth + 105*in_channels*out_channels + batch_size*out_channels*(width - 2)*(height - 4)*(depth - 6))
#pragma keet launch conv3d<<<dim3(ceil_div((width - 2)*(height - 4)*(depth - 6), 256), out_channels, batch_size), 256>>>(x, conv3d_weight, output, in_channels, width, height, depth)

__global__ void conv3d(const float *x, const float *weight, float *y, int channels, int w, int h, int d)
{
    int ow = w - 2, oh = h - 4, od = d - 6, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ow * oh * od)
        return;
    int c = i % od, b = i / od % oh, a = i / od / oh;
    float sum = 0;
    for (int n = 0; n < channels; n++) {
        const float *image = x + (size_t)(blockIdx.z * channels + n) * w * h * d;
        const float *window = weight + (blockIdx.y * channels + n) * 105;
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 5; q++)
                for (int r = 0; r < 7; r++)
                    sum += image[((a + p) * h + b + q) * d + c + r] * window[(p * 5 + q) * 7 + r];
    }
    y[(size_t)(blockIdx.z * gridDim.y + blockIdx.y) * ow * oh * od + i] = sum;
}
