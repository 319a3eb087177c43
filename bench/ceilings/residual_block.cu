// Residual block of two 3 x 3 convolutions, each with batch normalisation folded into a scale and a
// shift per channel: Y = relu(X + bn2(conv2(relu(bn1(conv1(X)))))), f32, zero padding. Four launches, one
// element per thread.
#pragma keet size   C = 16, H = 56, W = 56
#pragma keet check  C = 3, H = 9, W = 35
#pragma keet check  C = 2, H = 8, W = 32
#pragma keet in     X : f32[C][H][W] = uniform(-1, 1)
#pragma keet in     F1 : f32[C][C][3][3] = uniform(-0.3, 0.3)
#pragma keet in     F2 : f32[C][C][3][3] = uniform(-0.3, 0.3)
#pragma keet in     SCALE1 : f32[C] = uniform(0.5, 1.5)
#pragma keet in     SHIFT1 : f32[C] = uniform(-0.5, 0.5)
#pragma keet in     SCALE2 : f32[C] = uniform(0.5, 1.5)
#pragma keet in     SHIFT2 : f32[C] = uniform(-0.5, 0.5)
#pragma keet out    Y : f32[C][H][W]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 36*C*C*H*W + 7*C*H*W, bytes = 4*(2*C*H*W + 18*C*C + 4*C)
#pragma keet tune   BX = 32 in {8, 16, 32}
#pragma keet tune   BY = 16 in {4, 8, 16}
#pragma keet tune   BLOCK = 256 in {64, 128, 256}
#pragma keet temp   A : f32[C][H][W]
#pragma keet temp   D : f32[C][H][W]
#pragma keet launch conv<<<dim3(ceil_div(W, BX), ceil_div(H, BY), C), dim3(BX, BY)>>>(X, F1, A, C, H, W)
#pragma keet launch scale_relu<<<ceil_div(C*H*W, BLOCK), BLOCK>>>(A, SCALE1, SHIFT1, C*H*W, H*W)
#pragma keet launch conv<<<dim3(ceil_div(W, BX), ceil_div(H, BY), C), dim3(BX, BY)>>>(A, F2, D, C, H, W)
#pragma keet launch scale_add_relu<<<ceil_div(C*H*W, BLOCK), BLOCK>>>(D, SCALE2, SHIFT2, X, Y, C*H*W, H*W)

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
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = fmaxf(a[i] * scale[i / plane] + shift[i / plane], 0.0f);
}

__global__ void scale_add_relu(const float *a, const float *scale, const float *shift, const float *x,
    float *y, int n, int plane)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fmaxf(a[i] * scale[i / plane] + shift[i / plane] + x[i], 0.0f);
}
