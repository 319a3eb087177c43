// The numbers that lacking.cu lacks: some that no size can be, and a scalar below zero. And a template that is launched
// from one place with three types: the bits of the integer are those of the float 3.
#include <vector>

struct Window {
    int first, shift;
    float scale;
};

void shift_on_device(const float *x, float *y, int rows, int columns, float factor, Window w);
void add_line_on_device(float *x, const float *line, int rows, int columns);
void set_on_device_both(int *k, float *y);

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
    std::vector<int> k(777, 1);

    add_on_device(k.data(), 777, 0x40400000);
    set_on_device_both(k.data() + 700, y.data());
    add_on_device(x.data(), 777, 0.125f);
    const bool pass = y[1000] == -3 * x[1000] - 4 && x[776] == 776 % 13 + 0.625f && z[776] == 1.25 &&
                      k[699] == 0x40400001 && k[700] == 3 && y[69] == 3;

    add_line_on_device(x.data(), y.data(), 30, 41);
    return pass && x[776] == 776 % 13 + 3.625f && x[1229] == 1229 % 13 + 3 ? 0 : 1;
}
