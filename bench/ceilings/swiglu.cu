// SwiGLU feed-forward block: Y = (silu(X Wg) * (X Wu)) Wd, f32. Four launches: two products up, the
// gate, one product down; one output per thread.
#pragma keet size   T = 512, D = 512, F = 1024
#pragma keet check  T = 33, D = 19, F = 37
#pragma keet check  T = 16, D = 32, F = 64
#pragma keet in     X : f32[T][D] = uniform(-1, 1)
#pragma keet in     WG : f32[D][F] = uniform(-0.2, 0.2)
#pragma keet in     WU : f32[D][F] = uniform(-0.2, 0.2)
#pragma keet in     WD : f32[F][D] = uniform(-0.2, 0.2)
#pragma keet out    Y : f32[T][D]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 6*T*D*F, bytes = 4*(2*T*D + 3*D*F)
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet temp   G : f32[T][F]
#pragma keet temp   U : f32[T][F]
#pragma keet tune   BM = 64 in {16, 32, 64, 128}
#pragma keet tune   BN = 32 in {16, 32, 64, 128}
#pragma keet tune   BK = 16 in {8, 16, 32}
#pragma keet tune   TM = 4 in {1, 2, 4, 8}
#pragma keet tune   TN = 4 in {1, 2, 4, 8}
#pragma keet where  (BM/TM)*(BN/TN) <= 1024 && (BM/TM)*(BN/TN) % 32 == 0 && BK*TM*TN <= 2048
#pragma keet launch product<<<dim3(ceil_div(F, BN), ceil_div(T, BM)), dim3(BN/TN, BM/TM)>>>(X, WG, G, T, F, D)
#pragma keet launch product<<<dim3(ceil_div(F, BN), ceil_div(T, BM)), dim3(BN/TN, BM/TM)>>>(X, WU, U, T, F, D)
#pragma keet launch gate<<<ceil_div(T*F, BLOCK), BLOCK>>>(G, U, T*F)
#pragma keet launch product<<<dim3(ceil_div(D, BN), ceil_div(T, BM)), dim3(BN/TN, BM/TM)>>>(G, WD, Y, T, D, F)

__global__ void product(const float *A, const float *B, float *C, int m, int n, int k)
{
    __shared__ __align__(16) float tile_A[BK][BM + 4];
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
        for (int u2 = 0; u2 < (BK * BM + NR_THREADS - 1) / NR_THREADS; u2++) {
            int e = tid + u2 * NR_THREADS;
            int kk = e % BK, at = e / BK;
            int row = first_y + at, i = k0 + kk;
            next_tile_A[u2] = 0.0f;
            if ((BK * BM % NR_THREADS == 0 || e < BK * BM) && i < k && row < m)
                next_tile_A[u2] = A[row * k + i];
        }
        float next_tile_B[(BK * BN + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u2 = 0; u2 < (BK * BN + NR_THREADS - 1) / NR_THREADS; u2++) {
            int e = tid + u2 * NR_THREADS;
            int at = e % BN, kk = e / BN;
            int col = first_x + at, i = k0 + kk;
            next_tile_B[u2] = 0.0f;
            if ((BK * BN % NR_THREADS == 0 || e < BK * BN) && i < k && col < n)
                next_tile_B[u2] = B[i * n + col];
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
        for (int u2 = 0; u2 < (BK * BM + NR_THREADS - 1) / NR_THREADS; u2++) {
            int e = tid + u2 * NR_THREADS;
            int kk = e % BK, at = e / BK;
            if (BK * BM % NR_THREADS == 0 || e < BK * BM)
                tile_A[kk][at] = next_tile_A[u2];
        }
        #pragma unroll
        for (int u2 = 0; u2 < (BK * BN + NR_THREADS - 1) / NR_THREADS; u2++) {
            int e = tid + u2 * NR_THREADS;
            int at = e % BN, kk = e / BN;
            if (BK * BN % NR_THREADS == 0 || e < BK * BN)
                tile_B[kk][at] = next_tile_B[u2];
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

__global__ void gate(float *g, const float *u, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        g[i] = g[i] / (1.0f + expf(-g[i])) * u[i];
}
