// Escape times: a loop of different length in every lane.
#pragma keet size   W = 512, H = 384
#pragma keet out    Y : i32[H][W]
#pragma keet launch mandelbrot<<<dim3(W/32, H/8), dim3(32, 8)>>>(Y, W, H)

__global__ void mandelbrot(int *Y, int w, int h)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, n = 0;
    float cx = 3.0f * x / w - 2.2f, cy = 2.4f * y / h - 1.2f, zx = 0, zy = 0;
    while (n < 256 && zx * zx + zy * zy < 4) {
        float t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
        n++;
    }
    Y[y * w + x] = n;
}
