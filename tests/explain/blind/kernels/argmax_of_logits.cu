// The most likely token of each position.
#pragma keet size   N = 16384, V = 1024
#pragma keet check  N = 100, V = 77
#pragma keet in     L : f32[N][V] = normal(0, 2)
#pragma keet out    T : i32[N]
#pragma keet work   flops = N*V, bytes = 4*N*V + 4*N
#pragma keet launch pick<<<ceil_div(N, 128), 128>>>(L, T, N, V)

__global__ void pick(const float *__restrict__ L, int *__restrict__ T, int n, int v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best = -1e30f;
    int at = 0;
    for (int k = 0; k < v; k++) {
        float x = L[(size_t)i * v + k];
        if (x > best) {
            best = x;
            at = k;
        }
    }
    T[i] = at;
}
