// A number that a reader gives, a vector that insert fills, a shift that only 0 keeps inside, and a type by value.
#include <cuda_runtime.h>
#include <vector>
#include "reader_of_options.h"

template <typename T, typename I>
__global__ void shift(T *x, I n, double by)
{
    I i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i + (I)(by * n)] *= 2;
}

template <typename I>
static void launch(float *x, I n, double by)
{
    shift<<<(n + 127) / 128, 128>>>(x, n, by);
}

int main(int argc, char **argv)
{
    options given(argc, argv);
    std::vector<int> shape;
    shape.insert(shape.end(), given.shape().begin(), given.shape().end());
    const int rows = given.get<int>("rows");
    const int n = rows * (shape[0] / 2);
    float *x;
    cudaMalloc(&x, rows * (shape[0] / 2) * sizeof(float));
    launch(x, n, given.by());
    return 0;
}
