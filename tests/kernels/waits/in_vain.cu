// Every block waits for a flag that no block sets.
#pragma keet size   N = 65536
#pragma keet check  N = 1024
#pragma keet in     FLAG : u32[1] = constant(0)
#pragma keet out    Y : i32[N]
#pragma keet launch hang<<<N / 256, 256>>>(FLAG, Y)

__global__ void hang(const volatile unsigned *FLAG, int *Y)
{
    while (*FLAG == 0)
        ;
    Y[blockIdx.x * 256 + threadIdx.x] = 1;
}
