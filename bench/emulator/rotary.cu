// Rotary embedding: fast power, sine and cosine.
#pragma keet size   N = 1048576
#pragma keet inout  X : f32[N][2]
#pragma keet launch rotary<<<N/256, 256>>>(X)

__global__ void rotary(float2 *X)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s, c, angle = (i >> 6) * __powf(10000.0f, -(i & 63) / 64.0f);
    __sincosf(angle, &s, &c);
    float2 v = X[i];
    X[i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
