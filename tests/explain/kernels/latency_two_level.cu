// Rows of a table that a list names: the list, then the row, two trips to memory one after the other, few warps.
#pragma keet size   N = 1056
#pragma keet check  N = 32
#pragma keet in     P : i32[N][64] = permutation()
#pragma keet in     X : f32[N*64][128] = uniform(-1, 1)
#pragma keet out    Y : f32[N][128]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 8192*N, bytes = 33536*N
#pragma keet launch sums<<<N/4, 128>>>(P, X, Y)

__global__ void sums(const int *__restrict__ P, const float4 *__restrict__ X, float4 *__restrict__ Y)
{
    int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
    float4 sum = {0, 0, 0, 0};
#pragma unroll 1
    for (int k = 0; k < 64; k++) {
        float4 x = X[P[row * 64 + k] * 32 + lane];
        sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    }
    Y[row * 32 + lane] = sum;
}
