// One step of an LSTM layer for a batch, f32: gates i, f, g, o from X WX + H0 WH + BIAS, then the new
// cell and hidden states. Three launches: two products with one output per thread, then one state per
// thread.
#pragma keet size   B = 128, D = 256, H = 256
#pragma keet check  B = 19, D = 17, H = 11
#pragma keet check  B = 16, D = 32, H = 16
#pragma keet in     X : f32[B][D] = uniform(-1, 1)
#pragma keet in     H0 : f32[B][H] = uniform(-1, 1)
#pragma keet in     C0 : f32[B][H] = uniform(-1, 1)
#pragma keet in     WX : f32[D][4*H] = uniform(-0.1, 0.1)
#pragma keet in     WH : f32[H][4*H] = uniform(-0.1, 0.1)
#pragma keet in     BIAS : f32[4*H] = uniform(-0.5, 0.5)
#pragma keet out    H1 : f32[B][H]
#pragma keet out    C1 : f32[B][H]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 8*B*H*(D + H), bytes = 4*(B*D + 4*B*H + 4*H*(D + H + 1))
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet temp   GX : f32[B][4*H]
#pragma keet temp   GH : f32[B][4*H]
#pragma keet launch product<<<dim3(ceil_div(4*H, TILE), ceil_div(B, TILE)), dim3(TILE, TILE)>>>(X, WX, GX, B, 4*H, D)
#pragma keet launch product<<<dim3(ceil_div(4*H, TILE), ceil_div(B, TILE)), dim3(TILE, TILE)>>>(H0, WH, GH, B, 4*H, H)
#pragma keet launch cell<<<ceil_div(B*H, BLOCK), BLOCK>>>(GX, GH, BIAS, C0, H1, C1, B*H, H)

__global__ void product(const float *A, const float *B, float *C, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0;
        for (int i = 0; i < k; i++)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

__global__ void cell(const float *gx, const float *gh, const float *bias, const float *c0, float *h1,
    float *c1, int n, int h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = i / h * 4 * h + i % h;
        int j = i % h;
        float in = gx[at] + gh[at] + bias[j];
        float forget = gx[at + h] + gh[at + h] + bias[j + h];
        float value = gx[at + 2 * h] + gh[at + 2 * h] + bias[j + 2 * h];
        float out = gx[at + 3 * h] + gh[at + 3 * h] + bias[j + 3 * h];
        float c = c0[i] / (1.0f + expf(-forget)) + tanhf(value) / (1.0f + expf(-in));
        c1[i] = c;
        h1[i] = tanhf(c) / (1.0f + expf(-out));
    }
}
