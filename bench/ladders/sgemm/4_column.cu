// C = A B, a column of 8 outputs a thread; a block makes 64 x 64 of them.
#pragma keet size   M = 4096, N = 4096, K = 4096
#pragma keet check  M = 256, N = 128, K = 64
#pragma keet in     A : f32[M][K] = uniform(-1, 1)
#pragma keet in     B : f32[K][N] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K, bytes = 4*(M*K + K*N + M*N)
#pragma keet launch sgemm<<<dim3(N/64, M/64), 512>>>(A, B, C, N, K)


constexpr int BM = 64, BN = 64, BK = 8, TM = 8;

__global__ void sgemm(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ float as[BM * BK], bs[BK * BN];
    int tid = threadIdx.x, tcol = tid % BN, trow = tid / BN;
    int acol = tid % BK, arow = tid / BK, bcol = tid % BN, brow = tid / BN;
    float sums[TM] = {0};
    a += blockIdx.y * BM * k;
    b += blockIdx.x * BN;
    c += blockIdx.y * BM * n + blockIdx.x * BN;
    for (int k0 = 0; k0 < k; k0 += BK) {
        as[arow * BK + acol] = a[arow * k + acol];
        bs[brow * BN + bcol] = b[brow * n + bcol];
        __syncthreads();
        a += BK;
        b += BK * n;
        for (int i = 0; i < BK; i++) {
            float right = bs[i * BN + tcol];
            for (int j = 0; j < TM; j++)
                sums[j] += as[(trow * TM + j) * BK + i] * right;
        }
        __syncthreads();
    }
    for (int j = 0; j < TM; j++)
        c[(trow * TM + j) * n + tcol] = sums[j];
}
