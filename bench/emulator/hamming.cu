// Nearest of 64 codes of 128 bits by popcount; codes are uniform reads.
#pragma keet size   N = 65536
#pragma keet in     Q : u32[N][4] = integers(0, 4294967295)
#pragma keet in     C : u32[64][4] = integers(0, 4294967295)
#pragma keet out    Y : i32[N]
#pragma keet launch nearest<<<N/128, 128>>>(Q, C, Y)

__global__ void nearest(const uint4 *Q, const uint4 *C, int *Y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0, least = 129;
    uint4 q = Q[i];
    for (int j = 0; j < 64; j++) {
        uint4 c = C[j];
        int d = __popc(q.x ^ c.x) + __popc(q.y ^ c.y) + __popc(q.z ^ c.z) + __popc(q.w ^ c.w);
        best = d < least ? j : best;
        least = d < least ? d : least;
    }
    Y[i] = best;
}
