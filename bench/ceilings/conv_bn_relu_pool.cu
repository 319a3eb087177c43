// Convolution, batch normalisation folded into a scale and a shift per channel, relu and 2 x 2 max
// pooling, f32. Three launches: one output pixel per thread, one element per thread, one pooled pixel
// per thread.
#pragma keet size   CIN = 16, COUT = 32, H = 64, W = 64
#pragma keet check  CIN = 3, COUT = 5, H = 17, W = 35
#pragma keet check  CIN = 2, COUT = 3, H = 8, W = 32
#pragma keet in     X : f32[CIN][H][W] = uniform(-1, 1)
#pragma keet in     F : f32[COUT][CIN][3][3] = uniform(-1, 1)
#pragma keet in     SCALE : f32[COUT] = uniform(0.5, 1.5)
#pragma keet in     SHIFT : f32[COUT] = uniform(-1, 1)
#pragma keet out    Y : f32[COUT][H/2][W/2]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 18*COUT*CIN*H*W + 4*COUT*H*W, bytes = 4*(CIN*H*W + 9*COUT*CIN + 2*COUT + COUT*(H/2)*(W/2))
#pragma keet tune   BX = 16 in {8, 16, 32}
#pragma keet tune   BY = 8 in {4, 8, 16}
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet temp   A : f32[COUT][H][W]
#pragma keet tune   BLOCK_X = 64 in {16, 32, 64, 128, 256, 512}
#pragma keet tune   BLOCK_Y = 4 in {1, 2, 4, 8, 16}
#pragma keet where  BLOCK_X*BLOCK_Y <= 1024
#pragma keet launch conv<<<dim3(ceil_div(W, BLOCK_X), ceil_div(H, BLOCK_Y), COUT), dim3(BLOCK_X, BLOCK_Y)>>>(X, F, A, CIN, H, W)
#pragma keet launch scale_relu<<<ceil_div(ceil_div(COUT*H*W, BLOCK), 4), BLOCK>>>(A, SCALE, SHIFT, COUT*H*W, H*W)
#pragma keet launch pool<<<dim3(ceil_div(W/2, BX), ceil_div(H/2, BY), COUT), dim3(BX, BY)>>>(A, Y, H, W)

__global__ void conv(const float *X, const float *F, float *A, int cin, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int o = blockIdx.z;
    if (x < w && y < h) {
        float sum = 0;
        for (int c = 0; c < cin; c++) {
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++) {
                    int yy = y + i - 1;
                    int xx = x + j - 1;
                    if (yy >= 0 && yy < h && xx >= 0 && xx < w)
                        sum += X[(c * h + yy) * w + xx] * F[((o * cin + c) * 3 + i) * 3 + j];
                }
            }
        }
        A[(o * h + y) * w + x] = sum;
    }
}

__global__ void scale_relu(float *a, const float *scale, const float *shift, int n, int plane)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 a4 = *reinterpret_cast<const float4 *>(&a[i]);
        {
            a4.x = fmaxf(a4.x * scale[i / plane] + shift[i / plane], 0.0f);
        }
        {
            a4.y = fmaxf(a4.y * scale[(i + 1) / plane] + shift[(i + 1) / plane], 0.0f);
        }
        {
            a4.z = fmaxf(a4.z * scale[(i + 2) / plane] + shift[(i + 2) / plane], 0.0f);
        }
        {
            a4.w = fmaxf(a4.w * scale[(i + 3) / plane] + shift[(i + 3) / plane], 0.0f);
        }
        *reinterpret_cast<float4 *>(&a[i]) = a4;
    } else {
        for (; i < n; i++) {
            a[i] = fmaxf(a[i] * scale[i / plane] + shift[i / plane], 0.0f);
        }
    }
}

__global__ void pool(const float *A, float *Y, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int o = blockIdx.z;
    if (x < w / 2 && y < h / 2) {
        float largest = A[(o * h + 2 * y) * w + 2 * x];
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                largest = fmaxf(largest, A[(o * h + 2 * y + i) * w + 2 * x + j]);
        Y[(o * (h / 2) + y) * (w / 2) + x] = largest;
    }
}
