// Standard headers that host compilers bring along, and a function whose head has two forms.
#include <array>
#include <cstdint>
#include <algorithm>
#include <functional>
#include <iostream>
#include <thrust/device_vector.h>
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

__global__ void blend(float *y, thrust::device_ptr<const float> x, uint n)
{
    std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    std::array<float, 3> w = {0.25f, 0.5f, 0.25f};
    wider<float, double> sum = 0;
    std::plus<double> add;

    __shared__ typename std::aligned_storage<sizeof(double), alignof(double)>::type sums[128];

    if (i >= n || UINT64_C(1) << 40 < INT64_C(1) << 39)
        return;
    for (std::size_t k = 0; k < w.size(); k++)
        sum = add(sum, w[k] * x[std::min<std::size_t>(i + k, n - 1)]);
    reinterpret_cast<double *>(sums)[threadIdx.x] = sum;
    sum = *reinterpret_cast<double *>(&sums[threadIdx.x]);
    y[i] = std::is_same<wider<float, double>, double>::value ? (float)sum : 0.0f;
}

int main()
{
    std::vector<float> host(1000);
    thrust::device_vector<float> x(1000);
    float *y;
    cudaMalloc(&y, 1000 * sizeof(float));
    blend<<<8, 128>>>(y, x.data(), 1000);
    std::cout << host.size() << std::endl;
}
