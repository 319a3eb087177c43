// y = A x for a sparse f32 matrix in CSR form. One block per multiprocessor with x in shared memory; eight lanes take
// a row, four rows a warp, in aligned vectors of four nonzeros, 128 nonzeros of each row in flight at a time.
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
#pragma keet launch spmv_csr<<<132, 1024, 131136>>>(OFFSETS, COLUMNS, VALUES, X, Y, M, N, NNZ)

#define X_BYTES 131072            // room for x
#define DEPTH 4                   // vectors of a lane in flight

__global__ void __launch_bounds__(1024, 1) spmv_csr(
    const int *__restrict__ offsets, const int *__restrict__ columns, const float *__restrict__ values,
    const float *__restrict__ x, float *__restrict__ y, int m, int n, int nnz)
{
    extern __shared__ __align__(128) unsigned char sm[];
    float *xs = (float *)sm;
    const unsigned int bar = (unsigned int)__cvta_generic_to_shared(sm + X_BYTES);

    const int t = threadIdx.x;
    const int lane = t & 31;
    const int sub = lane & 7;

    // groups of four rows are dealt to the warps of all blocks in turn
    const int stride = 32 * (int)gridDim.x;
    int row = ((t >> 5) * (int)gridDim.x + (int)blockIdx.x) * 4 + (lane >> 3);
    int o0 = 0, o1 = 0, next0 = 0, next1 = 0;
    if (row < m) {
        o0 = __ldg(offsets + row);
        o1 = __ldg(offsets + row + 1);
    }
    if (row + stride * 4 < m) {
        next0 = __ldg(offsets + row + stride * 4);
        next1 = __ldg(offsets + row + stride * 4 + 1);
    }

    // ---- x to shared memory ----
    const int bulk = ((unsigned long long)x & 15ull) == 0 ? n & ~3 : 0;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(bulk * 4) : "memory");
        const unsigned int to = (unsigned int)__cvta_generic_to_shared(xs);
        for (int i = 0; i < bulk; i += 8192) {
            const int size = (bulk - i < 8192 ? bulk - i : 8192) * 4;
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         :: "r"(to + i * 4), "l"(x + i), "r"(size), "r"(bar) : "memory");
        }
    }
    for (int i = bulk + t; i < n; i += 1024)
        xs[i] = __ldg(x + i);
    __syncthreads();

    const bool aligned = (((unsigned long long)columns | (unsigned long long)values) & 15ull) == 0;
    bool ready = false;
    while (__any_sync(0xffffffffu, row < m)) {
        const unsigned int length = (unsigned int)(o1 - o0);
        float s = 0.0f;
        for (int i = (o0 & ~3) + sub * 4; i < o1; i += 32 * DEPTH) {
            int4 c[DEPTH];
            float4 v[DEPTH];
#pragma unroll
            for (int k = 0; k < DEPTH; k++) {
                const int j = i + 32 * k;
                c[k] = make_int4(0, 0, 0, 0);
                v[k] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                if (j < o1) {
                    if (aligned && j + 3 < nnz) {
                        c[k] = __ldcs((const int4 *)(columns + j));
                        v[k] = __ldcs((const float4 *)(values + j));
                    } else {
                        c[k].x = __ldcs(columns + j);
                        v[k].x = __ldcs(values + j);
                        if (j + 1 < nnz) { c[k].y = __ldcs(columns + j + 1); v[k].y = __ldcs(values + j + 1); }
                        if (j + 2 < nnz) { c[k].z = __ldcs(columns + j + 2); v[k].z = __ldcs(values + j + 2); }
                        if (j + 3 < nnz) { c[k].w = __ldcs(columns + j + 3); v[k].w = __ldcs(values + j + 3); }
                    }
                }
            }
            if (!ready) {
                unsigned int done;
                do {
                    asm volatile("{\n\t.reg .pred p;\n\t"
                                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n\t"
                                 "selp.u32 %0, 1, 0, p;\n\t}"
                                 : "=r"(done) : "r"(bar) : "memory");
                } while (!done);
                ready = true;
            }
            const unsigned int at = (unsigned int)(i - o0);
#pragma unroll
            for (int k = 0; k < DEPTH; k++) {
                if (i + 32 * k < o1) {
                    const float x0 = xs[c[k].x], x1 = xs[c[k].y], x2 = xs[c[k].z], x3 = xs[c[k].w];
                    if (at + 32 * k < length)
                        s = fmaf(v[k].x, x0, s);
                    if (at + 32 * k + 1 < length)
                        s = fmaf(v[k].y, x1, s);
                    if (at + 32 * k + 2 < length)
                        s = fmaf(v[k].z, x2, s);
                    if (at + 32 * k + 3 < length)
                        s = fmaf(v[k].w, x3, s);
                }
            }
        }
        __syncwarp();
        s += __shfl_xor_sync(0xffffffffu, s, 4);
        s += __shfl_xor_sync(0xffffffffu, s, 2);
        s += __shfl_xor_sync(0xffffffffu, s, 1);
        if (sub == 0 && row < m)
            y[row] = s;

        row += stride * 4;
        o0 = next0;
        o1 = next1;
        next0 = next1 = 0;
        if (row + stride * 4 < m) {
            next0 = __ldg(offsets + row + stride * 4);
            next1 = __ldg(offsets + row + stride * 4 + 1);
        }
    }
}
