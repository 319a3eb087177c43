// y = A^T x for a row-major f32 matrix. A block makes 32 columns over all rows: 8 lanes take the 128 bytes of a
// row, a warp 4 rows at a time. Each lane keeps 8 loads in flight; sums meet by shuffles, then in shared memory.
#pragma keet size   M = 2048, N = 4096
#pragma keet check  M = 131, N = 257
#pragma keet check  M = 64, N = 96
#pragma keet in     A : f32[M][N] = uniform(-1, 1)
#pragma keet in     X : f32[M] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N, bytes = 4*(M*N + M + N)
#pragma keet launch matvec_t<<<ceil_div(N, 32), 1024>>>(A, X, Y, M, N)

#include <stdint.h>

#define WINDOW 8        // loads in flight of a lane
#define STEP   128      // rows that a block takes at a time

__global__ void __launch_bounds__(1024, 1) matvec_t(const float *__restrict__ A, const float *__restrict__ x,
    float *__restrict__ y, int m, int n)
{
    __shared__ __align__(16) float parts[32][32];   // [warp][column]

    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int n0 = blockIdx.x * 32;
    const bool vec = n % 4 == 0 && (reinterpret_cast<uintptr_t>(A) & 15) == 0;

    if (vec) {
        const int col = n0 + (lane % 8) * 4;
        const int first = warp * 4 + lane / 8;
        const int rows = col < n ? m : 0;
        const size_t stride = (size_t)STEP * n;
        const float *a = A + (size_t)first * n + col;       // of the next row to load
        const float *xp = x + first;
        int next = first;

        float4 v[WINDOW];
        float w[WINDOW];
#pragma unroll
        for (int i = 0; i < WINDOW; i++) {
            v[i] = make_float4(0.f, 0.f, 0.f, 0.f);
            w[i] = 0.f;
            if (next < rows) {
                v[i] = __ldg(reinterpret_cast<const float4 *>(a));
                w[i] = __ldg(xp);
            }
            a += stride;
            xp += STEP;
            next += STEP;
        }
        float4 s0 = make_float4(0.f, 0.f, 0.f, 0.f), s1 = s0;
        for (int r = first; r < rows; r += WINDOW * STEP) {
#pragma unroll
            for (int i = 0; i < WINDOW; i++) {
                float4 &s = i % 2 ? s1 : s0;
                s.x += v[i].x * w[i];
                s.y += v[i].y * w[i];
                s.z += v[i].z * w[i];
                s.w += v[i].w * w[i];
                v[i] = make_float4(0.f, 0.f, 0.f, 0.f);
                w[i] = 0.f;
                if (next < rows) {
                    v[i] = __ldg(reinterpret_cast<const float4 *>(a));
                    w[i] = __ldg(xp);
                }
                a += stride;
                xp += STEP;
                next += STEP;
            }
        }
        s0.x += s1.x;
        s0.y += s1.y;
        s0.z += s1.z;
        s0.w += s1.w;
        __syncwarp();
#pragma unroll
        for (int d = 8; d < 32; d *= 2) {
            s0.x += __shfl_xor_sync(0xffffffffu, s0.x, d);
            s0.y += __shfl_xor_sync(0xffffffffu, s0.y, d);
            s0.z += __shfl_xor_sync(0xffffffffu, s0.z, d);
            s0.w += __shfl_xor_sync(0xffffffffu, s0.w, d);
        }
        if (lane < 8)
            *reinterpret_cast<float4 *>(&parts[warp][lane * 4]) = s0;
    } else {
        // Rows whose vectors would not be aligned: a column a lane, a row a warp.
        const int col = n0 + lane;
        float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
        if (col < n) {
            int r = warp;
            for (; r + 96 < m; r += 128) {
                s0 += A[(size_t)r * n + col] * x[r];
                s1 += A[(size_t)(r + 32) * n + col] * x[r + 32];
                s2 += A[(size_t)(r + 64) * n + col] * x[r + 64];
                s3 += A[(size_t)(r + 96) * n + col] * x[r + 96];
            }
            for (; r < m; r += 32)
                s0 += A[(size_t)r * n + col] * x[r];
        }
        parts[warp][lane] = (s0 + s1) + (s2 + s3);
    }
    __syncthreads();

    if (warp == 0) {
        float t0 = 0.f, t1 = 0.f, t2 = 0.f, t3 = 0.f;
#pragma unroll
        for (int i = 0; i < 32; i += 4) {
            t0 += parts[i][lane];
            t1 += parts[i + 1][lane];
            t2 += parts[i + 2][lane];
            t3 += parts[i + 3][lane];
        }
        if (n0 + lane < n)
            y[n0 + lane] = (t0 + t1) + (t2 + t3);
    }
}
