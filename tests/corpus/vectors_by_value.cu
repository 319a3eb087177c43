// Short vectors by value: from make_..., from variables, and in a struct, where a float4 stands at a
// multiple of 16.
#include <cuda_runtime.h>

struct Box {
    int level;
    float4 low;
    short2 cells;
    double scale;
};

__global__ void place(float *out, float3 origin, int3 grid, Box box, uchar4 key, dim3 extra)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= grid.x * grid.y * grid.z)
        return;
    out[i] = origin.x + origin.y * (float)(i % grid.x) + origin.z * (float)(i / grid.x) +
             box.low.w * (float)box.scale + (float)(box.level + box.cells.y + key.z + extra.z);
}

int main()
{
    const int nx = 30, ny = 20, nz = 3;
    float *out;
    float3 origin = make_float3(0.5f, 1.5f, -2.0f);
    Box box = {3, make_float4(0.0f, 1.0f, 2.0f, 4.0f), {8, 9}, 0.25};
    uchar4 key;

    key.x = key.y = 1;
    key.z = 200;
    key.w = 0;
    cudaMalloc(&out, nx * ny * nz * sizeof(float));
    place<<<(nx * ny * nz + 127) / 128, 128>>>(out, origin, make_int3(nx, ny, nz), box, key, dim3(4, 5));
    return 0;
}
