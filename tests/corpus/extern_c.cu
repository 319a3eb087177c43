// C linkage on kernel and host function.
extern "C" __global__ void increment(unsigned *p, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i]++;
}

extern "C" {
void run_increment(void)
{
    unsigned *p;
    unsigned n = 999;
    cudaMalloc((void **)&p, n * sizeof(unsigned));
    increment<<<(n + 31) / 32, 32>>>(p, n);
}
}
