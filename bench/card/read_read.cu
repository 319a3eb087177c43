// Reads one array and then another: the second launch starts on an L2 full of lines that need not be written.
#pragma keet size   BYTES = 67108864, FILL = 134217728
#pragma keet check  BYTES = 65536, FILL = 65536
#pragma keet in     X : u8[BYTES]
#pragma keet in     Y : u8[FILL]
#pragma keet out    OUT : i32[1]
#pragma keet launch read<<<FILL/16384, 256>>>(Y, OUT)
#pragma keet launch read<<<BYTES/16384, 256>>>(X, OUT)

__global__ void read(const int4 *x, int *out)
{
    int sum = 0;
    const int4 *from = x + blockIdx.x * 1024 + threadIdx.x;
    int4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] = from[256 * k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        sum += v[k].x + v[k].y + v[k].z + v[k].w;
    if (sum == 0x7fffffff)
        out[0] = 0;
    if (blockIdx.x + threadIdx.x == 0)
        out[0] = 1;
}
