// The K largest of each row, in falling order: the whole row is sorted in shared memory by a bitonic network, one block
// a row.
#pragma keet size   ROWS = 1024, N = 2048, K = 64
#pragma keet check  ROWS = 3, N = 64, K = 8
#pragma keet check  ROWS = 5, N = 256, K = 32
#pragma keet assume N == 64 || N == 128 || N == 256 || N == 512 || N == 1024 || N == 2048
#pragma keet assume K <= N
#pragma keet in     X : f32[ROWS][N] = uniform(-1, 1)
#pragma keet out    TOP : f32[ROWS][K]
#pragma keet tolerance rel = 0, abs = 0
#pragma keet work   bytes = 4*ROWS*N + 4*ROWS*K
#pragma keet tune   BLOCK = 256 in {64, 128, 256, 512}
#pragma keet launch topk_bitonic<<<ROWS, BLOCK, 4*N>>>(X, TOP, N, K)

__global__ void topk_bitonic(const float *X, float *TOP, int N, int K)
{
    extern __shared__ float row[];
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        row[i] = X[(size_t)blockIdx.x * N + i];
    __syncthreads();
    for (int size = 2; size <= N; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            for (int i = threadIdx.x; i < N; i += blockDim.x) {
                int other = i ^ step;
                if (other > i) {
                    bool falls = (i & size) == 0;
                    float a = row[i], b = row[other];
                    if (falls ? a < b : a > b) {
                        row[i] = b;
                        row[other] = a;
                    }
                }
            }
            __syncthreads();
        }
    }
    for (int i = threadIdx.x; i < K; i += blockDim.x)
        TOP[(size_t)blockIdx.x * K + i] = row[i];
}
