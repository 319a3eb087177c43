// Every thread adds to one number.
#include <cstdio>

__global__ void sum_all(const int *values, unsigned long long *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, (unsigned long long)values[i]);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 65536;
    int *values;
    unsigned long long *sum, host;
    cudaMalloc(&values, n * sizeof(int));
    cudaMalloc(&sum, sizeof(*sum));
    cudaMemset(sum, 0, sizeof(*sum));
    sum_all<<<(n + 255) / 256, 256>>>(values, sum, n);
    cudaMemcpy(&host, sum, sizeof(host), cudaMemcpyDeviceToHost);
    printf("%llu\n", host);
}
