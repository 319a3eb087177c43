// Density at N places: neighbours weigh less with age, by a fitted polynomial, and with distance.
#pragma keet size   N = 67584
#pragma keet check  N = 512
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet in     A : f32[N] = uniform(0, 1)
#pragma keet out    D : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 5*N*N/16, bytes = 12*N
#pragma keet launch density<<<N/256, 256>>>(X, A, D, N/16)

__device__ float weight(float age)
{
    float w = 0.0013f;
    w = w * age + 0.0101f;
    w = w * age - 0.0301f;
    w = w * age + 0.0507f;
    w = w * age - 0.0811f;
    w = w * age + 0.1102f;
    w = w * age - 0.1609f;
    w = w * age + 0.2204f;
    w = w * age - 0.2507f;
    w = w * age + 0.3303f;
    w = w * age - 0.5102f;
    return w * age + 1.0f;
}

__global__ void density(const float *__restrict__ X, const float *__restrict__ A, float *__restrict__ D, int near)
{
    __shared__ float2 other[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float x = X[i], sum = 0;
    for (int j0 = 0; j0 < near; j0 += 256) {
        __syncthreads();
        other[t] = j0 + t < near ? make_float2(X[j0 + t], A[j0 + t]) : make_float2(9, 0);
        __syncthreads();
#pragma unroll 16
        for (int j = 0; j < 256; j++) {
            float d = x - other[j].x;
            sum += weight(other[j].y) * fmaxf(1.0f - d * d, 0.0f);
        }
    }
    D[i] = sum;
}
