// The way to the launch goes through what the device says, a prototype, and a loop too long to follow.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thrust/pair.h>

typedef struct {
    int tile;
    pthread_mutex_t lock;
} session;

extern "C" void offload(float *, float, int);
static double total;

__global__ void scale(float *x, float s, int n)
{
    int tile = blockIdx.x * blockDim.x + threadIdx.x;
    thrust::pair<float, int> p = thrust::make_pair(s, tile);
    if (p.second < n) x[p.second] *= p.first;
}

int best_device()
{
    int count = 0, prohibited = 0;
    cudaGetDeviceCount(&count);
    for (int d = 0; d < count; d++) {
        int mode = -1, clock;
        cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, d);
        if (mode != cudaComputeModeProhibited) {
            if (cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, d) != cudaSuccess) {
                fprintf(stderr, "no clock\n");
                exit(EXIT_FAILURE);
            }
        } else {
            prohibited++;
        }
    }
    if (prohibited == count)
        exit(EXIT_FAILURE);
    return 0;
}

void reference(float *factor, float *x, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            total += x[i] * factor[0];
}

extern "C" void offload(float *h, float s, int n)
{
#define ceil(a, b) ((a) % (b) == 0 ? (a) / (b) : (a) / (b) + 1)
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);
    for (int i = 0; i < n; i += 1024)
        scale<<<ceil(n, 128), 128>>>(x + i, s, 1024);
}

int main()
{
    const int n = 65536;
    cudaSetDevice(best_device());
    float *h = (float *)malloc(n * sizeof(float)), *factor = (float *)malloc(3 * sizeof(float));
    factor[0] = 0.5f;
    reference(factor, h, n);
    offload(h, factor[0], n);
    return 0;
}
