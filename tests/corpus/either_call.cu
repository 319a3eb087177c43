// Calls on both sides of a ? b : c: a template's, one by a pointer, launches. One side runs.
template <typename T> __global__ void twice(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += x[i];
}

__global__ void slow(float *x, int n)
{
    if (threadIdx.x == 0)
        for (int i = 0; i < n; i++)
            x[i] += 1;
}

template <typename T> int run(T *x, int n)
{
    twice<T><<<n / 128, 128>>>(x, n);
    return 3;
}

template <typename T> int run_slowly(T *x, int n)
{
    slow<<<1, 32>>>(x, n);
    return 4;
}

int main()
{
    int n = 512;
    float *x;
    int (*slowly)(float *, int) = run_slowly<float>;
    cudaMalloc(&x, n * sizeof(float));
    int first = n > 900 ? run_slowly<float>(x, n) : run<float>(x, n);
    int second = n < 900 ? run<float>(x, n) : (*slowly)(x, n);
    n < 900 ? twice<<<n / 128, 128>>>(x, n) : slow<<<1, 32>>>(x, n);
    return first - second;
}
