// A launch under a condition that no one knows: the side with the launch, and it is said.
#include <cstdio>

__global__ void clear(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 0;
}

int main()
{
    int n = 640, mode;
    FILE *file = fopen("mode.txt", "r");
    if (!file) {
        fprintf(stderr, "mode.txt cannot be read\n");
        return 1;
    }
    fscanf(file, "%d", &mode);
    int *x;
    cudaMalloc(&x, n * sizeof(int));
    if (mode == 3) {
        n = n / 2;
        clear<<<(n + 31) / 32, 32>>>(x, n);
    } else {
        printf("nothing to do\n");
    }
}
