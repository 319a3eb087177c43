// 1-D convolution of a batch of f32 signals, zero padding, stride one, with bias and relu, in one launch.
// Fast path (32 input channels, 5 taps): an implicit product by wgmma, each f32 split in two f16 parts
// (hi*hi + hi*lo + lo*hi, f32 sums). A block makes 64 channels x 64 positions. Its second warpgroup stages the signals
// as bricks [8 channels][position][16 bytes] without swizzle, so that tap i is the same tile 16 i bytes further; its
// first warpgroup brings the filters, each warp its own 16 rows, splits them in registers and multiplies.
#pragma keet size   B = 8, CIN = 32, COUT = 64, L = 1024, K = 5
#pragma keet check  B = 2, CIN = 3, COUT = 5, L = 67, K = 5
#pragma keet check  B = 1, CIN = 4, COUT = 3, L = 64, K = 3
#pragma keet in     X : f32[B][CIN][L] = uniform(-1, 1)
#pragma keet in     F : f32[COUT][CIN][K] = uniform(-1, 1)
#pragma keet in     BIAS : f32[COUT] = uniform(-1, 1)
#pragma keet out    Y : f32[B][COUT][L]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*B*COUT*CIN*L*K + 2*B*COUT*L, bytes = 4*(B*CIN*L + COUT*CIN*K + COUT + B*COUT*L)
#pragma keet launch conv1d<<<dim3(ceil_div(L, 64), ceil_div(COUT, 64), B), 256, 52224>>>(X, F, BIAS, Y, CIN, COUT, L, K)

#include <cuda_fp16.h>

#define RAW_STRIDE 168                      // words a row of raw filters: 160, padded so that rows differ in banks
#define BRICK 1152                          // bytes of 8 channels: 72 positions of 16 bytes, 68 of them used
#define AT_XHI (64 * RAW_STRIDE * 4)        // bytes
#define AT_XLO (AT_XHI + 4 * BRICK)

__device__ __forceinline__ void split2(float a, float b, unsigned &hi, unsigned &lo)
{
    __half2 h = __floats2half2_rn(a, b);
    float2 r = __half22float2(h);
    __half2 l = __floats2half2_rn(a - r.x, b - r.y);
    hi = *reinterpret_cast<unsigned *>(&h);
    lo = *reinterpret_cast<unsigned *>(&l);
}

// Unswizzled, rows of k: 16-byte chunks of k are BRICK apart, groups of 8 rows 128 bytes.
__device__ __forceinline__ unsigned long long descriptor(unsigned at)
{
    return (unsigned long long)((at >> 4) & 0x3fff) | (unsigned long long)(BRICK >> 4) << 16 | 8ull << 32;
}

__device__ __forceinline__ void wgmma64(float (&d)[32], const unsigned (&a)[4], unsigned long long b, int keep)
{
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "setp.ne.b32 p, %37, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "{%32, %33, %34, %35}, %36, p, 1, 1, 0;\n\t"
                 "}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
                   "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                   "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
                   "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));
}

// The A fragments of all taps for 16 channels from ks * 16 on: rows r and r + 8 of the raw filters.
__device__ __forceinline__ void filters(const unsigned *row, int ks, int t, unsigned (&hi)[5][4], unsigned (&lo)[5][4])
{
#pragma unroll
    for (int e = 0; e < 4; e++) {
        const float2 *raw = reinterpret_cast<const float2 *>(
            row + (e & 1) * 8 * RAW_STRIDE + (ks * 8 + t + (e >> 1) * 4) * 10);
        float v[10];
#pragma unroll
        for (int q = 0; q < 5; q++) {
            const float2 w = raw[q];
            v[2 * q] = w.x;
            v[2 * q + 1] = w.y;
        }
#pragma unroll
        for (int i = 0; i < 5; i++)
            split2(v[i], v[5 + i], hi[i][e], lo[i][e]);
    }
}

__global__ void __launch_bounds__(256)
conv1d(const float * __restrict__ X, const float * __restrict__ F, const float * __restrict__ bias,
       float * __restrict__ Y, int cin, int cout, int l, int k)
{
    extern __shared__ __align__(1024) unsigned sm[];
    const int tid = threadIdx.x;
    const int x0 = blockIdx.x * 64;
    const int o0 = blockIdx.y * 64;
    const int b = blockIdx.z;

    if (cin == 32 && k == 5 && (cout & 63) == 0 && (l & 1) == 0 && (((size_t)F | (size_t)Y) & 15) == 0) {
        const int lane = tid & 31;
        const int warp = tid >> 5;
        const unsigned sm0 = (unsigned)__cvta_generic_to_shared(sm);

        if (warp >= 4) {
            // Signals: each warp 8 channels, 68 positions from x0 - 2 on, zeros outside.
            const int kc = warp - 4;
            const float *xp = X + ((size_t)b * 32 + 8 * kc) * l;
            float v[3][8];
#pragma unroll
            for (int j = 0; j < 3; j++) {
                const int s = lane + 32 * j;
                const int x = x0 - 2 + s;
                const bool in = s < 68 && x >= 0 && x < l;
#pragma unroll
                for (int c = 0; c < 8; c++)
                    v[j][c] = in ? __ldg(xp + (size_t)c * l + x) : 0.0f;
            }
#pragma unroll
            for (int j = 0; j < 3; j++) {
                const int s = lane + 32 * j;
                if (s < 68) {
                    uint4 hi, lo;
                    split2(v[j][0], v[j][1], hi.x, lo.x);
                    split2(v[j][2], v[j][3], hi.y, lo.y);
                    split2(v[j][4], v[j][5], hi.z, lo.z);
                    split2(v[j][6], v[j][7], hi.w, lo.w);
                    *reinterpret_cast<uint4 *>(sm + (AT_XHI + kc * BRICK) / 4 + s * 4) = hi;
                    *reinterpret_cast<uint4 *>(sm + (AT_XLO + kc * BRICK) / 4 + s * 4) = lo;
                }
            }
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncthreads();
        } else {
            // Filters: each warp the 16 rows that it multiplies.
            const int g = lane >> 2;
            const int t = lane & 3;
            const float *fp = F + (size_t)(o0 + warp * 16) * 160;
            unsigned *mine = sm + warp * 16 * RAW_STRIDE;
            const unsigned mine0 = sm0 + warp * 16 * RAW_STRIDE * 4;
#pragma unroll
            for (int j = 0; j < 20; j++) {
                const int chunk = lane + 32 * j;
                const int r = chunk / 40;
                const int c = chunk - r * 40;
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                             :: "r"(mine0 + (r * RAW_STRIDE + c * 4) * 4),
                                "l"(__cvta_generic_to_global(fp + chunk * 4)) : "memory");
            }
            asm volatile("cp.async.commit_group;" ::: "memory");
            const int o = o0 + warp * 16 + g;
            const float bias0 = __ldg(bias + o);
            const float bias1 = __ldg(bias + o + 8);
            asm volatile("cp.async.wait_group 0;" ::: "memory");
            __syncwarp();

            const unsigned *row = mine + g * RAW_STRIDE;
            float d[32];
#pragma unroll
            for (int e = 0; e < 32; e++)
                d[e] = 0.0f;
            unsigned ah[5][4], al[5][4];
            filters(row, 0, t, ah, al);
            __syncthreads();

            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int i = 0; i < 5; i++) {
                const unsigned long long xh = descriptor(sm0 + AT_XHI + 16 * i);
                const unsigned long long xl = descriptor(sm0 + AT_XLO + 16 * i);
                wgmma64(d, ah[i], xl, i > 0);
                wgmma64(d, al[i], xh, 1);
                wgmma64(d, ah[i], xh, 1);
            }
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");

            unsigned bh[5][4], bl[5][4];
            filters(row, 1, t, bh, bl);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int i = 0; i < 5; i++) {
                const unsigned long long xh = descriptor(sm0 + AT_XHI + 2 * BRICK + 16 * i);
                const unsigned long long xl = descriptor(sm0 + AT_XLO + 2 * BRICK + 16 * i);
                wgmma64(d, bh[i], xl, 1);
                wgmma64(d, bl[i], xh, 1);
                wgmma64(d, bh[i], xh, 1);
            }
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");

            float *y0 = Y + ((size_t)b * cout + o) * l;
            float *y1 = y0 + (size_t)8 * l;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const int x = x0 + 8 * j + 2 * t;
                if (x < l) {
                    float2 r;
                    r.x = fmaxf(d[4 * j] + bias0, 0.0f);
                    r.y = fmaxf(d[4 * j + 1] + bias0, 0.0f);
                    *reinterpret_cast<float2 *>(y0 + x) = r;
                    r.x = fmaxf(d[4 * j + 2] + bias1, 0.0f);
                    r.y = fmaxf(d[4 * j + 3] + bias1, 0.0f);
                    *reinterpret_cast<float2 *>(y1 + x) = r;
                }
            }
        }
    } else {
        // Any size: one output at a time.
        const int x = x0 + (tid & 63);
        if (x < l) {
            const int end = min(o0 + 64, cout);
            for (int o = o0 + (tid >> 6); o < end; o += 4) {
                float sum = __ldg(bias + o);
                for (int c = 0; c < cin; c++) {
                    const float *xp = X + ((size_t)b * cin + c) * l;
                    const float *fp = F + ((size_t)o * cin + c) * k;
                    for (int i = 0; i < k; i++) {
                        const int xx = x + i - k / 2;
                        if (xx >= 0 && xx < l)
                            sum += __ldg(xp + xx) * __ldg(fp + i);
                    }
                }
                Y[((size_t)b * cout + o) * l + x] = fmaxf(sum, 0.0f);
            }
        }
    }
}
