// Attention half of a transformer block: Y = X + attention(layernorm(X)) WO, H heads of E. Two launches.
// For S = 256, H = 4, E = 64: the first normalises rows (a cluster of four blocks shares 64 rows) and multiplies by WQKV
// (tiles of 64 x 32, wgmma); queries and keys are left as f16 [head][row][64], values as f16 [head][64][row], WO as f16
// fragments. The second: a cluster of eight owns 16 rows, block 2h + b the keys 128b .. 128b+127 of head h, then 32
// columns of the output.
#pragma keet size   S = 256, H = 4, E = 64
#pragma keet check  S = 21, H = 3, E = 11
#pragma keet check  S = 16, H = 2, E = 16
#pragma keet in     X : f32[S][H*E] = normal(0, 1)
#pragma keet in     GAMMA : f32[H*E] = uniform(0.5, 1.5)
#pragma keet in     BETA : f32[H*E] = uniform(-0.5, 0.5)
#pragma keet in     WQKV : f32[H*E][3*H*E] = uniform(-0.1, 0.1)
#pragma keet in     WO : f32[H*E][H*E] = uniform(-0.1, 0.1)
#pragma keet out    Y : f32[S][H*E]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 8*S*H*E*H*E + 4*H*S*S*E, bytes = 4*(2*S*H*E + 4*H*E*H*E + 2*H*E)
#pragma keet temp   T : f32[S][3*H*E]
#pragma keet launch project<<<dim3(24, 5), 256, 66560>>>(X, GAMMA, BETA, WQKV, WO, T, Y, S, H, E) cluster(4)
#pragma keet launch attend<<<dim3(8, 16), 128, max(25600, 4*(S + H*E + 8))>>>(X, GAMMA, BETA, WQKV, WO, T, Y, S, H, E) cluster(8)

#include <cuda_fp16.h>

// Where the f16 operands stand in T, in halves.
#define AT_Q 0
#define AT_K 65536
#define AT_V 131072
#define AT_W 196608

__device__ __forceinline__ unsigned pack2(float a, float b)
{
    __half2 h = __floats2half2_rn(a, b);
    return *reinterpret_cast<unsigned *>(&h);
}

__device__ __forceinline__ float ex2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n" ::: "memory");
}

__device__ __forceinline__ void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;\n" ::: "memory");
}

__device__ __forceinline__ unsigned at_block(unsigned address, int block)
{
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;\n" : "=r"(there) : "r"(address), "r"(block));
    return there;
}

__device__ __forceinline__ void mma16816(
    float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1)
{
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// 64 x 32 += A (registers) times B in shared memory, rows of k with 128 bytes each, 128-byte swizzle.
__device__ __forceinline__ void wgmma32(
    float (&d)[16], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned long long b, int accumulate)
{
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %21, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
        "{%16, %17, %18, %19}, %20, p, 1, 1, 1;\n"
        "}\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(accumulate));
}

__device__ __forceinline__ void pin(float (&d)[16])
{
#pragma unroll
    for (int i = 0; i < 16; i++)
        asm volatile("" : "+f"(d[i]) :: "memory");
}

// Both kernels must decide alike.
__device__ __forceinline__ bool is_fast(
    const float *X, const float *gamma, const float *beta, const float *wqkv, const float *wo, const float *T,
    const float *Y, int S, int H, int E)
{
    const unsigned long long low = ((unsigned long long)X | (unsigned long long)gamma | (unsigned long long)beta
        | (unsigned long long)wqkv | (unsigned long long)wo | (unsigned long long)T | (unsigned long long)Y) & 15ull;
    return S == 256 && H == 4 && E == 64 && low == 0;
}

__device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int m = 16; m > 0; m >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, m);
    return v;
}

__global__ void __launch_bounds__(256, 1) project(
    const float *__restrict__ X, const float *__restrict__ gamma, const float *__restrict__ beta,
    const float *__restrict__ wqkv, const float *__restrict__ wo, float *__restrict__ T, float *Y, int S, int H, int E)
{
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    const int tid = threadIdx.x;
    const int lane = tid & 31;
    const int warp = tid >> 5;

    if (is_fast(X, gamma, beta, wqkv, wo, T, Y, S, H, E)) {
        __half *half_out = reinterpret_cast<__half *>(T);
        const int ct = blockIdx.x;
        const int rt = blockIdx.y;
        if (rt == 4) {
            // WO into the fragments of the output projection: [block of 8 columns][two k-steps][lane] of 16 bytes.
            for (int item = ct * 256 + tid; item < 8192; item += 24 * 256) {
                const int t = item & 3;
                const int g = (item >> 2) & 7;
                const int kp = (item >> 5) & 7;
                const int nb = item >> 8;
                const float *from = wo + (32 * kp + 2 * t) * 256 + 8 * nb + g;
                uint4 w;
                w.x = pack2(__ldg(from), __ldg(from + 256));
                w.y = pack2(__ldg(from + 8 * 256), __ldg(from + 9 * 256));
                w.z = pack2(__ldg(from + 16 * 256), __ldg(from + 17 * 256));
                w.w = pack2(__ldg(from + 24 * 256), __ldg(from + 25 * 256));
                reinterpret_cast<uint4 *>(half_out + AT_W)[item] = w;
            }
            return;
        }

        cluster_arrive();                                 // 1: the other blocks run
        const int rank = ct & 3;
        const unsigned raw = (unsigned)__cvta_generic_to_shared(shared_bytes);
        const unsigned skip = (1024u - (raw & 1023u)) & 1023u;
        unsigned char *base = shared_bytes + skip;
        const unsigned base_address = raw + skip;
        const unsigned at_a = 0, at_b = 32768;

        // All loads first: two rows a warp, eight columns a lane; then the weights.
        const int r_first = rank * 16 + warp * 2;         // row within the 64 of the cluster
        float x[2][8], ga[8], be[8];
        {
            const float4 *x4 = reinterpret_cast<const float4 *>(X + (rt * 64 + r_first) * 256) + 2 * lane;
            const float4 *g4 = reinterpret_cast<const float4 *>(gamma) + 2 * lane;
            const float4 *b4 = reinterpret_cast<const float4 *>(beta) + 2 * lane;
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    const float4 v = __ldg(x4 + 64 * r + i);
                    x[r][4 * i] = v.x;
                    x[r][4 * i + 1] = v.y;
                    x[r][4 * i + 2] = v.z;
                    x[r][4 * i + 3] = v.w;
                }
                const float4 v = __ldg(g4 + i);
                ga[4 * i] = v.x;
                ga[4 * i + 1] = v.y;
                ga[4 * i + 2] = v.z;
                ga[4 * i + 3] = v.w;
                const float4 w = __ldg(b4 + i);
                be[4 * i] = w.x;
                be[4 * i + 1] = w.y;
                be[4 * i + 2] = w.z;
                be[4 * i + 3] = w.w;
            }
        }
        float4 wf[8];
        const int q = tid & 7;
        const int k0 = tid >> 3;
        {
            const float4 *w4 = reinterpret_cast<const float4 *>(wqkv + k0 * 768 + ct * 32) + q;
#pragma unroll
            for (int i = 0; i < 8; i++)
                wf[i] = __ldg(w4 + i * 32 * 192);
        }

        // Sums and squares of both rows: lanes 0, 8, 16, 24 end with s0, q0, s1, q1.
        float s0 = 0.0f, s1 = 0.0f, q0 = 0.0f, q1 = 0.0f;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            s0 += x[0][i];
            q0 = fmaf(x[0][i], x[0][i], q0);
            s1 += x[1][i];
            q1 = fmaf(x[1][i], x[1][i], q1);
        }
        const bool upper = (lane & 16) != 0;
        const bool odd = (lane & 8) != 0;
        float a = upper ? s1 : s0;
        float b = upper ? q1 : q0;
        a += __shfl_xor_sync(0xffffffffu, upper ? s0 : s1, 16);
        b += __shfl_xor_sync(0xffffffffu, upper ? q0 : q1, 16);
        float v = odd ? b : a;
        v += __shfl_xor_sync(0xffffffffu, odd ? a : b, 8);
        v += __shfl_xor_sync(0xffffffffu, v, 4);
        v += __shfl_xor_sync(0xffffffffu, v, 2);
        v += __shfl_xor_sync(0xffffffffu, v, 1);
        float mean[2], scale[2];
        mean[0] = __shfl_sync(0xffffffffu, v, 0) * (1.0f / 256.0f);
        mean[1] = __shfl_sync(0xffffffffu, v, 16) * (1.0f / 256.0f);
        const float e0 = __shfl_sync(0xffffffffu, v, 8) * (1.0f / 256.0f);
        const float e1 = __shfl_sync(0xffffffffu, v, 24) * (1.0f / 256.0f);
        scale[0] = rsqrtf(fmaxf(fmaf(-mean[0], mean[0], e0), 0.0f) + 1e-5f);
        scale[1] = rsqrtf(fmaxf(fmaf(-mean[1], mean[1], e1), 0.0f) + 1e-5f);

        cluster_wait();                                   // 1
#pragma unroll
        for (int r = 0; r < 2; r++) {
            unsigned w[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float y0 = fmaf((x[r][2 * i] - mean[r]) * scale[r], ga[2 * i], be[2 * i]);
                const float y1 = fmaf((x[r][2 * i + 1] - mean[r]) * scale[r], ga[2 * i + 1], be[2 * i + 1]);
                w[i] = pack2(y0, y1);
            }
            // Rows 2g and 2g + 1 of sixteen are rows g and g + 8 of the tile: a thread then holds both.
            const int row = r_first + r;
            const int m = (row & 48) | ((row & 1) << 3) | ((row & 15) >> 1);
            const unsigned here =
                base_address + at_a + (lane >> 3) * 8192 + m * 128 + (((lane & 7) ^ (m & 7)) << 4);
#pragma unroll
            for (int i = 0; i < 4; i++)
                asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};\n"
                             :: "r"(at_block(here, i)), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
        }

        // Weights: column 8t + 2j + e of the tile stands at 8j + 2t + e, so that a thread ends with eight neighbours.
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int k = k0 + 32 * i;
            unsigned *line = reinterpret_cast<unsigned *>(base + at_b + k * 128);
            const int j = (q & 1) * 2;
            line[((j ^ (k & 7)) << 2) + (q >> 1)] = pack2(wf[i].x, wf[i].y);
            line[(((j + 1) ^ (k & 7)) << 2) + (q >> 1)] = pack2(wf[i].z, wf[i].w);
        }
        asm volatile("fence.proxy.async;\n" ::: "memory");
        cluster_arrive();                                 // 2
        cluster_wait();

        if (warp < 4) {
            float acc[16];
#pragma unroll
            for (int i = 0; i < 16; i++)
                acc[i] = 0.0f;
            const unsigned long long desc = (1ull << 62) | (64ull << 32) | (64ull << 16)
                | (unsigned long long)(((base_address + at_b) & 0x3ffffu) >> 4);
            const int row = warp * 16 + (lane & 15);
            const unsigned line = base_address + at_a + row * 128;
            unsigned fa[16][4];
#pragma unroll
            for (int part = 0; part < 2; part++) {
#pragma unroll
                for (int s = 8 * part; s < 8 * part + 8; s++) {
                    const unsigned from =
                        line + (s >> 2) * 8192 + (((2 * (s & 3) + (lane >> 4)) ^ (row & 7)) << 4);
                    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                                 : "=r"(fa[s][0]), "=r"(fa[s][1]), "=r"(fa[s][2]), "=r"(fa[s][3])
                                 : "r"(from) : "memory");
                }
                if (part == 0)
                    pin(acc);
                asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll
                for (int s = 8 * part; s < 8 * part + 8; s++)
                    wgmma32(acc, fa[s][0], fa[s][1], fa[s][2], fa[s][3], desc + 128 * s, s > 0);
                asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
            }
            asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
            pin(acc);

            const int g = lane >> 2;
            const int t = lane & 3;
            const int out_row = rt * 64 + warp * 16 + 2 * g;
            const int column = (ct & 7) * 32 + 8 * t;
            const int head = column >> 6;
            const int d = column & 63;
            if (ct < 16) {
                const float f = ct < 8 ? 1.4426950408889634f * 0.125f : 1.0f;
                uint4 u, w;
                u.x = pack2(acc[0] * f, acc[1] * f);
                u.y = pack2(acc[4] * f, acc[5] * f);
                u.z = pack2(acc[8] * f, acc[9] * f);
                u.w = pack2(acc[12] * f, acc[13] * f);
                w.x = pack2(acc[2] * f, acc[3] * f);
                w.y = pack2(acc[6] * f, acc[7] * f);
                w.z = pack2(acc[10] * f, acc[11] * f);
                w.w = pack2(acc[14] * f, acc[15] * f);
                __half *to = half_out + (ct < 8 ? AT_Q : AT_K) + (head * 256 + out_row) * 64 + d;
                *reinterpret_cast<uint4 *>(to) = u;
                *reinterpret_cast<uint4 *>(to + 64) = w;
            } else {
                __half *to = half_out + AT_V + (head * 64 + d) * 256 + out_row;
#pragma unroll
                for (int j = 0; j < 4; j++) {
#pragma unroll
                    for (int e = 0; e < 2; e++)
                        *reinterpret_cast<unsigned *>(to + (2 * j + e) * 256) = pack2(acc[4 * j + e], acc[4 * j + 2 + e]);
                }
            }
        }
    } else {
        // Any other size: a block takes rows one by one.
        float *red = reinterpret_cast<float *>(shared_bytes);
        const int n = H * E;
        const int block = blockIdx.y * gridDim.x + blockIdx.x;
        const int blocks = gridDim.x * gridDim.y;
        for (int row = block; row < S; row += blocks) {
            const float *x = X + (long long)row * n;
            float s = 0.0f;
            for (int i = tid; i < n; i += 256)
                s += x[i];
            s = warp_sum(s);
            if (lane == 0)
                red[warp] = s;
            __syncthreads();
            float mean = 0.0f;
            for (int i = 0; i < 8; i++)
                mean += red[i];
            mean /= n;
            __syncthreads();
            float q = 0.0f;
            for (int i = tid; i < n; i += 256) {
                const float d = x[i] - mean;
                q = fmaf(d, d, q);
            }
            q = warp_sum(q);
            if (lane == 0)
                red[warp] = q;
            __syncthreads();
            float var = 0.0f;
            for (int i = 0; i < 8; i++)
                var += red[i];
            var /= n;
            __syncthreads();
            const float r = 1.0f / sqrtf(var + 1e-5f);
            for (int c = tid; c < 3 * n; c += 256) {
                float sum = 0.0f;
                for (int i = 0; i < n; i++)
                    sum = fmaf(fmaf((x[i] - mean) * r, gamma[i], beta[i]), wqkv[(long long)i * 3 * n + c], sum);
                T[(long long)row * 3 * n + c] = sum;
            }
        }
    }
}

__global__ void __launch_bounds__(128, 1) attend(
    const float *__restrict__ X, const float *gamma, const float *beta, const float *wqkv, const float *__restrict__ wo,
    const float *__restrict__ T, float *__restrict__ Y, int S, int H, int E)
{
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    const int tid = threadIdx.x;
    const int lane = tid & 31;
    const int warp = tid >> 5;

    if (is_fast(X, gamma, beta, wqkv, wo, T, Y, S, H, E)) {
        cluster_arrive();                                 // 1: the other blocks run
        const __half *in = reinterpret_cast<const __half *>(T);
        const int rank = blockIdx.x;
        const int head = rank >> 1;
        const int half = rank & 1;
        const int r0 = blockIdx.y * 16;
        const int g = lane >> 2;
        const int t = lane & 3;
        const int keys = half * 128 + warp * 32;

        const unsigned base = (unsigned)__cvta_generic_to_shared(shared_bytes);
        const unsigned at_o = 0, at_m = 16384, at_l = at_m + 256, at_a = at_l + 256;

        // All loads first, each straight into its fragment. The elements of the head are permuted alike in queries
        // and keys, the keys alike in scores and values.
        uint4 qf[2][2], kf[4][2], vf[8], wf[8];
        {
            const __half *from = in + AT_Q + (head * 256 + r0 + g) * 64 + 8 * t;
#pragma unroll
            for (int r = 0; r < 2; r++)
#pragma unroll
                for (int c = 0; c < 2; c++)
                    qf[r][c] = __ldg(reinterpret_cast<const uint4 *>(from + r * 8 * 64 + 32 * c));
        }
        {
            const __half *from = in + AT_K + (head * 256 + keys + 8 * (g >> 1) + (g & 1)) * 64 + 8 * t;
#pragma unroll
            for (int b = 0; b < 4; b++)
#pragma unroll
                for (int c = 0; c < 2; c++)
                    kf[b][c] = __ldg(reinterpret_cast<const uint4 *>(from + 2 * b * 64 + 32 * c));
        }
        {
            const __half *from = in + AT_V + (head * 64 + g) * 256 + keys + 8 * t;
#pragma unroll
            for (int j = 0; j < 8; j++)
                vf[j] = __ldg(reinterpret_cast<const uint4 *>(from + 8 * j * 256));
        }
        {
            const uint4 *from = reinterpret_cast<const uint4 *>(in + AT_W) + (4 * rank + warp) * 256 + lane;
#pragma unroll
            for (int k = 0; k < 8; k++)
                wf[k] = __ldg(from + 32 * k);
        }
        const int out = (r0 + g) * 256 + 32 * rank + 8 * warp + 2 * t;
        const float2 x_low = __ldg(reinterpret_cast<const float2 *>(X + out));
        const float2 x_high = __ldg(reinterpret_cast<const float2 *>(X + out + 8 * 256));

        // Scores of 16 queries and 32 keys (in units of log2).
        float s[4][4];
#pragma unroll
        for (int b = 0; b < 4; b++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                s[b][i] = 0.0f;
#pragma unroll
        for (int c = 0; c < 2; c++) {
#pragma unroll
            for (int b = 0; b < 4; b++)
                mma16816(s[b], qf[0][c].x, qf[1][c].x, qf[0][c].y, qf[1][c].y, kf[b][c].x, kf[b][c].y);
#pragma unroll
            for (int b = 0; b < 4; b++)
                mma16816(s[b], qf[0][c].z, qf[1][c].z, qf[0][c].w, qf[1][c].w, kf[b][c].z, kf[b][c].w);
        }

        // Softmax over this warp's keys.
        float m0 = s[0][0], m1 = s[0][2];
#pragma unroll
        for (int b = 0; b < 4; b++) {
            m0 = fmaxf(m0, fmaxf(s[b][0], s[b][1]));
            m1 = fmaxf(m1, fmaxf(s[b][2], s[b][3]));
        }
        m0 = fmaxf(m0, __shfl_xor_sync(0xffffffffu, m0, 1));
        m1 = fmaxf(m1, __shfl_xor_sync(0xffffffffu, m1, 1));
        m0 = fmaxf(m0, __shfl_xor_sync(0xffffffffu, m0, 2));
        m1 = fmaxf(m1, __shfl_xor_sync(0xffffffffu, m1, 2));
        float l0 = 0.0f, l1 = 0.0f;
        unsigned p[4][2];
#pragma unroll
        for (int b = 0; b < 4; b++) {
            const float e0 = ex2(s[b][0] - m0);
            const float e1 = ex2(s[b][1] - m0);
            const float e2 = ex2(s[b][2] - m1);
            const float e3 = ex2(s[b][3] - m1);
            l0 += e0 + e1;
            l1 += e2 + e3;
            p[b][0] = pack2(e0, e1);
            p[b][1] = pack2(e2, e3);
        }

        float o[8][4];
#pragma unroll
        for (int j = 0; j < 8; j++) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                o[j][i] = 0.0f;
        }
#pragma unroll
        for (int j = 0; j < 8; j++)
            mma16816(o[j], p[0][0], p[0][1], p[1][0], p[1][1], vf[j].x, vf[j].y);
#pragma unroll
        for (int j = 0; j < 8; j++)
            mma16816(o[j], p[2][0], p[2][1], p[3][0], p[3][1], vf[j].z, vf[j].w);

        l0 += __shfl_xor_sync(0xffffffffu, l0, 1);
        l1 += __shfl_xor_sync(0xffffffffu, l1, 1);
        l0 += __shfl_xor_sync(0xffffffffu, l0, 2);
        l1 += __shfl_xor_sync(0xffffffffu, l1, 2);

        // Rows 0..7 are merged by block 2h, rows 8..15 by block 2h + 1.
        cluster_wait();                                   // 1
        const int piece = half * 4 + warp;
        const unsigned even = at_block(base, head * 2);
        const unsigned odd = at_block(base, head * 2 + 1);
        if (t == 0) {
            asm volatile("st.shared::cluster.f32 [%0], %1;\n" :: "r"(even + at_m + (g * 8 + piece) * 4), "f"(m0) : "memory");
            asm volatile("st.shared::cluster.f32 [%0], %1;\n" :: "r"(odd + at_m + (g * 8 + piece) * 4), "f"(m1) : "memory");
            asm volatile("st.shared::cluster.f32 [%0], %1;\n" :: "r"(even + at_l + (g * 8 + piece) * 4), "f"(l0) : "memory");
            asm volatile("st.shared::cluster.f32 [%0], %1;\n" :: "r"(odd + at_l + (g * 8 + piece) * 4), "f"(l1) : "memory");
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const unsigned to = at_o + ((piece * 4 + k) * 32 + lane) * 16;
            asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};\n"
                         :: "r"(even + to), "f"(o[2 * k][0]), "f"(o[2 * k][1]), "f"(o[2 * k + 1][0]),
                            "f"(o[2 * k + 1][1]) : "memory");
            asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};\n"
                         :: "r"(odd + to), "f"(o[2 * k][2]), "f"(o[2 * k][3]), "f"(o[2 * k + 1][2]),
                            "f"(o[2 * k + 1][3]) : "memory");
        }
        cluster_arrive();                                 // 2
        cluster_wait();

        // Eight pieces into one: row g, columns 16k + 2t, + 1, + 8, + 9 of the head for k = warp.
        {
            const float *mm = reinterpret_cast<const float *>(shared_bytes + at_m) + g * 8;
            const float *ll = reinterpret_cast<const float *>(shared_bytes + at_l) + g * 8;
            const float4 ma = *reinterpret_cast<const float4 *>(mm);
            const float4 mb = *reinterpret_cast<const float4 *>(mm + 4);
            const float4 la = *reinterpret_cast<const float4 *>(ll);
            const float4 lb = *reinterpret_cast<const float4 *>(ll + 4);
            const float m[8] = {ma.x, ma.y, ma.z, ma.w, mb.x, mb.y, mb.z, mb.w};
            const float l[8] = {la.x, la.y, la.z, la.w, lb.x, lb.y, lb.z, lb.w};
            float largest = m[0];
#pragma unroll
            for (int i = 1; i < 8; i++)
                largest = fmaxf(largest, m[i]);
            float total = 0.0f;
            float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const float f = ex2(m[i] - largest);
                const float4 v =
                    *reinterpret_cast<const float4 *>(shared_bytes + at_o + ((i * 4 + warp) * 32 + lane) * 16);
                total = fmaf(f, l[i], total);
                sum.x = fmaf(f, v.x, sum.x);
                sum.y = fmaf(f, v.y, sum.y);
                sum.z = fmaf(f, v.z, sum.z);
                sum.w = fmaf(f, v.w, sum.w);
            }
            const float inverse = __fdividef(1.0f, total);
            const unsigned w0 = pack2(sum.x * inverse, sum.y * inverse);
            const unsigned w1 = pack2(sum.z * inverse, sum.w * inverse);
            // To all blocks, in the order of the fragments: [k-step][lane] of {a0, a2, a1, a3}.
            const unsigned here = base + at_a + ((head * 4 + warp) * 32 + lane) * 16 + half * 8;
#pragma unroll
            for (int i = 0; i < 8; i++)
                asm volatile("st.shared::cluster.v2.b32 [%0], {%1, %2};\n"
                             :: "r"(at_block(here, i)), "r"(w0), "r"(w1) : "memory");
        }
        cluster_arrive();                                 // 3
        cluster_wait();

        // Output projection: 16 rows, eight columns a warp.
        float acc[4][4];
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int k = 0; k < 4; k++)
                acc[i][k] = 0.0f;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const uint4 u = *reinterpret_cast<const uint4 *>(shared_bytes + at_a + ((2 * k) * 32 + lane) * 16);
            const uint4 v = *reinterpret_cast<const uint4 *>(shared_bytes + at_a + ((2 * k + 1) * 32 + lane) * 16);
            mma16816(acc[(2 * k) & 3], u.x, u.z, u.y, u.w, wf[k].x, wf[k].y);
            mma16816(acc[(2 * k + 1) & 3], v.x, v.z, v.y, v.w, wf[k].z, wf[k].w);
        }
        float r[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            r[i] = (acc[0][i] + acc[1][i]) + (acc[2][i] + acc[3][i]);
        *reinterpret_cast<float2 *>(Y + out) = make_float2(x_low.x + r[0], x_low.y + r[1]);
        *reinterpret_cast<float2 *>(Y + out + 8 * 256) = make_float2(x_high.x + r[2], x_high.y + r[3]);
    } else {
        // Any other size: a block takes rows one by one.
        const int n = H * E;
        float *p = reinterpret_cast<float *>(shared_bytes);
        float *o = p + S;
        float *red = o + n;
        const float f = 1.0f / sqrtf((float)E);
        const int block = blockIdx.y * gridDim.x + blockIdx.x;
        const int blocks = gridDim.x * gridDim.y;
        for (int row = block; row < S; row += blocks) {
            for (int h = 0; h < H; h++) {
                const float *query = T + (long long)row * 3 * n + h * E;
                float largest = -INFINITY;
                for (int k = tid; k < S; k += 128) {
                    const float *key = T + (long long)k * 3 * n + (H + h) * E;
                    float dot = 0.0f;
                    for (int e = 0; e < E; e++)
                        dot = fmaf(query[e], key[e], dot);
                    dot *= f;
                    p[k] = dot;
                    largest = fmaxf(largest, dot);
                }
#pragma unroll
                for (int m = 16; m > 0; m >>= 1)
                    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, m));
                if (lane == 0)
                    red[warp] = largest;
                __syncthreads();
                largest = fmaxf(fmaxf(red[0], red[1]), fmaxf(red[2], red[3]));
                float sum = 0.0f;
                for (int k = tid; k < S; k += 128) {
                    const float e = expf(p[k] - largest);
                    p[k] = e;
                    sum += e;
                }
                sum = warp_sum(sum);
                if (lane == 0)
                    red[4 + warp] = sum;
                __syncthreads();
                sum = (red[4] + red[5]) + (red[6] + red[7]);
                for (int e = tid; e < E; e += 128) {
                    float v = 0.0f;
                    for (int k = 0; k < S; k++)
                        v = fmaf(p[k], T[(long long)k * 3 * n + (2 * H + h) * E + e], v);
                    o[h * E + e] = v / sum;
                }
                __syncthreads();
            }
            for (int c = tid; c < n; c += 128) {
                float sum = 0.0f;
                for (int i = 0; i < n; i++)
                    sum = fmaf(o[i], wo[(long long)i * n + c], sum);
                Y[(long long)row * n + c] = X[(long long)row * n + c] + sum;
            }
            __syncthreads();
        }
    }
}
