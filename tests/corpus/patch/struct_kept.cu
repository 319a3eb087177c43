// A struct by value, a functor and an array of structs: the launch changes, they stay as they are.
#include <cuda_runtime.h>

struct Args {
    const float *in;
    int n;
    float scale;
};

struct Hit {
    float depth;
    int face;
};

struct Twice {
    __device__ float operator()(float x) const { return 2 * x; }
};

template <typename Op> __global__ void apply(Hit *hits, Args args, Op op)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < args.n) {
        hits[i].depth = op(args.in[i]) * args.scale;
        hits[i].face = i % 6;
    }
}

int main()
{
    const int n = 5000;
    Hit *hits;
    float *in;

    cudaMalloc(&hits, n * sizeof(Hit));
    cudaMalloc(&in, n * sizeof(float));
    Args args = {in, n, 0.5f};
    apply<<<(n + 127) / 128, 128>>>(hits, args, Twice());
    return 0;
}
