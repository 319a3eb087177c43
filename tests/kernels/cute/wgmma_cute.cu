// C = A B^T by CuTe's wgmma atoms: the layout of shared memory, the descriptors and the fragments are CuTe's.
#pragma keet size   M = 128, N = 128, K = 128
#pragma keet check  M = 128, N = 128, K = 128
#pragma keet in     A : bf16[M][K]
#pragma keet in     B : bf16[N][K]
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet tune   SWIZZLE = 128 in {0, 32, 64, 128}
#pragma keet tune   ALONG_K = 1 in {0, 1}
#pragma keet launch multiply<<<dim3(M/64, N/64), 128>>>(A, B, C, M, N, K)
#include <cute/tensor.hpp>
#include <cute/arch/mma_sm90.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
using namespace cute;

#if ALONG_K
#define ATOM(w, t) GMMA::Layout_K_##w##_Atom<t>
constexpr auto MAJOR = GMMA::Major::K;
#else
#define ATOM(w, t) GMMA::Layout_MN_##w##_Atom<t>
constexpr auto MAJOR = GMMA::Major::MN;
#endif
#if SWIZZLE == 128
typedef ATOM(SW128, bfloat16_t) Atom;
#elif SWIZZLE == 64
typedef ATOM(SW64, bfloat16_t) Atom;
#elif SWIZZLE == 32
typedef ATOM(SW32, bfloat16_t) Atom;
#else
typedef ATOM(INTER, bfloat16_t) Atom;
#endif

__global__ void multiply(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int m, int n, int k)
{
    typedef decltype(tile_to_shape(Atom{}, Shape<_64, _64>{})) Smem;
    __shared__ __align__(1024) bfloat16_t sa[64 * 64];
    __shared__ __align__(1024) bfloat16_t sb[64 * 64];
    Tensor tA = make_tensor(make_smem_ptr(sa), Smem{}), tB = make_tensor(make_smem_ptr(sb), Smem{});
    auto mma = make_tiled_mma(SM90_64x64x16_F32BF16BF16_SS<MAJOR, MAJOR>{});
    auto thr = mma.get_slice(threadIdx.x);
    Tensor gC = make_tensor(make_gmem_ptr(c + blockIdx.x * 64 * n + blockIdx.y * 64), Shape<_64, _64>{}, make_stride(n, _1{}));
    Tensor out = thr.partition_C(gC);
    Tensor sum = thr.make_fragment_C(out);
    clear(sum);
    for (int k0 = 0; k0 < k; k0 += 64) {
        for (int i = threadIdx.x; i < 64 * 64; i += 128) {
            tA(i / 64, i % 64) = reinterpret_cast<const bfloat16_t *>(a)[(blockIdx.x * 64 + i / 64) * k + k0 + i % 64];
            tB(i / 64, i % 64) = reinterpret_cast<const bfloat16_t *>(b)[(blockIdx.y * 64 + i / 64) * k + k0 + i % 64];
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        Tensor fA = thr.make_fragment_A(thr.partition_A(tA)), fB = thr.make_fragment_B(thr.partition_B(tB));
        warpgroup_fence_operand(sum);
        warpgroup_arrive();
        gemm(mma, fA, fB, sum);
        warpgroup_commit_batch();
        warpgroup_wait<0>();
        warpgroup_fence_operand(sum);
        __syncthreads();
    }
    copy(sum, out);
}
