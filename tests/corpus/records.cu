// Elements that are structs of several types: numbers of all widths, arrays, padding; in constant memory
// too; through a pair of a kernel that fills them and one that reads them.
#include <cuda_runtime.h>

struct Particle {
    double x, v;
    int cell;
    bool alive;
    float charge[3];
};

struct __align__(16) Hit {
    float depth;
    unsigned short face;
};

struct Level {
    int width;
    float gain;
};

__constant__ Level levels[4];

__global__ void push(Particle *particles, Hit *hits, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    Particle p = particles[i];
    p.x += p.v * (double)levels[i % 4].gain;
    p.cell += levels[i % 4].width;
    p.charge[2] = p.charge[0] + p.charge[1];
    particles[i] = p;
    hits[i].depth = (float)p.x;
    hits[i].face = (unsigned short)(p.cell & 7);
}

__global__ void depths(float *out, const Hit *hits, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = hits[i].depth * (float)hits[i].face;
}

int main()
{
    const int n = 300;
    Particle *particles;
    Level host[4] = {{1, 0.5f}, {2, 0.25f}, {4, 0.125f}, {8, 0.0625f}};
    Hit *hits;
    float *out;

    cudaMalloc(&particles, n * sizeof(Particle));
    cudaMalloc(&hits, n * sizeof(Hit));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpyToSymbol(levels, host, sizeof(host));
    push<<<(n + 127) / 128, 128>>>(particles, hits, n);
    depths<<<(n + 127) / 128, 128>>>(out, hits, n);
    return 0;
}
