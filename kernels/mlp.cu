// Perceptron of three layers: Y = relu(relu(X W1 + B1) W2 + B2) W3 + B3, f32. One launch per layer, one
// output per thread.
#pragma keet size   T = 256, D = 512, F = 512, O = 128
#pragma keet check  T = 33, D = 19, F = 37, O = 11
#pragma keet check  T = 16, D = 32, F = 64, O = 16
#pragma keet in     X : f32[T][D] = uniform(-1, 1)
#pragma keet in     W1 : f32[D][F] = uniform(-0.1, 0.1)
#pragma keet in     B1 : f32[F] = uniform(-0.5, 0.5)
#pragma keet in     W2 : f32[F][F] = uniform(-0.1, 0.1)
#pragma keet in     B2 : f32[F] = uniform(-0.5, 0.5)
#pragma keet in     W3 : f32[F][O] = uniform(-0.1, 0.1)
#pragma keet in     B3 : f32[O] = uniform(-0.5, 0.5)
#pragma keet out    Y : f32[T][O]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*T*(D*F + F*F + F*O), bytes = 4*(T*D + D*F + F*F + F*O + 2*F + O + T*O)
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet temp   H1 : f32[T][F]
#pragma keet temp   H2 : f32[T][F]
#pragma keet launch layer<<<dim3(ceil_div(F, TILE), ceil_div(T, TILE)), dim3(TILE, TILE)>>>(X, W1, B1, H1, T, F, D, 1)
#pragma keet launch layer<<<dim3(ceil_div(F, TILE), ceil_div(T, TILE)), dim3(TILE, TILE)>>>(H1, W2, B2, H2, T, F, F, 1)
#pragma keet launch layer<<<dim3(ceil_div(O, TILE), ceil_div(T, TILE)), dim3(TILE, TILE)>>>(H2, W3, B3, Y, T, O, F, 0)

__global__ void layer(const float *A, const float *W, const float *bias, float *C, int m, int n, int k,
    int relu)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = bias[col];
        for (int i = 0; i < k; i++)
            sum += A[row * k + i] * W[i * n + col];
        C[row * n + col] = relu ? fmaxf(sum, 0.0f) : sum;
    }
}
