// One Jacobi step of a 7-point stencil on an f32 grid; the faces are copied. A warp takes 128 points along x,
// four a lane, in ZP planes.
#pragma keet size   NZ = 128, NY = 256, NX = 256
#pragma keet check  NZ = 7, NY = 19, NX = 35
#pragma keet check  NZ = 4, NY = 16, NX = 64
#pragma keet in     A : f32[NZ][NY][NX] = uniform(-1, 1)
#pragma keet out    B : f32[NZ][NY][NX]
#pragma keet scalar c0 : f32 = 0.4
#pragma keet scalar c1 : f32 = 0.1
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work   flops = 8*NZ*NY*NX, bytes = 8*NZ*NY*NX
#pragma keet tune   BY = 8 in {4, 8, 16}
#pragma keet tune   ZP = 4 in {1, 2, 4}
#pragma keet launch stencil3d<<<dim3(ceil_div(NX, 128), ceil_div(NY, BY), ceil_div(NZ, ZP)), dim3(32, BY)>>>(A, B, c0, c1, NZ, NY, NX)

#include <stdint.h>
#include <stddef.h>

__device__ __forceinline__ float4 load(const float *p)
{
    return __ldg(reinterpret_cast<const float4 *>(p));
}

__global__ void __launch_bounds__(32 * BY) stencil3d(const float *__restrict__ A, float *__restrict__ B,
    float c0, float c1, int nz, int ny, int nx)
{
    const int lane = threadIdx.x;
    const int y = blockIdx.y * BY + threadIdx.y;
    const int z0 = blockIdx.z * ZP;
    if (y >= ny)
        return;
    const size_t plane = (size_t)ny * nx;

    if (nx % 4 == 0 && ((reinterpret_cast<uintptr_t>(A) | reinterpret_cast<uintptr_t>(B)) & 15) == 0) {
        // Places outside of the grid are replaced by some inside: only faces, which are copied, have such neighbours.
        const int x = blockIdx.x * 128 + lane * 4;
        const int xl = x < nx ? x : nx - 4;
        const int xe = lane == 0 ? (x > 0 ? x - 1 : 0) : (x + 4 < nx ? x + 4 : nx - 1);
        const bool edge = lane == 0 || lane == 31;
        const float *row = A + (size_t)y * nx;
        const float *below = A + (size_t)(y > 0 ? y - 1 : 0) * nx + xl;
        const float *above = A + (size_t)(y < ny - 1 ? y + 1 : y) * nx + xl;

        float4 c[ZP + 2], s[ZP], n[ZP];
        float e[ZP];
#pragma unroll
        for (int j = 0; j < ZP + 2; j++) {
            int z = z0 + j - 1;
            z = z < 0 ? 0 : (z < nz ? z : nz - 1);
            c[j] = load(row + z * plane + xl);
        }
#pragma unroll
        for (int j = 0; j < ZP; j++) {
            const int z = z0 + j < nz ? z0 + j : nz - 1;
            s[j] = load(below + z * plane);
            n[j] = load(above + z * plane);
            e[j] = 0.f;
            if (edge)
                e[j] = __ldg(row + z * plane + xe);
        }
        __syncwarp();
#pragma unroll
        for (int j = 0; j < ZP; j++) {
            const int z = z0 + j;
            const float4 m = c[j + 1];
            float left = __shfl_up_sync(0xffffffffu, m.w, 1);
            float right = __shfl_down_sync(0xffffffffu, m.x, 1);
            if (lane == 0)
                left = e[j];
            if (lane == 31)
                right = e[j];
            float4 r = m;
            if (z > 0 && z < nz - 1 && y > 0 && y < ny - 1) {
                const float4 d = c[j], u = c[j + 2];
                if (x > 0)
                    r.x = c0 * m.x + c1 * (left + m.y + s[j].x + n[j].x + d.x + u.x);
                r.y = c0 * m.y + c1 * (m.x + m.z + s[j].y + n[j].y + d.y + u.y);
                r.z = c0 * m.z + c1 * (m.y + m.w + s[j].z + n[j].z + d.z + u.z);
                if (x + 4 < nx)
                    r.w = c0 * m.w + c1 * (m.z + right + s[j].w + n[j].w + d.w + u.w);
            }
            if (z < nz && x < nx)
                __stcs(reinterpret_cast<float4 *>(B + z * plane + (size_t)y * nx + x), r);
        }
    } else {
        // Rows whose vectors would not be aligned.
        for (int j = 0; j < ZP && z0 + j < nz; j++) {
            const int z = z0 + j;
            const size_t at = z * plane + (size_t)y * nx;
            const bool inside = z > 0 && z < nz - 1 && y > 0 && y < ny - 1;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int x = blockIdx.x * 128 + k * 32 + lane;
                if (x < nx) {
                    const float *a = A + at + x;
                    if (inside && x > 0 && x < nx - 1)
                        B[at + x] = c0 * a[0] + c1 * (a[-1] + a[1] + a[-nx] + a[nx] + a[-(ptrdiff_t)plane] + a[plane]);
                    else
                        B[at + x] = a[0];
                }
            }
        }
    }
}
