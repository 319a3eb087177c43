// x / sqrt(mean of x^2 over the middle dimension + eps), as five passes.
#pragma keet size   B = 112, C = 64, HW = 262144, SHIFT = 18, CSHIFT = 6
#pragma keet check  B = 2, C = 16, HW = 256, SHIFT = 8, CSHIFT = 4
#pragma keet in     X : f32[B][C][HW] = uniform(0, 1)
#pragma keet out    Q : f32[B][C][HW]
#pragma keet out    M : f32[B][HW]
#pragma keet out    E : f32[B][HW]
#pragma keet out    R : f32[B][HW]
#pragma keet out    Y : f32[B][C][HW]
#pragma keet tolerance rel = 1e-4
#pragma keet launch unary<Square><<<ceil_div(B*C*HW, 1024), 128>>>(X, Q, B*C*HW)
#pragma keet launch mean<<<B*HW/128, dim3(32, 4)>>>(Q, M, C, HW)
#pragma keet launch unary<AddEps><<<ceil_div(B*HW, 1024), 128>>>(M, E, B*HW)
#pragma keet launch unary<Sqrt><<<ceil_div(B*HW, 1024), 128>>>(E, R, B*HW)
#pragma keet launch with_outer<Div><<<ceil_div(B*C*HW, 256), 128>>>(X, R, Y, B*C*HW, {HW : u32, 1 : u32, SHIFT : u32}, {C : u32, 1 : u32, CSHIFT : u32})

#include "parts.cuh"

struct AddEps { static __device__ float of(float x) { return x + 1e-5f; } };
struct Sqrt { static __device__ float of(float x) { return sqrtf(x); } };

// Four neighbouring results a thread, four rows of threads, four loads of float4 under way.
__global__ void mean(const float *x, float *y, int rows, int cols)
{
    __shared__ float4 part[4][32];
    size_t out = ((size_t)blockIdx.x * 32 + threadIdx.x) * 4;
    const float *from = x + out / cols * rows * cols + out % cols;
    float4 sum[4] = {};
    int row = threadIdx.y;
    for (; row + 12 < rows; row += 16) {
        float4 v[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            v[i] = *(const float4 *)(from + (size_t)(row + 4 * i) * cols);
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum[i] = make_float4(sum[i].x + v[i].x, sum[i].y + v[i].y, sum[i].z + v[i].z, sum[i].w + v[i].w);
    }
    float4 all = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int i = 0; i < 4; i++)
        all = make_float4(all.x + sum[i].x, all.y + sum[i].y, all.z + sum[i].z, all.w + sum[i].w);
    part[threadIdx.y][threadIdx.x] = all;
    for (int s = 2; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.y < s) {
            float4 a = part[threadIdx.y][threadIdx.x], b = part[threadIdx.y + s][threadIdx.x];
            part[threadIdx.y][threadIdx.x] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        }
    }
    if (threadIdx.y == 0) {
        float4 a = part[0][threadIdx.x];
        *(float4 *)(y + out) = make_float4(a.x / rows, a.y / rows, a.z / rows, a.w / rows);
    }
}
