/* Tests of the model of time where warps and blocks wait for each other: orderings of memory,
 * mbarriers, barriers of a part of the block, clusters, products of warpgroups; and where machine
 * code must come first. Each compares two kernels that differ in one thing. */
#include "emu_harness.h"

#include "base/str.h"

#include <math.h>

enum { THREADS = 256, CLUSTER = 8 };

#define HEAD                                                                                       \
    PTX_HEAD ".visible .entry k(.param .u64 p0)\n{\n.shared .align 128 .b8 s[16384];\n"            \
             ".shared .align 8 .b8 m[16];\n.reg .b32 T, S, M, R, W, X, Y, Z;\n.reg .b64 A, X8;\n"  \
             ".reg .pred P, Q, F;\n.reg .f32 d<4>;\nld.param.u64 A, [p0];\nmov.u32 T, %tid.x;\n"   \
             "mov.u32 R, %cluster_ctarank;\nmov.u32 S, s;\nmov.u32 M, m;\nshr.u32 W, T, 5;\n"      \
             "setp.eq.u32 P, T, 0;\nsetp.lt.u32 Q, T, 128;\n"
#define TAIL "ret;\n}\n"
#define MEET "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"

/* What a launch of 128 blocks gives. */
static struct counters counters_of(const char *ptx, struct emu_launch launch)
{
    static const uint32_t zeros[64 * 8192 / 4];
    struct counters counters;
    struct bench b;

    bench_init(&b, ptx, 1);
    bench_do_not_record(&b);
    bench_buffer(&b, zeros, sizeof(zeros));
    launch.grid[0] = 128;
    launch.grid[1] = launch.grid[2] = 1;
    launch.block[0] = THREADS;
    launch.block[1] = launch.block[2] = 1;
    launch.count = launch.warm = true;
    if (bench_launch(&b, launch) != VERDICT_OK)
        fail_msg("%s", b.result.text);
    counters = b.result.counters;
    counters.lines = NULL; /* of the bench */
    counters.nr_lines = 0;
    bench_finish(&b);
    return counters;
}

/* Cycles, and why the warps stalled at barriers, per cent. */
static double cycles_of(const char *ptx, struct emu_launch launch, double *at_barriers)
{
    const struct counters counters = counters_of(ptx, launch);

    if (at_barriers)
        *at_barriers = counters_get(&counters, METRIC_STALL_BARRIER_PCT);
    return counters_get(&counters, METRIC_CYCLES);
}

static double cycles(const char *ptx)
{
    return cycles_of(ptx, (struct emu_launch){0}, NULL);
}

static double cycles_in_clusters(const char *ptx)
{
    return cycles_of(ptx, (struct emu_launch){.cluster = {CLUSTER, 1, 1}}, NULL);
}

/* Without a space the fence of proxies is a MEMBAR.GPU, too: about a thousand cycles each. */
static void a_fence_of_all_proxies_waits_for_the_chip(void **state)
{
    const double narrow = cycles(HEAD "st.shared.u32 [S], T;\nfence.proxy.async.shared::cta;\n"
                                      "fence.proxy.async.shared::cta;\n" TAIL),
                 wide = cycles(
                     HEAD "st.shared.u32 [S], T;\nfence.proxy.async;\nfence.proxy.async;\n" TAIL),
                 fence = cycles(
                     HEAD "st.shared.u32 [S], T;\nfence.acq_rel.gpu;\nfence.acq_rel.gpu;\n" TAIL),
                 block = cycles(
                     HEAD "st.shared.u32 [S], T;\nfence.acq_rel.cta;\nfence.acq_rel.cta;\n" TAIL);

    (void)state;
    assert_in_range((long)(wide - narrow), 1800, 2600);
    assert_in_range((long)(fence - block), 1800, 2600);
    assert_true(block < narrow + 200);
}

static void a_cluster_orders_memory_unless_relaxed(void **state)
{
    const double
        ordered = cycles_in_clusters(HEAD MEET TAIL),
        relaxed = cycles_in_clusters(
            HEAD "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n" TAIL);

    (void)state;
    assert_in_range((long)(ordered - relaxed), 800, 1400);
}

#define SLOW                                                                                       \
    "mov.u32 X, 0;\nLOOP:\nadd.u32 X, X, 1;\nmul.lo.u32 Y, X, Y;\nmul.lo.u32 Y, Y, Y;\n"           \
    "setp.lt.u32 F, X, 400;\n@F bra LOOP;\nst.shared.u32 [S+64], Y;\n"

/* Four warps work for a while; the four others wait for them at an mbarrier, and work then. The
 * same without waiting takes half as long. */
static void who_waits_at_an_mbarrier_comes_later(void **state)
{
#define SETUP HEAD "@P mbarrier.init.shared::cta.b64 [M], 128;\nbar.sync 0;\n"
    static const char together[] = SETUP SLOW TAIL;
    static const char after[] = SETUP
        "@Q bra WORK;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 F, [M], 0;\n@!F bra WAIT;\n"
        "WORK:\n" SLOW "@Q mbarrier.arrive.shared::cta.b64 _, [M];\n" TAIL;
    double at_barriers;
    const double short_ = cycles(together),
                 long_ = cycles_of(after, (struct emu_launch){0}, &at_barriers);

    (void)state;
    assert_true(long_ - short_ > 0.8 * (short_ - cycles(HEAD TAIL)));
    assert_true(at_barriers > 25);
}

/* The same at a named barrier: those who work arrive, and do not wait; and a barrier of half the
 * warps does not hold the other half. */
static void barriers_of_a_part_hold_that_part(void **state)
{
    static const char after[] =
        HEAD "@Q bra WORK;\nbar.sync 1, 256;\nWORK:\n" SLOW "@Q bar.arrive 1, 256;\n" TAIL;
    static const char halves[] = HEAD "@!Q bra WORK;\nbar.sync 1, 128;\nWORK:\n" SLOW
                                      "@!Q bra OUT;\nbar.sync 1, 128;\nOUT:\n" TAIL;
    const double alone = cycles(HEAD SLOW TAIL), behind = cycles(after), apart = cycles(halves),
                 work = alone - cycles(HEAD TAIL);

    (void)state;
    assert_true(behind - alone > 0.8 * work);
    assert_true(apart - alone < 0.3 * work);
}

/* Each block of a cluster sends its neighbour so many bytes by a bulk copy, and waits for those
 * that are sent to it: they leave an SM 16 a cycle. */
#define EXCHANGE(bytes)                                                                            \
    HEAD "@P mbarrier.init.shared::cta.b64 [M], 1;\n" MEET                                         \
         "add.u32 X, R, 1;\nand.b32 X, X, 7;\nmapa.shared::cluster.u32 Y, S, X;\n"                 \
         "add.u32 Y, Y, 8192;\nmapa.shared::cluster.u32 Z, M, X;\n"                                \
         "@P mbarrier.arrive.expect_tx.shared::cta.b64 _, [M], " bytes ";\n"                       \
         "@P cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [Y], "         \
         "[S], " bytes ", [Z];\n"                                                                  \
         "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 F, [M], 0;\n@!F bra WAIT;\n" MEET TAIL
static void copies_between_blocks_take_their_way(void **state)
{
    const double few = cycles_in_clusters(EXCHANGE("512")),
                 many = cycles_in_clusters(EXCHANGE("8192"));

    (void)state;
    assert_true(many - few > 0.9 * (8192 - 512) / 16);
    assert_true(many - few < 1.5 * (8192 - 512) / 16);
}

/* The blocks of a cluster get 256 KiB each, by 32 copies of the blocks that `who` names: to that
 * block alone, or to all of the cluster. Clusters read the same, or each its own. */
#define GET(who, bytes, to, mask, own)                                                             \
    HEAD "@P mbarrier.init.shared::cta.b64 [M], 1;\n" MEET                                         \
         "mov.u32 X, %clusterid.x;\nmul.wide.u32 X8, X, " own ";\nadd.u64 A, A, X8;\n"             \
         "@P mbarrier.arrive.expect_tx.shared::cta.b64 _, [M], 262144;\n" who                      \
         "and.pred Q, P, Q;\nmov.u32 X, 0;\nLOOP:\n"                                               \
         "@Q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" to                 \
         " [S], [A], " bytes ", [M]" mask ";\n"                                                    \
         "add.u32 X, X, 1;\nsetp.lt.u32 F, X, 32;\n@F bra LOOP;\n"                                 \
         "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 F, [M], 0;\n@!F bra WAIT;\n" MEET TAIL
#define EACH "setp.ge.u32 Q, R, 0;\n"
#define FIRST "setp.eq.u32 Q, R, 0;\n"
static double got_in(const char *ptx, uint32_t cluster, double *dram)
{
    const struct counters counters =
        counters_of(ptx, (struct emu_launch){.cluster = {cluster, 1, 1}});

    if (dram)
        *dram = counters_get(&counters, METRIC_DRAM_BYTES);
    return counters_get(&counters, METRIC_CYCLES);
}

/* L2 sends a multicast once, and whoever asks for it, each block has its part in that; but all of
 * it enters each SM. */
static void a_multicast_is_sent_once(void **state)
{
#define ALL_OF ".multicast::cluster"
    double once, own;
    const double alone = got_in(GET(EACH, "8192", "", "", "0"), 2, NULL),
                 first = got_in(GET(FIRST, "8192", ALL_OF, ", 3", "0"), 2, &once),
                 halves = got_in(GET(EACH, "4096", ALL_OF, ", 3", "0"), 2, NULL),
                 four = got_in(GET(FIRST, "8192", ALL_OF, ", 15", "0"), 4, NULL);
    const double port = 262144 / 64.0, share = 262144 / (9.7e12 / 1.98e9 / 128);

    (void)state;
    got_in(GET(FIRST, "8192", ALL_OF, ", 3", "8192"), 2, &own);
    assert_true(fabs(alone - first - (share - port)) < 0.1 * (share - port));
    assert_true(fabs(halves - first) < 100);
    assert_true(fabs(four - first) < 300);
    assert_true(once <= 16384); /* of the one block that is simulated, a line comes from DRAM */
    assert_true(fabs(own - 64 * 8192) < 4096);
}

/* All blocks of a cluster write 128 bytes a warp to one block after the other, in one order or each
 * beginning with its own: in one order they wait for each other. */
static void writers_to_one_block_wait_for_each_other(void **state)
{
#define TO(i)                                                                                      \
    "add.u32 Z, Y, " #i ";\nand.b32 Z, Z, 7;\nmapa.shared::cluster.u32 Z, X, Z;\n"                 \
    "st.shared::cluster.u32 [Z], T;\nst.shared::cluster.u32 [Z+1024], T;\n"                        \
    "st.shared::cluster.u32 [Z+2048], T;\nst.shared::cluster.u32 [Z+3072], T;\n"
#define ALL TO(0) TO(1) TO(2) TO(3) TO(4) TO(5) TO(6) TO(7)
    const double one = cycles_in_clusters(
                     HEAD MEET "shl.b32 X, T, 2;\nadd.u32 X, X, S;\nmov.u32 Y, 0;\n" ALL MEET TAIL),
                 own = cycles_in_clusters(
                     HEAD MEET "shl.b32 X, T, 2;\nadd.u32 X, X, S;\nmov.u32 Y, R;\n" ALL MEET TAIL);

    (void)state;
    /* 8 warps, 32 stores, 4 sectors: 1024 sectors, of 8 cycles instead of 2 */
    assert_in_range((long)(one - own), 4500, 7000);
}

/* Eight products in one group, with and without a wait after each. */
static void products_that_ptxas_separates_take_longer(void **state)
{
#define PRODUCT                                                                                    \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, A, A, 1, 1, 1, 0, 0;\n"
    static const char ptx[] =
        HEAD "mov.f32 d0, 0f00000000;\nmov.f32 d1, d0;\nmov.f32 d2, d0;\nmov.f32 d3, d0;\n"
             "shr.u32 X, S, 4;\ncvt.u64.u32 A, X;\nor.b64 A, A, 0x0000000800080000;\n"
             "st.shared.u32 [S], 0;\nwgmma.fence.sync.aligned;\n" PRODUCT PRODUCT PRODUCT PRODUCT
                 PRODUCT PRODUCT PRODUCT PRODUCT "wgmma.commit_group.sync.aligned;\n"
             "wgmma.wait_group.sync.aligned 0;\n" TAIL;
    const double group = cycles(ptx),
                 serial = cycles_of(ptx, (struct emu_launch){.serial_products = true}, NULL);

    (void)state;
    assert_true(serial > group + 8 * 20);
    assert_true(serial < group + 8 * 80);
}

/* 512 instructions one after the other against a loop of eight of them: warps issue as many, but
 * the code of the one must come, 64 lines. */
static void code_comes_first(void **state)
{
    enum { MORE = 512 };
    static char straight[64 * MORE];
    size_t len = (size_t)snprintf(straight, sizeof(straight), "%s", HEAD);
    double without, with;

    (void)state;
    for (unsigned i = 0; i < MORE; i++)
        len += (size_t)snprintf(straight + len, sizeof(straight) - len, "mul.lo.u32 X, X, T;\n");
    snprintf(straight + len, sizeof(straight) - len, "st.shared.u32 [S], X;\n" TAIL);
    without = cycles(
        HEAD "mov.u32 Y, 0;\nLOOP:\nmul.lo.u32 X, X, T;\nmul.lo.u32 X, X, T;\nmul.lo.u32 X, X, T;\n"
             "mul.lo.u32 X, X, T;\nmul.lo.u32 X, X, T;\nmul.lo.u32 X, X, T;\nmul.lo.u32 X, X, T;\n"
             "mul.lo.u32 X, X, T;\nadd.u32 Y, Y, 1;\nsetp.lt.u32 F, Y, 64;\n@F bra LOOP;\n"
             "st.shared.u32 [S], X;\n" TAIL);
    with = cycles(straight);
    assert_true(with > without + 1500);
    /* of which ptxas makes a quarter: most of the lines do not come then */
    assert_true(
        cycles_of(straight, (struct emu_launch){.machine_insts = MORE / 4}, NULL) < with - 1500);
}

/* Cycles of `nr` products m64n64k16 of bf16 a warpgroup, behind `before`; `beside` stands before
 * the wait for them. */
static double cycles_of_products(const char *before, unsigned nr, const char *beside)
{
    struct str ptx = {0};
    double found;

    str_addf(&ptx, "%s.reg .f32 e<32>;\n%swgmma.fence.sync.aligned;\n", HEAD, before);
    for (unsigned i = 0; i < nr; i++) {
        str_add(&ptx, "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {");
        for (unsigned k = 0; k < 32; k++)
            str_addf(&ptx, "%se%u", k ? ", " : "", k);
        str_add(&ptx, "}, A, A, 1, 1, 1, 0, 0;\n");
    }
    str_addf(&ptx, "wgmma.commit_group.sync.aligned;\n%swgmma.wait_group.sync.aligned 0;\n" TAIL,
        beside);
    found = cycles(ptx.text);
    str_finish(&ptx);
    return found;
}

/* On data from memory the tensor cores hold 0.86 of the rate that they have on what a kernel makes
 * itself: see chip.wgmma_share. */
static void products_of_data_take_longer(void **state)
{
    const char *zeros = "mov.u64 A, 0;\n",
               *loads = "ld.global.u32 X, [A];\nst.shared.u32 [S], X;\nmov.u64 A, 0;\n";
    const double idle = cycles_of_products(zeros, 64, "") - cycles_of_products(zeros, 32, ""),
                 busy = cycles_of_products(loads, 64, "") - cycles_of_products(loads, 32, "");

    (void)state;
    if (busy < 1.1 * idle || busy > 1.2 * idle)
        fail_msg("64 products: %g cycles of zeros, %g of data", idle, busy);
}

/* A warp hands its products over, and does other things while the tensor core makes them. */
static void a_warp_goes_on_beside_its_products(void **state)
{
    static const char zeros[] = "mov.u64 A, 0;\n";
    const double none = cycles_of_products(zeros, 1, ""),
                 products = cycles_of_products(zeros, 32, "") - none,
                 work = cycles_of_products(zeros, 1, SLOW) - none,
                 both = cycles_of_products(zeros, 32, SLOW) - none;

    (void)state;
    if (both > fmax(products, work) + 0.25 * fmin(products, work))
        fail_msg("products %g cycles, other work %g, both %g", products, work, both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fence_of_all_proxies_waits_for_the_chip),
        cmocka_unit_test(a_cluster_orders_memory_unless_relaxed),
        cmocka_unit_test(who_waits_at_an_mbarrier_comes_later),
        cmocka_unit_test(barriers_of_a_part_hold_that_part),
        cmocka_unit_test(copies_between_blocks_take_their_way),
        cmocka_unit_test(a_multicast_is_sent_once),
        cmocka_unit_test(writers_to_one_block_wait_for_each_other),
        cmocka_unit_test(products_that_ptxas_separates_take_longer),
        cmocka_unit_test(code_comes_first),
        cmocka_unit_test(products_of_data_take_longer),
        cmocka_unit_test(a_warp_goes_on_beside_its_products),
    };

    return cmocka_run_group_tests_name("time_meet", tests, NULL, NULL);
}
