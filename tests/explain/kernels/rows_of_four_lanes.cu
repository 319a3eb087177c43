// Four lanes share a row, side by side: a warp touches eight sectors where its words would fit in four.
#pragma keet size   R = 8192, C = 1024
#pragma keet check  R = 128, C = 128
#pragma keet in     X : f32[R][C] = uniform(0, 1)
#pragma keet out    Y : f32[R]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch rows<<<R / 64, 256>>>(X, Y, C)

__global__ void rows(const float *__restrict__ X, float *__restrict__ Y, int cols)
{
    int row = blockIdx.x * 64 + threadIdx.x / 4, lane = threadIdx.x % 4;
    float v = 0;
    for (int c = lane; c < cols; c += 4)
        v += X[row * cols + c];
    v += __shfl_xor_sync(0xffffffff, v, 1);
    v += __shfl_xor_sync(0xffffffff, v, 2);
    if (lane == 0)
        Y[row] = v;
}
