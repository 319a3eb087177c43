// C[b] = A[b] B[b] for a batch of f32 matrices, one output per thread, the batch along grid z.
#pragma keet size   BATCH = 16, M = 256, N = 256, K = 256
#pragma keet check  BATCH = 3, M = 33, N = 35, K = 17
#pragma keet check  BATCH = 1, M = 65, N = 31, K = 64
#pragma keet in     A : f32[BATCH][M][K] = uniform(-1, 1)
#pragma keet in     B : f32[BATCH][K][N] = uniform(-1, 1)
#pragma keet out    C : f32[BATCH][M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*BATCH*M*N*K, bytes = 4*BATCH*(M*K + K*N + M*N)
#pragma keet tune   BM = 32 in {16, 32, 64, 128}
#pragma keet tune   BN = 64 in {16, 32, 64, 128}
#pragma keet tune   BK = 16 in {8, 16, 32}
#pragma keet tune   TM = 4 in {1, 2, 4, 8}
#pragma keet tune   TN = 4 in {1, 2, 4, 8}
#pragma keet where  (BM/TM)*(BN/TN) <= 1024 && (BM/TM)*(BN/TN) % 32 == 0 && BK*TM*TN <= 2048
#pragma keet launch batched_matmul<<<dim3(ceil_div(N, BN), ceil_div(M, BM), BATCH), dim3(BN/TN, BM/TM)>>>(A, B, C, M, N, K)

__global__ void batched_matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(16) float tile_A[BK][BM + 4 + 1];
    __shared__ __align__(16) float tile_B[BK][BN];
    const int NR_THREADS = (BM / TM) * (BN / TN);
    const int VECTOR = TN % 4 == 0 ? 4 : 1;
    int tid = threadIdx.y * (BN / TN) + threadIdx.x;
    int first_y = blockIdx.y * BM;
    int first_x = blockIdx.x * BN;
    int batch = blockIdx.z;
    float sum[TM][TN];
    #pragma unroll
    for (int dm = 0; dm < TM; dm++) {
        #pragma unroll
        for (int dn = 0; dn < TN; dn++) {
            sum[dm][dn] = 0;
        }
    }
    for (int k0 = 0; k0 < K + BK; k0 += BK) {
        float next_tile_A[(BK * BM + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BM + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int kk = e % BK, at = e / BK;
            int row = first_y + at, k = k0 + kk;
            next_tile_A[u] = 0.0f;
            if ((BK * BM % NR_THREADS == 0 || e < BK * BM) && k < K && row < M)
                next_tile_A[u] = A[(batch * M + row) * K + k];
        }
        float next_tile_B[(BK * BN + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BN + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int at = e % BN, kk = e / BN;
            int col = first_x + at, k = k0 + kk;
            next_tile_B[u] = 0.0f;
            if ((BK * BN % NR_THREADS == 0 || e < BK * BN) && k < K && col < N)
                next_tile_B[u] = B[(batch * K + k) * N + col];
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
            if (row < M && col < N) {
                C[(batch * M + row) * N + col] = sum[dm][dn];
            }
        }
    }
}
