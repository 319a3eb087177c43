// Messages along the edges of a graph are added up at the edges' heads.
#pragma keet size   NODES = 65536, EDGES = 1048576
#pragma keet check  NODES = 100, EDGES = 1000
#pragma keet in     SRC : i32[EDGES] = integers(0, NODES-1)
#pragma keet in     DST : i32[EDGES] = integers(0, NODES-1)
#pragma keet in     H : f32[NODES] = uniform(0, 1)
#pragma keet out    SUM : f32[NODES]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   BLOCK = 256 in {64, 128, 256}
#pragma keet launch clear<<<ceil_div(NODES, BLOCK), BLOCK>>>(SUM, NODES)
#pragma keet launch send<<<ceil_div(EDGES, BLOCK), BLOCK>>>(SRC, DST, H, SUM, EDGES)

__global__ void clear(float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = 0;
}

__global__ void send(const int *src, const int *dst, const float *h, float *sum, int edges)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges)
        atomicAdd(&sum[dst[e]], h[src[e]] * 0.5f);
}
