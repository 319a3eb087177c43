// One thread finds the largest of a whole row.
#pragma keet size   R = 4096, C = 512
#pragma keet check  R = 33, C = 65
#pragma keet in     X : f32[R][C] = uniform(-1, 1)
#pragma keet out    Y : f32[R]
#pragma keet work   flops = R*C, bytes = 4*R*C
#pragma keet launch row_max<<<ceil_div(R, 32), 32>>>(X, Y, R, C)

__global__ void row_max(const float *__restrict__ X, float *__restrict__ Y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float best = X[r * cols];
    for (int k = 1; k < cols; k++)
        best = fmaxf(best, X[r * cols + k]);
    Y[r] = best;
}
