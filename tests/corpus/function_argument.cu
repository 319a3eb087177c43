// What a kernel is a template over is named by the host only: a function, a type with an operator.
struct Halve {
    __device__ float operator()(float x) const { return x * 0.5f; }
};

struct Twice {
    __device__ float operator()(float x) const { return x + x; }
};

typedef float (*combine_t)(float, float);

__device__ float smaller(float a, float b) { return a < b ? a : b; }
__device__ float larger(float a, float b) { return a < b ? b : a; }

template <combine_t combine, class Map> __global__ void fold(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = combine(Map()(x[i]), 1.0f);
}

template <combine_t combine, class Map> void run(const float *x, float *y, int n)
{
    fold<combine, Map><<<(n + 63) / 64, 64>>>(x, y, n);
}

int main()
{
    const int n = 500;
    float *x, *y;

    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    run<larger, Twice>(x, y, n);
    cudaDeviceSynchronize();
    return 0;
}
