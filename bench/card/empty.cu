// What a launch costs that does nothing: the time before the first block and after the last, and the rate at which blocks start.
#pragma keet size   G = 1
#pragma keet check  G = 3
#pragma keet out    OUT : i32[1]
#pragma keet tune   BLOCK = 128 in {32, 128, 1024}
#pragma keet launch empty<<<G, BLOCK>>>(OUT, 1)

__global__ void empty(int *out, int n)
{
    if (blockIdx.x * blockDim.x + threadIdx.x < n)
        out[0] = 1;
}
