// One thread multiplies two whole rows.
#pragma keet size   R = 2048, C = 512
#pragma keet check  R = 33, C = 65
#pragma keet in     A : f32[R][C] = uniform(-1, 1)
#pragma keet in     B : f32[R][C] = uniform(-1, 1)
#pragma keet out    Y : f32[R]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*R*C, bytes = 8*R*C
#pragma keet launch dots<<<ceil_div(R, 64), 64>>>(A, B, Y, R, C)

__global__ void dots(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ Y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0;
    for (int k = 0; k < cols; k++)
        sum += A[r * cols + k] * B[r * cols + k];
    Y[r] = sum;
}
