// Tiles of two arrays go through registers into shared memory; all wait for each pair.
#pragma keet size   N = 67584
#pragma keet check  N = 1024
#pragma keet in     A : f32[48*N] = uniform(-1, 1)
#pragma keet in     B : f32[48*N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 96*N, bytes = 388*N
#pragma keet launch products<<<N/256, 256>>>(A, B, Y, N)

__global__ void products(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ Y, int n)
{
    __shared__ float a[256], b[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 48; k++) {
        a[t] = A[k * n + i];
        b[t] = B[k * n + i];
        __syncthreads();
        sum += a[255 - t] * b[(t + 7) & 255];
        __syncthreads();
    }
    Y[i] = sum;
}
