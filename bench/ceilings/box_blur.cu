// Box blur of a byte image by averaging a (2 RADIUS + 1)^2 window, cut off at the edges, rounded down.
// One pixel per thread, thread x along the columns of the image.
#pragma keet size   H = 1024, W = 2048, RADIUS = 3
#pragma keet check  H = 19, W = 67, RADIUS = 3
#pragma keet check  H = 33, W = 32, RADIUS = 1
#pragma keet in     IN : u8[H][W] = integers(0, 255)
#pragma keet out    OUT : u8[H][W]
#pragma keet work   flops = H*W*(2*RADIUS + 1)*(2*RADIUS + 1), bytes = 2*H*W
#pragma keet tune   BX = 16 in {8, 16, 32, 64}
#pragma keet tune   BY = 4 in {4, 8, 16}
#pragma keet launch box_blur<<<dim3(ceil_div(W, BX), ceil_div(H, BY)), dim3(BX, BY)>>>(IN, OUT, H, W, RADIUS)

__global__ void box_blur(const unsigned char *in, unsigned char *out, int h, int w, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int sum = 0, count = 0;
    for (int dy = max(-radius, -y); dy <= min(radius, h - y - 1); dy++) {
        for (int dx = max(-radius, -x); dx <= min(radius, w - x - 1); dx++) {
            sum += in[(y + dy) * w + x + dx];
            count++;
        }
    }
    out[y * w + x] = sum / count;
}
