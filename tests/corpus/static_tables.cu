// A table of the host's without a type's name, which `static` would reach if it were one; one of the
// device's; and a global of the host's that is called as a field is. A driver's handle is a number.
#include <cstdio>
#include <cuda.h>
#include <string>

static struct {
    std::string name;
    FILE *to;
} outputs[] = {{"first", nullptr}, {"second", nullptr}};

__constant__ struct {
    float scale, shift;
} steps[2] = {{2.0f, 1.0f}, {0.5f, -1.0f}};

std::string x = "the host's";

static __device__ float stepped(float2 it)
{
    return it.x * steps[(int)it.y].scale + steps[(int)it.y].shift;
}

__global__ void unused(CUsurfObject surface, float *out)
{
    surf1Dread(out, surface, 0);
}

__global__ void weigh(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = stepped(make_float2(in[i], i % 2));
}

int main()
{
    const int n = 1000;
    float *in, *out;

    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    weigh<<<(n + 127) / 128, 128>>>(in, out, n);
    cudaDeviceSynchronize();
    printf("%s %s\n", outputs[0].name.c_str(), x.c_str());
    return 0;
}
