// Room for so many points, each of which meets every other through a list of indices: too much at the program's own numbers,
// and at a smaller number of points the room must stay, since the indices are below a number.
#include <cuda_runtime.h>
#include <cstdlib>

__global__ void meet(const float *__restrict__ at, const int *__restrict__ list, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += fabsf(at[list[i]] - at[list[k]]);
    sum[i] = s;
}

int main(int argc, char **argv)
{
    const int room = 32 * 32 * 32;
    const int dim = atoi(argv[1]);
    float *at, *sum;
    int *list, *host_list = (int *)malloc(room * sizeof(int));
    for (int i = 0; i < room; i++)
        host_list[i] = rand() % 30000;
    cudaMalloc(&at, room * sizeof(float));
    cudaMalloc(&list, room * sizeof(int));
    cudaMalloc(&sum, room * sizeof(float));
    cudaMemcpy(list, host_list, room * sizeof(int), cudaMemcpyHostToDevice);
    int n = dim * dim * dim;
    meet<<<(n + 255) / 256, 256>>>(at, list, sum, n);
    return 0;
}
