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
#pragma keet tune   BLOCK = 64 in {64, 128, 256}
#pragma keet tune   PER_Z = 2 in {2, 4, 8}
#pragma keet launch conv1d<<<dim3(ceil_div(L, BLOCK), COUT, ceil_div(B, PER_Z)), BLOCK>>>(X, F, Y, CIN, COUT, L, K, B)
#pragma keet launch bias_relu<<<ceil_div(ceil_div(B*COUT*L, BLOCK), 4), BLOCK>>>(Y, BIAS, B*COUT*L, COUT, L)

__global__ void conv1d(const float *X, const float *F, float *Y, int cin, int cout, int l, int k, int nr_b)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int o = blockIdx.y;
    if (blockIdx.z * PER_Z < nr_b && x < l) {
        int b[PER_Z];
        #pragma unroll
        for (int uz = 0; uz < PER_Z; uz++)
            b[uz] = min((int)(blockIdx.z * PER_Z + uz), nr_b - 1);
        float sum[PER_Z];
        #pragma unroll
        for (int uz = 0; uz < PER_Z; uz++) {
            sum[uz] = 0;
        }
        for (int c = 0; c < cin; c++) {
            for (int i = 0; i < k; i++) {
                int xx = x + i - k / 2;
                #pragma unroll
                for (int uz = 0; uz < PER_Z; uz++) {
                    if (xx >= 0 && xx < l)
                        sum[uz] += X[(b[uz] * cin + c) * l + xx] * F[(o * cin + c) * k + i];
                }
            }
        }
        #pragma unroll
        for (int uz = 0; uz < PER_Z; uz++) {
            if (blockIdx.z * PER_Z + uz < nr_b) {
                Y[(b[uz] * cout + o) * l + x] = sum[uz];
            }
        }
    }
}

__global__ void bias_relu(float *y, const float *bias, int n, int channels, int l)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 y4 = *reinterpret_cast<const float4 *>(&y[i]);
        {
            y4.x = fmaxf(y4.x + bias[i / l % channels], 0.0f);
        }
        {
            y4.y = fmaxf(y4.y + bias[(i + 1) / l % channels], 0.0f);
        }
        {
            y4.z = fmaxf(y4.z + bias[(i + 2) / l % channels], 0.0f);
        }
        {
            y4.w = fmaxf(y4.w + bias[(i + 3) / l % channels], 0.0f);
        }
        *reinterpret_cast<float4 *>(&y[i]) = y4;
    } else {
        for (; i < n; i++) {
            y[i] = fmaxf(y[i] + bias[i / l % channels], 0.0f);
        }
    }
}
