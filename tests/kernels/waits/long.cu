// A check of milliseconds, and a timed launch that takes a minute on the emulator.
#pragma keet size   N = 32, TURNS = 2000000000
#pragma keet check  N = 32, TURNS = 100
#pragma keet in     X : u32[N] = integers(1, 9)
#pragma keet out    Y : u32[N]
#pragma keet launch turn<<<1, 32>>>(X, Y, TURNS)

__global__ void turn(const unsigned *X, unsigned *Y, int turns)
{
    unsigned x = X[threadIdx.x];
    for (int i = 0; i < turns; i++)
        x = x * 1664525u + (x >> 7);
    Y[threadIdx.x] = x;
}
