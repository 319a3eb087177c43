// A macro that only host code uses names a class and a function of the host: neither is for the device.
#include <cstdio>
#include <stdexcept>
#include <string>

class Failure : public std::runtime_error
{
public:
    Failure(const std::string &what) : std::runtime_error(what) {}
};

inline void require(cudaError_t status, const char *what)
{
    if (status != cudaSuccess)
        throw Failure(std::string(what) + cudaGetErrorString(status));
}

#define CHECKED(call) require(call, #call)
#define FAIL(text) throw Failure(text)
#define SQUARE(x) square(x)

__device__ float square(float x) { return x * x; }

constexpr float offset = 1.5f;

__global__ void squares(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#define MOVED(v) ((v) + offset)

    if (i < n)
        y[i] = MOVED(SQUARE(x[i]));
#undef MOVED
}

int main()
{
    const int n = 512;
    float *x, *y;

    CHECKED(cudaMalloc(&x, n * sizeof(float)));
    CHECKED(cudaMalloc(&y, n * sizeof(float)));
    squares<<<n / 64, 64>>>(x, y, n);
    CHECKED(cudaDeviceSynchronize());
    return 0;
}
