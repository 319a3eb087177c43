// 2-D convolution of a stack of f32 images: COUT filters of CIN x R x S, zero padding, stride one.
// Timed channels and taps: a block makes 64 x 2 pixels of all 32 outputs. x = xh + xl, f = fh + fl in f16;
// rows of the product are 64 pixels of an image row, k runs over 9 taps x 32 channels, columns are [fh | fl]:
// xh (fh | fl) with N = 64 and xl fh with N = 32, f32 sums, all added at the end.
// Warps 0..7 stage the patch and multiply, warps 8..15 turn the weights into the second operand.
#pragma keet size   CIN = 32, COUT = 32, H = 128, W = 128, R = 3, S = 3
#pragma keet check  CIN = 3, COUT = 5, H = 17, W = 35, R = 3, S = 3
#pragma keet check  CIN = 2, COUT = 3, H = 9, W = 31, R = 5, S = 3
#pragma keet in     X : f32[CIN][H][W] = uniform(-1, 1)
#pragma keet in     F : f32[COUT][CIN][R][S] = uniform(-1, 1)
#pragma keet out    Y : f32[COUT][H][W]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*COUT*CIN*H*W*R*S, bytes = 4*(CIN*H*W + COUT*CIN*R*S + COUT*H*W)
#pragma keet launch conv2d<<<dim3(ceil_div(W, 64), ceil_div(H, 2)), 512, 108544>>>(X, F, Y, CIN, COUT, H, W, R, S)

#include <cuda_fp16.h>
#include <stdint.h>

#define PW 66                       // patch: 4 rows of 66 pixels
#define PLANE (4 * PW * 16)         // 8 channels of all its pixels, 16 bytes each
#define OFF_XL (4 * PLANE)
#define OFF_W (8 * PLANE)           // [tap][8 channels][64 columns: fh, fl], 16 bytes each
#define OFF_RAW (OFF_W + 36864)     // two halves of the channels: [32 outputs][148], 144 weights as they come
#define RAW_ROW 148
#define RAW_HALF (32 * RAW_ROW * 4)

__device__ __forceinline__ void split2(float a, float b, uint32_t &hi, uint32_t &lo)
{
    __half2 h = __floats2half2_rn(a, b);
    float2 f = __half22float2(h);
    __half2 l = __floats2half2_rn(a - f.x, b - f.y);
    hi = *reinterpret_cast<uint32_t *>(&h);
    lo = *reinterpret_cast<uint32_t *>(&l);
}

__device__ __forceinline__ void split8(const float (&v)[8], uint4 &hi, uint4 &lo)
{
    split2(v[0], v[1], hi.x, lo.x);
    split2(v[2], v[3], hi.y, lo.y);
    split2(v[4], v[5], hi.z, lo.z);
    split2(v[6], v[7], hi.w, lo.w);
}

#define ACC16(d) \
    "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
    "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define ACC32(d) \
    ACC16(d), \
    "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), \
    "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])

__device__ __forceinline__ void wgmma_n64(float (&d)[32], uint64_t a, uint64_t b)
{
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, p, 1, 1, 0, 0;\n"
        "}\n"
        : ACC32(d)
        : "l"(a), "l"(b), "r"(1));
}

__device__ __forceinline__ void wgmma_n32(float (&d)[16], uint64_t a, uint64_t b)
{
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %18, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
        "%16, %17, p, 1, 1, 0, 0;\n"
        "}\n"
        : ACC16(d)
        : "l"(a), "l"(b), "r"(1));
}

// No swizzle: 8 rows of 16 bytes are 128 bytes, then the next 8 rows; the second 8 of k are `leading` bytes further.
__device__ __forceinline__ uint64_t descriptor(uint32_t at, uint32_t leading)
{
    return ((uint64_t)(128 >> 4) << 32) | ((uint64_t)(leading >> 4) << 16) | (uint64_t)((at & 0x3FFFFu) >> 4);
}

__global__ void __launch_bounds__(512) conv2d(
    const float *__restrict__ X, const float *__restrict__ F, float *Y, int cin, int cout, int h, int w, int r, int s)
{
    extern __shared__ __align__(128) unsigned char smem[];

    const int tid = threadIdx.x;
    const int x0 = blockIdx.x * 64;
    const int y0 = blockIdx.y * 2;

    if (cin == 32 && cout == 32 && r == 3 && s == 3 && w % 64 == 0 && h % 2 == 0 && ((uintptr_t)F & 15) == 0) {
        const int lane = tid & 31;
        const int warp = tid >> 5;
        const int area = h * w;

        if (warp >= 8) {
            // Weights. Half n of the channels: 36 float4 of every output.
            const int wt = tid - 256;
            float4 f[2][5];
#pragma unroll
            for (int n = 0; n < 2; n++)
#pragma unroll
                for (int q = 0; q < 5; q++) {
                    const int i = wt + 256 * q;
                    f[n][q] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                    if (i < 1152)
                        f[n][q] = __ldg(reinterpret_cast<const float4 *>(F) + i / 36 * 72 + n * 36 + i % 36);
                }
#pragma unroll
            for (int n = 0; n < 2; n++) {
                float *raw = reinterpret_cast<float *>(smem + OFF_RAW + n * RAW_HALF);
#pragma unroll
                for (int q = 0; q < 5; q++) {
                    const int i = wt + 256 * q;
                    if (i < 1152)
                        *reinterpret_cast<float4 *>(raw + i / 36 * RAW_ROW + i % 36 * 4) = f[n][q];
                }
                asm volatile("bar.sync 1, 256;" ::: "memory");
                // 18 tasks: 8 channels of 8 outputs x 4 taps, or of 32 outputs and the last tap.
                for (int task = warp - 8; task < 18; task += 8) {
                    const int c8 = task & 1;
                    const int rest = task >> 1;
                    const int o = rest < 8 ? (rest & 3) * 8 + (lane & 7) : lane;
                    const int tap = rest < 8 ? (rest >> 2) * 4 + (lane >> 3) : 8;
                    const float *from = raw + o * RAW_ROW + c8 * 72 + tap;
                    float v[8];
#pragma unroll
                    for (int i = 0; i < 8; i++)
                        v[i] = from[i * 9];
                    uint4 hi, lo;
                    split8(v, hi, lo);
                    unsigned char *at = smem + OFF_W + (tap * 4 + n * 2 + c8) * 1024 + o * 16;
                    *reinterpret_cast<uint4 *>(at) = hi;
                    *reinterpret_cast<uint4 *>(at + 512) = lo;
                }
                asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
                __syncthreads();
            }
            return;
        }

        // Patch: a warp has one of 4 rows and, in each half of the channels, one of 2 groups of 8.
        const int pr = warp & 3;
        const int cl = warp >> 2;
        const int yy = y0 + pr - 1;
        const bool inside = yy >= 0 && yy < h;
        float v[2][2][8], edge[8];
        const float *p = X + (cl * 8) * area + yy * w + x0 + lane;
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int k = 0; k < 8; k++)
                v[0][i][k] = inside ? __ldg(p + k * area + i * 32) : 0.0f;
        // Columns left and right of the tile: lanes 0..3 for two sides and two halves of the channels.
        const int side = lane & 1;
        const int xe = side ? x0 + 64 : x0 - 1;
        const bool has_edge = lane < 4 && inside && xe >= 0 && xe < w;
        const float *pe = X + ((lane >> 1 & 1) * 16 + cl * 8) * area + yy * w + xe;
#pragma unroll
        for (int k = 0; k < 8; k++)
            edge[k] = has_edge ? __ldg(pe + k * area) : 0.0f;
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int k = 0; k < 8; k++)
                v[1][i][k] = inside ? __ldg(p + (16 + k) * area + i * 32) : 0.0f;

        uint4 hi, lo;
        unsigned char *row = smem + cl * PLANE + pr * PW * 16;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            split8(v[0][i], hi, lo);
            unsigned char *at = row + (1 + i * 32 + lane) * 16;
            *reinterpret_cast<uint4 *>(at) = hi;
            *reinterpret_cast<uint4 *>(at + OFF_XL) = lo;
        }
        if (lane < 4) {
            split8(edge, hi, lo);
            unsigned char *at = row + (lane >> 1) * 2 * PLANE + (side ? 65 : 0) * 16;
            *reinterpret_cast<uint4 *>(at) = hi;
            *reinterpret_cast<uint4 *>(at + OFF_XL) = lo;
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();

        const int group = warp >> 2;            // output row of the tile
        const uint32_t base = (uint32_t)__cvta_generic_to_shared(smem);
        const uint64_t dxh = descriptor(base + group * PW * 16, PLANE);
        const uint64_t dxl = descriptor(base + OFF_XL + group * PW * 16, PLANE);
        const uint64_t dw = descriptor(base + OFF_W, 1024);
        float d[32], e[16];
#pragma unroll
        for (int i = 0; i < 32; i++)
            d[i] = 0.0f;
#pragma unroll
        for (int i = 0; i < 16; i++)
            e[i] = 0.0f;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int tap = 0; tap < 9; tap++) {
            const uint64_t shift = (uint64_t)((tap / 3) * PW + tap % 3);
            const uint64_t b = dw + (uint64_t)(tap * 256);
            wgmma_n64(d, dxh + shift, b);
            wgmma_n32(e, dxl + shift, b);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");

        // The other 16 channels while these are multiplied.
#pragma unroll
        for (int i = 0; i < 2; i++) {
            split8(v[1][i], hi, lo);
            unsigned char *at = row + 2 * PLANE + (1 + i * 32 + lane) * 16;
            *reinterpret_cast<uint4 *>(at) = hi;
            *reinterpret_cast<uint4 *>(at + OFF_XL) = lo;
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int tap = 0; tap < 9; tap++) {
            const uint64_t shift = (uint64_t)((2 * PLANE >> 4) + (tap / 3) * PW + tap % 3);
            const uint64_t b = dw + (uint64_t)(tap * 256 + 128);
            wgmma_n64(d, dxh + shift, b);
            wgmma_n32(e, dxl + shift, b);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" : ACC32(d) : : "memory");
        asm volatile("" : ACC16(e) : : "memory");

        // Lanes of equal t are 8 neighbouring pixels: whole sectors.
        const int t = lane & 3;
        float *out = Y + (2 * t) * area + (y0 + group) * w + x0 + (warp & 3) * 16 + (lane >> 2);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float *q = out + 8 * j * area;
            q[0] = d[4 * j] + (e[4 * j] + d[16 + 4 * j]);
            q[area] = d[4 * j + 1] + (e[4 * j + 1] + d[16 + 4 * j + 1]);
            q[8] = d[4 * j + 2] + (e[4 * j + 2] + d[16 + 4 * j + 2]);
            q[area + 8] = d[4 * j + 3] + (e[4 * j + 3] + d[16 + 4 * j + 3]);
        }
        return;
    }

    // Any shape.
    for (int i = tid; i < 128 * cout; i += 512) {
        const int o = i / 128;
        const int y = y0 + (i % 128) / 64;
        const int x = x0 + i % 64;
        if (x < w && y < h) {
            float sum = 0.0f;
            for (int c = 0; c < cin; c++) {
                for (int a = 0; a < r; a++) {
                    for (int b = 0; b < s; b++) {
                        const int yy = y + a - r / 2;
                        const int xx = x + b - s / 2;
                        if (yy >= 0 && yy < h && xx >= 0 && xx < w)
                            sum = fmaf(X[(c * h + yy) * w + xx], F[((o * cin + c) * r + a) * s + b], sum);
                    }
                }
            }
            Y[(o * h + y) * w + x] = sum;
        }
    }
}
