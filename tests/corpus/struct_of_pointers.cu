// A struct of pointers passed by value: which of them are read and which are written is seen in the
// kernel and in what it calls; a null pointer stays one.
#include <cstdio>
#include <cuda_runtime.h>

struct Image {
    const float *pixels;
    int width, height;
};

struct Job {
    Image in;
    float *out;
    unsigned char *mask;
    bool flip;
    unsigned long long seed;
};

__device__ float sample(const Image &image, int x, int y)
{
    return image.pixels[y * image.width + x];
}

__global__ void blur(Job job)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

    if (x >= job.in.width || (job.mask && !job.mask[x]))
        return;
    float *row = job.out + y * job.in.width;
    int left = job.flip ? x : max(x - 1, 0);
    row[x] = 0.5f * (sample(job.in, x, y) + sample(job.in, left, y)) + (float)job.seed;
}

int main()
{
    Job job;
    job.in.width = 300;
    job.in.height = 20;
    cudaMalloc((void **)&job.in.pixels, job.in.width * job.in.height * sizeof(float));
    cudaMalloc((void **)&job.out, job.in.width * job.in.height * sizeof(float));
    job.mask = nullptr;
    job.flip = false;
    job.seed = 7;
    blur<<<dim3((job.in.width + 127) / 128, job.in.height), 128>>>(job);
    cudaDeviceSynchronize();
    return 0;
}
