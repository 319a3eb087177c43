// As the patch, with 16-byte loads and stores; A's tile is transposed on its way into shared memory.
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
    __shared__ alignas(16) float as[BK * BM], bs[BK * BN];
    int tid = threadIdx.x, tcol = tid % (BN / TN), trow = tid / (BN / TN);
    int acol = tid % (BK / 4), arow = tid / (BK / 4), bcol = tid % (BN / 4), brow = tid / (BN / 4);
    float sums[TM * TN] = {0}, left[TM], right[TN];
    a += blockIdx.y * BM * k;
    b += blockIdx.x * BN;
    c += blockIdx.y * BM * n + blockIdx.x * BN;
    for (int k0 = 0; k0 < k; k0 += BK) {
        float4 four = *(const float4 *)&a[arow * k + acol * 4];
        as[(acol * 4 + 0) * BM + arow] = four.x;
        as[(acol * 4 + 1) * BM + arow] = four.y;
        as[(acol * 4 + 2) * BM + arow] = four.z;
        as[(acol * 4 + 3) * BM + arow] = four.w;
        *(float4 *)&bs[brow * BN + bcol * 4] = *(const float4 *)&b[brow * n + bcol * 4];
        __syncthreads();
        a += BK;
        b += BK * n;
        for (int i = 0; i < BK; i++) {
            for (int j = 0; j < TM; j++)
                left[j] = as[i * BM + trow * TM + j];
            for (int j = 0; j < TN; j++)
                right[j] = bs[i * BN + tcol * TN + j];
            for (int y = 0; y < TM; y++)
                for (int x = 0; x < TN; x++)
                    sums[y * TN + x] += left[y] * right[x];
        }
        __syncthreads();
    }
    for (int y = 0; y < TM; y++)
        for (int x = 0; x < TN; x += 4)
            *(float4 *)&c[(trow * TM + y) * n + tcol * TN + x] = make_float4(sums[y * TN + x],
                sums[y * TN + x + 1], sums[y * TN + x + 2], sums[y * TN + x + 3]);
}
