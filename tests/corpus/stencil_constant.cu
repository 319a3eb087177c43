// A stencil with its weights as macros, in a loop of steps that swaps its arrays.
#include <cstdio>
#include <utility>

#define N 256
#define CENTRE 0.5f
#define SIDE 0.125f

__global__ void step(const float *u, float *v)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x < N - 1 && y < N - 1)
        v[y * N + x] = CENTRE * u[y * N + x] + SIDE * (u[y * N + x - 1] + u[y * N + x + 1] +
                                                   u[(y - 1) * N + x] + u[(y + 1) * N + x]);
}

int main()
{
    float *a, *b;
    cudaMalloc(&a, N * N * sizeof(float));
    cudaMalloc(&b, N * N * sizeof(float));
    cudaMemset(a, 0, N * N * sizeof(float));
    cudaMemset(b, 0, N * N * sizeof(float));
    for (int t = 0; t < 20; t++) {
        step<<<dim3((N + 31) / 32, (N + 7) / 8), dim3(32, 8)>>>(a, b);
        std::swap(a, b);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
