// Three dimensions, and dim3 filled member by member.
__global__ void stencil(const float *in, float *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    int i = (z * ny + y) * nx + x;
    float left = x > 0 ? in[i - 1] : 0, right = x + 1 < nx ? in[i + 1] : 0;
    out[i] = (left + in[i] + right) / 3;
}

int main()
{
    int nx = 40, ny = 24, nz = 3;
    float *in_d, *out_d;
    cudaMalloc(&in_d, sizeof(float) * nx * ny * nz);
    cudaMalloc(&out_d, sizeof(float) * nx * ny * nz);
    dim3 block(32, 8), grid;
    grid.x = (nx + 31) / 32;
    grid.y = (ny + 7) / 8;
    grid.z = nz;
    stencil<<<grid, block>>>(in_d, out_d, nx, ny, nz);
}
