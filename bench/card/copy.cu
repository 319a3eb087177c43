// A copy by loads and stores of as many bytes a thread as TYPE has: DRAM by size, and by bytes in flight.
#pragma keet size   BYTES = 67108864
#pragma keet check  BYTES = 4096
#pragma keet in     X : u8[BYTES]
#pragma keet out    Y : u8[BYTES]
#pragma keet tune   WIDTH = 16 in {1, 2, 4, 8, 16}
#pragma keet tune   BLOCK = 256 in {64, 128, 256, 512, 1024}
#pragma keet launch copy<<<ceil_div(BYTES, WIDTH*BLOCK), BLOCK>>>(X, Y, BYTES/WIDTH)

template <int BYTES> struct word;
template <> struct word<1> { typedef char type; };
template <> struct word<2> { typedef short type; };
template <> struct word<4> { typedef int type; };
template <> struct word<8> { typedef int2 type; };
template <> struct word<16> { typedef int4 type; };
typedef word<WIDTH>::type T;

__global__ void copy(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
