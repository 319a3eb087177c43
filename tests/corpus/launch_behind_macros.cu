// A function that launches is called by a macro, behind loops that are too long to follow.
#include <cstdio>
#include <cstdlib>

template <int T>
__global__ void offset(const float *x, float *y, int n)
{
    int i = blockIdx.x * T + threadIdx.x;
    if (i < n)
        y[i] = x[i] + T;
}

template <int T>
void evaluate(const float *x, int frames, int width)
{
    int n = frames * width;
    float *dx, *dy;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
    offset<T><<<(n + T - 1) / T, T>>>(dx, dy, n);
    cudaFree(dx);
    cudaFree(dy);
}

#define EVALUATE(T) evaluate<T>(x, frames, width)

void drive(int frames, int width)
{
    float *x = (float *)malloc(frames * width * sizeof(float));
    for (int i = 0; i < frames * width; i++)
        x[i] = rand() / (float)RAND_MAX;
    EVALUATE(64);
    free(x);
}

int main()
{
    int frames = 1, width = 1000;
    for (int k = 0; k < 11; k++)
        frames *= 2;
    drive(frames, width);
    return 0;
}
