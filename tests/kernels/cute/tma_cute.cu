// C = A B^T by CuTe's atoms for tensor copies and wgmma: tiles in three stages, each behind an mbarrier.
#pragma keet size   M = 256, N = 256, K = 512
#pragma keet check  M = 128, N = 256, K = 320
#pragma keet in     A : bf16[M][K]
#pragma keet in     B : bf16[N][K]
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet launch multiply<<<dim3(M/128, N/128), 128, 3*2*128*64*2 + 1024>>>(tensor_map(A, box(64, 128), swizzle(128)), tensor_map(B, box(64, 128), swizzle(128)), C, M, N, K)
#include <cute/tensor.hpp>
#include <cute/arch/mma_sm90.hpp>
#include <cute/atom/copy_traits_sm90_tma.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <cutlass/arch/barrier.h>
using namespace cute;

constexpr int STAGES = 3;
typedef decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<bfloat16_t>{}, Shape<_128, _64, Int<STAGES>>{})) Smem;
typedef decltype(make_tensor(make_gmem_ptr((const bfloat16_t *)nullptr), make_shape(1, 1), make_stride(1, _1{}))) Array;
typedef decltype(make_tma_atom(SM90_TMA_LOAD{}, Array{}, Smem{}(_, _, 0), Shape<_128, _64>{})) Tma;
typedef cutlass::arch::ClusterTransactionBarrier Barrier;

__global__ void multiply(const __grid_constant__ TmaDescriptor map_a, const __grid_constant__ TmaDescriptor map_b, float *c, int m, int n, int k)
{
    extern __shared__ __align__(1024) bfloat16_t tiles[];
    __shared__ uint64_t full[STAGES];
    // An atom begins with its map; what else is in it are types.
    const Tma &of_a = reinterpret_cast<const Tma &>(map_a), &of_b = reinterpret_cast<const Tma &>(map_b);
    Tensor sA = make_tensor(make_smem_ptr(tiles), Smem{});
    Tensor sB = make_tensor(make_smem_ptr(tiles + cosize_v<Smem>), Smem{});
    Tensor gA = local_tile(of_a.get_tma_tensor(make_shape(m, k)), Shape<_128, _64>{}, make_coord(int(blockIdx.x), _));
    Tensor gB = local_tile(of_b.get_tma_tensor(make_shape(n, k)), Shape<_128, _64>{}, make_coord(int(blockIdx.y), _));
    auto parts_a = tma_partition(of_a, Int<0>{}, Layout<_1>{}, group_modes<0, 2>(sA), group_modes<0, 2>(gA));
    auto parts_b = tma_partition(of_b, Int<0>{}, Layout<_1>{}, group_modes<0, 2>(sB), group_modes<0, 2>(gB));
    auto tAg = get<0>(parts_a);
    auto tBg = get<0>(parts_b);
    auto tAs = get<1>(parts_a);
    auto tBs = get<1>(parts_b);
    const int nr = size<1>(tAg), lead = threadIdx.x == 0;
    auto bring = [&](int tile) {
        Barrier::arrive_and_expect_tx(&full[tile % STAGES], 2 * 128 * 64 * sizeof(bfloat16_t));
        copy(of_a.with(full[tile % STAGES]), tAg(_, tile), tAs(_, tile % STAGES));
        copy(of_b.with(full[tile % STAGES]), tBg(_, tile), tBs(_, tile % STAGES));
    };
    if (lead) {
        for (int i = 0; i < STAGES; i++)
            Barrier::init(&full[i], 1);
        cutlass::arch::fence_barrier_init();
    }
    __syncthreads();
    for (int i = 0; lead && i < STAGES && i < nr; i++)
        bring(i);
    auto mma = make_tiled_mma(SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>{});
    auto thr = mma.get_slice(threadIdx.x);
    Tensor gC = make_tensor(make_gmem_ptr(c + blockIdx.x * 128 * n + blockIdx.y * 128), Shape<_128, _128>{}, make_stride(n, _1{}));
    Tensor out = thr.partition_C(gC);
    Tensor sum = thr.make_fragment_C(out);
    Tensor fA = thr.make_fragment_A(thr.partition_A(sA));
    Tensor fB = thr.make_fragment_B(thr.partition_B(sB));
    clear(sum);
    for (int i = 0; i < nr; i++) {
        Barrier::wait(&full[i % STAGES], i / STAGES % 2);
        warpgroup_fence_operand(sum);
        warpgroup_arrive();
        gemm(mma, fA(_, _, _, i % STAGES), fB(_, _, _, i % STAGES), sum);
        warpgroup_commit_batch();
        warpgroup_wait<0>();
        warpgroup_fence_operand(sum);
        __syncthreads();
        if (lead && i + STAGES < nr)
            bring(i + STAGES);
    }
    copy(sum, out);
}
