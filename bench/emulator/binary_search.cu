// Lower bounds in a sorted array: scattered reads in a loop.
#pragma keet size   N = 524288, M = 262144
#pragma keet in     A : i32[N] = sorted(0, 1000000)
#pragma keet in     Q : i32[M] = integers(0, 1000000)
#pragma keet out    Y : i32[M]
#pragma keet launch search<<<M/256, 256>>>(A, Q, Y, N)

__global__ void search(const int *A, const int *Q, int *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, q = Q[i], lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (A[mid] < q)
            lo = mid + 1;
        else
            hi = mid;
    }
    Y[i] = lo;
}
