// Sizes that only the command line gives; two arguments are needed (args_needed.args has them).
#include <cstdio>
#include <cstdlib>
#include <string>

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));          \
            exit(EXIT_FAILURE);                                                      \
        }                                                                            \
    } while (0)

__global__ void row_scale(float *out, const float *x, const float *factor, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols)
        out[i] = x[i] * factor[i / cols];
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        printf("usage: %s ROWS REPEAT\n", argv[0]);
        return 1;
    }
    const int rows = std::stoi(argv[1]);
    const int repeat = atoi(argv[2]);
    const int cols = rows / 2 + 1;
    size_t bytes = (size_t)rows * cols * sizeof(float);
    float *d_out, *d_x, *d_factor;
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_factor, rows * sizeof(float)));
    for (int r = 0; r < repeat; r++)
        row_scale<<<(rows * cols + 127) / 128, 128>>>(d_out, d_x, d_factor, rows, cols);
    CHECK(cudaDeviceSynchronize());
}
