// What a traits class gets as a template argument is a name that only the launching function has.
template <typename T> struct twice_of {
    static __device__ T apply(T x) { return x + x; }
};

template <typename T, typename Op> __global__ void transform(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = Op::apply(x[i]);
}

void run()
{
    using real = float;
    real *x;
    cudaMalloc(&x, 3000 * sizeof(real));
    transform<real, twice_of<real>><<<12, 256>>>(x, 3000);
}
