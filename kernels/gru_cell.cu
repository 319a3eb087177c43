// One step of a GRU layer for a batch, f32: reset and update gates and the new value from X WX + BX and
// H0 WH + BH, where the reset gate weighs the hidden part of the value. Three launches: two products with
// one output per thread, then one state per thread.
#pragma keet size   B = 128, D = 256, H = 256
#pragma keet check  B = 19, D = 17, H = 11
#pragma keet check  B = 16, D = 32, H = 16
#pragma keet in     X : f32[B][D] = uniform(-1, 1)
#pragma keet in     H0 : f32[B][H] = uniform(-1, 1)
#pragma keet in     WX : f32[D][3*H] = uniform(-0.1, 0.1)
#pragma keet in     WH : f32[H][3*H] = uniform(-0.1, 0.1)
#pragma keet in     BX : f32[3*H] = uniform(-0.5, 0.5)
#pragma keet in     BH : f32[3*H] = uniform(-0.5, 0.5)
#pragma keet out    H1 : f32[B][H]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 6*B*H*(D + H), bytes = 4*(B*D + 2*B*H + 3*H*(D + H + 2))
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet temp   GX : f32[B][3*H]
#pragma keet temp   GH : f32[B][3*H]
#pragma keet launch gates<<<dim3(ceil_div(3*H, TILE), ceil_div(B, TILE)), dim3(TILE, TILE)>>>(X, WX, BX, GX, B, 3*H, D)
#pragma keet launch gates<<<dim3(ceil_div(3*H, TILE), ceil_div(B, TILE)), dim3(TILE, TILE)>>>(H0, WH, BH, GH, B, 3*H, H)
#pragma keet launch blend<<<ceil_div(B*H, BLOCK), BLOCK>>>(GX, GH, H0, H1, B*H, H)

__global__ void gates(
    const float *A, const float *W, const float *bias, float *C, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = bias[col];
        for (int i = 0; i < k; i++)
            sum += A[row * k + i] * W[i * n + col];
        C[row * n + col] = sum;
    }
}

__global__ void blend(const float *gx, const float *gh, const float *h0, float *h1, int n, int h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = i / h * 3 * h + i % h;
        float reset = 1.0f / (1.0f + expf(-(gx[at] + gh[at])));
        float update = 1.0f / (1.0f + expf(-(gx[at + h] + gh[at + h])));
        float value = tanhf(gx[at + 2 * h] + reset * gh[at + 2 * h]);
        h1[i] = (1.0f - update) * value + update * h0[i];
    }
}
