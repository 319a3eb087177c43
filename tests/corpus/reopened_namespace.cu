// One namespace opened in several places: what a kernel in one of them uses stands in another, behind the host's own.
#include <string>
#include <vector>

namespace wave
{
namespace host
{
struct series {
    std::vector<std::string> names;
    int step() const { return (int)names.size(); }
};
}
}

namespace wave
{
template <typename T, int N> class Line
{
public:
    __device__ T &at(int i) { return items_[i]; }

private:
    T items_[N];
};

const int width = 64;
}

using namespace wave;
using namespace std;

namespace kernels
{
__global__ void step(const float *in, float *out, int n)
{
    __shared__ Line<float, width> line;
    int i = blockIdx.x * width + threadIdx.x;

    line.at(threadIdx.x) = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i < n)
        out[i] = line.at(width - 1 - threadIdx.x);
}
}

int main()
{
    const int n = 640;
    wave::host::series names;
    float *in, *out;

    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    if (names.step() == 0)
        kernels::step<<<n / wave::width, wave::width>>>(in, out, n);
    cudaDeviceSynchronize();
    return 0;
}
