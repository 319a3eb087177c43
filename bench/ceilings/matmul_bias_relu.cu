// Linear layer: Y = relu(X W + BIAS), f32. Two launches: the product with one output per thread, then
// bias and relu over the result.
#pragma keet size   M = 512, N = 512, K = 512
#pragma keet check  M = 33, N = 65, K = 37
#pragma keet check  M = 32, N = 64, K = 32
#pragma keet in     X : f32[M][K] = uniform(-1, 1)
#pragma keet in     W : f32[K][N] = uniform(-1, 1)
#pragma keet in     BIAS : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K + 2*M*N, bytes = 4*(M*K + K*N + N + M*N)
#pragma keet tune   BLOCK = 256 in {64, 128, 256}
#pragma keet tune   BM = 32 in {16, 32, 64, 128}
#pragma keet tune   BN = 16 in {16, 32, 64, 128}
#pragma keet tune   BK = 32 in {8, 16, 32}
#pragma keet tune   TM = 4 in {1, 2, 4, 8}
#pragma keet tune   TN = 2 in {1, 2, 4, 8}
#pragma keet where  (BM/TM)*(BN/TN) <= 1024 && (BM/TM)*(BN/TN) % 32 == 0 && BK*TM*TN <= 2048
#pragma keet launch product<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), dim3(BN/TN, BM/TM)>>>(X, W, Y, M, N, K)
#pragma keet launch bias_relu<<<ceil_div(M*N, BLOCK), BLOCK>>>(Y, BIAS, M*N, N)

__global__ void product(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int m, int n, int k)
{
    __shared__ __align__(16) float tile_A[BK][BM + 4 + 1];
    __shared__ __align__(16) float tile_B[BK][BN + 1];
    const int NR_THREADS = (BM / TM) * (BN / TN);
    const int VECTOR = TN % 4 == 0 ? 4 : 1;
    int tid = threadIdx.y * (BN / TN) + threadIdx.x;
    int first_y = blockIdx.y * BM;
    int first_x = blockIdx.x * BN;
    float sum[TM][TN];
    #pragma unroll
    for (int dm = 0; dm < TM; dm++) {
        #pragma unroll
        for (int dn = 0; dn < TN; dn++) {
            sum[dm][dn] = 0;
        }
    }
    for (int k0 = 0; k0 < k + BK; k0 += BK) {
        float next_tile_A[(BK * BM + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BM + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int kk = e % BK, at = e / BK;
            int row = first_y + at, i = k0 + kk;
            next_tile_A[u] = 0.0f;
            if ((BK * BM % NR_THREADS == 0 || e < BK * BM) && i < k && row < m)
                next_tile_A[u] = A[row * k + i];
        }
        float next_tile_B[(BK * BN + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BN + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int at = e % BN, kk = e / BN;
            int col = first_x + at, i = k0 + kk;
            next_tile_B[u] = 0.0f;
            if ((BK * BN % NR_THREADS == 0 || e < BK * BN) && i < k && col < n)
                next_tile_B[u] = B[i * n + col];
        }
        if (k0 > 0) {
            #pragma unroll
            for (int kk = 0; kk < BK; kk++) {
                float part_A[TM];
                #pragma unroll
                for (int dm = 0; dm < TM; dm++)
                    part_A[dm] = tile_A[kk][threadIdx.y * TM + dm];
                float part_B[TN];
                #pragma unroll
                for (int dn = 0; dn < TN; dn++)
                    part_B[dn] = tile_B[kk][dn / VECTOR * (BN / TN * VECTOR) + threadIdx.x * VECTOR + dn % VECTOR];
                #pragma unroll
                for (int dm = 0; dm < TM; dm++) {
                    #pragma unroll
                    for (int dn = 0; dn < TN; dn++) {
                        sum[dm][dn] += part_A[dm] * part_B[dn];
                    }
                }
            }
        }
        __syncthreads();
        #pragma unroll
        for (int u = 0; u < (BK * BM + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int kk = e % BK, at = e / BK;
            if (BK * BM % NR_THREADS == 0 || e < BK * BM)
                tile_A[kk][at] = next_tile_A[u];
        }
        #pragma unroll
        for (int u = 0; u < (BK * BN + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int at = e % BN, kk = e / BN;
            if (BK * BN % NR_THREADS == 0 || e < BK * BN)
                tile_B[kk][at] = next_tile_B[u];
        }
        __syncthreads();
    }
    #pragma unroll
    for (int dm = 0; dm < TM; dm++) {
        #pragma unroll
        for (int dn = 0; dn < TN; dn++) {
            int row = first_y + threadIdx.y * TM + dm;
            int col = first_x + dn / VECTOR * (BN / TN * VECTOR) + threadIdx.x * VECTOR + dn % VECTOR;
            if (row < m && col < n) {
                C[row * n + col] = sum[dm][dn];
            }
        }
    }
}

__global__ void bias_relu(float *__restrict__ y, const float *__restrict__ bias, int n, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fmaxf(y[i] + bias[i % cols], 0.0f);
}
