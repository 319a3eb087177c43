// Attention of H heads without a mask: scores = Q K^T / sqrt(D), softmax along each row, then times V.
// Three launches, f32, the scores go through memory.
#pragma keet size   H = 8, S = 512, D = 64
#pragma keet check  H = 2, S = 37, D = 17
#pragma keet check  H = 1, S = 64, D = 32
#pragma keet in     Q : f32[H][S][D] = uniform(-1, 1)
#pragma keet in     K : f32[H][S][D] = uniform(-1, 1)
#pragma keet in     V : f32[H][S][D] = uniform(-1, 1)
#pragma keet out    O : f32[H][S][D]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 4*H*S*S*D + 5*H*S*S, bytes = 16*H*S*D
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet tune   BLOCK = 128 in {32, 64, 128}
#pragma keet temp   P : f32[H][S][S]
#pragma keet launch scores<<<dim3(ceil_div(S, TILE), ceil_div(S, TILE), H), dim3(TILE, TILE)>>>(Q, K, P, S, D)
#pragma keet launch softmax<<<ceil_div(H*S, BLOCK), BLOCK>>>(P, H*S, S)
#pragma keet launch weigh<<<dim3(ceil_div(D, TILE), ceil_div(S, TILE), H), dim3(TILE, TILE)>>>(P, V, O, S, D)

__global__ void scores(const float *Q, const float *K, float *P, int s, int d)
{
    int h = blockIdx.z;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < s && col < s) {
        float sum = 0;
        for (int k = 0; k < d; k++)
            sum += Q[(h * s + row) * d + k] * K[(h * s + col) * d + k];
        P[(h * s + row) * s + col] = sum / sqrtf(d);
    }
}

__global__ void softmax(float *P, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float largest = P[row * cols];
        for (int i = 1; i < cols; i++)
            largest = fmaxf(largest, P[row * cols + i]);
        float sum = 0;
        for (int i = 0; i < cols; i++) {
            P[row * cols + i] = expf(P[row * cols + i] - largest);
            sum += P[row * cols + i];
        }
        for (int i = 0; i < cols; i++)
            P[row * cols + i] /= sum;
    }
}

__global__ void weigh(const float *P, const float *V, float *O, int s, int d)
{
    int h = blockIdx.z;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < s && col < d) {
        float sum = 0;
        for (int k = 0; k < s; k++)
            sum += P[(h * s + row) * s + k] * V[(h * s + k) * d + col];
        O[(h * s + row) * d + col] = sum;
    }
}
