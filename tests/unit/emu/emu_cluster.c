/* Clusters: special registers, shared memory of other blocks, barriers among them, and what is said
 * of those that wait for ever or leave too early. References are worked out on the host. */
#include "emu_harness.h"

enum { THREADS = 64, WORDS = 4096 };

#define HEAD(cluster)                                                                              \
    PTX_HEAD ".visible .entry k(.param .u64 p0)\n" cluster                                         \
             "\n{\n.shared .align 16 .b8 s[512];\n.shared .align 8 .b8 m[16];\n"                   \
             ".reg .b32 T, S, M, U, V, W, X, Y, R, N;\n.reg .b64 A, B, C, D;\n"                    \
             ".reg .pred P, Q;\nld.param.u64 A, [p0];\nmov.u32 T, %tid.x;\nmov.u32 S, s;\n"        \
             "mov.u32 M, m;\nmov.u32 R, %cluster_ctarank;\nmov.u32 N, %cluster_nctarank;\n"        \
             "setp.eq.u32 P, T, 0;\n"
/* The thread's own word of A: by %ctaid.x alone. */
#define OWN_WORD                                                                                   \
    "mov.u32 X, %ctaid.x;\nmad.lo.u32 X, X, 64, T;\nmul.wide.u32 B, X, 4;\nadd.u64 B, A, B;\n"
#define MEET "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"

static enum verdict run(
    const char *ptx, struct emu_launch launch, uint32_t *out, unsigned threads, char *text)
{
    struct bench b;
    uint32_t zeros[WORDS] = {0};

    bench_init(&b, ptx, threads);
    bench_buffer(&b, zeros, sizeof(zeros));
    const enum verdict v = bench_launch(&b, launch);
    bench_read(&b, 0, out, WORDS * 4);
    if (text)
        snprintf(text, sizeof(b.result.text), "%s", b.result.text);
    else if (v != VERDICT_OK)
        fail_msg("%s", b.result.text);
    bench_finish(&b);
    return v;
}

static const struct emu_launch watched = {.grid = {4, 1, 1},
    .block = {THREADS, 1, 1},
    .find_races = true,
    .find_uninit = true,
    .find_sync = true};

/* Thread 0 of each block writes what it is told of its place. Of a grid of 4 x 4 x 2 and clusters
 * of 2 x 4 x 1. */
static void places(void **state)
{
    static const char *const special[] = {"%clusterid.x", "%clusterid.y", "%clusterid.z",
        "%nclusterid.x", "%nclusterid.y", "%nclusterid.z", "%cluster_ctaid.x", "%cluster_ctaid.y",
        "%cluster_ctaid.z", "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z",
        "%cluster_ctarank", "%cluster_nctarank"};
    char ptx[8192];
    uint32_t out[WORDS];
    int n = snprintf(ptx, sizeof(ptx), "%s",
        HEAD("") "mov.u32 U, %ctaid.x;\nmov.u32 V, %ctaid.y;\nmov.u32 W, %ctaid.z;\n"
                 "mad.lo.u32 U, V, 4, U;\nmad.lo.u32 U, W, 16, U;\nmul.wide.u32 B, U, 64;\n"
                 "add.u64 B, A, B;\nmov.pred Q, %is_explicit_cluster;\nselp.u32 V, 1, 0, Q;\n"
                 "@P st.global.u32 [B+60], V;\n");
    for (unsigned i = 0; i < 14; i++)
        n += snprintf(ptx + n, sizeof(ptx) - (size_t)n,
            "mov.u32 V, %s;\n@P st.global.u32 [B+%u], V;\n", special[i], 4 * i);
    snprintf(ptx + n, sizeof(ptx) - (size_t)n, "ret;\n}\n");
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        run(ptx,
            (struct emu_launch){.grid = {4, 4, 2}, .block = {THREADS, 1, 1}, .cluster = {2, 4, 1}},
            out, threads, NULL);
        for (unsigned b = 0; b < 32; b++) {
            const uint32_t x = b % 4, y = b / 4 % 4, z = b / 16;
            const uint32_t want[16] = {
                x / 2, 0, z, 2, 1, 2, x % 2, y, 0, 2, 4, 1, x % 2 + 2 * y, 8, 0, 1};
            assert_memory_equal(out + 16 * (size_t)b, want, sizeof(want));
        }
    }
    /* no cluster is one of a single block */
    run(ptx, (struct emu_launch){.grid = {2, 1, 1}, .block = {THREADS, 1, 1}}, out, 1, NULL);
    const uint32_t alone[16] = {1, 0, 0, 2, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0};
    assert_memory_equal(out + 16, alone, sizeof(alone));
}

/* Each block reads what the next one of its cluster has, by an address of shared memory and by a
 * generic one, and adds 1000 and its own rank to a word of the first block. */
static void neighbours(void **state)
{
    static const char ptx[] = HEAD(".reqnctapercluster 4, 1, 1") OWN_WORD
        "mov.u32 U, %ctaid.x;\nmad.lo.u32 U, U, 100, T;\nshl.b32 V, T, 2;\nadd.u32 V, V, S;\n"
        "st.shared.u32 [V], U;\n@P st.shared.u32 [S+256], 0;\n" MEET
        "add.u32 W, R, 1;\nrem.u32 W, W, N;\nmapa.shared::cluster.u32 Y, V, W;\n"
        "ld.shared::cluster.u32 U, [Y];\n"
        "getctarank.shared::cluster.u32 X, Y;\nmad.lo.u32 U, X, 10000, U;\n"
        "cvt.u64.u32 C, V;\ncvta.shared.u64 C, C;\nmapa.u64 D, C, W;\nld.u32 X, [D];\n"
        "add.u32 U, U, X;\n"
        "mapa.shared::cluster.u32 Y, S, 0;\nadd.u32 X, R, 1000;\n"
        "atom.shared::cluster.add.u32 X, [Y+256], X;\n" MEET
        "ld.shared::cluster.u32 X, [Y+256];\nmad.lo.u32 U, X, 100000, U;\n"
        "st.global.u32 [B], U;\n" MEET "ret;\n}\n";
    uint32_t out[WORDS];
    struct emu_launch launch = watched;
    launch.grid[0] = 8;
    launch.count = true;
    for (unsigned threads = 1; threads <= 2; threads++) {
        run(ptx, launch, out, threads, NULL);
        for (unsigned i = 0; i < 8 * THREADS; i++) {
            const uint32_t block = i / THREADS, next = block / 4 * 4 + (block + 1) % 4,
                           value = next * 100 + i % THREADS, sum = 4000 * THREADS + 6 * THREADS;
            assert_int_equal(out[i], next % 4 * 10000 + 2 * value + sum * 100000);
        }
    }
}

/* The mbarrier of each block opens when thread 0 of the three others has arrived, and 64 words have
 * come from the block before: by st.async, and by red.async. */
static void remote_mbarriers(void **state)
{
    static const char ptx[] = HEAD(".reqnctapercluster 4, 1, 1") OWN_WORD
        "shl.b32 V, T, 2;\nadd.u32 V, V, S;\nst.shared.u32 [V+256], 7;\n"
        "@P mbarrier.init.shared::cta.b64 [M], 4;\n"
        "@P mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [M], 512;\n"
        "fence.mbarrier_init.release.cluster;\n" MEET "add.u32 W, R, 1;\nrem.u32 W, W, N;\n"
        "mapa.shared::cluster.u32 Y, V, W;\nmapa.shared::cluster.u32 X, M, W;\n"
        "mad.lo.u32 U, R, 1000, T;\n"
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [Y], U, [X];\n"
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
        "[Y+256], 5, [X];\n"
        "mov.u32 W, 0;\nNEXT:\nmapa.shared::cluster.u32 X, M, W;\n"
        "@P mbarrier.arrive.release.cluster.shared::cluster.b64 _, [X];\n"
        "add.u32 W, W, 1;\nsetp.lt.u32 Q, W, N;\n@Q bra NEXT;\n"
        "WAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 Q, [M], 0;\n"
        "@!Q bra WAIT;\n"
        "ld.shared.u32 U, [V];\nld.shared.u32 W, [V+256];\nmad.lo.u32 U, W, 10000, U;\n"
        "st.global.u32 [B], U;\nret;\n}\n";
    uint32_t out[WORDS];
    for (unsigned threads = 1; threads <= 2; threads++) {
        run(ptx, watched, out, threads, NULL);
        for (unsigned i = 0; i < 4 * THREADS; i++)
            assert_int_equal(out[i], (i / THREADS + 3) % 4 * 1000 + i % THREADS + 12 * 10000);
    }
}

/* Sides of a warp may arrive apart, and threads that have left hold nobody up. */
static void apart(void **state)
{
    static const char ptx[] = HEAD(".reqnctapercluster 2, 1, 1") OWN_WORD
        "setp.gt.u32 Q, T, 50;\n@Q exit;\n"
        "and.b32 U, T, 1;\nsetp.eq.u32 Q, U, 0;\n@Q bra EVEN;\n"
        "barrier.cluster.arrive.relaxed;\nmov.u32 U, 3;\nbarrier.cluster.wait;\nbra BOTH;\n"
        "EVEN:\nmov.u32 U, 4;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nBOTH:\n" MEET
        "st.global.u32 [B], U;\nret;\n}\n";
    uint32_t out[WORDS];
    run(ptx, watched, out, 1, NULL);
    for (unsigned i = 0; i < 4 * THREADS; i++)
        assert_int_equal(out[i], i % THREADS > 50 ? 0 : i % 2 ? 3 : 4);
}

static void faults(void **state)
{
    static const struct {
        const char *ptx, *says;
    } cases[] = {
        {HEAD(".reqnctapercluster 2, 1, 1") "setp.eq.u32 Q, R, 1;\n@Q bra OVER;\n" MEET
                                            "OVER:\nWAIT: bra WAIT;\nret;\n}\n",
            "more than"},
        {HEAD(".reqnctapercluster 2, 1, 1") "setp.eq.u32 Q, T, 1;\n@Q bra OVER;\n"
                                            "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                                            "OVER:\nbar.sync 1, 128;\nret;\n}\n",
            "waits at the barrier of its cluster, at which"},
        {HEAD("") "barrier.cluster.arrive;\nbarrier.cluster.arrive;\nret;\n}\n",
            "barrier.cluster.arrive twice without a wait between by thread (0,0,0)"},
        {HEAD("") "barrier.cluster.wait;\nret;\n}\n",
            "barrier.cluster.wait without an arrival before by thread"},
        {HEAD(".reqnctapercluster 2, 1, 1") "mapa.shared::cluster.u32 Y, S, 2;\n"
                                            "ld.shared::cluster.u32 U, [Y];\nret;\n}\n",
            "out of bounds: shared memory of block 2 of a cluster of 2 blocks"},
        {HEAD(".reqnctapercluster 2, 1, 1") "mapa.shared::cluster.u32 Y, S, 1;\n"
                                            "st.shared::cluster.u32 [Y+528], 1;\nret;\n}\n",
            "out of bounds: 4-byte write at byte 528 of 528 bytes of shared memory of block 1 of "
            "the cluster"},
        {HEAD(".reqnctapercluster 4, 4, 2") "ret;\n}\n", "clusters of 32 blocks, the limit is 16"},
        {HEAD(".reqnctapercluster 3, 1, 1") "ret;\n}\n", "no multiple of the cluster's 3"},
    };
    uint32_t out[WORDS];
    char text[512];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct emu_launch launch = {.grid = {4, 4, 2}, .block = {THREADS, 1, 1}};
        launch.step_limit = 1 << 20;
        assert_int_not_equal(run(cases[i].ptx, launch, out, 1, text), VERDICT_OK);
        if (!strstr(text, cases[i].says))
            fail_msg("case %zu: %s", i, text);
    }
}

/* A block that leaves while another may still read its memory: found when the emulator's order
 * hides it, and when it does not. A barrier, or an mbarrier at which the reader arrives after it
 * has read, holds the block. */
static void early_exit(void **state)
{
#define READ_OTHER(rank, late)                                                                     \
    "st.shared.u32 [S], 5;\n" MEET ".loc 1 20 0\nxor.b32 W, R, 1;\n"                               \
    "mapa.shared::cluster.u32 Y, S, W;\nsetp.eq.u32 Q, R, " rank ";\n" late                        \
    "@Q ld.shared::cluster.u32 U, [Y];\n"
#define LATE                                                                                       \
    "mov.u32 X, 0;\nLATE:\nadd.u32 X, X, 1;\nsetp.lt.and.u32 P, X, 9999, Q;\n@P bra LATE;\n"
    static const char first_reads[] = HEAD(".reqnctapercluster 2, 1, 1")
        READ_OTHER("0", "") ".loc 1 30 0\nret;\n}\n.file 1 \"a.cu\"\n";
    static const char second_reads[] = HEAD(".reqnctapercluster 2, 1, 1")
        READ_OTHER("1", LATE) ".loc 1 30 0\nret;\n}\n.file 1 \"a.cu\"\n";
    static const char held[] =
        HEAD(".reqnctapercluster 2, 1, 1") READ_OTHER("1", "") MEET "ret;\n}\n";
    static const char held_by_mbarrier[] =
        HEAD(".reqnctapercluster 2, 1, 1") "@P mbarrier.init.shared::cta.b64 [M], "
                                           "64;\nfence.mbarrier_init.release.cluster;\n" READ_OTHER(
                                               "1", "") "mapa.shared::cluster.u32 X, M, W;\n"
                                                        "@Q "
                                                        "mbarrier.arrive.release.cluster.shared::"
                                                        "cluster.b64 _, [X];\n@Q exit;\n"
                                                        "WAIT:\nmbarrier.try_wait.parity.acquire."
                                                        "cluster.shared::cta.b64 Q, [M], 0;\n"
                                                        "@!Q bra WAIT;\nret;\n}\n";
    uint32_t out[WORDS];
    char text[512];
    struct emu_launch launch = watched;

    launch.grid[0] = 2;
    launch.find_races = false; /* all threads of a block write the word */
    assert_int_equal(run(first_reads, launch, out, 1, text), VERDICT_FAULT);
    if (!strstr(text, "block (1,0,0) of the cluster ends (line 30), and nothing holds it until "
                      "block (0,0,0) has accessed its shared memory (line 20)"))
        fail_msg("%s", text);
    assert_int_equal(run(second_reads, launch, out, 1, text), VERDICT_FAULT);
    if (!strstr(text, "shared memory of block (0,0,0), which has ended (line 30), by thread"))
        fail_msg("%s", text);
    run(held, launch, out, 1, NULL);
    run(held_by_mbarrier, launch, out, 1, NULL);
    launch.find_uninit = launch.find_sync = false; /* such a launch may end well by luck */
    run(first_reads, launch, out, 1, NULL);
}

/* A sample takes whole clusters. */
static void sampled(void **state)
{
    static const char ptx[] = HEAD(".reqnctapercluster 4, 1, 1") OWN_WORD MEET
        "add.u32 U, R, 1;\nst.global.u32 [B], U;\nret;\n}\n";
    uint32_t out[WORDS], nr = 0;
    struct emu_launch launch = {
        .grid = {64, 1, 1}, .block = {THREADS, 1, 1}, .count = true, .sample_blocks = 16};
    run(ptx, launch, out, 1, NULL);
    for (unsigned c = 0; c < 16; c++) {
        const uint32_t ran = out[(size_t)c * 4 * THREADS];
        for (unsigned i = 0; i < 4 * THREADS; i++)
            assert_int_equal(out[c * 4 * THREADS + i], ran ? i / THREADS + 1 : 0);
        nr += ran;
    }
    assert_in_range(nr, 3, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(neighbours),
        cmocka_unit_test(remote_mbarriers), cmocka_unit_test(apart), cmocka_unit_test(faults),
        cmocka_unit_test(early_exit), cmocka_unit_test(sampled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
