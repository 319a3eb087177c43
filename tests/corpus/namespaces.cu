// A kernel in a namespace, a device helper it reaches and one that nothing reaches.
#include <algorithm>
#include <string>

namespace math {
__device__ float clampf(float v, float low, float high)
{
    return fminf(fmaxf(v, low), high);
}
__device__ float never(float v)
{
    return v;
}
namespace kernels {
__global__ void clamp_all(float *values, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = clampf(values[i], -1.0f, 1.0f);
}
} // namespace kernels
} // namespace math

int main()
{
    size_t count = 100000;
    float *values;
    cudaMalloc(&values, count * sizeof(*values));
    math::kernels::clamp_all<<<(count + 127) / 128, 128>>>(values, count);
    return 0;
}
