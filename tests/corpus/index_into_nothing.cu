// With the first sizes that are tried the table has no elements, so no index into it can be made up.
#include <cstdlib>

__global__ void gather(const float *table, const int *at, float *y, int n, int parts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = at[i] < parts ? table[at[i]] : 0.0f;
}

int main(int argc, char **argv)
{
    const int n = atoi(argv[1]), m = atoi(argv[2]);
    float *table, *y;
    int *at;
    cudaMalloc(&table, m / 256 * sizeof(float));
    cudaMalloc(&at, n * sizeof(int));
    cudaMalloc(&y, n * sizeof(float));
    gather<<<(n + 127) / 128, 128>>>(table, at, y, n, m / 256);
    cudaFree(y);
    return 0;
}
