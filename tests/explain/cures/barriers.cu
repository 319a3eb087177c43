// One warp of eight works while the others wait. Cured: all of them do.
#pragma keet size   N = 262144
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch rounds<<<N / 256, 256>>>(X, Y)

__global__ void rounds(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float x = X[i], y = x;
#pragma unroll 1
    for (int r = 0; r < 8; r++) {
        if (CURED || threadIdx.x < 32) {
#pragma unroll 8
            for (int k = 0; k < (CURED ? 32 : 256); k++)
                y = y * x + 0.5f;
        }
        __syncthreads();
    }
    Y[i] = y;
}
