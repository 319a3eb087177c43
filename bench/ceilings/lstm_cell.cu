// One step of an LSTM layer for a batch, f32: gates i, f, g, o from X WX + H0 WH + BIAS, then the new
// cell and hidden states. Three launches: two products with one output per thread, then one state per
// thread.
#pragma keet size   B = 128, D = 256, H = 256
#pragma keet check  B = 19, D = 17, H = 11
#pragma keet check  B = 16, D = 32, H = 16
#pragma keet in     X : f32[B][D] = uniform(-1, 1)
#pragma keet in     H0 : f32[B][H] = uniform(-1, 1)
#pragma keet in     C0 : f32[B][H] = uniform(-1, 1)
#pragma keet in     WX : f32[D][4*H] = uniform(-0.1, 0.1)
#pragma keet in     WH : f32[H][4*H] = uniform(-0.1, 0.1)
#pragma keet in     BIAS : f32[4*H] = uniform(-0.5, 0.5)
#pragma keet out    H1 : f32[B][H]
#pragma keet out    C1 : f32[B][H]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 8*B*H*(D + H), bytes = 4*(B*D + 4*B*H + 4*H*(D + H + 1))
#pragma keet tune   BLOCK = 64 in {64, 128, 256}
#pragma keet temp   GX : f32[B][4*H]
#pragma keet temp   GH : f32[B][4*H]
#pragma keet tune   BM = 16 in {16, 32, 64, 128}
#pragma keet tune   BN = 32 in {16, 32, 64, 128}
#pragma keet tune   BK = 32 in {8, 16, 32}
#pragma keet tune   TM = 8 in {1, 2, 4, 8}
#pragma keet tune   TN = 1 in {1, 2, 4, 8}
#pragma keet where  (BM/TM)*(BN/TN) <= 1024 && (BM/TM)*(BN/TN) % 32 == 0 && BK*TM*TN <= 2048
#pragma keet launch product<<<dim3(ceil_div(4*H, BN), ceil_div(B, BM)), dim3(BN/TN, BM/TM)>>>(X, WX, GX, B, 4*H, D)
#pragma keet launch product<<<dim3(ceil_div(4*H, BN), ceil_div(B, BM)), dim3(BN/TN, BM/TM)>>>(H0, WH, GH, B, 4*H, H)
#pragma keet launch cell<<<ceil_div(B*H, BLOCK), BLOCK>>>(GX, GH, BIAS, C0, H1, C1, B*H, H)

__global__ void __launch_bounds__((BN/TN)*(BM/TM), 4) product(const float *A, const float *B, float *C, int m, int n, int k)
{
    __shared__ __align__(16) float tile_A[BK][BM + 4 + 1];
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
    for (int k0 = 0; k0 < k + BK; k0 += BK) {
        float next_tile_A[(BK * BM + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BM + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int kk = e % BK, at2 = e / BK;
            int row = first_y + at2, i = k0 + kk;
            next_tile_A[u] = 0.0f;
            if ((BK * BM % NR_THREADS == 0 || e < BK * BM) && i < k && row < m)
                next_tile_A[u] = A[row * k + i];
        }
        float next_tile_B[(BK * BN + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BN + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int at2 = e % BN, kk = e / BN;
            int col = first_x + at2, i = k0 + kk;
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
            int kk = e % BK, at2 = e / BK;
            if (BK * BM % NR_THREADS == 0 || e < BK * BM)
                tile_A[kk][at2] = next_tile_A[u];
        }
        #pragma unroll
        for (int u = 0; u < (BK * BN + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int at2 = e % BN, kk = e / BN;
            if (BK * BN % NR_THREADS == 0 || e < BK * BN)
                tile_B[kk][at2] = next_tile_B[u];
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

__global__ void cell(const float *gx, const float *gh, const float *bias, const float *c0, float *h1,
    float *c1, int n, int h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = i / h * 4 * h + i % h;
        int j = i % h;
        float in = gx[at] + gh[at] + bias[j];
        float forget = gx[at + h] + gh[at + h] + bias[j + h];
        float value = gx[at + 2 * h] + gh[at + 2 * h] + bias[j + 2 * h];
        float out = gx[at + 3 * h] + gh[at + 3 * h] + bias[j + 3 * h];
        float c = __fdividef(c0[i], (1.0f + __expf(-forget))) + __fdividef((1.0f - __fdividef(2.0f, __expf(2.0f * (value)) + 1.0f)), (1.0f + __expf(-in)));
        c1[i] = c;
        h1[i] = __fdividef((1.0f - __fdividef(2.0f, __expf(2.0f * (c)) + 1.0f)), (1.0f + __expf(-out)));
    }
}
