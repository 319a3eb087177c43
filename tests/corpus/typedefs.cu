// typedef, using and a macro for the element type.
typedef float real;
using index_t = unsigned int;
#define COUNT_TYPE int

__global__ void mask(real *values, const index_t *flags, COUNT_TYPE n)
{
    index_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flags[i] == 0)
        values[i] = 0;
}

int main()
{
    COUNT_TYPE n = 3000;
    real *values;
    index_t *flags;
    cudaMalloc(&values, n * sizeof(real));
    cudaMalloc(&flags, n * sizeof(index_t));
    mask<<<(n + 255) / 256, 256>>>(values, flags, n);
}
