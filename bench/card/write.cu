// Writing alone, a store of 16 bytes a thread: what L2 keeps, and what goes to DRAM within the launch.
#pragma keet size   BYTES = 67108864
#pragma keet check  BYTES = 65536
#pragma keet out    Y : u8[BYTES]
#pragma keet launch fill<<<BYTES/4096, 256>>>(Y)

__global__ void fill(int4 *y)
{
    y[blockIdx.x * 256 + threadIdx.x] = make_int4(1, 2, 3, 4);
}
