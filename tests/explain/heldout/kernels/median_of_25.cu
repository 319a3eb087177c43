// The median of 25 neighbours, sorted in an array that is indexed at run time.
#pragma keet size   N = 262144
#pragma keet check  N = 100
#pragma keet in     X : f32[N + 24] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet work   flops = 300*N, bytes = 8*N
#pragma keet launch median<<<ceil_div(N, 128), 128>>>(X, Y, N)

__global__ void median(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float held[25];
    if (i >= n)
        return;
    int nr = 0;
    for (int k = 0; k < 25; k++) {
        float v = X[i + k];
        int at = nr++;
        for (; at > 0 && held[at - 1] > v; at--)
            held[at] = held[at - 1];
        held[at] = v;
    }
    Y[i] = held[nr / 2];
}
