// Matrix times vector, one row per warp, vectors of four.
#pragma keet size   M = 2048, N = 2048
#pragma keet in     A : f32[M][N]
#pragma keet in     X : f32[N]
#pragma keet out    Y : f32[M]
#pragma keet launch gemv<<<M/8, 256>>>(A, X, Y, N/4)

__global__ void gemv(const float4 *A, const float4 *X, float *Y, int n)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = lane; i < n; i += 32) {
        float4 a = A[row * n + i], x = X[i];
        sum += a.x * x.x + a.y * x.y + a.z * x.z + a.w * x.w;
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        Y[row] = sum;
}
