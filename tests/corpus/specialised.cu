// A template that is declared and only specialised, and constants computed from one another.
#include <cstdio>

const float scale = 1.25f;
const float inverse = 1.0f / scale;

template <int DEGREE> __device__ constexpr float polynomial(float x);

template <> __device__ constexpr float polynomial<1>(float x)
{
    return x + scale;
}

template <> __device__ constexpr float polynomial<2>(float x)
{
    return x * (x + inverse);
}

__global__ void evaluate(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = polynomial<1>(x[i]) + polynomial<2>(x[i]);
}

int main()
{
    const int n = 1000;
    float *x, *y;

    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    evaluate<<<(n + 255) / 256, 256>>>(x, y, n);
    cudaDeviceSynchronize();
    return 0;
}
