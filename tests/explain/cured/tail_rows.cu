// A block for each quarter of a row, with 16 KB each.
#pragma keet size   N = 270
#pragma keet check  N = 3
#pragma keet in     X : f32[N][16384] = uniform(-1, 1)
#pragma keet out    Y : f32[N][16384]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 1064960*N, bytes = 131072*N
#pragma keet launch relax<<<4*N, 512, 20480>>>(X, Y)

extern __shared__ float row[];
__global__ void relax(const float *__restrict__ X, float *__restrict__ Y)
{
    long at = blockIdx.x / 4 * 16384L;
    int t = threadIdx.x, first = blockIdx.x % 4 * 4096;
    for (int k = t; k <= 4096; k += 512)
        row[k] = X[at + ((first + k) & 16383)];
    __syncthreads();
    for (int k = t; k < 4096; k += 512) {
        float y = row[k], z = row[k + 1];
#pragma unroll 16
        for (int r = 0; r < 32; r++) {
            y = y * 0.99f + 0.01f;
            z = z * 0.98f + y;
        }
        Y[at + first + k] = z;
    }
}
