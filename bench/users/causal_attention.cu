// Causal attention of one layer: scores with a mask, softmax, weighted values; heads in blockIdx.z.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void qk(const float *q, const float *k, float *scores, int T, int d, float scale)
{
    int head = blockIdx.z;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < T && j < T) {
        float dot = 0.0f;
        for (int x = 0; x < d; x++)
            dot += q[(head * T + i) * d + x] * k[(head * T + j) * d + x];
        scores[(head * T + i) * T + j] = j <= i ? dot * scale : -INFINITY;
    }
}

__global__ void softmax_rows(float *scores, int rows, int T)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float m = -INFINITY;
        for (int j = 0; j < T; j++)
            m = fmaxf(m, scores[r * T + j]);
        float sum = 0.0f;
        for (int j = 0; j < T; j++) {
            float e = expf(scores[r * T + j] - m);
            scores[r * T + j] = e;
            sum += e;
        }
        for (int j = 0; j < T; j++)
            scores[r * T + j] /= sum;
    }
}

__global__ void pv(const float *scores, const float *v, float *out, int T, int d)
{
    int head = blockIdx.z;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < T && x < d) {
        float acc = 0.0f;
        for (int j = 0; j < T; j++)
            acc += scores[(head * T + i) * T + j] * v[(head * T + j) * d + x];
        out[(head * T + i) * d + x] = acc;
    }
}

int main()
{
    const int H = 4, T = 256, d = 64;
    size_t bytes = (size_t)H * T * d * sizeof(float);
    float *h = (float *)malloc(bytes), *q, *k, *v, *s, *o;
    for (int i = 0; i < H * T * d; i++)
        h[i] = rand() / (float)RAND_MAX - 0.5f;
    cudaMalloc(&q, bytes);
    cudaMalloc(&k, bytes);
    cudaMalloc(&v, bytes);
    cudaMalloc(&o, bytes);
    cudaMalloc(&s, (size_t)H * T * T * sizeof(float));
    cudaMemcpy(q, h, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(k, h, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(v, h, bytes, cudaMemcpyHostToDevice);
    qk<<<dim3((T + 15) / 16, (T + 15) / 16, H), dim3(16, 16)>>>(q, k, s, T, d, 0.125f);
    softmax_rows<<<(H * T + 127) / 128, 128>>>(s, H * T, T);
    pv<<<dim3((d + 15) / 16, (T + 15) / 16, H), dim3(16, 16)>>>(s, v, o, T, d);
    cudaMemcpy(h, o, bytes, cudaMemcpyDeviceToHost);
    printf("%f\n", h[0]);
    return 0;
}
