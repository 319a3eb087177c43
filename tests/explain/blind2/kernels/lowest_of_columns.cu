// The lowest of 64 readings of each of many sensors, lanes beside each other.
#pragma keet size   N = 524288
#pragma keet check  N = 4096
#pragma keet in     X : f32[64][N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet work   flops = 64*N, bytes = 260*N
#pragma keet launch lowest<<<N/512, 128>>>(X, Y, N/4)

__global__ void lowest(const float4 *__restrict__ X, float4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 y = X[i];
#pragma unroll 16
    for (int k = 1; k < 64; k++) {
        float4 x = X[k * n + i];
        y = make_float4(fminf(y.x, x.x), fminf(y.y, x.y), fminf(y.z, x.z), fminf(y.w, x.w));
    }
    Y[i] = y;
}
