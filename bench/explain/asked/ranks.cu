// One round of page ranks: shares of the pages, sums over incoming links, the change.
#pragma keet size   N = 65536, DEGREE = 16
#pragma keet check  N = 300, DEGREE = 5
#pragma keet in     LINK : i32[N][DEGREE] = integers(0, N-1)
#pragma keet in     OUTS : i32[N] = integers(1, 30)
#pragma keet in     RANK : f32[N] = uniform(0, 1)
#pragma keet temp   SHARE : f32[N]
#pragma keet out    NEXT : f32[N]
#pragma keet out    CHANGE : f32[256]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch share<<<ceil_div(N, BLOCK), BLOCK>>>(RANK, OUTS, SHARE, N)
#pragma keet launch pull<<<ceil_div(N, BLOCK), BLOCK>>>(LINK, SHARE, NEXT, N, DEGREE)
#pragma keet launch change<<<2, 128>>>(RANK, NEXT, CHANGE, N)

__global__ void share(const float *rank, const int *outs, float *share, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        share[i] = rank[i] / outs[i];
}

__global__ void pull(const int *link, const float *share, float *next, int n, int degree)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < degree; k++)
        sum += share[link[i * degree + k]];
    next[i] = 0.15f + 0.85f * sum;
}

__global__ void change(const float *rank, const float *next, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = i; k < n; k += 256)
        sum += fabsf(next[k] - rank[k]);
    out[i] = sum;
}
