// Convolution with a 5 x 5 filter, bounds tested at every tap.
#pragma keet size   N = 384
#pragma keet in     A : f32[N][N]
#pragma keet in     F : f32[5][5]
#pragma keet out    B : f32[N][N]
#pragma keet launch conv<<<dim3(N/32, N/8), dim3(32, 8)>>>(A, F, B, N)

__global__ void conv(const float *A, const float *F, float *B, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            int r = y + i - 2, c = x + j - 2;
            if (r >= 0 && r < n && c >= 0 && c < n)
                sum += A[r * n + c] * F[i * 5 + j];
        }
    B[y * n + x] = sum;
}
