// One variable for the grids of several launches, each set from another size before its launch; and
// initialisers that are too long to follow, before all of them.
#include <cstdio>
#include <cstdlib>
#include <string>

__global__ void fill(float *table, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m)
        table[i] = 0.5f * i;
}

__global__ void look_up(const float *table, const int *x, float *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = table[(x[i] & 0x7fffffff) % m];
}

int *make_numbers(int n)
{
    int *a = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        a[i] = rand();
    return a;
}

int main()
{
    int n = 1, m = 3000, blocks;
    for (int k = 0; k < 10; k++)
        n *= 3;
    int *x = make_numbers(n), *more[64];
    for (int i = 0; i < 64; i++)
        more[i] = make_numbers(n);
    float *d_table, *d_y;
    int *d_x;
    cudaMalloc(&d_table, m * sizeof(float));
    cudaMalloc(&d_x, n * sizeof(int));
    cudaMalloc(&d_y, n * sizeof(float));
    cudaMemcpy(d_x, x, n * sizeof(int), cudaMemcpyHostToDevice);
    blocks = (m + 127) / 128;
    fill<<<blocks, 128>>>(d_table, m);
    blocks = (n + 255) / 256;
    look_up<<<blocks, 256>>>(d_table, d_x, d_y, n, m);
    cudaDeviceSynchronize();
    printf("%d\n", more[63][0]);
    return 0;
}
