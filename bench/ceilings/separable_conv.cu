// Depthwise separable convolution: 3 x 3 per channel with bias and relu6, then 1 x 1 across channels with
// bias and relu6, f32, zero padding. One launch. A block owns 28 pixels of one row and all channels.
// Timed size: warps 0..15 compute the depthwise part (4 channels each) and leave it as f16 hi + f16 lo in
// shared memory; warps 16..19 hold the 1 x 1 weights as f16 hi + lo fragments and run wgmma over it.
#pragma keet size   C = 64, O = 64, H = 56, W = 56
#pragma keet check  C = 5, O = 7, H = 9, W = 35
#pragma keet check  C = 4, O = 3, H = 8, W = 32
#pragma keet in     X : f32[C][H][W] = uniform(-2, 2)
#pragma keet in     FD : f32[C][3][3] = uniform(-1, 1)
#pragma keet in     BD : f32[C] = uniform(-1, 1)
#pragma keet in     FP : f32[O][C] = uniform(-0.5, 0.5)
#pragma keet in     BP : f32[O] = uniform(-1, 1)
#pragma keet out    Y : f32[O][H][W]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 18*C*H*W + 2*O*C*H*W, bytes = 4*(C*H*W + 10*C + O*C + O + O*H*W)
#pragma keet launch fused<<<dim3(ceil_div(W, 28), H), 640>>>(X, FD, BD, FP, BP, Y, C, O, H, W)

#include <cuda_fp16.h>
#include <stdint.h>

__device__ __forceinline__ float relu6(float v)
{
    return fminf(fmaxf(v, 0.0f), 6.0f);
}

__device__ __forceinline__ void split2(float a, float b, uint32_t &hi, uint32_t &lo)
{
    __half2 h = __floats2half2_rn(a, b);
    float2 f = __half22float2(h);
    __half2 l = __floats2half2_rn(a - f.x, b - f.y);
    hi = *reinterpret_cast<uint32_t *>(&h);
    lo = *reinterpret_cast<uint32_t *>(&l);
}

__device__ __forceinline__ void wgmma_m64n32k16(float (&d)[16], const uint32_t (&a)[4], uint64_t desc)
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
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(desc), "r"(1));
}

__global__ void __launch_bounds__(640) fused(
    const float *__restrict__ X, const float *__restrict__ FD, const float *__restrict__ BD,
    const float *__restrict__ FP, const float *__restrict__ BP, float *Y, int C, int O, int H, int W)
{
    // Fast path: hi tile (4 k-steps x 16 rows x 64 bytes) then lo tile. General path: f32 [64][28].
    __shared__ __align__(1024) unsigned char smem[8192];

    const int tid = threadIdx.x;
    const int y = blockIdx.y;
    const bool aligned =
        (((uintptr_t)X | (uintptr_t)FP | (uintptr_t)Y) & 15) == 0;

    if (C == 64 && O == 64 && H == 56 && W == 56 && aligned) {
        const int lane = tid & 31;
        const int half_id = blockIdx.x;
        const int xs = half_id ? 24 : 0;        // 32 columns from here; the 4 foreign ones are not stored
        uint32_t ahi[4][4], alo[4][4];
        float d[16];

        if (tid < 512) {
            const int w = tid >> 5;
            const int i = lane >> 3;
            const int s = lane & 7;
            const int c = 4 * w + i;
            const float *p = X + c * 3136 + y * 56 + xs + 4 * s;
            float4 v[3];
            v[0] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            v[2] = v[0];
            if (y > 0)
                v[0] = __ldg(reinterpret_cast<const float4 *>(p - 56));
            v[1] = __ldg(reinterpret_cast<const float4 *>(p));
            if (y < 55)
                v[2] = __ldg(reinterpret_cast<const float4 *>(p + 56));
            float f[9];
#pragma unroll
            for (int k = 0; k < 9; k++)
                f[k] = __ldg(FD + c * 9 + k);
            float o0 = __ldg(BD + c);
            float o1 = o0, o2 = o0, o3 = o0;
#pragma unroll
            for (int r = 0; r < 3; r++) {
                float l = __shfl_up_sync(0xffffffffu, v[r].w, 1, 8);
                float g = __shfl_down_sync(0xffffffffu, v[r].x, 1, 8);
                if (s == 0) l = 0.0f;
                if (s == 7) g = 0.0f;
                const float w0 = f[3 * r], w1 = f[3 * r + 1], w2 = f[3 * r + 2];
                o0 = fmaf(l, w0, o0);
                o1 = fmaf(v[r].x, w0, o1);
                o2 = fmaf(v[r].y, w0, o2);
                o3 = fmaf(v[r].z, w0, o3);
                o0 = fmaf(v[r].x, w1, o0);
                o1 = fmaf(v[r].y, w1, o1);
                o2 = fmaf(v[r].z, w1, o2);
                o3 = fmaf(v[r].w, w1, o3);
                o0 = fmaf(v[r].y, w2, o0);
                o1 = fmaf(v[r].z, w2, o1);
                o2 = fmaf(v[r].w, w2, o2);
                o3 = fmaf(g, w2, o3);
            }
            uint2 hi, lo;
            split2(relu6(o0), relu6(o1), hi.x, lo.x);
            split2(relu6(o2), relu6(o3), hi.y, lo.y);
            // Channel 16*step + 4*t + i stands in row k = 2t + (i & 1) + 8 (i >> 1) of its k-step, so that a
            // lane of the weights' side reads four neighbouring weights. Rows of 64 bytes, 64-byte swizzle.
            const int t = w & 3;
            const int k = 2 * t + (i & 1) + 8 * (i >> 1);
            const int at = (w >> 2) * 1024 + k * 64 + (((s >> 1) ^ ((k >> 1) & 3)) << 4) + (s & 1) * 8;
            *reinterpret_cast<uint2 *>(smem + at) = hi;
            *reinterpret_cast<uint2 *>(smem + 4096 + at) = lo;
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        } else {
            const int row = ((tid - 512) >> 5) * 16 + (lane >> 2);
            const int t = lane & 3;
            float4 p0[4], p1[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                p0[k] = __ldg(reinterpret_cast<const float4 *>(FP + row * 64 + k * 16 + 4 * t));
                p1[k] = __ldg(reinterpret_cast<const float4 *>(FP + (row + 8) * 64 + k * 16 + 4 * t));
            }
            const float b0 = __ldg(BP + row);
            const float b1 = __ldg(BP + row + 8);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                d[4 * j + 0] = b0;
                d[4 * j + 1] = b0;
                d[4 * j + 2] = b1;
                d[4 * j + 3] = b1;
            }
#pragma unroll
            for (int k = 0; k < 4; k++) {
                split2(p0[k].x, p0[k].y, ahi[k][0], alo[k][0]);
                split2(p1[k].x, p1[k].y, ahi[k][1], alo[k][1]);
                split2(p0[k].z, p0[k].w, ahi[k][2], alo[k][2]);
                split2(p1[k].z, p1[k].w, ahi[k][3], alo[k][3]);
            }
        }
        __syncthreads();
        if (tid < 512)
            return;

        // B is N-major (transposed): 16 rows of 64 bytes a k-step; 8 rows are 512 bytes.
        const uint32_t base = (uint32_t)__cvta_generic_to_shared(smem);
        const uint64_t desc = ((uint64_t)2 << 62) | ((uint64_t)(512 >> 4) << 32) | ((uint64_t)(512 >> 4) << 16) |
                              (uint64_t)((base & 0x3FFFFu) >> 4);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; k++)
            wgmma_m64n32k16(d, alo[k], desc + (uint64_t)(k * 64));
#pragma unroll
        for (int k = 0; k < 4; k++)
            wgmma_m64n32k16(d, ahi[k], desc + (uint64_t)(256 + k * 64));
#pragma unroll
        for (int k = 0; k < 4; k++)
            wgmma_m64n32k16(d, ahi[k], desc + (uint64_t)(k * 64));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
                       "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
                       "+f"(d[14]), "+f"(d[15])
                     :
                     : "memory");

        const int row = ((tid - 512) >> 5) * 16 + (lane >> 2);
        const int t = lane & 3;
        float *q = Y + row * 3136 + y * 56 + xs + 2 * t;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            bool mine = true;
            if (j == 0) mine = half_id == 0 || t >= 2;
            if (j == 3) mine = half_id != 0 || t < 2;
            if (mine) {
                *reinterpret_cast<float2 *>(q + 8 * j) = make_float2(relu6(d[4 * j]), relu6(d[4 * j + 1]));
                *reinterpret_cast<float2 *>(q + 8 * 3136 + 8 * j) =
                    make_float2(relu6(d[4 * j + 2]), relu6(d[4 * j + 3]));
            }
        }
        return;
    }

    // Any size: 64 channels at a time through shared memory, f32.
    float *sa = reinterpret_cast<float *>(smem);
    const int x0 = blockIdx.x * 28;
    for (int c0 = 0; c0 < C; c0 += 64) {
        const int cn = min(64, C - c0);
        if (c0 > 0)
            __syncthreads();
        for (int e = tid; e < cn * 28; e += 640) {
            const int c = c0 + e / 28;
            const int x = x0 + e % 28;
            float sum = 0.0f;
            if (x < W) {
                sum = BD[c];
                for (int i = 0; i < 3; i++) {
                    for (int j = 0; j < 3; j++) {
                        const int yy = y + i - 1;
                        const int xx = x + j - 1;
                        if (yy >= 0 && yy < H && xx >= 0 && xx < W)
                            sum += X[(c * H + yy) * W + xx] * FD[(c * 3 + i) * 3 + j];
                    }
                }
                sum = relu6(sum);
            }
            sa[e] = sum;
        }
        __syncthreads();
        for (int e = tid; e < O * 28; e += 640) {
            const int o = e / 28;
            const int px = e % 28;
            const int x = x0 + px;
            if (x < W) {
                float *out = Y + (o * H + y) * W + x;
                float sum = c0 > 0 ? *out : BP[o];
                for (int k = 0; k < cn; k++)
                    sum += sa[k * 28 + px] * FP[o * C + c0 + k];
                *out = c0 + 64 >= C ? relu6(sum) : sum;
            }
        }
    }
}
