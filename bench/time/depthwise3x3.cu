// Depthwise 3 x 3 convolution, a result a thread, 1024 threads a block; bounds are looked at for each tap.
#pragma keet size   B = 16, C = 64, H = 512, W = 512
#pragma keet check  B = 2, C = 3, H = 20, W = 24
#pragma keet in     X : f32[B][C][H][W] = uniform(0, 1)
#pragma keet in     K : f32[C][3][3] = uniform(-1, 1)
#pragma keet out    Y : f32[B][C][H-2][W-2]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet launch depthwise<<<ceil_div(B*C*(H-2)*(W-2), 1024), 1024>>>(X, K, Y, B*C*(H-2)*(W-2), C, W, H, W-2, H-2, 1, 1, 0, 0, 1, 1)

__global__ void __launch_bounds__(1024) depthwise(const float *x, const float *weight, float *y, int nr, int channels,
    int width, int height, int out_width, int out_height, int stride_w, int stride_h, int pad_w, int pad_h, int dilation_w,
    int dilation_h)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nr; i += blockDim.x * gridDim.x) {
        int rest = i / out_width, w = i - rest * out_width;
        int plane = rest / out_height, h = rest - plane * out_height;
        int n = plane / channels, c = plane - n * channels;
        int at = c * 9, from = (n * channels + c) * height * width;
        float sum = 0;
#pragma unroll
        for (int kh = 0; kh < 3; kh++)
#pragma unroll
            for (int kw = 0; kw < 3; kw++) {
                int ih = h * stride_h - pad_h + kh * dilation_h, iw = w * stride_w - pad_w + kw * dilation_w;
                if (ih >= 0 && ih < height && iw >= 0 && iw < width)
                    sum += weight[at] * x[from + ih * width + iw];
                at++;
            }
        y[i] = sum;
    }
}
