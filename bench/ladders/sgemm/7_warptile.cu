// As the vectorised patch, with warps that own 64 x 64 outputs each: four patches of 8 x 4 a thread.
#pragma keet size   M = 4096, N = 4096, K = 4096
#pragma keet check  M = 256, N = 128, K = 64
#pragma keet in     A : f32[M][K] = uniform(-1, 1)
#pragma keet in     B : f32[K][N] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K, bytes = 4*(M*K + K*N + M*N)
#pragma keet launch sgemm<<<dim3(N/128, M/128), 128>>>(A, B, C, N, K)


constexpr int BM = 128, BN = 128, BK = 16, WM = 64, WN = 64, TM = 8, TN = 4;
constexpr int WNITER = 4, WMITER = WM * WN / (32 * TM * TN * WNITER); // 1
constexpr int WSUBM = WM / WMITER, WSUBN = WN / WNITER;             // 64, 16
constexpr int NR_THREADS = 128;

__global__ void __launch_bounds__(NR_THREADS) sgemm(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ alignas(16) float as[BK * BM], bs[BK * BN];
    int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    int wcol = warp % (BN / WN), wrow = warp / (BN / WN);
    int lcol = lane % (WSUBN / TN), lrow = lane / (WSUBN / TN);
    int acol = tid % (BK / 4), arow = tid / (BK / 4), bcol = tid % (BN / 4), brow = tid / (BN / 4);
    float sums[WMITER * TM * WNITER * TN] = {0}, left[WMITER * TM], right[WNITER * TN];
    a += blockIdx.y * BM * k;
    b += blockIdx.x * BN;
    c += (blockIdx.y * BM + wrow * WM) * n + blockIdx.x * BN + wcol * WN;
    for (int k0 = 0; k0 < k; k0 += BK) {
        for (int r = 0; r < BM; r += NR_THREADS * 4 / BK) {
            float4 four = *(const float4 *)&a[(arow + r) * k + acol * 4];
            as[(acol * 4 + 0) * BM + arow + r] = four.x;
            as[(acol * 4 + 1) * BM + arow + r] = four.y;
            as[(acol * 4 + 2) * BM + arow + r] = four.z;
            as[(acol * 4 + 3) * BM + arow + r] = four.w;
        }
        for (int r = 0; r < BK; r += NR_THREADS * 4 / BN)
            *(float4 *)&bs[(brow + r) * BN + bcol * 4] = *(const float4 *)&b[(brow + r) * n + bcol * 4];
        __syncthreads();
        a += BK;
        b += BK * n;
        for (int i = 0; i < BK; i++) {
            for (int s = 0; s < WMITER; s++)
                for (int j = 0; j < TM; j++)
                    left[s * TM + j] = as[i * BM + wrow * WM + s * WSUBM + lrow * TM + j];
            for (int s = 0; s < WNITER; s++)
                for (int j = 0; j < TN; j++)
                    right[s * TN + j] = bs[i * BN + wcol * WN + s * WSUBN + lcol * TN + j];
            for (int y = 0; y < WMITER * TM; y++)
                for (int x = 0; x < WNITER * TN; x++)
                    sums[y * WNITER * TN + x] += left[y] * right[x];
        }
        __syncthreads();
    }
    for (int sm = 0; sm < WMITER; sm++)
        for (int sn = 0; sn < WNITER; sn++)
            for (int y = 0; y < TM; y++) {
                const float *s = &sums[(sm * TM + y) * WNITER * TN + sn * TN];
                *(float4 *)&c[(sm * WSUBM + lrow * TM + y) * n + sn * WSUBN + lcol * TN] =
                    make_float4(s[0], s[1], s[2], s[3]);
            }
}
