// GELU by tanhf.
#pragma keet size   N = 2097152
#pragma keet in     X : f32[N] = uniform(-3, 3)
#pragma keet out    Y : f32[N]
#pragma keet launch gelu<<<N/256, 256>>>(X, Y)

__global__ void gelu(const float *X, float *Y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = X[i];
    Y[i] = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}
