// C = A B for half matrices, sums kept in f32: 128 x 128 outputs a cluster of two blocks, each with half of k.
#pragma keet size   M = 1024, N = 1024, K = 1024
#pragma keet check  M = 65, N = 67, K = 33
#pragma keet check  M = 32, N = 64, K = 96
#pragma keet in     A : f16[M][K] = uniform(-1, 1)
#pragma keet in     B : f16[K][N] = uniform(-1, 1)
#pragma keet out    C : f16[M][N]
#pragma keet tolerance rel = 2e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K, bytes = 2*(M*K + K*N + M*N)
#pragma keet launch matmul_f16<<<dim3(2*ceil_div(N, 128), ceil_div(M, 128)), 256, 230400>>>(A, B, C, M, N, K) cluster(2)
#include <cuda_fp16.h>

#define STAGES 6
#define STAGE_BYTES 32768

__device__ __forceinline__ void copy16(unsigned dst, const half *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" :: "r"(dst), "l"(src) : "memory");
}

__device__ __forceinline__ void wgmma_64x128(float (&d)[64], unsigned long long a, unsigned long long b)
{
    asm volatile("{\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 1;\n}\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(256) matmul_f16(
    const half *__restrict__ A, const half *__restrict__ B, half *__restrict__ C, int M, int N, int K)
{
    extern __shared__ char smem_raw[];
    const int tid = threadIdx.x;
    const int rank = blockIdx.x & 1;
    const int m0 = blockIdx.y * 128;
    const int n0 = (blockIdx.x >> 1) * 128;

    const bool fast = (M & 127) == 0 && (N & 127) == 0 && (K & 127) == 0 && K > 0 &&
        ((((size_t)A) | ((size_t)B) | ((size_t)C)) & 15) == 0;
    if (!fast) {
        const int col = n0 + rank * 64 + (tid & 63);
        if (col < N) {
            for (int r = tid >> 6; r < 128; r += 4) {
                const int row = m0 + r;
                if (row >= M)
                    break;
                float sum = 0.0f;
                for (int k = 0; k < K; k++)
                    sum += __half2float(A[(size_t)row * K + k]) * __half2float(B[(size_t)k * N + col]);
                C[(size_t)row * N + col] = __float2half(sum);
            }
        }
        return;
    }

    asm volatile("barrier.cluster.arrive.release.aligned;\n" ::: "memory");

    const unsigned base = ((unsigned)__cvta_generic_to_shared(smem_raw) + 1023u) & ~1023u;
    const unsigned exchange = base + STAGES * STAGE_BYTES;
    const int wg = tid >> 7;
    const int tiles = K >> 7; // of 64 along k, for this block

    // copies: four chunks of 16 bytes of A and of B a thread and tile
    const int ar = tid >> 3, ac = tid & 7;
    const half *asrc = A + (size_t)(m0 + ar) * K + rank * (K >> 1) + ac * 8;
    const unsigned adst = base + ar * 128 + ((ac ^ (ar & 7)) << 4);
    const int bk = tid >> 4, bc = tid & 15;
    const half *bsrc = B + (size_t)(rank * (K >> 1) + bk) * N + n0 + bc * 8;
    const unsigned bdst = base + 16384 + (bc >> 3) * 8192 + bk * 128 + (((bc & 7) ^ (bk & 7)) << 4);
    const size_t a32 = (size_t)32 * K, b16 = (size_t)16 * N;

    int slot_in = 0;
    int loaded = 0;
#pragma unroll
    for (int p = 0; p < STAGES - 2; p++) {
        if (loaded < tiles) {
#pragma unroll
            for (int j = 0; j < 4; j++)
                copy16(adst + slot_in * STAGE_BYTES + j * 4096, asrc + j * a32);
#pragma unroll
            for (int j = 0; j < 4; j++)
                copy16(bdst + slot_in * STAGE_BYTES + j * 2048, bsrc + j * b16);
            asrc += 64;
            bsrc += (size_t)64 * N;
        }
        asm volatile("cp.async.commit_group;\n" ::: "memory");
        loaded++;
        slot_in++;
    }

    float d[64];
#pragma unroll
    for (int i = 0; i < 64; i++)
        d[i] = 0.0f;

    int slot = 0;
    for (int k = 0; k < tiles; k++) {
        asm volatile("cp.async.wait_group %0;\n" :: "n"(STAGES - 3) : "memory");
        asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
        __syncthreads();
        const unsigned at = base + slot * STAGE_BYTES + wg * 8192;
        const unsigned bt = base + slot * STAGE_BYTES + 16384;
        asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll
        for (int s = 0; s < 4; s++) {
            // A: rows of k; B: rows of n (transposed), the two bricks of 64 columns 8192 bytes apart
            const unsigned long long da = (unsigned long long)(((at + s * 32) >> 4) & 0x3fff) |
                (1ull << 16) | (64ull << 32) | (1ull << 62);
            const unsigned long long db = (unsigned long long)(((bt + s * 2048) >> 4) & 0x3fff) |
                (512ull << 16) | (64ull << 32) | (1ull << 62);
            wgmma_64x128(d, da, db);
        }
        asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
        if (loaded < tiles) {
#pragma unroll
            for (int j = 0; j < 4; j++)
                copy16(adst + slot_in * STAGE_BYTES + j * 4096, asrc + j * a32);
#pragma unroll
            for (int j = 0; j < 4; j++)
                copy16(bdst + slot_in * STAGE_BYTES + j * 2048, bsrc + j * b16);
            asrc += 64;
            bsrc += (size_t)64 * N;
        }
        asm volatile("cp.async.commit_group;\n" ::: "memory");
        loaded++;
        slot_in = slot_in == STAGES - 1 ? 0 : slot_in + 1;
        slot = slot == STAGES - 1 ? 0 : slot + 1;
        asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
#pragma unroll
    for (int i = 0; i < 64; i++)
        asm volatile("" : "+f"(d[i]) :: "memory");

    // block 0 finishes columns 0-63, block 1 columns 64-127
    asm volatile("barrier.cluster.wait.acquire.aligned;\n" ::: "memory");
    unsigned far;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;\n" : "=r"(far) : "r"(exchange + tid * 16), "r"(rank ^ 1));
    float own[32];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        float4 give;
        if (rank == 0) {
            give = make_float4(d[32 + 4 * i], d[33 + 4 * i], d[34 + 4 * i], d[35 + 4 * i]);
            own[4 * i] = d[4 * i];
            own[4 * i + 1] = d[4 * i + 1];
            own[4 * i + 2] = d[4 * i + 2];
            own[4 * i + 3] = d[4 * i + 3];
        } else {
            give = make_float4(d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]);
            own[4 * i] = d[32 + 4 * i];
            own[4 * i + 1] = d[33 + 4 * i];
            own[4 * i + 2] = d[34 + 4 * i];
            own[4 * i + 3] = d[35 + 4 * i];
        }
        asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};\n"
            :: "r"(far + i * 4096), "f"(give.x), "f"(give.y), "f"(give.z), "f"(give.w) : "memory");
    }
    asm volatile("barrier.cluster.arrive.release.aligned;\n" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;\n" ::: "memory");

    const int lane = tid & 31;
    const int t = lane & 3;
    const int odd = t & 1;
    const int row = m0 + (tid >> 5) * 16 + (lane >> 2);
    half *out = C + (size_t)row * N + n0 + rank * 64 + odd * 8 + (t >> 1) * 4;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        float4 v;
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n"
            : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(exchange + tid * 16 + i * 4096) : "memory");
        own[4 * i] += v.x;
        own[4 * i + 1] += v.y;
        own[4 * i + 2] += v.z;
        own[4 * i + 3] += v.w;
    }
    // neighbouring lanes swap, so that four lanes write a whole sector of a row
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            half2 p0 = __floats2half2_rn(own[4 * i + 2 * r], own[4 * i + 2 * r + 1]);
            half2 p1 = __floats2half2_rn(own[4 * i + 4 + 2 * r], own[4 * i + 5 + 2 * r]);
            unsigned h0 = *(unsigned *)&p0, h1 = *(unsigned *)&p1;
            unsigned other = __shfl_xor_sync(0xffffffffu, odd ? h0 : h1, 1);
            uint2 v = odd ? make_uint2(other, h1) : make_uint2(h0, other);
            *(uint2 *)(out + (size_t)(8 * r) * N + i * 8) = v;
        }
    }
}
