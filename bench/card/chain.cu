// One thread follows indices, each in a line of its own that was not read before: the time of one load from DRAM.
#pragma keet size   N = 67108864, STEPS = 2000
#pragma keet check  N = 65536, STEPS = 100
#pragma keet in     X : i32[N] = iota(10471520)
#pragma keet out    OUT : i32[1]
#pragma keet launch chain<<<1, 1>>>(X, OUT, N - 1, STEPS)

__global__ void chain(const int *x, int *out, int mask, int steps)
{
    int at = 0;
    for (int k = 0; k < steps; k++)
        at = x[at] & mask;
    out[0] = at;
}
