// One wrapper for each type, all made by a macro: names pasted together, and two ways to launch.
#include <torch/extension.h>

#define STRINGFY(x) #x
#define CHECK_TYPE(T, type) \
    if ((T).options().dtype() != (type)) \
        throw std::runtime_error("values must be " STRINGFY(type));

__global__ void leaky_f32_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] > 0.0f ? x[i] : 0.01f * x[i];
}

#define BIND_LEAKY(packed, torch_type, element, per_thread) \
    void leaky_##packed(torch::Tensor x, torch::Tensor y) \
    { \
        CHECK_TYPE(x, (torch_type)) \
        CHECK_TYPE(y, (torch_type)) \
        const int S = x.size(0), K = x.size(1); \
        const int n = S * K; \
        dim3 block(128 / (per_thread)); \
        dim3 grid((n + 128 - 1) / 128); \
        leaky_##packed##_kernel<<<grid, block>>>( \
            reinterpret_cast<element *>(x.data_ptr()), reinterpret_cast<element *>(y.data_ptr()), n); \
    }

BIND_LEAKY(f32, torch::kFloat32, float, 1)

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.def("leaky_f32", &leaky_f32, "leaky");
}
