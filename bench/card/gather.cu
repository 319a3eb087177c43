// Four random rows of ROW words for each group of ROW threads, out of a table of WORDS words: DRAM and L2 at random places.
#pragma keet size   WORDS = 67108864, N = 1048576
#pragma keet check  WORDS = 65536, N = 4096
#pragma keet in     X : i32[WORDS]
#pragma keet out    OUT : i32[N]
#pragma keet tune   ROW = 8 in {1, 8, 32}
#pragma keet launch gather<<<N/256, 256>>>(X, OUT, WORDS/ROW - 1)

__global__ void gather(const int *x, int *out, unsigned mask)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x, row = i / ROW, lane = i % ROW, hash = row * 2654435761u;
    int v[4], sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        hash = (hash ^ hash >> 15) * 2246822519u + k;
        v[k] = x[((hash ^ hash >> 13) & mask) * ROW + lane];
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        sum += v[k];
    out[i] = sum;
}
