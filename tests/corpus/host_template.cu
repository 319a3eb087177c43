// A host function template allocates and launches; main names the type.
#include <cstdio>

template <typename T>
__global__ void fill(T *p, T value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = value;
}

template <typename T>
void test(int n)
{
    T *d;
    cudaMalloc(&d, n * sizeof(T));
    fill<T><<<(n + 255) / 256, 256>>>(d, 3, n);
    cudaFree(d);
}

int main()
{
    test<double>(900);
    return 0;
}
