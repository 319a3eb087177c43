// 1-D convolution of a batch of f32 signals, zero padding, stride one, with bias and relu. Two
// launches: one output per thread, then bias and relu over the result.
#pragma keet size   B = 8, CIN = 32, COUT = 64, L = 1024, K = 5
#pragma keet check  B = 2, CIN = 3, COUT = 5, L = 67, K = 5
#pragma keet check  B = 1, CIN = 4, COUT = 3, L = 64, K = 3
#pragma keet in     X : f32[B][CIN][L] = uniform(-1, 1)
#pragma keet in     F : f32[COUT][CIN][K] = uniform(-1, 1)
#pragma keet in     BIAS : f32[COUT] = uniform(-1, 1)
#pragma keet out    Y : f32[B][COUT][L]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*B*COUT*CIN*L*K + 2*B*COUT*L, bytes = 4*(B*CIN*L + COUT*CIN*K + COUT + B*COUT*L)
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch conv1d<<<dim3(ceil_div(L, BLOCK), COUT, B), BLOCK>>>(X, F, Y, CIN, COUT, L, K)
#pragma keet launch bias_relu<<<ceil_div(B*COUT*L, BLOCK), BLOCK>>>(Y, BIAS, B*COUT*L, COUT, L)

__global__ void conv1d(const float *X, const float *F, float *Y, int cin, int cout, int l, int k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int o = blockIdx.y;
    int b = blockIdx.z;
    if (x < l) {
        float sum = 0;
        for (int c = 0; c < cin; c++) {
            for (int i = 0; i < k; i++) {
                int xx = x + i - k / 2;
                if (xx >= 0 && xx < l)
                    sum += X[(b * cin + c) * l + xx] * F[(o * cin + c) * k + i];
            }
        }
        Y[(b * cout + o) * l + x] = sum;
    }
}

__global__ void bias_relu(float *y, const float *bias, int n, int channels, int l)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fmaxf(y[i] + bias[i / l % channels], 0.0f);
}
