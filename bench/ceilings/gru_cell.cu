// One step of a GRU layer for a batch, f32: reset and update gates and the new value from X WX + BX and
// H0 WH + BH, where the reset gate weighs the hidden part of the value. Three launches: two products with
// one output per thread, then one state per thread.
#pragma keet size   B = 128, D = 256, H = 256
#pragma keet check  B = 19, D = 17, H = 11
#pragma keet check  B = 16, D = 32, H = 16
#pragma keet in     X : f32[B][D] = uniform(-1, 1)
#pragma keet in     H0 : f32[B][H] = uniform(-1, 1)
#pragma keet in     WX : f32[D][3*H] = uniform(-0.1, 0.1)
#pragma keet in     WH : f32[H][3*H] = uniform(-0.1, 0.1)
#pragma keet in     BX : f32[3*H] = uniform(-0.5, 0.5)
#pragma keet in     BH : f32[3*H] = uniform(-0.5, 0.5)
#pragma keet out    H1 : f32[B][H]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 6*B*H*(D + H), bytes = 4*(B*D + 2*B*H + 3*H*(D + H + 2))
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet temp   GX : f32[B][3*H]
#pragma keet temp   GH : f32[B][3*H]
#pragma keet tune   BM = 16 in {16, 32, 64, 128}
#pragma keet tune   BN = 32 in {16, 32, 64, 128}
#pragma keet tune   BK = 32 in {8, 16, 32}
#pragma keet tune   TM = 2 in {1, 2, 4, 8}
#pragma keet tune   TN = 4 in {1, 2, 4, 8}
#pragma keet where  (BM/TM)*(BN/TN) <= 1024 && (BM/TM)*(BN/TN) % 32 == 0 && BK*TM*TN <= 2048
#pragma keet launch gates<<<dim3(ceil_div(3*H, BN), ceil_div(B, BM)), dim3(BN/TN, BM/TM)>>>(X, WX, BX, GX, B, 3*H, D)
#pragma keet launch gates<<<dim3(ceil_div(3*H, BN), ceil_div(B, BM)), dim3(BN/TN, BM/TM)>>>(H0, WH, BH, GH, B, 3*H, H)
#pragma keet launch blend<<<ceil_div(B*H, BLOCK), BLOCK>>>(GX, GH, H0, H1, B*H, H)

__global__ void gates(
    const float *A, const float *W, const float *bias, float *C, int m, int n, int k)
{
    __shared__ __align__(16) float tile_A[BK][BM + 4 + 1];
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
            int kk = e % BK, at2 = e / BK;
            int row = first_y + at2, i = k0 + kk;
            next_tile_A[u] = 0.0f;
            if ((BK * BM % NR_THREADS == 0 || e < BK * BM) && i < k && row < m)
                next_tile_A[u] = A[row * k + i];
        }
        float next_tile_W[(BK * BN + NR_THREADS - 1) / NR_THREADS];
        #pragma unroll
        for (int u = 0; u < (BK * BN + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int at2 = e % BN, kk = e / BN;
            int col = first_x + at2, i = k0 + kk;
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
            int kk = e % BK, at2 = e / BK;
            if (BK * BM % NR_THREADS == 0 || e < BK * BM)
                tile_A[kk][at2] = next_tile_A[u];
        }
        #pragma unroll
        for (int u = 0; u < (BK * BN + NR_THREADS - 1) / NR_THREADS; u++) {
            int e = tid + u * NR_THREADS;
            int at2 = e % BN, kk = e / BN;
            if (BK * BN % NR_THREADS == 0 || e < BK * BN)
                tile_W[kk][at2] = next_tile_W[u];
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

__global__ void blend(const float *gx, const float *gh, const float *h0, float *h1, int n, int h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = i / h * 3 * h + i % h;
        float reset = __fdividef(1.0f, (1.0f + __expf(-(gx[at] + gh[at]))));
        float update = __fdividef(1.0f, (1.0f + __expf(-(gx[at + h] + gh[at + h]))));
        float value = (1.0f - __fdividef(2.0f, __expf(2.0f * (gx[at + 2 * h] + reset * gh[at + 2 * h])) + 1.0f));
        h1[i] = (1.0f - update) * value + update * h0[i];
    }
}
