__global__ void both(float *z, float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i] * x[i];
        y[i] = v;
        z[i] = v + 1.0f;
    }
}

#pragma keet size   n = 4096
#pragma keet out    y : f32[n]
#pragma keet in     x : f32[n]
#pragma keet out    z : f32[n]
#pragma keet launch both<<<(n+63)/64, 64>>>(z, y, x, n)
