// y = A x for a sparse f32 matrix in CSR form.
// A block owns 256 rows, a half warp 4 of them, whose elements are one run. x lies in shared memory.
#pragma keet size   M = 32768, N = 32768, NNZ = 2097152
#pragma keet check  M = 131, N = 97, NNZ = 4001
#pragma keet check  M = 64, N = 256, NNZ = 1024
#pragma keet in     OFFSETS : i32[M+1] = sorted(0, NNZ)
#pragma keet in     COLUMNS : i32[NNZ] = integers(0, N-1)
#pragma keet in     VALUES : f32[NNZ] = uniform(-1, 1)
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[M]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*NNZ, bytes = 8*NNZ + 4*(2*M + N)
#pragma keet launch spmv_csr<<<ceil_div(M, 256), 1024, 131088>>>(OFFSETS, COLUMNS, VALUES, X, Y, M, N, NNZ)

#include <stdint.h>

#define DEPTH 4

__global__ void __launch_bounds__(1024) spmv_csr(
    const int *__restrict__ offsets, const int *__restrict__ columns, const float *__restrict__ values,
    const float *__restrict__ x, float *__restrict__ y, int m, int n, int nnz)
{
    extern __shared__ __align__(128) unsigned char smem[];

    const int tid = threadIdx.x;
    const int lane = tid & 31;
    const int warp = tid >> 5;

    if (n <= 32768 && n % 4 == 0 && nnz % 4 == 0 &&
        (((uintptr_t)columns | (uintptr_t)values | (uintptr_t)x) & 15) == 0) {
        const float *xs = reinterpret_cast<const float *>(smem);
        const uint32_t bar = (uint32_t)__cvta_generic_to_shared(smem + 131072);
        const int sub = lane & 15;
        const int row = blockIdx.x * 256 + (tid >> 4) * 4;

        int o[5];
#pragma unroll
        for (int k = 0; k < 5; k++)
            o[k] = __ldg(offsets + min(row + k, m));

        if (tid == 0) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
            const int bytes = n * 4;
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
            for (int at = 0; at < bytes; at += 16384)
                asm volatile(
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                        (uint32_t)__cvta_generic_to_shared(smem + at)),
                    "l"(reinterpret_cast<const unsigned char *>(x) + at), "r"(min(16384, bytes - at)), "r"(bar)
                    : "memory");
        }
        __syncwarp();

        // Steps of 64 elements from a multiple of 4 on; a lane has 4 neighbouring ones.
        const int end = o[4];
        int at = (o[0] & ~3) + 4 * sub;
        int4 c[DEPTH];
        float4 v[DEPTH];
#pragma unroll
        for (int u = 0; u < DEPTH; u++) {
            c[u] = make_int4(0, 0, 0, 0);
            v[u] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (at + 64 * u < end) {
                c[u] = __ldg(reinterpret_cast<const int4 *>(columns + at + 64 * u));
                v[u] = __ldg(reinterpret_cast<const float4 *>(values + at + 64 * u));
            }
        }

        if (warp == 0) {
            uint32_t done;
            do {
                asm volatile(
                    "{\n"
                    ".reg .pred p;\n"
                    "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                    "selp.u32 %0, 1, 0, p;\n"
                    "}\n"
                    : "=r"(done)
                    : "r"(bar), "r"(0)
                    : "memory");
            } while (!done);
        }
        __syncthreads();

        // s[k]: all elements of the run before o[k] (with up to three before o[0], which cancel).
        float s[5] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
        while (at < end) {
#pragma unroll
            for (int u = 0; u < DEPTH; u++) {
                const int e = at + 64 * u;
                if (e < end) {
                    const float x0 = xs[c[u].x], x1 = xs[c[u].y], x2 = xs[c[u].z], x3 = xs[c[u].w];
                    const float4 w = v[u];
                    if (e + 64 * DEPTH < end) {
                        c[u] = __ldg(reinterpret_cast<const int4 *>(columns + e + 64 * DEPTH));
                        v[u] = __ldg(reinterpret_cast<const float4 *>(values + e + 64 * DEPTH));
                    }
#pragma unroll
                    for (int k = 0; k < 5; k++) {
                        if (e < o[k])
                            s[k] = fmaf(w.x, x0, s[k]);
                        if (e + 1 < o[k])
                            s[k] = fmaf(w.y, x1, s[k]);
                        if (e + 2 < o[k])
                            s[k] = fmaf(w.z, x2, s[k]);
                        if (e + 3 < o[k])
                            s[k] = fmaf(w.w, x3, s[k]);
                    }
                }
            }
            at += 64 * DEPTH;
        }
        __syncwarp();

        // Four rows over 16 lanes: lane bits 3 and 2 end up with row number 2 b3 + b2.
        const float r0 = s[1] - s[0], r1 = s[2] - s[1], r2 = s[3] - s[2], r3 = s[4] - s[3];
        const bool b3 = lane & 8, b2 = lane & 4;
        const float p0 = (b3 ? r2 : r0) + __shfl_xor_sync(0xffffffffu, b3 ? r0 : r2, 8);
        const float p1 = (b3 ? r3 : r1) + __shfl_xor_sync(0xffffffffu, b3 ? r1 : r3, 8);
        float sum = (b2 ? p1 : p0) + __shfl_xor_sync(0xffffffffu, b2 ? p0 : p1, 4);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        const int mine = row + (sub >> 2);
        if ((sub & 3) == 0 && mine < m)
            y[mine] = sum;
        return;
    }

    // Any size: a warp a row.
    for (int row = blockIdx.x * 32 + warp; row < m; row += gridDim.x * 32) {
        const int end = offsets[row + 1];
        float sum = 0.0f;
        for (int i = offsets[row] + lane; i < end; i += 32)
            sum = fmaf(values[i], x[columns[i]], sum);
#pragma unroll
        for (int o = 16; o > 0; o >>= 1)
            sum += __shfl_xor_sync(0xffffffffu, sum, o);
        if (lane == 0)
            y[row] = sum;
    }
}
