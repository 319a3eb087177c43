// Each thread follows a short list through a table: the next address is known when the last value is there.
#pragma keet size   N = 67584
#pragma keet check  N = 300
#pragma keet in     next : i32[65536] = integers(0, 65535)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = 16*N, bytes = 4*N + 262144
#pragma keet launch walk<<<ceil_div(N, 128), 128>>>(next, Y, N)

__global__ void walk(const int *__restrict__ next, int *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = i & 65535;
    for (int hop = 0; hop < 16; hop++)
        at = next[(at & ~31) + (threadIdx.x & 31)];
    Y[i] = at;
}
