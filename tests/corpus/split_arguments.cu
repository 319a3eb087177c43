// Arguments between directives, an enum class as a template argument, a size read from a stream.
#include <cstdlib>
#include <fstream>
#include <cuda_runtime.h>

enum class order { up, down };

template <typename T, order ORDER>
__global__ void rank_of(const T *x, T *y, int n
#ifdef WEIGHTED
    , const float *weight
#endif
    )
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = ORDER == order::up ? x[i] : -x[i];
}

template <order ORDER> void launch(float *x, float *y, int n)
{
    rank_of<float, ORDER><<<(n + 127) / 128, 128
#ifdef WEIGHTED
        , 0
#endif
        >>>(x, y, n
#ifdef WEIGHTED
        , weight
#endif
        );
}

int main(int argc, char **argv)
{
    int n = 0;
    std::ifstream in(argv[1]);
    if (in.is_open()) {
        in >> n;
    }
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    launch<order::down>(x, y, n);
    return 0;
}
