// Matrix product C = A B of row-major f32 matrices, one output per thread.
#pragma keet size   M = 1024, N = 1024, K = 1024
#pragma keet check  M = 129, N = 65, K = 33
#pragma keet check  M = 64, N = 96, K = 128
#pragma keet in     A : f32[M][K] = uniform(-1, 1)
#pragma keet in     B : f32[K][N] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*M*N*K, bytes = 4*(M*K + K*N + M*N)
#pragma keet tune   BM = 64 in {16, 32, 64, 128}
#pragma keet tune   BN = 16 in {16, 32, 64, 128}
#pragma keet tune   BK = 8 in {8, 16, 32}
#pragma keet tune   TM = 4 in {1, 2, 4, 8}
#pragma keet tune   TN = 8 in {1, 2, 4, 8}
#pragma keet where  (BM/TM)*(BN/TN) <= 1024 && (BM/TM)*(BN/TN) % 32 == 0 && BK*TM*TN <= 2048
#pragma keet launch matmul<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), dim3(BN/TN, BM/TM), 0>>>(A, B, C, M, N, K)

__global__ void __launch_bounds__((BN/TN)*(BM/TM), 2) matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(16) float tile_A[BK][BM + 4];
    __shared__ __align__(16) float tile_B[BK][BN];
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
    for (int k0 = 0; k0 < K + BK; k0 += BK) {
        float next_tile_A[(BK * BM + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BM + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int kk = e % BK, at = e / BK;
            int row = first_y + at, k = k0 + kk;
            next_tile_A[u] = 0.0f;
            if ((BK * BM % NR_THREADS == 0 || e < BK * BM) && k < K && row < M)
                next_tile_A[u] = A[row * K + k];
        }
        float next_tile_B[(BK * BN + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BN + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int at = e % BN, kk = e / BN;
            int col = first_x + at, k = k0 + kk;
            next_tile_B[u] = 0.0f;
            if ((BK * BN % NR_THREADS == 0 || e < BK * BN) && k < K && col < N)
                next_tile_B[u] = B[k * N + col];
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
                C[row * N + col] = sum[dm][dn];
            }
        }
    }
}
