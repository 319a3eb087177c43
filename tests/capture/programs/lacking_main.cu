// The numbers that lacking.cu lacks: some that no size can be, and a scalar below zero. And a template that is launched
// from one place with two types.
#include <cstdio>
#include <vector>

struct Window {
    int first, shift;
    float scale;
};

void shift_on_device(const float *x, float *y, int rows, int columns, float factor, Window w);
template <typename T> __global__ void add_step(T *x, int n, T step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += step;
}

template <typename T> void add_on_device(T *x, int n, T step)
{
    T *d_t;
    cudaMalloc(&d_t, n * sizeof(T));
    cudaMemcpy(d_t, x, n * sizeof(T), cudaMemcpyHostToDevice);
    add_step<T><<<(n + 63) / 64, 64>>>(d_t, n, step);
    cudaMemcpy(x, d_t, n * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(d_t);
}

int main()
{
    std::vector<float> x(30 * 41), y(x.size());

    for (size_t i = 0; i < x.size(); i++)
        x[i] = i % 13;
    shift_on_device(x.data(), y.data(), 30, 41, -1.5f, Window{0, -4, 2});
    std::vector<double> z(777, 1);

    add_on_device(x.data(), 777, 0.5f);
    add_on_device(z.data(), 777, 0.25);
    puts(y[1000] == -3 * x[1000] - 4 && x[776] == 776 % 13 + 0.5f && z[776] == 1.25 ? "PASS" : "FAIL");
}
