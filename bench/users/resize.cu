// Bilinear resize of an RGB image of bytes.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void resize(const unsigned char *src, unsigned char *dst, int sw, int sh, int dw, int dh)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dw || y >= dh)
        return;
    float fx = (x + 0.5f) * sw / dw - 0.5f, fy = (y + 0.5f) * sh / dh - 0.5f;
    fx = fminf(fmaxf(fx, 0.0f), sw - 1.0f);
    fy = fminf(fmaxf(fy, 0.0f), sh - 1.0f);
    int x0 = (int)fx, y0 = (int)fy;
    int x1 = min(x0 + 1, sw - 1), y1 = min(y0 + 1, sh - 1);
    float ax = fx - x0, ay = fy - y0;
    for (int c = 0; c < 3; c++) {
        float top = src[(y0 * sw + x0) * 3 + c] * (1 - ax) + src[(y0 * sw + x1) * 3 + c] * ax;
        float low = src[(y1 * sw + x0) * 3 + c] * (1 - ax) + src[(y1 * sw + x1) * 3 + c] * ax;
        dst[(y * dw + x) * 3 + c] = (unsigned char)(top * (1 - ay) + low * ay + 0.5f);
    }
}

int main()
{
    const int sw = 640, sh = 480, dw = 1024, dh = 768;
    unsigned char *h = (unsigned char *)malloc(dw * dh * 3), *src, *dst;
    for (int i = 0; i < sw * sh * 3; i++)
        h[i] = rand() % 256;
    cudaMalloc(&src, sw * sh * 3);
    cudaMalloc(&dst, dw * dh * 3);
    cudaMemcpy(src, h, sw * sh * 3, cudaMemcpyHostToDevice);
    dim3 block(16, 16), grid((dw + 15) / 16, (dh + 15) / 16);
    resize<<<grid, block>>>(src, dst, sw, sh, dw, dh);
    cudaMemcpy(h, dst, dw * dh * 3, cudaMemcpyDeviceToHost);
    printf("%d\n", h[0]);
    return 0;
}
