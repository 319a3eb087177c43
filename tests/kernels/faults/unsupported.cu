// A reduction over several GPUs, which nothing here needs.
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(X, Y, alpha, N)

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], 0;" ::"l"(y) : "memory"); // FAULT
    if (i < n)
        y[i] = alpha * x[i];
}
