// A series of 96 coefficients that are kept as 16-bit integers, for each of N arguments.
#pragma keet size   N = 1081344
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-0.9, 0.9)
#pragma keet in     Q : i16[96] = integers(-1000, 1000)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-2, abs = 1
#pragma keet launch series<<<N/256, 256>>>(X, Q, Y)

__global__ void series(const float *__restrict__ X, const short *__restrict__ Q, float *__restrict__ Y)
{
    __shared__ short q[96];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x < 96)
        q[threadIdx.x] = Q[threadIdx.x];
    __syncthreads();
    float x = X[i], y = 0;
#pragma unroll 16
    for (int k = 0; k < 96; k++)
        y = y * x + q[k];
    Y[i] = y;
}
