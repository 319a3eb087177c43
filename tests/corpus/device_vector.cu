// thrust::device_vector owns the memory.
#include <thrust/device_vector.h>
#include <iostream>

__global__ void square(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * in[i];
}

int main()
{
    const int n = 5000;
    thrust::device_vector<double> a(n, 2.0), b(n);
    square<<<(n + 127) / 128, 128>>>(thrust::raw_pointer_cast(a.data()), thrust::raw_pointer_cast(&b[0]), n);
    std::cout << b[0] << std::endl;
}
