// Twelve hops through a table, unrolled: each address is known when the hop before it is done.
#pragma keet size   N = 33792
#pragma keet check  N = 512
#pragma keet in     next : i32[1048576] = integers(0, 1048575)
#pragma keet out    Y : i32[N]
#pragma keet launch hops<<<N / 256, 256>>>(next, Y)

__global__ void hops(const int *__restrict__ next, int *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x, at = i;
#pragma unroll
    for (int k = 0; k < 12; k++)
        at = next[at];
    Y[i] = at;
}
