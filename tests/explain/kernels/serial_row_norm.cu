// One thread scales a whole row to unit length.
#pragma keet size   R = 4096, C = 256
#pragma keet check  R = 33, C = 65
#pragma keet in     X : f32[R][C] = uniform(-1, 1)
#pragma keet out    Y : f32[R][C]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 3*R*C, bytes = 8*R*C
#pragma keet launch unit<<<ceil_div(R, 128), 128>>>(X, Y, R, C)

__global__ void unit(const float *__restrict__ X, float *__restrict__ Y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0;
    for (int k = 0; k < cols; k++)
        sum += X[r * cols + k] * X[r * cols + k];
    float scale = rsqrtf(sum + 1e-6f);
    for (int k = 0; k < cols; k++)
        Y[r * cols + k] = X[r * cols + k] * scale;
}
