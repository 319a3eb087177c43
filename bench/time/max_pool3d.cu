// Maximum over windows of three dimensions and its place: 32 x 8 results a block, a result a thread.
#pragma keet size   P = 512, T = 128, H = 128, W = 128, OT = 62, OH = 62, OW = 62, K = 3, S = 2, PAD = 1, DIL = 3
#pragma keet check  P = 2, T = 12, H = 12, W = 36, OT = 4, OH = 4, OW = 16, K = 3, S = 2, PAD = 1, DIL = 3
#pragma keet in     X : f32[P][T][H][W] = uniform(0, 1)
#pragma keet out    Y : f32[P][OT][OH][OW]
#pragma keet out    AT : i64[P][OT][OH][OW]
#pragma keet launch max_pool<<<dim3(ceil_div(OW, 32), ceil_div(OH, 8), P*OT), dim3(32, 8)>>>(X, Y, AT, T, H, W, OT, OH, OW, K, S, PAD, DIL)

__global__ void max_pool(const float *x, float *y, long long *at, int frames, int height, int width, int out_frames,
    int out_height, int out_width, int kernel, int stride, int pad, int dilation)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    int frame = blockIdx.z % out_frames;
    long long slice = blockIdx.z / out_frames;
    if (row >= out_height || col >= out_width)
        return;
    int t0 = frame * stride - pad, h0 = row * stride - pad, w0 = col * stride - pad;
    int span = (kernel - 1) * dilation + 1;
    int t1 = min(t0 + span, frames), h1 = min(h0 + span, height), w1 = min(w0 + span, width);
    while (t0 < 0)
        t0 += dilation;
    while (h0 < 0)
        h0 += dilation;
    while (w0 < 0)
        w0 += dilation;
    int place = (t0 * height + h0) * width + w0;
    const float *volume = x + slice * frames * height * width;
    float largest = -3.4e38f;
    for (int t = t0; t < t1; t += dilation)
        for (int h = h0; h < h1; h += dilation)
            for (int w = w0; w < w1; w += dilation) {
                int i = (t * height + h) * width + w;
                float v = volume[i];
                if (largest < v || v != v) {
                    largest = v;
                    place = i;
                }
            }
    long long out = ((slice * out_frames + frame) * out_height + row) * out_width + col;
    y[out] = largest;
    at[out] = place;
}
