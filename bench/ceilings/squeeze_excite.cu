// Squeeze and excitation of f32 features [batch][channel][position]: the mean of each channel goes
// through two small layers (relu, then sigmoid) and comes back as the channel's weight. One launch: a cluster
// of 8 blocks takes one batch entry, a warp a channel, whose row comes and goes by one bulk copy
// each and stays in registers between its mean and its scaling.
#pragma keet size   B = 16, C = 128, R = 16, L = 784
#pragma keet check  B = 3, C = 11, R = 4, L = 37
#pragma keet check  B = 2, C = 16, R = 8, L = 64
#pragma keet in     X : f32[B][C][L] = normal(0.5, 1)
#pragma keet in     W1 : f32[C][R] = uniform(-0.5, 0.5)
#pragma keet in     W2 : f32[R][C] = uniform(-0.5, 0.5)
#pragma keet out    Y : f32[B][C][L]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*B*C*L + 4*B*C*R, bytes = 4*(2*B*C*L + 2*C*R)
#pragma keet launch squeeze_excite<<<dim3(8, B), 512, 64*min(L, 896) + 128 + 96*R>>>(X, W1, W2, Y, C, R, L) cluster(8)

#include <stdint.h>

#define HELD 7      // float4 that a lane holds of a row: rows up to 896 long

__device__ __forceinline__ float warp_sum(float s)
{
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        s += __shfl_xor_sync(0xffffffffu, s, d);
    return s;
}

// The weight of channel c, by a whole warp; `ready` is W2[lane][c], loaded before.
__device__ __forceinline__ float weight_of(const float *gathered, const float *W2, int c, int C, int R, int lane, float ready)
{
    float sum = 0.f;
    for (int r = lane; r < R; r += 32) {
        float h = 0.f;
#pragma unroll
        for (int k = 0; k < 8; k++)
            h += gathered[k * R + r];
        sum += fmaxf(h, 0.f) * (r == lane ? ready : W2[r * C + c]);
    }
    sum = warp_sum(sum);
    return 1.0f / (1.0f + expf(-sum));
}

__global__ void __launch_bounds__(512, 1) squeeze_excite(const float *__restrict__ X, const float *__restrict__ W1,
    const float *__restrict__ W2, float *__restrict__ Y, int C, int R, int L)
{
    extern __shared__ __align__(128) unsigned char raw[];
    const int longest = L < HELD * 128 ? L : HELD * 128;
    float *rows = reinterpret_cast<float *>(raw);                   // [16 warps][longest]
    float *parts = reinterpret_cast<float *>(raw + 64 * longest + 128); // [16 warps][R], parts of the hidden layer
    float *gathered = parts + 16 * R;                               // [8 blocks][R], filled by the cluster's blocks

    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int rank = blockIdx.x;
    const float *x = X + (size_t)blockIdx.y * C * L;
    float *y = Y + (size_t)blockIdx.y * C * L;

    const int channels = (C + 7) / 8;   // of a block
    const int begin = rank * channels;
    const int end = begin + channels < C ? begin + channels : C;
    const int quads = L / 4;
    const bool held = channels <= 16 && L % 4 == 0 && quads <= HELD * 32
        && ((reinterpret_cast<uintptr_t>(X) | reinterpret_cast<uintptr_t>(Y)) & 15) == 0;

    const int c0 = begin + warp;        // this warp's first channel
    float4 *row_here = reinterpret_cast<float4 *>(rows + warp * longest);
    const uint32_t row_at = (uint32_t)__cvta_generic_to_shared(row_here);
    const uint32_t bar = (uint32_t)__cvta_generic_to_shared(raw) + 64 * longest + warp * 8;
    float4 v[HELD];
    float w1 = 0.f, w2 = 0.f;
    if (held && c0 < end && lane == 0) {
        // One lane brings the warp's row; the mbarrier is the warp's own.
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(L * 4) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
            :: "r"(row_at), "l"(x + (size_t)c0 * L), "r"(L * 4), "r"(bar) : "memory");
    }
    __syncwarp();
    // The other blocks must have started before they are written to; waited for below.
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    if (c0 < end && lane < R) {
        w1 = W1[c0 * R + lane];
        w2 = W2[lane * C + c0];
    }

    if (held) {
        if (c0 < end) {
            uint32_t done;
            do {
                asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}\n"
                    : "=r"(done) : "r"(bar) : "memory");
            } while (!done);
            __syncwarp();
        }
        const int count = c0 < end ? quads : 0;
        float s0 = 0.f, s1 = 0.f;
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            v[i] = make_float4(0.f, 0.f, 0.f, 0.f);
            if (lane + i * 32 < count)
                v[i] = row_here[lane + i * 32];
        }
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            s0 += v[i].x + v[i].y;
            s1 += v[i].z + v[i].w;
        }
        const float mean = warp_sum(s0 + s1) / L;
        for (int r = lane; r < R; r += 32) {
            float w = 0.f;
            if (c0 < end)
                w = r == lane ? w1 : W1[c0 * R + r];
            parts[warp * R + r] = mean * w;
        }
    } else {
        for (int r = lane; r < R; r += 32)
            parts[warp * R + r] = 0.f;
        for (int c = c0; c < end; c += 16) {
            const float *row = x + (size_t)c * L;
            float s = 0.f;
            for (int i = lane; i < L; i += 32)
                s += row[i];
            const float mean = warp_sum(s) / L;
            for (int r = lane; r < R; r += 32)
                parts[warp * R + r] += mean * W1[c * R + r];
        }
    }
    __syncthreads();

    // Each block sends its part of the hidden layer to all blocks of the cluster.
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    for (int t = tid; t < 8 * R; t += 512) {
        const int to = t / R, r = t - to * R;
        float s = 0.f;
#pragma unroll
        for (int i = 0; i < 16; i++)
            s += parts[i * R + r];
        uint32_t near = (uint32_t)__cvta_generic_to_shared(gathered + rank * R + r);
        uint32_t far;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(near), "r"(to));
        asm volatile("st.shared::cluster.f32 [%0], %1;" :: "r"(far), "f"(s) : "memory");
    }
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

    if (held) {
        if (c0 < end) {
            const float w = weight_of(gathered, W2, c0, C, R, lane, w2);
#pragma unroll
            for (int i = 0; i < HELD; i++)
                if (lane + i * 32 < quads) {
                    float4 u = v[i];
                    u.x *= w;
                    u.y *= w;
                    u.z *= w;
                    u.w *= w;
                    row_here[lane + i * 32] = u;
                }
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncwarp();
            if (lane == 0) {
                asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                    :: "l"(y + (size_t)c0 * L), "r"(row_at), "r"(L * 4) : "memory");
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
                asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
            }
        }
    } else {
        for (int c = c0; c < end; c += 16) {
            const float ready = lane < R ? W2[lane * C + c] : 0.f;
            const float w = weight_of(gathered, W2, c, C, R, lane, ready);
            const float *from = x + (size_t)c * L;
            float *to = y + (size_t)c * L;
            for (int i = lane; i < L; i += 32)
                to[i] = from[i] * w;
        }
    }
}
