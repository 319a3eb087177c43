// A launch in a macro that a wrapper uses in a switch; the file's main is for another purpose and does not get there.
#include <cstdio>

template <int THREADS> __global__ void shift(float *x, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;

    if (i < n)
        x[i] += 1.0f;
}

#define LAUNCH_SHIFT(threads)                                      \
    {                                                              \
        dim3 grid((n + (threads) - 1) / (threads));                \
        shift<(threads)><<<grid, (threads)>>>(x, n);               \
    }

void shift_all(int threads)
{
    const int n = 4096;
    float *x;

    cudaMalloc(&x, n * sizeof(float));
    switch (threads) {
    case 128:
        LAUNCH_SHIFT(128);
        break;
    default:
        LAUNCH_SHIFT(64);
        break;
    }
    cudaFree(x);
}

int main()
{
    printf("%d\n", 4096);
    return 0;
}
