/* CuTe under NVRTC as candidates get it: a WGMMA tile and a TMA load through CuTe's atoms become
 * the PTX instructions that they stand for. Skipped (77) where there is no CUTLASS. */
#include "base/clock.h"
#include "base/share.h"
#include "compile/compile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct compiler *compiler;

static const char wgmma_source[] =
    "#include <cute/tensor.hpp>\n"
    "#include <cute/atom/mma_atom.hpp>\n"
    "using namespace cute;\n"
    "\n"
    "__global__ void tile(const half_t *a, const half_t *b, float *c)\n"
    "{\n"
    "    auto layout = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64>{});\n"
    "    alignas(128) __shared__ half_t smem_a[64 * 64], smem_b[64 * 64];\n"
    "    Tensor sa = make_tensor(make_smem_ptr(smem_a), layout);\n"
    "    Tensor sb = make_tensor(make_smem_ptr(smem_b), layout);\n"
    "    for (int i = threadIdx.x; i < 64 * 64; i += 128) {\n"
    "        sa(i / 64, i % 64) = a[i];\n"
    "        sb(i / 64, i % 64) = b[i];\n"
    "    }\n"
    "    tma_store_fence(); // what follows reads shared memory as the async proxy\n"
    "    __syncthreads();\n"
    "    auto mma = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>{});\n"
    "    Tensor gc = make_tensor(make_gmem_ptr(c), Shape<_64, _64>{}, Stride<_64, _1>{});\n"
    "    auto mine = mma.get_slice(threadIdx.x);\n"
    "    Tensor ra = mine.make_fragment_A(mine.partition_A(sa));\n"
    "    Tensor rb = mine.make_fragment_B(mine.partition_B(sb));\n"
    "    Tensor pc = mine.partition_C(gc);\n"
    "    Tensor rc = mine.make_fragment_C(pc);\n"
    "    clear(rc);\n"
    "    warpgroup_fence_operand(rc);\n"
    "    warpgroup_arrive();\n"
    "    gemm(mma, ra, rb, rc);\n"
    "    warpgroup_commit_batch();\n"
    "    warpgroup_wait<0>();\n"
    "    warpgroup_fence_operand(rc);\n"
    "    copy(rc, pc);\n"
    "}\n";

static const char tma_source[] =
    "#include <cute/tensor.hpp>\n"
    "#include <cutlass/arch/barrier.h>\n"
    "using namespace cute;\n"
    "\n"
    "__global__ void load(const __grid_constant__ TmaDescriptor map, float *out)\n"
    "{\n"
    "    alignas(128) __shared__ float tile[64 * 32];\n"
    "    __shared__ uint64_t full;\n"
    "    if (threadIdx.x == 0) {\n"
    "        prefetch_tma_descriptor(&map);\n"
    "        initialize_barrier(full, 1);\n"
    "        cutlass::arch::fence_barrier_init();\n"
    "    }\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x == 0) {\n"
    "        set_barrier_transaction_bytes(full, sizeof(tile));\n"
    "        SM90_TMA_LOAD_2D::copy(&map, &full,\n"
    "            static_cast<uint64_t>(TMA::CacheHintSm90::EVICT_NORMAL), tile,\n"
    "            int(blockIdx.x) * 32, int(blockIdx.y) * 64);\n"
    "    }\n"
    "    wait_barrier(full, 0);\n"
    "    const int block = blockIdx.y * gridDim.x + blockIdx.x;\n"
    "    for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x)\n"
    "        out[block * 64 * 32 + i] = tile[i];\n"
    "}\n";

/* Without the compiler's cache; the arena holds the PTX. */
static const struct compilation *compile(
    struct arena *arena, const char *source, const char *kernel, struct compilation *out)
{
    const struct compile_input input = {
        .source = source, .name = "cute.cu", .kernels = &kernel, .nr_kernels = 1};
    const uint64_t start_ns = clock_ns();
    enum verdict verdict;
    unsigned line;
    const char *text;
    struct err err;

    if (!compile_source(compiler, &input, arena, out, &verdict, &line, &text, &err))
        fail_msg("%s", err.text);
    print_message("%s: %.1f s\n", kernel, (double)(clock_ns() - start_ns) * 1e-9);
    if (verdict != VERDICT_OK)
        fail_msg("%s\n%s", text, out->log);
    assert_int_equal(out->nr_kernels, 1);
    assert_memory_equal(out->cubin, "\177ELF", 4);
    return out;
}

static unsigned count(const char *text, const char *what)
{
    unsigned nr = 0;

    for (const char *p = text; (p = strstr(p, what)); p++)
        nr++;
    return nr;
}

static void test_wgmma(void **state)
{
    struct arena *arena = arena_create();
    struct compilation c;

    compile(arena, wgmma_source, "tile", &c);
    /* K = 64 in steps of 16. */
    assert_int_equal(count(c.ptx, "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"), 4);
    assert_true(count(c.ptx, "wgmma.fence.sync.aligned") >= 1);
    assert_true(count(c.ptx, "wgmma.commit_group.sync.aligned") >= 1);
    assert_true(count(c.ptx, "wgmma.wait_group.sync.aligned") >= 1);
    /* two tiles of 64 x 64 halves */
    assert_int_equal(c.kernels[0].smem_static_bytes, 2 * 64 * 64 * 2);
    /* 64 x 64 sums over 128 threads, in registers */
    assert_in_range(c.kernels[0].registers, 32, 255);
    assert_int_equal(c.kernels[0].spill_store_bytes, 0);
    arena_destroy(arena);
}

static void test_tma(void **state)
{
    struct arena *arena = arena_create();
    struct compilation c;

    compile(arena, tma_source, "load", &c);
    assert_int_equal(count(c.ptx, "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier"), 1);
    assert_int_equal(count(c.ptx, "prefetch.tensormap"), 1);
    assert_true(count(c.ptx, "mbarrier.try_wait") >= 1);
    assert_true(c.kernels[0].smem_static_bytes >= 64 * 32 * 4 + 8);
    arena_destroy(arena);
}

/* Headers of CUTLASS are allowed because their folder is: others are not. */
static void test_no_other_file(void **state)
{
    static const char source[] = "#include <cute/../../README.md>\n__global__ void k() {}\n";
    const char *kernel = "k", *text;
    const struct compile_input input = {
        .source = source, .name = "cute.cu", .kernels = &kernel, .nr_kernels = 1};
    struct arena *arena = arena_create();
    struct compilation out;
    enum verdict verdict;
    unsigned line;
    struct err err;

    assert_true(compile_source(compiler, &input, arena, &out, &verdict, &line, &text, &err));
    assert_int_equal(verdict, VERDICT_NO_COMPILE);
    assert_int_equal(line, 1);
    assert_non_null(strstr(text, "is not allowed"));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wgmma),
        cmocka_unit_test(test_tma),
        cmocka_unit_test(test_no_other_file),
    };
    const char *named = getenv("KEET_CUTLASS");
    char *own = named ? strdup(named) : share_find(".deps/cutlass");
    struct compiler_options options = {
        .arch = "sm_90a", .cache_dir = "", .cutlass_dir = own, .time_limit_s = 600};
    struct err err;
    int failed;

    if (!own) {
        printf("no CUTLASS: set KEET_CUTLASS, or get it by ./setup.sh --cutlass\n");
        return 77;
    }
    compiler = compiler_create(&options, &err);
    if (!compiler) {
        fprintf(stderr, "%s\n", err.text);
        free(own);
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    compiler_destroy(compiler);
    free(own);
    return failed;
}
