/* Bulk copies between global and shared memory: what arrives, what is counted (by hand), what
 * sanitizers say, what is refused. */
#include "emu_harness.h"

enum { WORDS = 512 };

/* Thread 0 of 64 lets `bytes` come from A + from, is told by the mbarrier, and sends them to B + to
 * after all have negated them where they are. */
static void make(struct bench *b, const uint32_t *in, unsigned bytes, unsigned from, unsigned to,
    const char *wait)
{
    uint32_t zeros[WORDS] = {0};
    char ptx[8192];

    snprintf(ptx, sizeof(ptx),
        PTX_HEAD ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n"
                 ".shared .align 128 .b8 s[2048];\n.shared .align 8 .b8 m[8];\n"
                 ".reg .b32 M, S, T, V, I, N;\n.reg .b64 A, B, X;\n.reg .pred P, Q, R;\n"
                 "ld.param.u64 A, [p0];\nld.param.u64 B, [p1];\nmov.u32 M, m;\nmov.u32 S, s;\n"
                 "mov.u32 T, %%tid.x;\nmov.u32 N, %u;\nsetp.eq.u32 P, T, 0;\n"
                 "@P mbarrier.init.shared::cta.b64 [M], 1;\nbar.sync 0;\n"
                 "@P cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [S], "
                 "[A+%u], N, [M];\n"
                 "@P mbarrier.arrive.expect_tx.shared::cta.b64 X, [M], N;\n"
                 "%s"
                 "shl.b32 I, T, 2;\n"
                 "NEXT:\nsetp.ge.u32 R, I, N;\n@R bra DONE;\nadd.u32 M, S, I;\n"
                 "ld.shared.u32 V, [M];\nneg.s32 V, V;\nst.shared.u32 [M], V;\n"
                 "add.u32 I, I, 256;\nbra NEXT;\nDONE:\n"
                 "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
                 "@P cp.async.bulk.global.shared::cta.bulk_group [B+%u], [S], N;\n"
                 "@P cp.async.bulk.commit_group;\n@P cp.async.bulk.wait_group.read 0;\nret;\n}\n",
        bytes, from, wait, to);
    bench_init(b, ptx, 1);
    bench_buffer(b, in, 4 * WORDS);
    bench_buffer(b, zeros, 4 * WORDS);
}

#define WAITS                                                                                      \
    "WAIT:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 Q, [M], 0;\n@!Q bra WAIT;\n"

static const struct emu_launch all_checks = {.grid = {1, 1, 1},
    .block = {64, 1, 1},
    .count = true,
    .find_races = true,
    .find_uninit = true,
    .find_sync = true};

static void fill(uint32_t in[WORDS])
{
    for (unsigned i = 0; i < WORDS; i++)
        in[i] = 3 * i + 1;
}

/* 1040 bytes from byte 16 on lie in 33 sectors of 32 bytes, from byte 32 on in 33 too. */
static void there_and_back(void **state)
{
    uint32_t in[WORDS], out[WORDS];
    const struct counters *c;
    struct bench b;

    fill(in);
    make(&b, in, 1040, 16, 32, WAITS);
    if (bench_launch(&b, all_checks) != VERDICT_OK)
        fail_msg("%s", b.result.text);
    bench_read(&b, 1, out, sizeof(out));
    for (unsigned i = 0; i < WORDS; i++)
        assert_int_equal(out[i], i < 8 || i >= 8 + 260 ? 0 : 0u - in[i - 4]);
    c = &b.result.counters;
    assert_int_equal(c->metric[METRIC_GLOBAL_LD_REQUESTS].value, 1);
    assert_int_equal(c->metric[METRIC_GLOBAL_LD_BYTES].value, 1040);
    assert_int_equal(c->metric[METRIC_GLOBAL_LD_SECTORS].value, 33);
    assert_int_equal(c->metric[METRIC_GLOBAL_ST_BYTES].value, 1040);
    assert_int_equal(c->metric[METRIC_GLOBAL_ST_SECTORS].value, 33);
    assert_int_equal(c->metric[METRIC_GLOBAL_UNIQUE_BYTES].value, 2 * 33 * 32);
    /* 1040 bytes are 9 wavefronts of 128 each way; 260 words by 64 threads are 5 rounds, the last
     * of one warp with 4 lanes: 9 requests to read, 9 to write */
    assert_int_equal(c->metric[METRIC_SHARED_ST_WAVEFRONTS].value, 9 + 9);
    assert_int_equal(c->metric[METRIC_SHARED_LD_WAVEFRONTS].value, 9 + 9);
    bench_finish(&b);
}

static void nobody_waits(void **state)
{
    uint32_t in[WORDS];
    struct bench b;

    fill(in);
    make(&b, in, 1024, 0, 0, "");
    assert_int_equal(bench_launch(&b, all_checks), VERDICT_RACE);
    bench_finish(&b);
}

static void wrong_places(void **state)
{
    static const struct {
        unsigned bytes, from, to;
        const char *says;
    } cases[] = {
        {1024, 8, 0,
            "misaligned: bulk copy of 1024 bytes from byte 8 of A (2048 bytes) by thread "
            "(0,0,0) of block (0,0,0)"},
        {1000, 0, 0, "misaligned: bulk copy of 1000 bytes from byte 0 of A"},
        {1024, 1040, 0, "out of bounds: bulk copy of 1024 bytes from byte 1040 of A (2048 bytes)"},
        {1024, 0, 1040, "out of bounds: bulk copy of 1024 bytes to byte 1040 of B (2048 bytes)"},
        {2064, 0, 0, "out of bounds: bulk copy of 2064 bytes"},
    };
    uint32_t in[WORDS];

    fill(in);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bench b;

        make(&b, in, cases[i].bytes, cases[i].from, cases[i].to, WAITS);
        assert_int_equal(bench_run(&b, 1, 64), VERDICT_FAULT);
        if (!strstr(b.result.text, cases[i].says))
            fail_msg("case %zu: %s", i, b.result.text);
        bench_finish(&b);
    }
}

/* A bulk copy reads 16 bytes of global memory of which an ordinary store of its block wrote the
 * first four, or, `at` 16, those behind them. */
static void a_store_that_a_copy_reads(void **state)
{
    static const struct {
        const char *fence;
        unsigned at;
        bool wrong;
    } cases[] = {{"", 0, true}, {"", 16, false}, {"fence.proxy.async;\n", 0, false},
        {"fence.proxy.async.global;\n", 0, false}, {"fence.proxy.async.shared::cta;\n", 0, true},
        {"fence.proxy.alias;\n", 0, true}, {"fence.acq_rel.gpu;\n", 0, true}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct emu_launch l = {.grid = {2, 1, 1}, .block = {1, 1, 1}, .find_sync = true};
        uint32_t zeros[16] = {0};
        char ptx[4096];
        struct bench b;

        snprintf(ptx, sizeof(ptx),
            PTX_HEAD ".visible .entry k(.param .u64 p0)\n{\n.shared .align 16 .b8 s[32];\n"
                     ".reg .b32 M, S, T;\n.reg .b64 A, X;\n.reg .pred Q;\nmov.u32 M, s;\n"
                     "add.u32 S, M, 16;\nld.param.u64 A, [p0];\nmov.u32 T, %%ctaid.x;\n"
                     "mul.wide.u32 X, T, 32;\nadd.u64 A, A, X;\n"
                     "mbarrier.init.shared::cta.b64 [M], 1;\nst.global.u32 [A+%u], T;\n%s"
                     "mbarrier.arrive.expect_tx.shared::cta.b64 X, [M], 16;\n"
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [S], "
                     "[A], 16, [M];\n"
                     "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 Q, [M], 0;\n"
                     "@!Q bra WAIT;\nret;\n}\n",
            cases[i].at, cases[i].fence);
        bench_init(&b, ptx, 1);
        bench_buffer(&b, zeros, sizeof(zeros));
        const enum verdict v = bench_launch(&b, l);
        if (v != (cases[i].wrong ? VERDICT_RACE : VERDICT_OK) ||
            (cases[i].wrong &&
                !strstr(b.result.text, "read of global memory by an asynchronous unit")))
            fail_msg("case %zu: verdict %d: %s", i, v, b.result.text);
        bench_finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_and_back),
        cmocka_unit_test(nobody_waits), cmocka_unit_test(wrong_places),
        cmocka_unit_test(a_store_that_a_copy_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
