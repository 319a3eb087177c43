// The same array read by two launches: the second finds in L2 what fits, the first what the measurement leaves there.
#pragma keet size   BYTES = 67108864
#pragma keet check  BYTES = 65536
#pragma keet in     X : u8[BYTES]
#pragma keet out    OUT : i32[1]
#pragma keet launch read<<<BYTES/16384, 256>>>(X, OUT)
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
