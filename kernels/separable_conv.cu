// Depthwise separable convolution: 3 x 3 per channel with bias and relu6, then 1 x 1 across channels with
// bias and relu6, f32, zero padding. Two launches, one output pixel per thread.
#pragma keet size   C = 64, O = 64, H = 56, W = 56
#pragma keet check  C = 5, O = 7, H = 9, W = 35
#pragma keet check  C = 4, O = 3, H = 8, W = 32
#pragma keet in     X : f32[C][H][W] = uniform(-2, 2)
#pragma keet in     FD : f32[C][3][3] = uniform(-1, 1)
#pragma keet in     BD : f32[C] = uniform(-1, 1)
#pragma keet in     FP : f32[O][C] = uniform(-0.5, 0.5)
#pragma keet in     BP : f32[O] = uniform(-1, 1)
#pragma keet out    Y : f32[O][H][W]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 18*C*H*W + 2*O*C*H*W, bytes = 4*(C*H*W + 10*C + O*C + O + O*H*W)
#pragma keet tune   BX = 16 in {8, 16, 32}
#pragma keet tune   BY = 8 in {4, 8, 16}
#pragma keet temp   A : f32[C][H][W]
#pragma keet launch depthwise<<<dim3(ceil_div(W, BX), ceil_div(H, BY), C), dim3(BX, BY)>>>(X, FD, BD, A, H, W)
#pragma keet launch pointwise<<<dim3(ceil_div(W, BX), ceil_div(H, BY), O), dim3(BX, BY)>>>(A, FP, BP, Y, C, H, W)

__global__ void depthwise(
    const float *X, const float *F, const float *bias, float *A, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int c = blockIdx.z;
    if (x < w && y < h) {
        float sum = bias[c];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                int yy = y + i - 1;
                int xx = x + j - 1;
                if (yy >= 0 && yy < h && xx >= 0 && xx < w)
                    sum += X[(c * h + yy) * w + xx] * F[(c * 3 + i) * 3 + j];
            }
        }
        A[(c * h + y) * w + x] = fminf(fmaxf(sum, 0.0f), 6.0f);
    }
}

__global__ void pointwise(
    const float *A, const float *F, const float *bias, float *Y, int channels, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int o = blockIdx.z;
    if (x < w && y < h) {
        float sum = bias[o];
        for (int c = 0; c < channels; c++)
            sum += A[(c * h + y) * w + x] * F[o * channels + c];
        Y[(o * h + y) * w + x] = fminf(fmaxf(sum, 0.0f), 6.0f);
    }
}
