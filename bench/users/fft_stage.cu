// One stage of a radix-2 FFT (Stockham), a butterfly a thread.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void fft_stage(const float2 *in, float2 *out, int n, int span)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 2)
        return;
    int k = t % span;
    float angle = -3.14159265f * k / span;
    float c = cosf(angle), s = sinf(angle);
    float2 a = in[t], b = in[t + n / 2];
    float2 w = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    int at = t / span * span * 2 + k;
    out[at] = make_float2(a.x + w.x, a.y + w.y);
    out[at + span] = make_float2(a.x - w.x, a.y - w.y);
}

int main()
{
    const int n = 1 << 18;
    float2 *h = (float2 *)malloc(n * sizeof(float2)), *in, *out;
    for (int i = 0; i < n; i++)
        h[i] = make_float2(rand() / (float)RAND_MAX, 0.0f);
    cudaMalloc(&in, n * sizeof(float2));
    cudaMalloc(&out, n * sizeof(float2));
    cudaMemcpy(in, h, n * sizeof(float2), cudaMemcpyHostToDevice);
    fft_stage<<<(n / 2 + 255) / 256, 256>>>(in, out, n, 64);
    cudaMemcpy(h, out, n * sizeof(float2), cudaMemcpyDeviceToHost);
    printf("%f\n", h[0].x);
    return 0;
}
