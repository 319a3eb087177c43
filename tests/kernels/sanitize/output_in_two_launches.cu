// In order: the second launch writes the elements that the first leaves out.
#pragma keet size   n = 1024
#pragma keet in     x : f32[n]
#pragma keet out    y : f32[n]
#pragma keet launch even<<<n / 256, 128>>>(x, y)
#pragma keet launch odd<<<n / 256, 128>>>(x, y)
__global__ void even(const float *x, float *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    y[2 * i] = x[2 * i];
}

__global__ void odd(const float *x, float *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    y[2 * i + 1] = x[2 * i + 1];
}
