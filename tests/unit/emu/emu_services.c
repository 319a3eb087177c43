/* Owns the tests of what device code calls the system for: printf, assert, malloc and free; and of
 * launches that list all that is wrong. */
#include "emu_harness.h"

/* What nvcc makes of printf("<...>", ...), with a buffer of 64 bytes at %rd3 (local: %rd2) */
#define EXTERNS                                                                                    \
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"                       \
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"                                       \
    ".extern .func free(.param .b64 p);\n"                                                         \
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "      \
    ".param .b64 e);\n"
#define START                                                                                      \
    ".visible .entry k(.param .u64 p0)\n{\n.local .align 8 .b8 depot[64];\n"                       \
    ".reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.reg .f64 %fd<4>;\n.reg .pred %p<8>;\n"                \
    "ld.param.u64 %rd1, [p0];\nmov.u64 %rd2, depot;\ncvta.local.u64 %rd3, %rd2;\n"                 \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
#define PRINT(format)                                                                              \
    "mov.u64 %rd4, " format ";\ncvta.global.u64 %rd5, %rd4;\n{\n"                                  \
    ".param .b64 param0;\nst.param.b64 [param0+0], %rd5;\n"                                        \
    ".param .b64 param1;\nst.param.b64 [param1+0], %rd3;\n.param .b32 retval0;\n"                  \
    "call.uni (retval0), vprintf, (param0, param1);\nld.param.b32 %r9, [retval0+0];\n}\n"
#define MALLOC(bytes, to)                                                                          \
    "{\n.param .b64 param0;\nst.param.b64 [param0+0], " bytes ";\n.param .b64 retval0;\n"          \
    "call.uni (retval0), malloc, (param0);\nld.param.b64 " to ", [retval0+0];\n}\n"
#define FREE(what)                                                                                 \
    "{\n.param .b64 param0;\nst.param.b64 [param0+0], " what ";\ncall.uni free, (param0);\n}\n"
#define LINE(n) ".loc 1 " #n " 1\n"
#define END "ret;\n}\n.file 1 \"kernel.cu\"\n"

static void start(struct bench *b, const char *ptx, unsigned threads)
{
    static const uint32_t zero[1024];
    bench_init(b, ptx, threads);
    bench_buffer(b, zero, sizeof(zero));
}

static void add_string(char *ptx, size_t room, const char *name, const char *text)
{
    size_t n = strlen(ptx);
    n += (size_t)snprintf(
        ptx + n, room - n, ".global .align 1 .b8 %s[%zu] = {", name, strlen(text) + 1);
    for (size_t i = 0; i <= strlen(text); i++)
        n += (size_t)snprintf(ptx + n, room - n, "%s%d", i ? ", " : "", text[i]);
    snprintf(ptx + n, room - n, "};\n");
}

/* Against the C library's own printf on the same values. */
static void printf_formats_as_in_c(void **state)
{
    static const char format[] = "%d|%5u|%-6x|%08.3f|%e|%s|%c|%lld|%%|%*d|%llx\n";
    char ptx[8192] = PTX_HEAD EXTERNS, want[400];
    struct bench b;
    (void)state;
    add_string(ptx, sizeof(ptx), "fmt", format);
    add_string(ptx, sizeof(ptx), "word", "a word");
    snprintf(ptx + strlen(ptx), sizeof(ptx) - strlen(ptx), "%s",
        ".visible .entry k(.param .u64 p0)\n{\n.local .align 8 .b8 depot[96];\n"
        ".reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n"
        "mov.u64 %rd2, depot;\ncvta.local.u64 %rd3, %rd2;\nld.param.u64 %rd1, [p0];\n"
        "st.local.u32 [%rd2], -7;\nst.local.u32 [%rd2+4], 42;\nst.local.u32 [%rd2+8], 48879;\n"
        "st.local.f64 [%rd2+16], 0d400921FB54442D18;\nst.local.f64 [%rd2+24], "
        "0dC0FE240CA4588E5E;\n"
        "mov.u64 %rd6, word;\ncvta.global.u64 %rd7, %rd6;\nst.local.u64 [%rd2+32], %rd7;\n"
        "st.local.u32 [%rd2+40], 90;\nst.local.u64 [%rd2+48], -1234567890123;\n"
        "st.local.u32 [%rd2+56], 7;\nst.local.u32 [%rd2+60], 99;\n"
        "st.local.u64 [%rd2+64], 1311768467463790320;\n" PRINT(
            "fmt") "st.global.u32 [%rd1], %r9;\n" END);
    double big;
    uint64_t bits = UINT64_C(0xC0FE240CA4588E5E);
    memcpy(&big, &bits, 8);
    snprintf(want, sizeof(want), "%d|%5u|%-6x|%08.3f|%e|%s|%c|%lld|%%|%*d|%llx\n", -7, 42u, 48879u,
        3.141592653589793, big, "a word", 'Z', -1234567890123LL, 7, 99, 1311768467463790320ULL);
    start(&b, ptx, 1);
    assert_int_equal(bench_run(&b, 1, 1), VERDICT_OK);
    assert_string_equal(b.result.printed, want);
    uint32_t nr;
    bench_read(&b, 0, &nr, 4);
    assert_int_equal(nr, 11); /* arguments, the * included */
    bench_finish(&b);
}

static void prints_come_in_order_of_blocks_and_are_cut(void **state)
{
    char ptx[8192] = PTX_HEAD EXTERNS, want[4096] = "";
    (void)state;
    add_string(ptx, sizeof(ptx), "fmt", "%d.%d ");
    strcat(ptx, START "st.local.u32 [%rd2], %r2;\nst.local.u32 [%rd2+4], %r1;\n" PRINT("fmt") END);
    for (int i = 0; i < 24; i++)
        snprintf(want + strlen(want), sizeof(want) - strlen(want), "%d.%d ", i / 2, i % 2);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct bench b;
        start(&b, ptx, threads);
        assert_int_equal(bench_run(&b, 12, 2), VERDICT_OK);
        assert_string_equal(b.result.printed, want);
        assert_false(b.result.print_cut);
        assert_int_equal(bench_run(&b, 4096, 32), VERDICT_OK);
        assert_true(b.result.print_cut);
        assert_true(strlen(b.result.printed) >= EMU_PRINT_BYTES);
        assert_true(strlen(b.result.printed) < EMU_PRINT_BYTES + 100);
        bench_finish(&b);
    }
}

static void assertions_say_what_failed(void **state)
{
    char ptx[8192] = PTX_HEAD EXTERNS;
    struct bench b;
    (void)state;
    add_string(ptx, sizeof(ptx), "msg", "n < 3");
    strcat(ptx, START "setp.ne.u32 %p1, %r1, 5;\n@%p1 bra OUT;\nmov.u64 %rd4, msg;\n" LINE(
                    9) "{\n.param .b64 param0;\nst.param.b64 [param0+0], %rd4;\n"
                       ".param .b64 param1;\nst.param.b64 [param1+0], %rd4;\n"
                       ".param .b32 param2;\nst.param.b32 [param2+0], 9;\n"
                       ".param .b64 param3;\nst.param.b64 [param3+0], %rd4;\n"
                       ".param .b64 param4;\nst.param.b64 [param4+0], 1;\n"
                       "call.uni __assertfail, (param0, param1, param2, param3, param4);\n}\n"
                       "OUT:\n" END);
    start(&b, ptx, 1);
    assert_int_equal(bench_run(&b, 2, 32), VERDICT_FAULT);
    assert_int_equal(b.result.line, 9);
    assert_string_equal(
        b.result.text, "assertion failed: n < 3 (line 9) by thread (5,0,0) of block (0,0,0)");
    bench_finish(&b);
}

#define WITH_HEAP PTX_HEAD EXTERNS START

static void memory_from_malloc_is_watched_like_any(void **state)
{
    static const struct {
        const char *body, *text;
        unsigned line;
    } cases[] = {
        {MALLOC("16", "%rd6") "st.u32 [%rd6+12], 5;\nld.u32 %r3, [%rd6+12];\n" FREE("%rd6"), NULL,
            0},
        {LINE(4) MALLOC("16", "%rd6") LINE(5) "st.u32 [%rd6+16], 5;\n",
            "4-byte write 0 bytes past the end of malloc of line 4 (16 bytes)", 5},
        {LINE(4) MALLOC("16", "%rd6") LINE(5) "ld.u32 %r3, [%rd6];\nst.global.u32 [%rd1], %r3;\n",
            "uninitialised: read of byte 0 of malloc of line 4", 5},
        {MALLOC("16", "%rd6") FREE("%rd6") LINE(6) "st.u32 [%rd6], 5;\n", "use after free", 6},
        {MALLOC("16", "%rd6") FREE("%rd6") LINE(7) FREE("%rd6"), "free already", 7},
        {LINE(8) FREE("%rd1"), "which malloc did not give", 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char ptx[4096];
        struct bench b;
        snprintf(ptx, sizeof(ptx), "%s%s%s", WITH_HEAP, cases[i].body, END);
        start(&b, ptx, 2);
        struct emu_launch launch = {.grid = {3, 1, 1}, .block = {2, 1, 1}, .find_uninit = true};
        enum verdict v = bench_launch(&b, launch);
        if (cases[i].text && (v != VERDICT_FAULT || b.result.line != cases[i].line ||
                                 !strstr(b.result.text, cases[i].text)))
            fail_msg("verdict %d, line %u: %s", v, b.result.line, b.result.text);
        if (!cases[i].text && v != VERDICT_OK)
            fail_msg("%s", b.result.text);
        bench_finish(&b);
    }
}

static void leaks_and_the_end_of_the_heap(void **state)
{
    struct bench b;
    (void)state;
    /* 6 threads take 100 bytes each; those of odd number give them back */
    start(&b,
        WITH_HEAP LINE(4) MALLOC("100", "%rd6") "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 0;\n"
                                                "@%p1 bra OUT;\n" FREE("%rd6") "OUT:\n" END,
        2);
    struct emu_launch launch = {
        .grid = {3, 1, 1}, .block = {2, 1, 1}, .find_leaks = true, .max_reports = 5};
    assert_int_equal(bench_launch(&b, launch), VERDICT_OK);
    assert_int_equal(b.result.nr_leaked, 3);
    assert_int_equal(b.result.leaked_bytes, 300);
    assert_int_equal(b.result.nr_reports, 1);
    assert_int_equal(b.result.reports[0].check, EMU_CHECK_LEAK);
    assert_int_equal(b.result.reports[0].line, 4);
    assert_int_equal(b.result.reports[0].times, 3);
    bench_finish(&b);
    /* 3 MB a thread: the second is the last that fits in 8 MB */
    start(&b,
        WITH_HEAP MALLOC("3145728", "%rd6") "mul.wide.u32 %rd7, %r1, 8;\nadd.s64 %rd7, %rd1, %rd7;"
                                            "\nst.global.u64 [%rd7], %rd6;\n" END,
        1);
    bench_do_not_record(&b);
    assert_int_equal(bench_run(&b, 1, 3), VERDICT_OK);
    uint64_t at[3];
    bench_read(&b, 0, at, sizeof(at));
    assert_true(at[0] && at[1] && !at[2]);
    bench_finish(&b);
}

/* Loops for ever round `body`. */
#define FOR_EVER(body) "AGAIN:\n" body "bra.uni AGAIN;\n"

/* A width of 99,999,999 prints a line of at most some hundred bytes, and printing counts as work.
 */
static void floods_of_printf_end(void **state)
{
    char ptx[8192] = PTX_HEAD EXTERNS;
    struct emu_launch launch = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .step_limit = 100000};
    struct bench b;
    (void)state;
    add_string(ptx, sizeof(ptx), "fmt", "%99999999d|%.99999999f|%-88888888s|");
    strcat(ptx, START "st.local.u32 [%rd2], %r2;\nst.local.u64 [%rd2+8], 0;\n"
                      "st.local.u64 [%rd2+16], %rd5;\n" FOR_EVER(PRINT("fmt")) END);
    start(&b, ptx, 1);
    assert_int_equal(bench_launch(&b, launch), VERDICT_TIMEOUT);
    assert_true(b.result.print_cut);
    assert_true(strlen(b.result.printed) < EMU_PRINT_BYTES + 2000);
    bench_finish(&b);
}

static void floods_of_malloc_end(void **state)
{
    struct emu_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .step_limit = 10000000};
    struct bench b;
    uint64_t nr;
    (void)state;
    start(&b, WITH_HEAP FOR_EVER(MALLOC("1", "%rd6") FREE("%rd6")) END, 1);
    assert_int_equal(bench_launch(&b, launch), VERDICT_TIMEOUT);
    bench_finish(&b);
    /* each byte takes its share of the heap: how many a thread gets until there are none */
    launch.block[0] = 1;
    launch.step_limit = UINT64_C(1) << 30;
    start(&b,
        WITH_HEAP "mov.u64 %rd7, 0;\nAGAIN:\n" MALLOC(
            "1", "%rd6") "setp.eq.u64 %p1, %rd6, 0;\n@%p1 bra OUT;\nadd.u64 %rd7, %rd7, "
                         "1;\nbra.uni AGAIN;\n"
                         "OUT:\nst.global.u64 [%rd1], %rd7;\n" END,
        1);
    assert_int_equal(bench_launch(&b, launch), VERDICT_OK);
    bench_read(&b, 0, &nr, 8);
    assert_int_equal(nr, EMU_HEAP_BYTES / (EMU_HEAP_HEAD + 1));
    bench_finish(&b);
}

/* The time given is over before it has begun. */
static void launches_end_in_time(void **state)
{
    struct emu_launch launch = {.grid = {4, 1, 1}, .block = {32, 1, 1}, .ends_ns = 1};
    struct bench b;
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        start(&b, PTX_HEAD START FOR_EVER("add.u32 %r3, %r3, 1;\n") END, threads);
        assert_int_equal(bench_launch(&b, launch), VERDICT_TIMEOUT);
        assert_non_null(strstr(b.result.text, "--deadline"));
        bench_finish(&b);
    }
}

/* Three stray instructions and a race in one launch: all four are listed, in the order of blocks,
 * at most two of a kind, and the rest of the kernel still runs. */
static void launches_can_list_all_that_is_wrong(void **state)
{
    static const char ptx[] = PTX_HEAD START
        "mad.lo.s32 %r3, %r2, 64, %r1;\nmul.wide.u32 %rd4, %r3, 4;\n"
        "add.s64 %rd5, %rd1, %rd4;\n"
        "setp.eq.u32 %p1, %r2, 2;\n" LINE(
            11) "@%p1 ld.global.u32 %r4, [%rd1+-4];\n"
                "setp.eq.u32 %p2, %r2, 1;\n" LINE(
                    12) "@%p2 ld.global.u32 %r4, "
                        "[%rd1+4096];\n" LINE(13) "@%p2 st.global.u32 [%rd1+5000], %r1;\n" LINE(
                            14) "st.global.u32 [%rd1+4092], %r2;\n" LINE(15) "st.global.u32 "
                                                                             "[%rd5], 77;\n" END;
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct bench b;
        uint32_t out[256];
        start(&b, ptx, threads);
        struct emu_launch launch = {
            .grid = {4, 1, 1}, .block = {64, 1, 1}, .find_races = true, .max_reports = 2};
        assert_int_equal(bench_launch(&b, launch), VERDICT_RACE);
        bench_read(&b, 0, out, sizeof(out));
        for (unsigned i = 0; i < 256; i++)
            assert_int_equal(out[i], 77);
        assert_int_equal(b.result.nr_reports, 3);
        assert_int_equal(b.result.nr_more[EMU_CHECK_MEMORY], 1);
        const struct emu_report *r = b.result.reports;
        assert_int_equal(r[0].line, 14);
        assert_int_equal(r[0].check, EMU_CHECK_RACE);
        assert_int_equal(r[1].line, 12);
        assert_int_equal(r[1].times, 2); /* warps */
        assert_non_null(strstr(r[1].text, "4-byte read 0 bytes past the end of A (4096 bytes)"));
        assert_int_equal(r[2].line, 13);
        assert_int_equal(r[2].block, 1);
        bench_finish(&b);
    }
}

/* What nvcc makes of cooperative_groups::this_grid().sync(): block 0's first thread adds
 * 0x80000001 - blocks, the others' 1, and all wait until the top bit has changed. */
#define GRID_SYNC(label)                                                                           \
    "bar.sync 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra MET" label ";\n"                              \
    "mov.u32 %r10, %nctaid.x;\nsub.u32 %r10, 0x80000001, %r10;\nsetp.eq.u32 %p2, %r2, 0;\n"        \
    "selp.b32 %r10, %r10, 1, %p2;\natom.add.release.gpu.u32 %r11, [%rd10+4], %r10;\n"              \
    "SPIN" label ":\nld.acquire.gpu.u32 %r12, [%rd10+4];\nxor.b32 %r12, %r12, %r11;\n"             \
    "setp.ge.s32 %p3, %r12, 0;\n@%p3 bra SPIN" label ";\nMET" label ":\nbar.sync 0;\n"

static void grids_can_meet(void **state)
{
    static const char ptx[] = PTX_HEAD START
        "mov.u32 %r3, %envreg2;\ncvt.u64.u32 %rd8, %r3;\nmov.u32 %r4, %envreg1;\n"
        "cvt.u64.u32 %rd9, %r4;\nbfi.b64 %rd10, %rd9, %rd8, 32, 32;\n"
        "mad.lo.s32 %r5, %r2, 64, %r1;\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
        "st.global.u32 [%rd5], %r5;\n" GRID_SYNC("1")
        /* the word of the same thread of the next block, round about */
        "add.u32 %r6, %r5, 64;\nmov.u32 %r7, %nctaid.x;\nmul.lo.u32 %r7, %r7, 64;\n"
        "rem.u32 %r6, %r6, %r7;\nmul.wide.u32 %rd4, %r6, 4;\nadd.s64 %rd6, %rd1, %rd4;\n"
        "ld.global.u32 %r8, [%rd6];\n" GRID_SYNC("2") "st.global.u32 [%rd5], %r8;\n" END;
    uint32_t out[1024];
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct bench b;
        start(&b, ptx, threads);
        struct emu_launch launch = {.grid = {16, 1, 1},
            .block = {64, 1, 1},
            .find_races = true,
            .find_uninit = true,
            .find_sync = true};
        if (bench_launch(&b, launch) != VERDICT_OK)
            fail_msg("%s", b.result.text);
        bench_read(&b, 0, out, sizeof(out));
        for (unsigned i = 0; i < 1024; i++)
            assert_int_equal(out[i], (i + 64) % 1024);
        /* 64 threads of 32 registers: 32 blocks an SM, of which there are 132 */
        launch.grid[0] = 132 * 32 + 1;
        assert_int_equal(bench_launch(&b, launch), VERDICT_LAUNCH_FAILED);
        assert_non_null(strstr(b.result.text,
            "a cooperative grid of 4225 blocks, of which the chip holds 4224 at once"));
        bench_finish(&b);
    }
}

/* Memory and every counter, bit for bit, with any number of host threads: divergence, shared
 * memory, integer atomics and floating-point sums within a block. */
static void results_do_not_depend_on_threads(void **state)
{
    static const char ptx[] = PTX_HEAD START
        ".shared .align 4 .f32 s[64];\n.reg .f32 %f<8>;\n"
        "mad.lo.s32 %r3, %r2, 64, %r1;\nmul.wide.u32 %rd4, %r3, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
        "cvt.rn.f32.u32 %f1, %r3;\nsin.approx.f32 %f2, %f1;\nmov.u32 %r4, 0;\n"
        "LOOP:\nfma.rn.f32 %f2, %f2, %f1, %f2;\nrcp.approx.f32 %f2, %f2;\nadd.u32 %r4, %r4, 1;\n"
        "setp.lt.u32 %p1, %r4, %r1;\n@%p1 bra LOOP;\n"
        "mov.u32 %r5, s;\nshl.b32 %r6, %r1, 2;\nadd.u32 %r5, %r5, %r6;\n"
        "st.shared.f32 [%r5], %f2;\nbar.sync 0;\nxor.b32 %r6, %r6, 252;\nmov.u32 %r7, s;\n"
        "add.u32 %r6, %r6, %r7;\nld.shared.f32 %f3, [%r6];\nadd.f32 %f2, %f2, %f3;\n"
        "st.global.f32 [%rd5+64], %f2;\nand.b32 %r8, %r3, 15;\nmul.wide.u32 %rd6, %r8, 4;\n"
        "add.s64 %rd6, %rd1, %rd6;\nred.global.add.u32 [%rd6], %r1;\n" END;
    uint32_t first[900], out[900];
    struct counter metric[NR_METRICS];
    (void)state;
    for (unsigned threads = 1; threads <= 7; threads++) {
        struct bench b;
        bench_init(&b, ptx, threads);
        memset(out, 0, sizeof(out));
        bench_buffer(&b, out, sizeof(out));
        bench_run_ok(&b, 13, 64);
        assert_false(b.result.float_atomics);
        bench_read(&b, 0, out, sizeof(out));
        if (threads == 1) {
            memcpy(first, out, sizeof(first));
            memcpy(metric, b.result.counters.metric, sizeof(metric));
        }
        assert_memory_equal(out, first, sizeof(out));
        for (int m = 0; m < NR_METRICS; m++) {
            const struct counter *c = &b.result.counters.metric[m];
            /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the same bits are meant */
            if (c->from != metric[m].from || memcmp(&c->value, &metric[m].value, 8) != 0)
                fail_msg("%s differs with %u threads", metric_name((enum metric)m), threads);
        }
        bench_finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printf_formats_as_in_c),
        cmocka_unit_test(prints_come_in_order_of_blocks_and_are_cut),
        cmocka_unit_test(assertions_say_what_failed),
        cmocka_unit_test(memory_from_malloc_is_watched_like_any),
        cmocka_unit_test(leaks_and_the_end_of_the_heap),
        cmocka_unit_test(floods_of_printf_end),
        cmocka_unit_test(floods_of_malloc_end),
        cmocka_unit_test(launches_end_in_time),
        cmocka_unit_test(grids_can_meet),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(launches_can_list_all_that_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
