// 2-D convolution of a stack of f32 images: COUT filters of CIN x R x S, zero padding, stride one.
// One output pixel per thread.
#pragma keet size   CIN = 32, COUT = 32, H = 128, W = 128, R = 3, S = 3
#pragma keet check  CIN = 3, COUT = 5, H = 17, W = 35, R = 3, S = 3
#pragma keet check  CIN = 2, COUT = 3, H = 9, W = 31, R = 5, S = 3
#pragma keet in     X : f32[CIN][H][W] = uniform(-1, 1)
#pragma keet in     F : f32[COUT][CIN][R][S] = uniform(-1, 1)
#pragma keet out    Y : f32[COUT][H][W]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*COUT*CIN*H*W*R*S, bytes = 4*(CIN*H*W + COUT*CIN*R*S + COUT*H*W)
#pragma keet tune   BX = 16 in {8, 16, 32}
#pragma keet tune   BY = 16 in {4, 8, 16, 32}
#pragma keet where  BX*BY <= 1024
#pragma keet launch conv2d<<<dim3(ceil_div(W, BX), ceil_div(H, BY), COUT), dim3(BX, BY)>>>(X, F, Y, CIN, H, W, R, S)

__global__ void conv2d(
    const float *X, const float *F, float *Y, int cin, int h, int w, int r, int s)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int o = blockIdx.z;
    if (x < w && y < h) {
        float sum = 0;
        for (int c = 0; c < cin; c++) {
            for (int i = 0; i < r; i++) {
                for (int j = 0; j < s; j++) {
                    int yy = y + i - r / 2;
                    int xx = x + j - s / 2;
                    if (yy >= 0 && yy < h && xx >= 0 && xx < w)
                        sum += X[(c * h + yy) * w + xx] * F[((o * cin + c) * r + i) * s + j];
                }
            }
        }
        Y[(o * h + y) * w + x] = sum;
    }
}
