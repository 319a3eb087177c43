// Half a Metropolis sweep of an Ising lattice: the sites of one colour, random numbers by a counter.
#pragma keet size   H = 2048, W = 2048
#pragma keet check  H = 34, W = 64
#pragma keet in     S : i8[H][W] = integers(0, 1)
#pragma keet out    Z : i8[H][W]
#pragma keet work   flops = 60*H*W, bytes = 2*H*W
#pragma keet launch sweep<<<dim3(ceil_div(W, 128), H), 128>>>(S, Z, H, W)

__global__ void sweep(const signed char *__restrict__ S, signed char *__restrict__ Z, int h, int w)
{
    int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y;
    if (x >= w)
        return;
    int spin = S[y * w + x];
    if ((x + y) % 2 == 0) {
        int sum = S[y * w + (x + 1) % w] + S[y * w + (x + w - 1) % w] + S[(y + 1) % h * w + x] + S[(y + h - 1) % h * w + x];
        unsigned a = y * w + x, b = 0x9e3779b9u, key = 0xd2511f53u;
#pragma unroll
        for (int r = 0; r < 20; r++) {
            unsigned high = __umulhi(a, 0xcd9e8d57u), low = a * 0xcd9e8d57u;
            a = high ^ key ^ b;
            b = low;
            key += 0x9e3779b9u;
        }
        float chance = exp2f(-0.7f * (2 * spin - 1) * (2 * sum - 4));
        if (a * 2.3283064e-10f < chance)
            spin = 1 - spin;
    }
    Z[y * w + x] = spin;
}
