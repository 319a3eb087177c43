// A reduction and a scaling around grid-wide barriers.
#include <cooperative_groups.h>
#pragma keet size   N = 33792, R = 1
#pragma keet check  N = 1024, R = 2
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet launch steps<<<N / 256, 256>>>(X, Y, N, R)

__global__ void steps(const float *X, float *Y, int n, int r)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Y[i] = X[i];
    for (int k = 0; k < r; k++)
        grid.sync();
    Y[i] += 1;
}
