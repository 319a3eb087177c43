// Random numbers by counter: ten rounds of Philox per four numbers.
#pragma keet size   N = 33554432
#pragma keet check  N = 4096
#pragma keet out    Y : u32[N]
#pragma keet work   flops = 20*N, bytes = 4*N
#pragma keet launch numbers<<<N/1024, 256>>>(Y)

__global__ void numbers(uint4 *__restrict__ Y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 c = make_uint4(i, 0, 0x243f6a88u, 0x85a308d3u);
    unsigned k = 0x13198a2eu, l = 0x03707344u;
#pragma unroll
    for (int r = 0; r < 10; r++) {
        unsigned high = __umulhi(0xd2511f53u, c.x), low = 0xd2511f53u * c.x;
        unsigned high2 = __umulhi(0xcd9e8d57u, c.z), low2 = 0xcd9e8d57u * c.z;
        c = make_uint4(high2 ^ c.y ^ k, low2, high ^ c.w ^ l, low);
        k += 0x9e3779b9u;
        l += 0xbb67ae85u;
    }
    Y[i] = c;
}
