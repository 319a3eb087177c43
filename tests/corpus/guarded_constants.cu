// Constants behind an include guard, a type that a condition decides, and local names for both.
#ifndef SHOP_CONSTANTS
#define SHOP_CONSTANTS
#ifdef SHOP_DOUBLE
#define REAL double
#else
#define REAL float
#endif
namespace shop::gpu {
constexpr int N = 10000;
constexpr int T = 64;
constexpr int BLOCKS = (N + T - 1) / T;
}
#endif

namespace shop::gpu {
__global__ void scale(REAL *x, REAL s)
{
    int i = blockIdx.x * T + threadIdx.x;
    if (i < N) x[i] *= s;
}
}

int main(int argc, char **argv)
{
    if (argc != 2) return 1;
    constexpr auto N = shop::gpu::N;
    constexpr auto T = shop::gpu::T;
    constexpr auto BLOCKS = shop::gpu::BLOCKS;
    REAL *x;
    cudaMalloc(&x, N * sizeof(REAL));
    shop::gpu::scale<<<BLOCKS, T>>>(x, 0.5f);
    return 0;
}
