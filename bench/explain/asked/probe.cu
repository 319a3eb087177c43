// Keys are looked up in a table by a multiplicative hash and linear probing.
#pragma keet size   N = 1048576, SLOTS = 4194304
#pragma keet check  N = 1000, SLOTS = 4096
#pragma keet in     TABLE : i32[SLOTS] = integers(0, 99)
#pragma keet in     KEYS : i32[N] = integers(0, SLOTS-1)
#pragma keet out    OUT : i32[N]
#pragma keet tune   BLOCK = 256 in {64, 128, 256, 512}
#pragma keet launch probe<<<ceil_div(N, BLOCK), BLOCK>>>(TABLE, KEYS, OUT, N, SLOTS)

__global__ void probe(const int *table, const int *keys, int *out, int n, int slots)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i];
    unsigned at = (key / 4 * 4) % slots;
    int found = -1;
    for (int tries = 0; tries < 16; tries++) {
        int value = table[at];
        if (value < 30) {
            found = value;
            break;
        }
        at = (at + 1) % slots;
    }
    out[i] = found;
}
