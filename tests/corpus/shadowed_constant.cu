// A constant of the file whose name is also that of a kernel's parameter: the device needs only the parameter.
#include <cstdio>

const int N = 100000;
const int BYTES = N * sizeof(float);
const int BLOCK = 128;

__global__ void sum(const float *x, float *y, const int N)
{
    __shared__ float part[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    part[threadIdx.x] = i < N ? x[i] : 0;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(y, part[0]);
}

int main()
{
    float *x, *y, h_y = 0;
    const int grid = (N + BLOCK - 1) / BLOCK;

    cudaMalloc(&x, BYTES);
    cudaMalloc(&y, sizeof(float));
    cudaMemcpy(y, &h_y, sizeof(float), cudaMemcpyHostToDevice);
    sum<<<grid, BLOCK>>>(x, y, N);
    cudaMemcpy(&h_y, y, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", h_y);
}
