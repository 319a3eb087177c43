// One Jacobi step of a 7-point stencil on an f32 grid; the faces are copied. One point per thread,
// thread x along the second axis.
#pragma keet size   NZ = 128, NY = 256, NX = 256
#pragma keet check  NZ = 7, NY = 19, NX = 35
#pragma keet check  NZ = 4, NY = 16, NX = 64
#pragma keet in     A : f32[NZ][NY][NX] = uniform(-1, 1)
#pragma keet out    B : f32[NZ][NY][NX]
#pragma keet scalar c0 : f32 = 0.4
#pragma keet scalar c1 : f32 = 0.1
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work   flops = 8*NZ*NY*NX, bytes = 8*NZ*NY*NX
#pragma keet tune   BX = 16 in {8, 16, 32}
#pragma keet tune   BY = 16 in {4, 8, 16, 32}
#pragma keet where  BX*BY <= 1024
#pragma keet tune   BLOCK_X = 32 in {16, 32, 64, 128, 256, 512}
#pragma keet tune   BLOCK_Y = 8 in {1, 2, 4, 8, 16}
#pragma keet where  BLOCK_X*BLOCK_Y <= 1024
#pragma keet launch stencil3d<<<dim3(ceil_div(NX, BLOCK_X), ceil_div(NY, BLOCK_Y), NZ), dim3(BLOCK_X, BLOCK_Y)>>>(A, B, c0, c1, NZ, NY, NX)

__global__ void stencil3d(const float *__restrict__ A, float *__restrict__ B, float c0, float c1, int nz, int ny, int nx)
{
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int z = blockIdx.z;
    if (y >= ny || x >= nx)
        return;
    int i = (z * ny + y) * nx + x;
    if (z > 0 && z < nz - 1 && y > 0 && y < ny - 1 && x > 0 && x < nx - 1)
        B[i] = c0 * A[i]
            + c1 * (A[i - 1] + A[i + 1] + A[i - nx] + A[i + nx] + A[i - nx * ny] + A[i + nx * ny]);
    else
        B[i] = A[i];
}
