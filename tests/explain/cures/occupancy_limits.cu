// Blocks take more shared memory than they use. Cured: they take what they use.
#pragma keet size   N = 8388608
#pragma keet check  N = 1024
#pragma keet in     X : f32[N]
#pragma keet out    Y : f32[N]
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch neighbours<<<N / 256, 256>>>(X, Y)

__global__ void neighbours(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float s[CURED ? 256 : 12000];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = X[i];
    __syncthreads();
    Y[i] = s[threadIdx.x] + s[255 - threadIdx.x];
}
