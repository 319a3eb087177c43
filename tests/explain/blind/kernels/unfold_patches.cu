// Columns of a 3x3 convolution over an image of several channels.
#pragma keet size   C = 16, H = 128, W = 128
#pragma keet check  C = 3, H = 9, W = 11
#pragma keet in     X : f32[C][H][W] = uniform(-1, 1)
#pragma keet out    Y : f32[C*9][H*W]
#pragma keet work   flops = 0, bytes = 40*C*H*W
#pragma keet launch unfold<<<ceil_div(9*C*H*W, 256), 256>>>(X, Y, C, H, W, 3)

__global__ void unfold(const float *__restrict__ X, float *__restrict__ Y, long channels, long h, long w, long size)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i >= channels * size * size * h * w)
        return;
    long x = i % w, y = i / w % h;
    long kx = i / (w * h) % size, ky = i / (w * h * size) % size;
    long c = i / (w * h * size * size);
    long sx = x + kx - size / 2, sy = y + ky - size / 2;
    Y[i] = sx >= 0 && sx < w && sy >= 0 && sy < h ? X[(c * h + sy) * w + sx] : 0.0f;
}
