// An image is warped: each output pixel has the place that its four inputs come from.
#pragma keet size   H = 2048, W = 2048
#pragma keet check  H = 20, W = 33
#pragma keet in     FROM : i32[H*W] = integers(0, H*W-W-2)
#pragma keet in     IMAGE : f32[H*W] = uniform(0, 1)
#pragma keet out    OUT : f32[H*W]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet tune   BLOCK = 256 in {64, 128, 256}
#pragma keet launch remap<<<ceil_div(H*W, BLOCK), BLOCK>>>(FROM, IMAGE, OUT, H*W, W)

__global__ void remap(const int *from, const float *image, float *out, int n, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = from[i];
        out[i] = 0.25f * (image[at] + image[at + 1] + image[at + width] + image[at + width + 1]);
    }
}
