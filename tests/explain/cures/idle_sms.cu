// 32 blocks, each with 128 parts one after the other. Cured: 1024 blocks of four parts, since each of 4096
// would wait for its start.
#pragma keet size   N = 1048576
#pragma keet check  N = 131072
#pragma keet in     X : f32[N]
#pragma keet out    Y : f32[N]
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch parts<<<CURED ? N / 1024 : N / 32768, 256>>>(X, Y)

__global__ void parts(const float *__restrict__ X, float *__restrict__ Y)
{
    const int nr = CURED ? 4 : 128;
#pragma unroll 1
    for (int k = 0; k < nr; k++) {
        int i = (blockIdx.x * nr + k) * 256 + threadIdx.x;
        Y[i] = X[i] * 2 + 1;
    }
}
