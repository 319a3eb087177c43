// Two numbers of steps that are far too many for an emulator, in memory whose size is written out.
#include <cuda_runtime.h>

const int warm_up = 100000;
const int per_round = 5000;

__global__ void step(float *x, unsigned *state, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = state[i] | 1;
    float v = x[i];
    for (int k = 0; k < 40 * steps; k++) {
        s = s * 1664525u + 1013904223u;
        v = 0.99f * v + 1e-10f * (float)(s >> 8);
    }
    state[i] = s;
    x[i] = v;
}

int main()
{
    float *x;
    unsigned *state;
    cudaMalloc(&x, 224 * 256 * sizeof(float));
    cudaMalloc(&state, 224 * 256 * sizeof(unsigned));
    step<<<224, 256>>>(x, state, warm_up);
    step<<<224, 256>>>(x, state, per_round);
    return 0;
}
