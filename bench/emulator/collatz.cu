// Lengths of Collatz chains: two-sided branches and loops that diverge.
#pragma keet size   N = 65536
#pragma keet out    Y : i32[N]
#pragma keet launch collatz<<<N/256, 256>>>(Y)

__global__ void collatz(int *Y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
    unsigned long long v = i + 1;
    while (v != 1) {
        if (v & 1) {
            v = 3 * v + 1;
            n += (v & 7) == 0;
        } else {
            v /= 2;
        }
        n++;
    }
    Y[i] = n;
}
