// The score of each document: the weights of its words; a negative word ends the document.
#pragma keet size   N = 16896
#pragma keet check  N = 300
#pragma keet in     D : i32[65][N] = integers(0, 99999)
#pragma keet in     W : f32[100000] = uniform(-1, 1)
#pragma keet out    S : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 64*N, bytes = 260*N
#pragma keet launch score<<<ceil_div(N, 128), 128>>>(D, W, S, N)

__global__ void score(const int *__restrict__ D, const float *__restrict__ W, float *__restrict__ S, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int *word = D + i, *end = D + 64 * (size_t)n + i;
    float sum = 0;
    while (word != end && *word >= 0) {
        sum += W[*word];
        word += n;
    }
    S[i] = sum;
}
