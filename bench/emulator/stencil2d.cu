// Five-point stencil with bounds tests, from global memory.
#pragma keet size   N = 1024
#pragma keet in     A : f32[N][N]
#pragma keet out    B : f32[N][N]
#pragma keet launch stencil<<<dim3(N/32, N/8), dim3(32, 8)>>>(A, B, N)

__global__ void stencil(const float *A, float *B, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = y * n + x;
    float v = A[i];
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        v = 0.5f * v + 0.125f * (A[i - 1] + A[i + 1] + A[i - n] + A[i + n]);
    B[i] = v;
}
