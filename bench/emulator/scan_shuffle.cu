// Inclusive prefix sum of every block's 1024 integers by shuffles.
#pragma keet size   N = 2097152
#pragma keet in     X : i32[N]
#pragma keet out    Y : i32[N]
#pragma keet launch scan<<<N/1024, 1024>>>(X, Y)

__global__ void scan(const int *X, int *Y)
{
    __shared__ int part[32];
    int i = blockIdx.x * 1024 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int v = X[i];
    for (int d = 1; d < 32; d *= 2) {
        int up = __shfl_up_sync(~0u, v, d);
        v += lane >= d ? up : 0;
    }
    if (lane == 31)
        part[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int s = part[lane];
        for (int d = 1; d < 32; d *= 2) {
            int up = __shfl_up_sync(~0u, s, d);
            s += lane >= d ? up : 0;
        }
        part[lane] = s;
    }
    __syncthreads();
    Y[i] = v + (warp ? part[warp - 1] : 0);
}
