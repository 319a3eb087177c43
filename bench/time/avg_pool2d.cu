// Mean over windows, a result a thread; places are found by dividing. One dimension is H = KH = 1.
#pragma keet size   P = 1024, H = 2048, W = 2048, OH = 186, OW = 186, KH = 11, KW = 11, SH = 11, SW = 11
#pragma keet check  P = 3, H = 13, W = 40, OH = 6, OW = 19, KH = 3, KW = 3, SH = 2, SW = 2
#pragma keet in     X : f32[P][H][W] = uniform(0, 1)
#pragma keet out    Y : f32[P][OH][OW]
#pragma keet launch avg_pool<<<ceil_div(P*OH*OW, 1024), 1024>>>(X, Y, P*OH*OW, P, H, W, OH, OW, KH, KW, SH, SW, 0, max(0, ((OW-1)*SW + KW - W) / 2))

__global__ void avg_pool(const float *x, float *y, int nr, int channels, int height, int width, int out_height, int out_width,
    int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nr)
        return;
    int pw = i % out_width, ph = i / out_width % out_height, c = i / out_width / out_height % channels;
    int n = i / out_width / out_height / channels;
    int h0 = ph * stride_h - pad_h, w0 = pw * stride_w - pad_w;
    int h1 = min(h0 + kernel_h, height + pad_h), w1 = min(w0 + kernel_w, width + pad_w);
    int size = (h1 - h0) * (w1 - w0);
    h0 = max(h0, 0);
    w0 = max(w0, 0);
    h1 = min(h1, height);
    w1 = min(w1, width);
    const float *plane = x + (long long)(n * channels + c) * height * width;
    float sum = 0;
    for (int h = h0; h < h1; h++)
        for (int w = w0; w < w1; w++)
            sum += plane[h * width + w];
    y[i] = sum / (float)size;
}
