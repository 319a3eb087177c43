// Attention half of a transformer block: Y = X + attention(layernorm(X)) WO, f32, H heads of E. Six
// launches: layer normalisation, queries with keys and values, scores, softmax, weighted values, output
// projection with the residual.
#pragma keet size   S = 256, H = 4, E = 64
#pragma keet check  S = 21, H = 3, E = 11
#pragma keet check  S = 16, H = 2, E = 16
#pragma keet in     X : f32[S][H*E] = normal(0, 1)
#pragma keet in     GAMMA : f32[H*E] = uniform(0.5, 1.5)
#pragma keet in     BETA : f32[H*E] = uniform(-0.5, 0.5)
#pragma keet in     WQKV : f32[H*E][3*H*E] = uniform(-0.1, 0.1)
#pragma keet in     WO : f32[H*E][H*E] = uniform(-0.1, 0.1)
#pragma keet out    Y : f32[S][H*E]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 8*S*H*E*H*E + 4*H*S*S*E, bytes = 4*(2*S*H*E + 4*H*E*H*E + 2*H*E)
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet tune   BLOCK = 64 in {32, 64, 128}
#pragma keet temp   N : f32[S][H*E]
#pragma keet temp   QKV : f32[S][3*H*E]
#pragma keet temp   P : f32[H][S][S]
#pragma keet temp   O : f32[S][H*E]
#pragma keet launch layernorm<<<ceil_div(S, BLOCK), BLOCK>>>(X, GAMMA, BETA, N, S, H*E)
#pragma keet launch project<<<dim3(ceil_div(3*H*E, TILE), ceil_div(S, TILE)), dim3(TILE, TILE)>>>(N, WQKV, QKV, S, 3*H*E, H*E)
#pragma keet launch scores<<<dim3(ceil_div(S, TILE), ceil_div(S, TILE), H), dim3(TILE, TILE)>>>(QKV, P, S, H, E)
#pragma keet launch softmax<<<ceil_div(H*S, BLOCK), BLOCK>>>(P, H*S, S)
#pragma keet launch weigh<<<dim3(ceil_div(E, TILE), ceil_div(S, TILE), H), dim3(TILE, TILE)>>>(P, QKV, O, S, H, E)
#pragma keet launch project_add<<<dim3(ceil_div(H*E, TILE), ceil_div(S, TILE)), dim3(TILE, TILE)>>>(O, WO, X, Y, S, H*E, H*E)

__global__ void layernorm(
    const float *X, const float *gamma, const float *beta, float *Y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float mean = 0;
        for (int i = 0; i < cols; i++)
            mean += X[row * cols + i];
        mean /= cols;
        float var = 0;
        for (int i = 0; i < cols; i++) {
            float d = X[row * cols + i] - mean;
            var += d * d;
        }
        var /= cols;
        for (int i = 0; i < cols; i++)
            Y[row * cols + i] = (X[row * cols + i] - mean) / sqrtf(var + 1e-5f) * gamma[i] + beta[i];
    }
}

__global__ void project(const float *A, const float *B, float *C, int m, int n, int k)
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

__global__ void scores(const float *QKV, float *P, int s, int heads, int e)
{
    int h = blockIdx.z;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int wide = 3 * heads * e;
    if (row < s && col < s) {
        float sum = 0;
        for (int k = 0; k < e; k++)
            sum += QKV[row * wide + h * e + k] * QKV[col * wide + (heads + h) * e + k];
        P[(h * s + row) * s + col] = sum / sqrtf(e);
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

__global__ void weigh(const float *P, const float *QKV, float *O, int s, int heads, int e)
{
    int h = blockIdx.z;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < s && col < e) {
        float sum = 0;
        for (int k = 0; k < s; k++)
            sum += P[(h * s + row) * s + k] * QKV[k * 3 * heads * e + (2 * heads + h) * e + col];
        O[row * heads * e + h * e + col] = sum;
    }
}

__global__ void project_add(
    const float *A, const float *B, const float *X, float *C, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0;
        for (int i = 0; i < k; i++)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = X[row * n + col] + sum;
    }
}
