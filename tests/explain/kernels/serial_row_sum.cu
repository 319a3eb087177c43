// One thread adds up a whole row.
#pragma keet size   R = 2048, C = 1024
#pragma keet check  R = 33, C = 65
#pragma keet in     X : f32[R][C] = uniform(-1, 1)
#pragma keet out    Y : f32[R]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = R*C, bytes = 4*R*C
#pragma keet launch row_sum<<<ceil_div(R, 64), 64>>>(X, Y, R, C)

__global__ void row_sum(const float *__restrict__ X, float *__restrict__ Y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0;
    for (int k = 0; k < cols; k++)
        sum += X[r * cols + k];
    Y[r] = sum;
}
