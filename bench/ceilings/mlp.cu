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
#pragma keet temp   H1 : f32[T][F]
#pragma keet temp   H2 : f32[T][F]
#pragma keet tune   BM = 16 in {16, 32, 64, 128}
#pragma keet tune   BN = 32 in {16, 32, 64, 128}
#pragma keet tune   BK = 32 in {8, 16, 32}
#pragma keet tune   TM = 2 in {1, 2, 4, 8}
#pragma keet tune   TN = 4 in {1, 2, 4, 8}
#pragma keet where  (BM/TM)*(BN/TN) <= 1024 && (BM/TM)*(BN/TN) % 32 == 0 && BK*TM*TN <= 2048
#pragma keet launch layer<<<dim3(ceil_div(F, BN), ceil_div(T, BM)), dim3(BN/TN, BM/TM)>>>(X, W1, B1, H1, T, F, D, 1)
#pragma keet launch layer<<<dim3(ceil_div(F, BN), ceil_div(T, BM)), dim3(BN/TN, BM/TM)>>>(H1, W2, B2, H2, T, F, F, 1)
#pragma keet launch layer<<<dim3(ceil_div(O, BN), ceil_div(T, BM)), dim3(BN/TN, BM/TM)>>>(H2, W3, B3, Y, T, O, F, 0)

__global__ void layer(const float *A, const float *W, const float *bias, float *C, int m, int n, int k,
    int relu)
{
    __shared__ __align__(16) float tile_A[BK][BM + 4];
    __shared__ __align__(16) float tile_W[BK][BN];
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
            int col = first_x + dn / VECTOR * (BN / TN * VECTOR) + threadIdx.x * VECTOR + dn % VECTOR;
            int row = first_y + threadIdx.y * TM + dm;
            sum[dm][dn] = row < m && col < n ? bias[col] : 0.0f;
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
        float next_tile_W[(BK * BN + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BN + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int at = e % BN, kk = e / BN;
            int col = first_x + at, i = k0 + kk;
            next_tile_W[u] = 0.0f;
            if ((BK * BN % NR_THREADS == 0 || e < BK * BN) && i < k && col < n)
                next_tile_W[u] = W[i * n + col];
        }
        if (k0 > 0) {
            #pragma unroll
            for (int kk = 0; kk < BK; kk++) {
                float part_A[TM];
                #pragma unroll
                for (int dm = 0; dm < TM; dm++)
                    part_A[dm] = tile_A[kk][threadIdx.y * TM + dm];
                float part_W[TN];
                #pragma unroll
                for (int dn = 0; dn < TN; dn++)
                    part_W[dn] = tile_W[kk][dn / VECTOR * (BN / TN * VECTOR) + threadIdx.x * VECTOR + dn % VECTOR];
                #pragma unroll
                for (int dm = 0; dm < TM; dm++) {
                    #pragma unroll
                    for (int dn = 0; dn < TN; dn++) {
                        sum[dm][dn] += part_A[dm] * part_W[dn];
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
                tile_W[kk][at] = next_tile_W[u];
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
                C[row * n + col] = relu ? fmaxf(sum[dm][dn], 0.0f) : sum[dm][dn];
            }
        }
    }
}
