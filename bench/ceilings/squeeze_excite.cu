// Squeeze and excitation of f32 features [batch][channel][position]: the mean of each channel goes
// through two small layers (relu, then sigmoid) and comes back as the channel's weight. Four launches:
// one mean per thread, one output per thread twice, one element per thread.
#pragma keet size   B = 16, C = 128, R = 16, L = 784
#pragma keet check  B = 3, C = 11, R = 4, L = 37
#pragma keet check  B = 2, C = 16, R = 8, L = 64
#pragma keet in     X : f32[B][C][L] = normal(0.5, 1)
#pragma keet in     W1 : f32[C][R] = uniform(-0.5, 0.5)
#pragma keet in     W2 : f32[R][C] = uniform(-0.5, 0.5)
#pragma keet out    Y : f32[B][C][L]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*B*C*L + 4*B*C*R, bytes = 4*(2*B*C*L + 2*C*R)
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet temp   MEAN : f32[B][C]
#pragma keet temp   HIDDEN : f32[B][R]
#pragma keet temp   WEIGHT : f32[B][C]
#pragma keet launch means<<<ceil_div(32*(B*C), BLOCK), BLOCK>>>(X, MEAN, B*C, L)
#pragma keet launch squeeze<<<ceil_div(32*(B*R), BLOCK), BLOCK>>>(MEAN, W1, HIDDEN, B*R, C, R)
#pragma keet launch excite<<<ceil_div(B*C, BLOCK), BLOCK>>>(HIDDEN, W2, WEIGHT, B*C, R, C)
#pragma keet launch scale<<<ceil_div(ceil_div(B*C*L, BLOCK), 4), BLOCK>>>(X, WEIGHT, Y, B*C*L, L)

__global__ void means(const float *X, float *mean, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows) {
        float sum = 0;
        #pragma unroll 8
        for (int i = lane; i < cols; i += 32)
            sum += X[row * cols + i];
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, offset);
        if (lane == 0)
            mean[row] = __fdividef(sum, cols);
    }
}

__global__ void squeeze(const float *x, const float *W, float *y, int n, int from, int to)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane2 = threadIdx.x % 32;
    if (i < n) {
        float sum = 0;
        for (int k = lane2; k < from; k += 32)
            sum += x[i / to * from + k] * W[k * to + i % to];
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, offset);
        if (lane2 == 0)
            y[i] = fmaxf(sum, 0.0f);
    }
}

__global__ void excite(const float *x, const float *W, float *y, int n, int from, int to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0;
        for (int k = 0; k < from; k++)
            sum += x[i / to * from + k] * W[k * to + i % to];
        y[i] = __fdividef(1.0f, (1.0f + __expf(-sum)));
    }
}

__global__ void scale(const float *x, const float *weight, float *y, int n, int l)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 y4;
        float4 x4 = *reinterpret_cast<const float4 *>(&x[i]);
        {
            y4.x = x4.x * weight[i / l];
        }
        {
            y4.y = x4.y * weight[(i + 1) / l];
        }
        {
            y4.z = x4.z * weight[(i + 2) / l];
        }
        {
            y4.w = x4.w * weight[(i + 3) / l];
        }
        *reinterpret_cast<float4 *>(&y[i]) = y4;
    } else {
        for (; i < n; i++) {
            y[i] = x[i] * weight[i / l];
        }
    }
}
