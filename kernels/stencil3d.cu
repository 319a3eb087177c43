// One Jacobi step of a 7-point stencil on an f32 grid; the faces are copied. One point per thread.
#pragma keet size   NZ = 128, NY = 256, NX = 256
#pragma keet check  NZ = 7, NY = 19, NX = 35
#pragma keet check  NZ = 4, NY = 16, NX = 64
#pragma keet in     A : f32[NZ][NY][NX] = uniform(-1, 1)
#pragma keet out    B : f32[NZ][NY][NX]
#pragma keet scalar c0 : f32 = 0.4
#pragma keet scalar c1 : f32 = 0.1
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work   flops = 8*NZ*NY*NX, bytes = 8*NZ*NY*NX
#pragma keet tune   BX = 8 in {8, 16, 32, 64}
#pragma keet tune   BY = 8 in {2, 4, 8, 16}
#pragma keet tune   BZ = 4 in {1, 2, 4}
#pragma keet where  BX*BY*BZ <= 1024
#pragma keet launch stencil3d<<<dim3(ceil_div(NZ, BZ), ceil_div(NY, BY), ceil_div(NX, BX)), dim3(BZ, BY, BX)>>>(A, B, c0, c1, NZ, NY, NX)

__global__ void stencil3d(const float *A, float *B, float c0, float c1, int nz, int ny, int nx)
{
    int z = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int x = blockIdx.z * blockDim.z + threadIdx.z;
    if (z >= nz || y >= ny || x >= nx)
        return;
    int i = (z * ny + y) * nx + x;
    if (z > 0 && z < nz - 1 && y > 0 && y < ny - 1 && x > 0 && x < nx - 1)
        B[i] = c0 * A[i]
            + c1 * (A[i - 1] + A[i + 1] + A[i - nx] + A[i + nx] + A[i - nx * ny] + A[i + nx * ny]);
    else
        B[i] = A[i];
}
