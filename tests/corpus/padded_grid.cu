// Numbers that the program computes from its argument, in a loop, as plain numbers: no other sizes fit them but those that the
// program computes from a smaller argument. Its own are too large to try.
#include <cuda_runtime.h>
#include <cstdlib>

#define TILE 64

__global__ void scores(const unsigned *__restrict__ rows, float *__restrict__ out, int n, int words, int padded)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    if (i >= n || j >= n) return;
    unsigned same = 0;
    for (int w = 0; w < words; w++)
        same += __popc(rows[w * padded + i] & rows[w * padded + j]);
    out[i * n + j] = (float)same;
}

static int padded_to_tiles(int n)
{
    while (n % TILE != 0)
        n++;
    return n;
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    int words = 8;
    unsigned *rows;
    float *out;
    cudaMalloc(&rows, (size_t)words * padded_to_tiles(n) * sizeof(unsigned));
    cudaMalloc(&out, (size_t)n * n * sizeof(float));
    scores<<<dim3(padded_to_tiles(n) / TILE, n), TILE>>>(rows, out, n, words, padded_to_tiles(n));
    return 0;
}
