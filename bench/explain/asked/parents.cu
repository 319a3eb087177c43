// Each item follows its parents for twelve steps.
#pragma keet size   N = 262144, FOREST = 1048576
#pragma keet check  N = 1000, FOREST = 1000
#pragma keet in     PARENT : i32[FOREST] = integers(0, FOREST-1)
#pragma keet in     START : i32[N] = integers(0, FOREST-1)
#pragma keet out    ROOT : i32[N]
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch climb<<<ceil_div(N, BLOCK), BLOCK>>>(PARENT, START, ROOT, N)

__global__ void climb(const int *parent, const int *start, int *root, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = start[i];
    for (int step = 0; step < 12; step++)
        at = parent[at];
    root[i] = at;
}
