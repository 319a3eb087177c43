// Backward pass of layer normalisation: dx a row in each thread; dgamma and dbeta by atomics.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void layernorm_backward(const float *dout, const float *x, const float *gamma, const float *mean,
                                   const float *rstd, float *dx, float *dgamma, float *dbeta, int N, int C)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N)
        return;
    float m = mean[n], r = rstd[n], sum = 0.0f, sum_x = 0.0f;
    for (int c = 0; c < C; c++) {
        float g = gamma[c] * dout[n * C + c];
        sum += g;
        sum_x += g * (x[n * C + c] - m) * r;
    }
    sum /= C;
    sum_x /= C;
    for (int c = 0; c < C; c++) {
        float norm = (x[n * C + c] - m) * r;
        atomicAdd(&dbeta[c], dout[n * C + c]);
        atomicAdd(&dgamma[c], norm * dout[n * C + c]);
        dx[n * C + c] = (gamma[c] * dout[n * C + c] - sum - norm * sum_x) * r;
    }
}

int main()
{
    const int N = 512, C = 256;
    float *h = (float *)malloc(N * C * sizeof(float)), *dout, *x, *gamma, *mean, *rstd, *dx, *dgamma, *dbeta;
    for (int i = 0; i < N * C; i++)
        h[i] = rand() / (float)RAND_MAX - 0.5f;
    cudaMalloc(&dout, N * C * sizeof(float));
    cudaMalloc(&x, N * C * sizeof(float));
    cudaMalloc(&dx, N * C * sizeof(float));
    cudaMalloc(&gamma, C * sizeof(float));
    cudaMalloc(&dgamma, C * sizeof(float));
    cudaMalloc(&dbeta, C * sizeof(float));
    cudaMalloc(&mean, N * sizeof(float));
    cudaMalloc(&rstd, N * sizeof(float));
    cudaMemcpy(dout, h, N * C * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(x, h, N * C * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(gamma, h, C * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(mean, h, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(rstd, h, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(dgamma, 0, C * sizeof(float));
    cudaMemset(dbeta, 0, C * sizeof(float));
    layernorm_backward<<<(N + 127) / 128, 128>>>(dout, x, gamma, mean, rstd, dx, dgamma, dbeta, N, C);
    cudaMemcpy(h, dx, N * C * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", h[0]);
    return 0;
}
