// Four launches that do nothing: less empty.cu, three times the time from one launch to the next.
#pragma keet size   G = 1
#pragma keet check  G = 3
#pragma keet out    OUT : i32[1]
#pragma keet launch empty<<<G, 128>>>(OUT, 1)
#pragma keet launch empty<<<G, 128>>>(OUT, 1)
#pragma keet launch empty<<<G, 128>>>(OUT, 1)
#pragma keet launch empty<<<G, 128>>>(OUT, 1)

__global__ void empty(int *out, int n)
{
    if (blockIdx.x * blockDim.x + threadIdx.x < n)
        out[0] = 1;
}
