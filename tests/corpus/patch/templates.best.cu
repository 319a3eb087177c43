#include <cuda_pipeline.h>
namespace kernels {
template <typename T, int TILE> __global__ void spread(float4 *y, const float4 *x, int rows, int cols)
{
    extern __shared__ float4 tile[];
#if ROWS > 1
    int row = blockIdx.x * ROWS + threadIdx.y;
#else
    int row = blockIdx.x;
#endif
    for (int c = threadIdx.x; c < cols; c += TILE) {
        float4 v = x[row * cols + c];
        tile[threadIdx.y * TILE + threadIdx.x] = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2);
        y[row * cols + c] = tile[threadIdx.y * TILE + threadIdx.x];
    }
}
} // namespace kernels

#pragma keet size   rows = 512, cols = 1024
#pragma keet out    b : f32[rows*cols]
#pragma keet in     a : f32[rows*cols]
#pragma keet tune   ROWS = 4 in {1, 2, 4}
#pragma keet tune   WIDTH = 128 in {64, 128}
#pragma keet launch kernels::spread<float, WIDTH><<<rows/ROWS, dim3(WIDTH, ROWS), 64*1024>>>(b, a, rows, cols/4)
