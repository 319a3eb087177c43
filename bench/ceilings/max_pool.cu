// Max pooling of f32 images with a P x P window and stride P, edges cut off. One output per thread,
// thread x along the rows.
#pragma keet size   C = 64, H = 256, W = 256, P = 2
#pragma keet check  C = 3, H = 33, W = 67, P = 2
#pragma keet check  C = 2, H = 32, W = 65, P = 3
#pragma keet in     X : f32[C][H][W] = uniform(-1, 1)
#pragma keet out    Y : f32[C][H/P][W/P]
#pragma keet tolerance rel = 0, abs = 0
#pragma keet work   flops = C*H*W, bytes = 4*(C*H*W + C*(H/P)*(W/P))
#pragma keet tune   BX = 16 in {8, 16, 32}
#pragma keet tune   BY = 16 in {8, 16, 32}
#pragma keet tune   BLOCK_X = 64 in {16, 32, 64, 128, 256, 512}
#pragma keet tune   BLOCK_Y = 4 in {1, 2, 4, 8, 16}
#pragma keet where  BLOCK_X*BLOCK_Y <= 1024
#pragma keet launch max_pool<<<dim3(ceil_div(W/P, BLOCK_X), ceil_div(H/P, BLOCK_Y), C), dim3(BLOCK_X, BLOCK_Y)>>>(X, Y, H, W, P)

__global__ void max_pool(const float *__restrict__ X, float *__restrict__ Y, int h, int w, int p)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.z;
    if (row < h / p && col < w / p) {
        float largest = X[(c * h + row * p) * w + col * p];
        for (int i = 0; i < p; i++)
            #pragma unroll 8
            for (int j = 0; j < p; j++)
                largest = fmaxf(largest, X[(c * h + row * p + i) * w + col * p + j]);
        Y[(c * (h / p) + row) * (w / p) + col] = largest;
    }
}
