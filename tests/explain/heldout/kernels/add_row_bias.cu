// Adds a bias to each row of a matrix; neighbouring threads take neighbouring rows.
#pragma keet size   R = 2048, C = 2048
#pragma keet check  R = 33, C = 65
#pragma keet in     A : f32[R][C] = uniform(-1, 1)
#pragma keet in     bias : f32[R] = uniform(-1, 1)
#pragma keet out    B : f32[R][C]
#pragma keet work   flops = R*C, bytes = 8*R*C
#pragma keet launch add_bias<<<dim3(ceil_div(R, 32), ceil_div(C, 8)), dim3(32, 8)>>>(A, bias, B, R, C)

__global__ void add_bias(const float *__restrict__ A, const float *__restrict__ bias, float *__restrict__ B, int rows, int cols)
{
    int row = blockIdx.x * 32 + threadIdx.x;
    int col = blockIdx.y * 8 + threadIdx.y;
    if (row >= rows || col >= cols)
        return;
    float b = bias[row];
    B[(size_t)row * cols + col] = A[(size_t)row * cols + col] + b;
}
