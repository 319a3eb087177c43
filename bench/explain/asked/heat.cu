// Two half steps of a diffusion and the residual, each a launch.
#pragma keet size   H = 2048, W = 1024
#pragma keet check  H = 20, W = 33
#pragma keet in     U : f32[H][W] = uniform(0, 1)
#pragma keet temp   V : f32[H][W]
#pragma keet out    Z : f32[H][W]
#pragma keet out    R : f32[W]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch across<<<dim3(ceil_div(W, 32), ceil_div(H, 8)), dim3(32, 8)>>>(U, V, H, W)
#pragma keet launch down<<<dim3(ceil_div(W, 8), ceil_div(H, 32)), dim3(8, 32)>>>(V, Z, H, W)
#pragma keet launch residual<<<ceil_div(W, 128), 128>>>(U, Z, R, H, W)

__global__ void across(const float *u, float *v, int h, int w)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < w && y < h)
        v[y * w + x] = 0.25f * (u[y * w + max(x - 1, 0)] + 2 * u[y * w + x] + u[y * w + min(x + 1, w - 1)]);
}

__global__ void down(const float *v, float *z, int h, int w)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x < w && y < h)
        z[y * w + x] = 0.25f * (v[max(y - 1, 0) * w + x] + 2 * v[y * w + x] + v[min(y + 1, h - 1) * w + x]);
}

__global__ void residual(const float *u, const float *z, float *r, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w)
        return;
    float sum = 0;
    for (int y = 0; y < h; y++)
        sum += fabsf(u[y * w + x] - z[y * w + x]);
    r[x] = sum;
}
