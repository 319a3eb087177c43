__global__ void fill(float *x, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    if (i < n)
        x[i] = 1.0f;
    if (i + 1 < n)
        x[i + 1] = 1.0f;
}

#pragma keet size   n = 4096
#pragma keet out    x : f32[n]
#pragma keet launch fill<<<ceil_div(n, 128), 64>>>(x, n)
