// A stream cipher whose quarter rounds find their words by an index that is computed.
#pragma keet size   N = 131072
#pragma keet check  N = 1024
#pragma keet in     K : u32[16] = integers(0, 1000000000)
#pragma keet out    Y : u32[N]
#pragma keet work   flops = 2560*N, bytes = 4*N
#pragma keet launch stream<<<ceil_div(N, 128), 128>>>(K, Y, N)

__device__ unsigned turn(unsigned x, int by) { return __funnelshift_l(x, x, by); }
__global__ void stream(const unsigned *__restrict__ K, unsigned *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v[16], sum = 0;
    for (int k = 0; k < 16; k++)
        v[k] = k == 12 ? i : K[k];
#pragma unroll 1
    for (int q = 0; q < 80; q++) {
        int d = q / 4 % 2, a = q % 4, b = 4 + (q + d) % 4, c = 8 + (q + 2 * d) % 4, e = 12 + (q + 3 * d) % 4;
        v[a] += v[b], v[e] = turn(v[e] ^ v[a], 16);
        v[c] += v[e], v[b] = turn(v[b] ^ v[c], 12);
        v[a] += v[b], v[e] = turn(v[e] ^ v[a], 8);
        v[c] += v[e], v[b] = turn(v[b] ^ v[c], 7);
    }
    for (int k = 0; k < 16; k++)
        sum ^= v[k];
    if (i < n)
        Y[i] = sum;
}
