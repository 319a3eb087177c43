// One upwind step of a density on a grid with a constant wind.
#pragma keet size   H = 2048, W = 1024
#pragma keet check  H = 70, W = 50
#pragma keet in     A : f32[H][W] = uniform(0, 1)
#pragma keet out    B : f32[H][W]
#pragma keet work   flops = 6*H*W, bytes = 8*H*W
#pragma keet launch advect<<<dim3(ceil_div(H, 256), W), 256>>>(A, B, H, W)

__global__ void advect(const float *__restrict__ A, float *__restrict__ B, int h, int w)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    int x = blockIdx.y;
    if (y >= h)
        return;
    float here = A[y * w + x];
    float west = A[y * w + max(x - 1, 0)];
    float north = A[max(y - 1, 0) * w + x];
    B[y * w + x] = here - 0.3f * (here - west) - 0.2f * (here - north);
}
