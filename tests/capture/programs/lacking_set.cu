// A template whose first launch has an integer where another has a real number.
template <typename T> __global__ void set_step(T *y, int n, T step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = step;
}

template <typename T> void set_on_device(T *y, int n, T step)
{
    T *d_s;
    cudaMalloc(&d_s, n * sizeof(T));
    set_step<T><<<(n + 63) / 64, 64>>>(d_s, n, step);
    cudaMemcpy(y, d_s, n * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(d_s);
}

void set_on_device_both(int *k, float *y)
{
    set_on_device(k, 70, 3);
    set_on_device(y, 70, 3.0f);
}
