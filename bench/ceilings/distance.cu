// Squared Euclidean distance from each of M points to each of N centres in D dimensions, f32, one pair
// per thread, thread x along the points.
#pragma keet size   M = 4096, N = 512, D = 128
#pragma keet check  M = 67, N = 35, D = 33
#pragma keet check  M = 64, N = 32, D = 16
#pragma keet in     P : f32[M][D] = uniform(-1, 1)
#pragma keet in     C : f32[N][D] = uniform(-1, 1)
#pragma keet out    DIST : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 3*M*N*D, bytes = 4*(M*D + N*D + M*N)
#pragma keet tune   BM = 64 in {16, 32, 64, 128}
#pragma keet tune   BN = 64 in {16, 32, 64, 128}
#pragma keet tune   BK = 16 in {8, 16, 32}
#pragma keet tune   TM = 4 in {1, 2, 4, 8}
#pragma keet tune   TN = 4 in {1, 2, 4, 8}
#pragma keet where  (BM/TM)*(BN/TN) <= 1024 && (BM/TM)*(BN/TN) % 32 == 0 && BK*TM*TN <= 2048
#pragma keet launch distance<<<dim3(ceil_div(M, BN), ceil_div(N, BM)), dim3(BN/TN, BM/TM)>>>(P, C, DIST, M, N, D)

__global__ void distance(const float *p, const float *c, float *dist, int m, int n, int d)
{
    __shared__ __align__(16) float tile_p[BK][BN + 4];
    __shared__ __align__(16) float tile_c[BK][BM + 4];
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
    for (int k0 = 0; k0 < d + BK; k0 += BK) {
        float next_tile_p[(BK * BN + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BN + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int kk = e % BK, at = e / BK;
            int i = first_x + at, k = k0 + kk;
            next_tile_p[u] = 0.0f;
            if ((BK * BN % NR_THREADS == 0 || e < BK * BN) && k < d && i < m)
                next_tile_p[u] = p[i * d + k];
        }
        float next_tile_c[(BK * BM + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BM + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int kk = e % BK, at = e / BK;
            int j = first_y + at, k = k0 + kk;
            next_tile_c[u] = 0.0f;
            if ((BK * BM % NR_THREADS == 0 || e < BK * BM) && k < d && j < n)
                next_tile_c[u] = c[j * d + k];
        }
        if (k0 > 0) {
            if (d >= k0) {
                #pragma unroll
                for (int kk = 0; kk < BK; kk++) {
                    float part_p[TN];
                    #pragma unroll
                    for (int dn = 0; dn < TN; dn++)
                        part_p[dn] = tile_p[kk][dn / VECTOR * (BN / TN * VECTOR) + threadIdx.x * VECTOR + dn % VECTOR];
                    float part_c[TM];
                    #pragma unroll
                    for (int dm = 0; dm < TM; dm++)
                        part_c[dm] = tile_c[kk][threadIdx.y * TM + dm];
                    #pragma unroll
                    for (int dm = 0; dm < TM; dm++) {
                        #pragma unroll
                        for (int dn = 0; dn < TN; dn++) {
                            float diff = part_p[dn] - part_c[dm];
                            sum[dm][dn] += diff * diff;
                        }
                    }
                }
            } else {
                for (int kk = 0; kk < d - (k0 - BK); kk++) {
                    float part_p[TN];
                    #pragma unroll
                    for (int dn = 0; dn < TN; dn++)
                        part_p[dn] = tile_p[kk][dn / VECTOR * (BN / TN * VECTOR) + threadIdx.x * VECTOR + dn % VECTOR];
                    float part_c[TM];
                    #pragma unroll
                    for (int dm = 0; dm < TM; dm++)
                        part_c[dm] = tile_c[kk][threadIdx.y * TM + dm];
                    #pragma unroll
                    for (int dm = 0; dm < TM; dm++) {
                        #pragma unroll
                        for (int dn = 0; dn < TN; dn++) {
                            float diff = part_p[dn] - part_c[dm];
                            sum[dm][dn] += diff * diff;
                        }
                    }
                }
            }
        }
        __syncthreads();
        #pragma unroll
        for (int u = 0; u < (BK * BN + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int kk = e % BK, at = e / BK;
            if (BK * BN % NR_THREADS == 0 || e < BK * BN)
                tile_p[kk][at] = next_tile_p[u];
        }
        #pragma unroll
        for (int u = 0; u < (BK * BM + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int kk = e % BK, at = e / BK;
            if (BK * BM % NR_THREADS == 0 || e < BK * BM)
                tile_c[kk][at] = next_tile_c[u];
        }
        __syncthreads();
    }
    #pragma unroll
    for (int dm = 0; dm < TM; dm++) {
        #pragma unroll
        for (int dn = 0; dn < TN; dn++) {
            int j = first_y + threadIdx.y * TM + dm;
            int i = first_x + dn / VECTOR * (BN / TN * VECTOR) + threadIdx.x * VECTOR + dn % VECTOR;
            if (j < n && i < m) {
                dist[i * n + j] = sum[dm][dn];
            }
        }
    }
}
