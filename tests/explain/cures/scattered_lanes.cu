// A field of structures of eight words. Cured: the field lies by itself.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     X : f32[8 * N]
#pragma keet out    Y : f32[N]
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch field<<<N / 256, 256>>>(X, Y, N)

__global__ void field(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
        sum += CURED ? X[k * n + i] : X[8 * i + k];
    Y[i] = sum;
}
