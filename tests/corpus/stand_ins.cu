// Standard headers that host compilers bring along, and a function whose head has two forms.
#include <array>
#include <algorithm>
#include <functional>
#include <iostream>
#include <type_traits>
#include <vector>

#ifdef WITH_UNDERSCORE
extern "C" void driver_(float *x, float *y, int n)
#else
extern "C" void driver(float *x, float *y, int n)
#endif
{
    for (int i = 0; i < n; i++)
        y[i] = x[i];
}

template <typename T, typename U> using wider = typename std::common_type<T, U>::type;

__global__ void blend(float *y, const float *x, uint n)
{
    std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    std::array<float, 3> w = {0.25f, 0.5f, 0.25f};
    wider<float, double> sum = 0;
    std::plus<double> add;

    if (i >= n)
        return;
    for (std::size_t k = 0; k < w.size(); k++)
        sum = add(sum, w[k] * x[std::min<std::size_t>(i + k, n - 1)]);
    y[i] = std::is_same<wider<float, double>, double>::value ? (float)sum : 0.0f;
}

int main()
{
    std::vector<float> host(1000);
    float *x, *y;
    cudaMalloc(&x, 1000 * sizeof(float));
    cudaMalloc(&y, 1000 * sizeof(float));
    blend<<<8, 128>>>(y, x, 1000);
    std::cout << host.size() << std::endl;
}
