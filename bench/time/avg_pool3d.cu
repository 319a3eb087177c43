// Mean over windows of three dimensions: 32 x 8 results a block, a result a thread.
#pragma keet size   P = 512, T = 128, H = 128, W = 256, OT = 64, OH = 64, OW = 128, K = 3, S = 2, PAD = 1
#pragma keet check  P = 2, T = 8, H = 12, W = 40, OT = 4, OH = 6, OW = 20, K = 3, S = 2, PAD = 1
#pragma keet in     X : f32[P][T][H][W] = uniform(0, 1)
#pragma keet out    Y : f32[P][OT][OH][OW]
#pragma keet launch avg_pool<<<dim3(ceil_div(OW, 32), ceil_div(OH, 8), P*OT), dim3(32, 8)>>>(X, Y, T, H, W, OT, OH, OW, K, S, PAD)

__global__ void avg_pool(const float *x, float *y, int frames, int height, int width, int out_frames, int out_height,
    int out_width, int kernel, int stride, int pad)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    int frame = blockIdx.z % out_frames;
    long long slice = blockIdx.z / out_frames;
    if (row >= out_height || col >= out_width)
        return;
    int t0 = frame * stride - pad, h0 = row * stride - pad, w0 = col * stride - pad;
    int t1 = min(t0 + kernel, frames + pad), h1 = min(h0 + kernel, height + pad), w1 = min(w0 + 3, width + pad);
    int size = (t1 - t0) * (h1 - h0) * (w1 - w0);
    t0 = max(t0, 0);
    h0 = max(h0, 0);
    w0 = max(w0, 0);
    t1 = min(t1, frames);
    h1 = min(h1, height);
    w1 = min(w1, width);
    float sum = 0;
    for (int t = t0; t < t1; t++)
        for (int h = h0; h < h1; h++)
            for (int w = w0; w < w1; w++)
                sum += x[((slice * frames + t) * height + h) * width + w];
    y[((slice * out_frames + frame) * out_height + row) * out_width + col] = sum / (float)size;
}
