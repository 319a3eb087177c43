// Sizes by getopt, with defaults that hold where an option is not given.
#include <cstdlib>
#include <unistd.h>

__global__ void blend(float *out, const float *a, const float *b, float weight, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = weight * a[i] + (1.0f - weight) * b[i];
}

int main(int argc, char **argv)
{
    int n = 1 << 20, threads = 256, option;
    float weight = 0.5f;

    while ((option = getopt(argc, argv, "n:w:t:")) != -1) {
        switch (option) {
        case 'n':
            n = atoi(optarg);
            break;
        case 'w':
            weight = atof(optarg);
            break;
        case 't':
            threads = atoi(optarg);
            break;
        default:
            return 1;
        }
    }
    float *out, *a, *b;
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    dim3 block(threads);
    dim3 grid((n + block.x - 1) / block.x);
    blend<<<grid, block>>>(out, a, b, weight, n);
}
