// Functors by value: with a field, without, of a template, with a base; T is what is passed.
#include <cuda_runtime.h>

template <typename T> struct Scale {
    T factor;
    __host__ __device__ Scale(T f) : factor(f) {}
    __device__ T operator()(T x) const { return x * factor; }
};

struct Identity {
    __device__ float operator()(float x) const { return x; }
};

struct Gather : public Identity {
    const float *table;
    int nr;
    __device__ float operator()(float x) const { return x + table[(int)x % nr]; }
};

template <typename T, typename Op> __global__ void transform(T *out, const T *in, int n, Op op)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = op(in[i]);
}

__global__ void gather(float *out, int n, Gather op)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = op((float)i);
}

int main()
{
    int n = 1000;
    float *a, *b;
    Gather op;

    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    transform<<<(n + 127) / 128, 128>>>(b, a, n, Scale<float>(2.5f));
    transform<float, Identity><<<(n + 127) / 128, 128>>>(b, a, n, Identity());
    op.nr = 64;
    cudaMalloc((void **)&op.table, op.nr * sizeof(float));
    gather<<<(n + 127) / 128, 128>>>(a, n, op);
    return 0;
}
