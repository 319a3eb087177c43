// Maximum over windows and its place, a result a thread; places are found by dividing, planes and addresses in 64 bits.
// One dimension is H = KH = 1.
#pragma keet size   P = 2048, H = 512, W = 512, OH = 511, OW = 511, KH = 4, KW = 4, DIL = 1
#pragma keet check  P = 3, H = 20, W = 24, OH = 19, OW = 23, KH = 4, KW = 4, DIL = 1
#pragma keet in     X : f32[P][H][W] = uniform(0, 1)
#pragma keet out    Y : f32[P][OH][OW]
#pragma keet out    AT : i64[P][OH][OW]
#pragma keet launch max_pool<<<ceil_div(P*OH*OW, 256), 256>>>(X, Y, AT, P*OH*OW, P, H, W, OH, OW, KH, KW, 1, 1, (OH-1 + (KH-1)*DIL + 1 - H) / 2, (OW-1 + (KW-1)*DIL + 1 - W) / 2, DIL, DIL)

__global__ void max_pool(const float *x, float *y, long long *at, int nr, long long channels, long long height, long long width,
    int out_height, int out_width, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nr; i += blockDim.x * gridDim.x) {
        int pw = i % out_width, ph = i / out_width % out_height, c = i / out_width / out_height % channels;
        int n = i / out_width / out_height / channels;
        int h0 = ph * stride_h - pad_h, w0 = pw * stride_w - pad_w;
        int h1 = min(h0 + (kernel_h - 1) * dilation_h + 1, (int)height), w1 = min(w0 + (kernel_w - 1) * dilation_w + 1, (int)width);
        while (h0 < 0)
            h0 += dilation_h;
        while (w0 < 0)
            w0 += dilation_w;
        float largest = -3.4e38f;
        int place = h0 * width + w0;
        const float *plane = x + (n * channels + c) * height * width;
        for (int h = h0; h < h1; h += dilation_h)
            for (int w = w0; w < w1; w += dilation_w) {
                float v = plane[h * width + w];
                if (v > largest || v != v) {
                    place = h * width + w;
                    largest = v;
                }
            }
        y[i] = largest;
        at[i] = place;
    }
}
