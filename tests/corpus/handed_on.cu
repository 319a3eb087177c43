// The number of elements gets to the launch through fields of a plan, which the text does not follow; the number of sums
// is a part of it.
#include <cstdlib>

struct plan {
    int count, sums;
    float *data, *sum;
};

__global__ void sum_blocks(float *sum, const float *data, int count)
{
    float total = 0;
    for (int i = 0; i < 128; i++)
        total += data[(blockIdx.x * blockDim.x + threadIdx.x) * 128 + i];
    if (threadIdx.x + blockIdx.x * blockDim.x < count)
        sum[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

const int ELEMENTS = 1 << 21;

int main()
{
    plan plans[2];
    const int devices = 1;
    for (int i = 0; i < devices; i++)
        plans[i].count = ELEMENTS / devices;
    for (int i = 0; i < devices; i++) {
        plan *p = &plans[i];
        p->sums = p->count / 128;
        cudaMalloc(&p->data, p->count * sizeof(float));
        cudaMalloc(&p->sum, p->sums * sizeof(float));
        sum_blocks<<<(p->sums + 127) / 128, 128>>>(p->sum, p->data, p->count);
    }
}
