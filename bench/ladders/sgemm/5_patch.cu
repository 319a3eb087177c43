// C = A B, a patch of 8 x 8 outputs a thread; a block makes 128 x 128 of them.
#pragma keet size   M = 4096, N = 4096, K = 4096
#pragma keet check  M = 256, N = 128, K = 64
#pragma keet in     A : f32[M][K] = uniform(-1, 1)
#pragma keet in     B : f32[K][N] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K, bytes = 4*(M*K + K*N + M*N)
#pragma keet launch sgemm<<<dim3(N/128, M/128), 256>>>(A, B, C, N, K)


constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;

__global__ void __launch_bounds__(256) sgemm(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ float as[BM * BK], bs[BK * BN];
    int tid = threadIdx.x, tcol = tid % (BN / TN), trow = tid / (BN / TN);
    int acol = tid % BK, arow = tid / BK, bcol = tid % BN, brow = tid / BN;
    float sums[TM * TN] = {0}, left[TM], right[TN];
    a += blockIdx.y * BM * k;
    b += blockIdx.x * BN;
    c += blockIdx.y * BM * n + blockIdx.x * BN;
    for (int k0 = 0; k0 < k; k0 += BK) {
        for (int r = 0; r < BM; r += 256 / BK)
            as[(arow + r) * BK + acol] = a[(arow + r) * k + acol];
        for (int r = 0; r < BK; r += 256 / BN)
            bs[(brow + r) * BN + bcol] = b[(brow + r) * n + bcol];
        __syncthreads();
        a += BK;
        b += BK * n;
        for (int i = 0; i < BK; i++) {
            for (int j = 0; j < TM; j++)
                left[j] = as[(trow * TM + j) * BK + i];
            for (int j = 0; j < TN; j++)
                right[j] = bs[i * BN + tcol * TN + j];
            for (int y = 0; y < TM; y++)
                for (int x = 0; x < TN; x++)
                    sums[y * TN + x] += left[y] * right[x];
        }
        __syncthreads();
    }
    for (int y = 0; y < TM; y++)
        for (int x = 0; x < TN; x++)
            c[(trow * TM + y) * n + tcol * TN + x] = sums[y * TN + x];
}
