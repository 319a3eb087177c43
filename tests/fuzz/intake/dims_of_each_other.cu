#include <cuda_runtime.h>
extern const dim3 b;
const dim3 a = b;
const dim3 b = a;
__global__ void k(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 2 * x[i]; }
int run(float *x, int n) { k<<<a, 256>>>(x, n); return 0; }
