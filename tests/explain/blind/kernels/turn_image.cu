// An image is transposed by tiles of 32x32, four rows per thread.
#pragma keet size   H = 4096, W = 4096
#pragma keet check  H = 64, W = 96
#pragma keet in     A : f32[H][W] = uniform(0, 1)
#pragma keet out    B : f32[W][H]
#pragma keet work   flops = 0, bytes = 8*H*W
#pragma keet launch turn<<<dim3(W/32, H/32), dim3(32, 8)>>>(A, B, H, W)

__global__ void turn(const float *__restrict__ A, float *__restrict__ B, int h, int w)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = A[(y + k) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        B[(y + k) * h + x] = tile[threadIdx.x][threadIdx.y + k];
}
