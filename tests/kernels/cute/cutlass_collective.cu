// C = A B^T by a collective of CUTLASS 3: a warp that copies, tiles of B for both blocks of a cluster, a warpgroup that multiplies.
// The collective finds its tensor maps in its parameters; these are the kernel's own, one after the other: a map, and its strides,
// which are of the type and have no bytes that count.
#pragma keet size   M = 512, N = 256, K = 512
#pragma keet check  M = 256, N = 128, K = 384
#pragma keet in     A : bf16[M][K]
#pragma keet in     B : bf16[N][K]
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet launch gemm<<<dim3(M/128, N/128), 256, 140000>>>(tensor_map(A, box(64, 128, 1), size(K, M, 1), stride(K, M*K), swizzle(128)), {0 : i64, 0 : i64, 0 : i64, 0 : i64, 0 : i64, 0 : i64, 0 : i64, 0 : i64}, tensor_map(B, box(64, 64, 1), size(K, N, 1), stride(K, N*K), swizzle(128)), C, M, N, K) cluster(2, 1, 1)
#include <cute/tensor.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/dispatch_policy.hpp>
#include <cutlass/pipeline/pipeline.hpp>
using namespace cute;

typedef Shape<_128, _128, _64> BlockShape;
typedef Shape<_2, _1, _1> ClusterShape;
typedef cutlass::gemm::collective::CollectiveBuilder<cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, cutlass::bfloat16_t,
    cutlass::layout::RowMajor, 8, cutlass::bfloat16_t, cutlass::layout::ColumnMajor, 8, float, BlockShape, ClusterShape,
    cutlass::gemm::collective::StageCount<4>, cutlass::gemm::KernelTmaWarpSpecialized>::CollectiveOp Mainloop;
typedef Mainloop::MainloopPipeline Pipeline;

struct Smem {
    Mainloop::TensorStorage tensors;
    Pipeline::SharedStorage pipeline;
};

struct Strides {
    long none[8];
};
static_assert(sizeof(Mainloop::Params::TMA_A) == sizeof(TmaDescriptor) + sizeof(Strides), "the parameters have the map of B where the kernel has it");

__global__ void gemm(const __grid_constant__ TmaDescriptor a, const __grid_constant__ Strides of_a, const __grid_constant__ TmaDescriptor b,
    float *c, int m, int n, int k)
{
    extern __shared__ __align__(1024) char bytes[];
    Smem &smem = *reinterpret_cast<Smem *>(bytes);
    const Mainloop::Params &params = *reinterpret_cast<const Mainloop::Params *>(&a);
    const int group = cutlass::canonical_warp_group_idx(), warp = cutlass::canonical_warp_idx_sync(), thread = threadIdx.x % 128;
    const bool produces = group == 0;

    Pipeline::Params how;
    how.role = produces ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
    how.is_leader = thread == 0;
    how.num_consumers = 128;
    how.transaction_bytes = Mainloop::TmaTransactionBytes;
    Pipeline pipeline(smem.pipeline, how, ClusterShape{});
    cluster_sync();

    Mainloop mainloop;
    auto mnkl = make_shape(m, n, k, 1);
    auto inputs = mainloop.load_init(mnkl, params);
    auto tiles = size<3>(get<0>(inputs));
    auto block = make_coord(int(blockIdx.x), int(blockIdx.y), _, 0);
    if (produces) {
        if (warp == 0) {
            auto state = cutlass::make_producer_start_state<Pipeline>();
            mainloop.load(params, pipeline, state, inputs, block, make_coord_iterator(shape<3>(get<0>(inputs))), tiles,
                cutlass::canonical_lane_idx(), block_rank_in_cluster(), smem.tensors);
            state.advance(tiles);
            mainloop.load_tail(pipeline, state);
        }
        return;
    }
    Mainloop::TiledMma mma;
    Mainloop::PipelineState state;
    Tensor sum = partition_fragment_C(mma, Shape<_128, _128>{});
    mainloop.mma(pipeline, state, sum, tiles, thread, smem.tensors, params);
    mainloop.mma_tail(pipeline, state, tiles);
    Tensor out = make_tensor(make_gmem_ptr(c + (blockIdx.x * 128) * n + blockIdx.y * 128), Shape<_128, _128>{}, make_stride(n, _1{}));
    copy(sum, mma.get_slice(thread).partition_C(out));
}
