// Depthwise convolution with any window, a result a thread, 1024 threads a block; the window is clipped first. As in PyTorch, a
// 64-bit index counts, and a bias and a multiplier of channels are asked for, though neither is there.
#pragma keet size   B = 64, C = 8, H = 512, W = 512, KH = 3, KW = 1
#pragma keet check  B = 2, C = 3, H = 20, W = 24, KH = 3, KW = 7
#pragma keet in     X : f32[B][C][H][W] = uniform(0, 1)
#pragma keet in     K : f32[C][KH][KW] = uniform(-1, 1)
#pragma keet out    Y : f32[B][C][H-KH+1][W-KW+1]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet launch depthwise<<<ceil_div(B*C*(H-KH+1)*(W-KW+1), 1024), 1024>>>(X, K, Y, K, 0, B*C*(H-KH+1)*(W-KW+1), C, 1, W, H, W-KW+1, H-KH+1, KW, KH, 1, 1, 0, 0, 1, 1)

__device__ void clip(int start, int kernel, int size, int dilation, int &first, int &end)
{
    first = 0;
    end = kernel;
    if (start < 0)
        first = -start / dilation + (-start % dilation > 0);
    int over = start + (kernel - 1) * dilation - size + 1;
    if (over >= 0)
        end = kernel - over / dilation - (over % dilation > 0);
}

__global__ void __launch_bounds__(1024) depthwise(const float *x, const float *weight, float *y, const float *bias,
    int has_bias, int nr, int channels, int multiplier, int width, int height, int out_width, int out_height, int kernel_w,
    int kernel_h, int stride_w, int stride_h, int pad_w, int pad_h, int dilation_w, int dilation_h)
{
    for (long long j = (long long)blockIdx.x * blockDim.x + threadIdx.x; j < nr; j += blockDim.x * gridDim.x) {
        int i = (int)j, rest = i / out_width, w = i - rest * out_width;
        int plane = rest / out_height, h = rest - plane * out_height;
        int n = plane / channels, c = plane - n * channels, from_c = c, from_channels = channels;
        if (multiplier != 1) {
            from_c /= multiplier;
            from_channels /= multiplier;
        }
        int at = c * kernel_h * kernel_w, from = (n * from_channels + from_c) * height * width;
        int h0, h1, w0, w1;
        clip(h * stride_h - pad_h, kernel_h, height, dilation_h, h0, h1);
        clip(w * stride_w - pad_w, kernel_w, width, dilation_w, w0, w1);
        float sum = has_bias ? bias[c] : 0;
        for (int kh = h0; kh < h1; kh++) {
            int ih = h * stride_h - pad_h + kh * dilation_h;
            for (int kw = w0; kw < w1; kw++) {
                int iw = w * stride_w - pad_w + kw * dilation_w;
                sum += weight[at + kh * kernel_w + kw] * x[from + ih * width + iw];
            }
        }
        y[i] = sum;
    }
}
