/* mbarriers: phases, counts, bytes, states and parities against what the manual says of them, one
 * thread at a time; and what becomes of those for whom nobody comes. */
#include "emu_harness.h"

/* One thread of 64 does `text` with mbarriers at [M] and [M+8]; its results R0 ... R7 are words of
 * buffer A. The others wait at the end. */
static void run_steps(const char *text, uint32_t out[8], enum verdict want, const char *says)
{
    char ptx[8192];
    struct bench b;
    int n = snprintf(ptx, sizeof(ptx),
        PTX_HEAD ".visible .entry k(.param .u64 p0)\n{\n.shared .align 8 .b8 m[64];\n"
                 ".reg .b32 M, N, T, R<8>;\n.reg .b64 A, S<8>;\n.reg .pred P, Q<8>;\n"
                 "ld.param.u64 A, [p0];\nmov.u32 M, m;\nmov.u32 T, %%tid.x;\n"
                 "setp.ne.u32 P, T, 0;\n@P bra END;\n");
    for (unsigned i = 0; i < 8; i++)
        n += snprintf(ptx + n, sizeof(ptx) - (size_t)n, "mov.u32 R%u, 0;\n", i);
    n += snprintf(ptx + n, sizeof(ptx) - (size_t)n, "%s", text);
    for (unsigned i = 0; i < 8; i++)
        n += snprintf(ptx + n, sizeof(ptx) - (size_t)n, "st.global.u32 [A+%u], R%u;\n", 4 * i, i);
    snprintf(ptx + n, sizeof(ptx) - (size_t)n, "END:\nret;\n}\n");
    bench_init(&b, ptx, 1);
    memset(out, 0xff, 32);
    bench_buffer(&b, out, 32);
    const enum verdict v = bench_run(&b, 1, 64);
    if (v != want || (says && !strstr(b.result.text, says)))
        fail_msg("verdict %d: %s", v, b.result.text);
    bench_read(&b, 0, out, 32);
    bench_finish(&b);
}

static void phases_and_counts(void **state)
{
    uint32_t out[8];
    (void)state;
    run_steps("mbarrier.init.shared::cta.b64 [M], 3;\n"
              "mbarrier.arrive.shared.b64 S0, [M];\n"
              "mbarrier.pending_count.b64 R0, S0;\n"
              "mbarrier.arrive.shared.b64 S1, [M];\n"
              "mbarrier.pending_count.b64 R1, S1;\n"
              "mbarrier.test_wait.shared.b64 Q0, [M], S1;\nselp.u32 R2, 1, 0, Q0;\n"
              "mbarrier.arrive.release.cta.shared.b64 S2, [M];\n"
              "mbarrier.test_wait.acquire.cta.shared.b64 Q1, [M], S1;\nselp.u32 R3, 1, 0, Q1;\n"
              "mbarrier.arrive.noComplete.shared.b64 S3, [M], 2;\n"
              "mbarrier.pending_count.b64 R4, S3;\n"
              "mbarrier.test_wait.shared.b64 Q2, [M], S3;\nselp.u32 R5, 1, 0, Q2;\n"
              "mbarrier.try_wait.parity.shared.b64 Q3, [M], 0;\nselp.u32 R6, 1, 0, Q3;\n"
              "mbarrier.try_wait.parity.shared.b64 Q4, [M], 1, 100;\nselp.u32 R7, 1, 0, Q4;\n",
        out, VERDICT_OK, NULL);
    const uint32_t want[8] = {3, 2, 0, 1, 3, 0, 1, 0};
    assert_memory_equal(out, want, sizeof(want));
}

/* Each drop leaves one arrival less to the next phases. */
static void dropped_arrivals(void **state)
{
    uint32_t out[8];
    (void)state;
    run_steps("mbarrier.init.shared.b64 [M], 3;\n"
              "mbarrier.arrive_drop.shared.b64 S0, [M];\n"
              "mbarrier.arrive.shared.b64 S1, [M], 2;\n"
              "mbarrier.test_wait.shared.b64 Q0, [M], S0;\nselp.u32 R0, 1, 0, Q0;\n"
              "mbarrier.arrive.shared.b64 S2, [M];\nmbarrier.pending_count.b64 R1, S2;\n"
              "mbarrier.arrive.shared.b64 S3, [M];\nmbarrier.pending_count.b64 R2, S3;\n"
              "mbarrier.test_wait.parity.shared.b64 Q1, [M], 1;\nselp.u32 R3, 1, 0, Q1;\n",
        out, VERDICT_OK, NULL);
    const uint32_t want[4] = {1, 2, 1, 1};
    assert_memory_equal(out, want, sizeof(want));
}

/* A phase ends when all have arrived and all bytes have. */
static void bytes_of_copies(void **state)
{
    uint32_t out[8];
    (void)state;
    run_steps("mbarrier.init.shared.b64 [M+8], 1;\n"
              "mbarrier.arrive.expect_tx.shared.b64 S0, [M+8], 48;\n"
              "mbarrier.test_wait.shared.b64 Q0, [M+8], S0;\nselp.u32 R0, 1, 0, Q0;\n"
              "mbarrier.complete_tx.shared::cluster.b64 [M+8], 16;\n"
              "mbarrier.expect_tx.relaxed.cta.shared.b64 [M+8], 4;\n"
              "mbarrier.complete_tx.shared::cluster.b64 [M+8], 32;\n"
              "mbarrier.test_wait.shared.b64 Q1, [M+8], S0;\nselp.u32 R1, 1, 0, Q1;\n"
              "mbarrier.complete_tx.shared::cluster.b64 [M+8], 4;\n"
              "mbarrier.test_wait.shared.b64 Q2, [M+8], S0;\nselp.u32 R2, 1, 0, Q2;\n"
              /* of copies that are done: one more, which has come; or one of those expected */
              "cp.async.mbarrier.arrive.shared.b64 [M+8];\n"
              "mbarrier.test_wait.parity.shared.b64 Q3, [M+8], 1;\nselp.u32 R3, 1, 0, Q3;\n"
              "cp.async.mbarrier.arrive.noinc.shared.b64 [M+8];\n"
              "mbarrier.test_wait.parity.shared.b64 Q4, [M+8], 1;\nselp.u32 R4, 1, 0, Q4;\n"
              /* by a generic address; and thrown away */
              "cvt.u64.u32 S1, M;\ncvta.shared.u64 S1, S1;\nmbarrier.init.b64 [S1], 1;\n"
              "mbarrier.arrive.b64 _, [S1];\n"
              "mbarrier.test_wait.parity.b64 Q5, [S1], 0;\nselp.u32 R5, 1, 0, Q5;\n"
              "mbarrier.inval.shared.b64 [M];\nld.shared.u32 R6, [M];\n",
        out, VERDICT_OK, NULL);
    const uint32_t want[7] = {0, 0, 1, 0, 1, 1, 0};
    assert_memory_equal(out, want, sizeof(want));
}

static void misuse(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {{"mbarrier.arrive.shared.b64 S0, [M];\n", "before it was initialised"},
        {"mbarrier.init.shared.b64 [M], 0;\n", "mbarrier for 0 arrivals"},
        {"mbarrier.init.shared.b64 [M+4], 1;\n", "misaligned"},
        {"mbarrier.init.shared.b64 [M+4096], 1;\n", "outside the"},
        {"mbarrier.init.shared.b64 [M], 2;\nmbarrier.arrive.shared.b64 S0, [M], 3;\n",
            "3 arrivals, but only 2"},
        {"mbarrier.init.shared.b64 [M], 1;\nmbarrier.arrive.noComplete.shared.b64 S0, [M], 1;\n",
            ".noComplete"},
        {"mbarrier.init.shared.b64 [M], 1;\nmbarrier.inval.shared.b64 [M];\n"
         "mbarrier.arrive.shared.b64 S0, [M];\n",
            "before it was initialised"}};
    uint32_t out[8];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        run_steps(cases[i].text, out, VERDICT_FAULT, cases[i].says);
}

/* 128 threads arrive at a barrier for `count`, all or all but those of warp 1, and wait for it in a
 * loop, by state or by parity; lanes of a warp that arrive late, `late`, come after their warp's
 * others have begun to wait. */
static enum verdict meet(unsigned count, const char *guard, const char *wait, struct bench *b)
{
    char ptx[4096];
    uint32_t zero[128] = {0};
    snprintf(ptx, sizeof(ptx),
        PTX_HEAD ".visible .entry k(.param .u64 p0)\n{\n.shared .align 8 .b8 m[8];\n"
                 ".reg .b32 M, T, W;\n.reg .b64 A, S;\n.reg .pred P, Q;\n"
                 "ld.param.u64 A, [p0];\nmov.u32 M, m;\nmov.u32 T, %%tid.x;\nshr.u32 W, T, 5;\n"
                 "mad.wide.u32 A, T, 4, A;\nsetp.ne.u32 P, T, 0;\n@P bra READY;\n"
                 "mbarrier.init.shared.b64 [M], %u;\nREADY:\nbar.sync 0;\n"
                 "%s\n@P bra WAIT;\nmbarrier.arrive.shared.b64 S, [M];\nWAIT:\n%s\n@!Q bra WAIT;\n"
                 "st.global.u32 [A], 1;\nret;\n}\n",
        count, guard, wait);
    bench_init(b, ptx, 1);
    bench_buffer(b, zero, sizeof(zero));
    return bench_run(b, 1, 128);
}

static void all_meet(void **state)
{
    static const char *const waits[] = {"mbarrier.try_wait.parity.shared.b64 Q, [M], 0;",
        "mbarrier.test_wait.parity.shared.b64 Q, [M], 0;"};
    static const char *const guards[] = {"setp.ne.u32 P, T, T;",
        /* three lanes wait, the fourth arrives for them */
        "and.b32 W, T, 3;\nsetp.ne.u32 P, W, 0;"};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t out[128];
        struct bench b;
        if (meet(i & 2 ? 32 : 128, guards[i / 2], waits[i % 2], &b) != VERDICT_OK)
            fail_msg("%s", b.result.text);
        bench_read(&b, 0, out, sizeof(out));
        for (unsigned t = 0; t < 128; t++)
            assert_int_equal(out[t], 1);
        bench_finish(&b);
    }
}

static void somebody_never_comes(void **state)
{
    static const char *const waits[] = {"mbarrier.try_wait.parity.shared.b64 Q, [M], 0;",
        "mbarrier.test_wait.parity.shared.b64 Q, [M], 0;"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bench b;
        assert_int_equal(meet(129, "setp.ne.u32 P, T, T;", waits[i], &b), VERDICT_FAULT);
        assert_non_null(strstr(b.result.text, "deadlock"));
        assert_non_null(strstr(b.result.text, "1 of 129 arrivals"));
        bench_finish(&b);
        assert_int_equal(meet(128, "setp.eq.u32 P, W, 1;", waits[i], &b), VERDICT_FAULT);
        assert_non_null(strstr(b.result.text, "32 of 128 arrivals"));
        bench_finish(&b);
    }
}

/* One warp writes, another reads after waiting: no race; and one without the wait. */
static void order_through_an_mbarrier(void **state)
{
    (void)state;
    for (unsigned waits = 0; waits < 2; waits++) {
        char ptx[4096];
        uint32_t zero[64] = {0};
        struct bench b;
        snprintf(ptx, sizeof(ptx),
            PTX_HEAD ".visible .entry k(.param .u64 p0)\n{\n.shared .align 8 .b8 m[8];\n"
                     ".shared .align 4 .b8 s[128];\n.reg .b32 M, T, V, B;\n.reg .b64 A, S;\n"
                     ".reg .pred P, Q;\nld.param.u64 A, [p0];\nmov.u32 M, m;\nmov.u32 T, %%tid.x;\n"
                     "setp.ne.u32 P, T, 0;\n@P bra READY;\nmbarrier.init.shared.b64 [M], 32;\n"
                     "READY:\nbar.sync 0;\nmad.wide.u32 A, T, 4, A;\nmov.u32 B, s;\n"
                     "and.b32 V, T, 31;\nmad.lo.u32 B, V, 4, B;\nsetp.ge.u32 P, T, 32;\n"
                     "@P bra READER;\nst.shared.u32 [B], 7;\nmbarrier.arrive.shared.b64 S, [M];\n"
                     "ret;\nREADER:\n%s"
                     "ld.shared.u32 V, [B];\nst.global.u32 [A], V;\nret;\n}\n",
            waits ? "WAIT:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 Q, [M], 0;\n"
                    "@!Q bra WAIT;\n"
                  : "");
        bench_init(&b, ptx, 1);
        bench_buffer(&b, zero, sizeof(zero));
        struct emu_launch launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .find_races = true};
        assert_int_equal(bench_launch(&b, launch), waits ? VERDICT_OK : VERDICT_RACE);
        bench_finish(&b);
    }
}

/* One thread waits at one place for the same phase again, after an arrival for the next one.
 * Without that arrival it does no harm. */
static void a_phase_waited_for_twice(void **state)
{
    (void)state;
    for (unsigned arrives = 0; arrives < 2; arrives++) {
        struct bench b;
        char ptx[2048];
        snprintf(ptx, sizeof(ptx),
            PTX_HEAD ".visible .entry k(.param .u64 p0)\n{\n.shared .align 16 .b8 s[64];\n"
                     ".reg .b32 M, S, T;\n.reg .b64 A;\n.reg .pred P, Q;\nmov.u32 M, s;\n"
                     "add.u32 S, M, 16;\nld.param.u64 A, [p0];\nsetp.eq.u64 P, A, 0;\n"
                     "@P cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [S], "
                     "[A], 16, [M];\n"
                     "mbarrier.init.shared::cta.b64 [M], 2;\n"
                     "mbarrier.arrive.shared::cta.b64 _, [M];\n"
                     "mbarrier.arrive.shared::cta.b64 _, [M];\nmov.u32 T, 0;\n"
                     "NEXT:\nmbarrier.try_wait.parity.shared::cta.b64 Q, [M], 0;\n%s"
                     "add.u32 T, T, 1;\nsetp.lt.u32 Q, T, 2;\n@Q bra NEXT;\nret;\n}\n",
            arrives ? "setp.eq.u32 P, T, 0;\n@P mbarrier.arrive.shared::cta.b64 _, [M];\n" : "");
        bench_init(&b, ptx, 1);
        uint32_t zero[4] = {0};
        bench_buffer(&b, zero, sizeof(zero));
        const struct emu_launch l = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .find_sync = true};
        const enum verdict v = bench_launch(&b, l);
        if (v != (arrives ? VERDICT_RACE : VERDICT_OK) ||
            (arrives &&
                !strstr(b.result.text,
                    "waited for that phase before as well, and an arrival for the next phase")))
            fail_msg("verdict %d: %s", v, b.result.text);
        bench_finish(&b);
    }
}

/* Three warpgroups of a block that was launched with so many registers a thread: the first gives
 * some back, the others ask for more, and all store 1. bound: the kernel's directive. */
static enum verdict registers_move(
    unsigned least, unsigned most, unsigned registers, const char *bound, struct bench *b)
{
    char ptx[4096];
    uint32_t zero[384] = {0};
    snprintf(ptx, sizeof(ptx),
        PTX_HEAD
        ".visible .entry k(.param .u64 p0) %s\n{\n.reg .b32 T;\n.reg .b64 A;\n.reg .pred P;\n"
        "ld.param.u64 A, [p0];\nmov.u32 T, %%tid.x;\nmad.wide.u32 A, T, 4, A;\n"
        "setp.ge.u32 P, T, 128;\n@P bra MORE;\nsetmaxnreg.dec.sync.aligned.u32 %u;\nbra END;\n"
        "MORE:\nsetmaxnreg.inc.sync.aligned.u32 %u;\nEND:\nst.global.u32 [A], 1;\nbar.sync "
        "0;\nret;\n}\n",
        bound, least, most);
    bench_init(b, ptx, 1);
    bench_buffer(b, zero, sizeof(zero));
    return bench_launch(
        b, (struct emu_launch){
               .grid = {2, 1, 1}, .block = {384, 1, 1}, .registers = registers, .count = true});
}

static void registers_come_from_a_pool(void **state)
{
    static const char bound[] = ".maxntid 384, 1, 1";
    static const struct {
        unsigned least, most, registers;
        const char *bound, *text;                                     /* NULL: right */
    } cases[] = {{40, 232, 168, bound, NULL},                         /* 40 + 2 * 232 = 3 * 168 */
        {40, 232, 162, bound, NULL},                                  /* allocated in eights: 168 */
        {40, 240, 168, bound, "deadlock"}, {40, 232, 0, bound, NULL}, /* not known: not looked at */
        {40, 240, 168, "", NULL},                                     /* ptxas leaves it out */
        {176, 232, 168, bound,
            "setmaxnreg.dec to 176 registers where warp 0 of block (0,0,0) has 168"},
        {40, 160, 168, bound, "setmaxnreg.inc to 160 registers where warp 4"}};
    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t out[384];
        struct bench b;
        const enum verdict verdict =
            registers_move(cases[i].least, cases[i].most, cases[i].registers, cases[i].bound, &b);
        if (cases[i].text) {
            assert_int_equal(verdict, VERDICT_FAULT);
            if (!strstr(b.result.text, cases[i].text))
                fail_msg("%s", b.result.text);
        } else {
            if (verdict != VERDICT_OK)
                fail_msg("%s", b.result.text);
            bench_read(&b, 0, out, sizeof(out));
            for (unsigned t = 0; t < 384; t++)
                assert_int_equal(out[t], 1);
        }
        bench_finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_phase_waited_for_twice),
        cmocka_unit_test(phases_and_counts), cmocka_unit_test(dropped_arrivals),
        cmocka_unit_test(bytes_of_copies), cmocka_unit_test(misuse), cmocka_unit_test(all_meet),
        cmocka_unit_test(somebody_never_comes), cmocka_unit_test(registers_come_from_a_pool),
        cmocka_unit_test(order_through_an_mbarrier)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
