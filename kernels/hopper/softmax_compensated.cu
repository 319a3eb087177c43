// Softmax along long rows whose sums are compensated (Kahan), one thread a row, three passes over memory.
#pragma keet size   ROWS = 1024, N = 8192
#pragma keet check  ROWS = 7, N = 129
#pragma keet check  ROWS = 64, N = 1000
#pragma keet in     X : f32[ROWS][N] = uniform(-4, 4)
#pragma keet out    Y : f32[ROWS][N]
#pragma keet tolerance rel = 2e-5, abs = 1e-7
#pragma keet work   f32_flops = 8*ROWS*N, special_ops = ROWS*N, bytes = 8*ROWS*N
#pragma keet tune   BLOCK = 32 in {32, 64, 128}
#pragma keet launch softmax_compensated<<<ceil_div(ROWS, BLOCK), BLOCK>>>(X, Y, ROWS, N)

__global__ void softmax_compensated(const float *X, float *Y, int ROWS, int N)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS)
        return;
    const float *x = X + (size_t)r * N;
    float largest = x[0], sum = 0, lost = 0;
    for (int i = 1; i < N; i++)
        largest = fmaxf(largest, x[i]);
    for (int i = 0; i < N; i++) {
        float term = expf(x[i] - largest) - lost;
        float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    for (int i = 0; i < N; i++)
        Y[(size_t)r * N + i] = expf(x[i] - largest) / sum;
}
