// Each query is looked up in a sorted table by bisection.
#pragma keet size   N = 524288, TABLE = 1048576
#pragma keet check  N = 500, TABLE = 1000
#pragma keet in     T : i32[TABLE] = sorted(0, 2*TABLE)
#pragma keet in     Q : i32[N] = integers(0, 2*TABLE)
#pragma keet out    AT : i32[N]
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch bisect<<<ceil_div(N, BLOCK), BLOCK>>>(T, Q, AT, N, TABLE)

__global__ void bisect(const int *t, const int *q, int *at, int n, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int key = q[i], low = 0, high = size;
    while (low < high) {
        int middle = (low + high) / 2;
        if (t[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    at[i] = low;
}
