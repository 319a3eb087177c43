// Counts points in the circle: a generator per thread, votes, predicates.
#pragma keet size   N = 65536
#pragma keet out    Y : i32[N/32]
#pragma keet launch monte_carlo<<<N/256, 256>>>(Y)

__global__ void monte_carlo(int *Y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, s = i * 747796405u + 2891336453u;
    int nr = 0;
    for (int k = 0; k < 64; k++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        float x = (s & 0xffff) * 1.52587890625e-5f, y = (s >> 16) * 1.52587890625e-5f;
        nr += __popc(__ballot_sync(~0u, x * x + y * y < 1));
    }
    if (i % 32 == 0)
        Y[i / 32] = nr;
}
