// Numbers in a struct that a function fills, with a constexpr function and a loop.
#include <cmath>

struct Plan {
    int n, levels, padded;
    float scale;
};

constexpr int round_up(int x, int unit)
{
    return (x + unit - 1) / unit * unit;
}

__global__ void pad(float *out, const float *x, int n, int padded, int levels, float scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < padded)
        out[i] = i < n ? x[i] * scale + levels : 0.0f;
}

static void make_plan(Plan &plan, int n)
{
    plan.n = n;
    plan.padded = round_up(n, 64);
    plan.levels = 0;
    for (int k = plan.padded; k > 1; k = (k + 1) / 2)
        plan.levels++;
    plan.scale = 1.0f / sqrtf(16.0f);
}

int main()
{
    Plan plan;
    make_plan(plan, 500);
    float *x, *out;
    cudaMalloc(&x, plan.n * sizeof(float));
    cudaMalloc(&out, plan.padded * sizeof(float));
    pad<<<plan.padded / 64, 64>>>(out, x, plan.n, plan.padded, plan.levels, plan.scale);
}
