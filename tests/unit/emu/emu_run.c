/* How kernels run: divergence, barriers, locks, calls, collectives, atomics, memory spaces; and
 * what is said of kernels that do wrong. */
#include "emu_harness.h"

#define ONE_PARAM                                                                                  \
    ".visible .entry k(.param .u64 p0)\n{\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n"                \
    ".reg .f32 %f<8>;\n.reg .b16 %h<4>;\n.reg .pred %p<8>;\n"
/* %rd1: p0, %r1: tid.x, %rd2: p0 + 4 * (ctaid.x * ntid.x + tid.x) */
#define INDEX                                                                                      \
    "ld.param.u64 %rd1, [p0];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, "        \
    "%ntid.x;\n"                                                                                   \
    "mad.lo.s32 %r2, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"

enum { NR = 256 };

/* Runs a kernel on NR zeroed words. */
static enum verdict run_words(
    struct bench *b, const char *ptx, uint32_t grid, uint32_t block, uint32_t *out)
{
    uint32_t zero[NR] = {0};
    bench_init(b, ptx, 1);
    if (!b->module)
        return b->result.verdict;
    bench_buffer(b, zero, sizeof(zero));
    enum verdict v = bench_run(b, grid, block);
    bench_read(b, 0, out, sizeof(zero));
    return v;
}

#define EXPECT(ptx, grid, block, expr)                                                             \
    do {                                                                                           \
        struct bench b;                                                                            \
        uint32_t out[NR];                                                                          \
        enum verdict v = run_words(&b, ptx, grid, block, out);                                     \
        if (v != VERDICT_OK)                                                                       \
            fail_msg("%s", b.result.text);                                                         \
        for (uint32_t i = 0; i < (grid) * (block); i++)                                            \
            assert_int_equal(out[i], (uint32_t)(expr));                                            \
        bench_finish(&b);                                                                          \
    } while (0)

static void loops_diverge_and_join(void **state)
{
    (void)state;
    /* each lane loops its own number of times; all meet after the loop */
    const char *ptx = PTX_HEAD ONE_PARAM INDEX
        "and.b32 %r4, %r1, 7;\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\n"
        "setp.eq.u32 %p1, %r4, 0;\n@%p1 bra DONE;\n"
        "LOOP:\nadd.s32 %r5, %r5, 1;\nadd.s32 %r6, %r6, %r5;\nsetp.lt.u32 %p2, %r5, %r4;\n@%p2 bra "
        "LOOP;\n"
        "DONE:\nactivemask.b32 %r7;\npopc.b32 %r7, %r7;\nmad.lo.s32 %r6, %r7, 1000, %r6;\n"
        "st.global.u32 [%rd2], %r6;\nret;\n}\n";
    EXPECT(ptx, 2, 96, 32000 + (i % 8) * (i % 8 + 1) / 2);
}

/* Registers that are declared as vectors, and used by their parts. */
static void vector_registers_have_parts(void **state)
{
    uint32_t out[32][2];
    struct bench b;
    (void)state;
    bench_init(&b,
        PTX_HEAD
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 A;\n.reg .v2 .b32 V, W;\n.reg .b32 T;\n"
        "ld.param.u64 A, [p];\nmov.u32 T, %tid.x;\nmad.wide.u32 A, T, 8, A;\n"
        "mov.b32 V.x, T;\nadd.u32 V.y, V.x, 7;\nsub.u32 W.r, V.y, V.x;\nmul.lo.u32 W.g, V.y, 3;\n"
        "st.global.v2.b32 [A], {W.x, W.y};\nret;\n}\n",
        1);
    memset(out, 0, sizeof(out));
    bench_buffer(&b, out, sizeof(out));
    bench_run_ok(&b, 1, 32);
    bench_read(&b, 0, out, sizeof(out));
    for (uint32_t l = 0; l < 32; l++) {
        assert_int_equal(out[l][0], 7);
        assert_int_equal(out[l][1], 3 * (l + 7));
    }
    bench_finish(&b);
}

/* Triton writes a vector of one element in braces, under a predicate or not, in all spaces. */
static void vectors_of_one_are_their_element(void **state)
{
    (void)state;
    const char *ptx =
        PTX_HEAD ".shared .align 16 .b8 s[4096];\n" ONE_PARAM INDEX
                 "mov.u32 %r4, s;\nmad.lo.u32 %r4, %r1, 8, %r4;\nadd.u32 %r5, %r1, 7;\n"
                 "setp.lt.u32 %p1, %r1, 1000;\n"
                 "@%p1 st.shared.b32 [ %r4 + 0 ], { %r5 };\nld.shared.b32 { %r6 }, [ %r4 + 0 ];\n"
                 "cvt.u16.u32 %h1, %r6;\nst.shared.b16 [ %r4 + 4 ], { %h1 };\n"
                 "ld.shared.b16 { %h2 }, [ %r4 + 4 ];\ncvt.u32.u16 %r7, %h2;\n"
                 "@%p1 st.global.b32 [ %rd2 + 0 ], { %r7 };\nmov.u32 %r8, 0;\n"
                 "@%p1 ld.global.L1::evict_last.b32 { %r8 }, [ %rd2 + 0 ];\n"
                 "@!%p1 ld.global.b32 { %r8 }, [ %rd2 + 0 ];\n"
                 "mov.b64 %rd3, {%r8, %r8};\nst.shared.b64 [ %r4 + 0 ], { %rd3 };\n"
                 "ld.shared.b64 { %rd4 }, [ %r4 + 0 ];\ncvt.u32.u64 %r9, %rd4;\n"
                 "st.global.L1::evict_first.b32 [ %rd2 + 0 ], { %r9 };\nret;\n}\n";
    EXPECT(ptx, 2, 96, i % 96 + 7);
}

/* A flag that another warp of the block sets, and a lock: however long who waits asks, two times
 * round the loop count. */
static void waits_count_twice_at_most(void **state)
{
    (void)state;
    const char *ptx = PTX_HEAD ONE_PARAM INDEX
        "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra SET;\n"
        "WAIT:\nld.acquire.gpu.global.u32 %r4, [%rd1+512];\nsetp.eq.u32 %p2, %r4, 0;\n"
        "@%p2 bra WAIT;\nst.global.u32 [%rd2], %r4;\nret;\n"
        "SET:\nmov.u32 %r5, 0;\nMORE:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, %r6;\n@%p3 bra "
        "MORE;\nst.release.gpu.global.u32 [%rd1+512], 9;\nst.global.u32 [%rd2], 9;\nret;\n}\n";
    uint64_t insts[2];
    for (unsigned turns = 0; turns < 2; turns++) {
        char text[4096], *at;
        struct bench b;
        uint32_t out[NR];
        snprintf(text, sizeof(text), "%s", ptx);
        at = strstr(text, "%r5, %r6;");
        assert_non_null(at);
        memcpy(at, turns ? "%r5, 999;" : "%r5, 1;  ", 9);
        bench_init(&b, text, 4);
        bench_buffer(&b, NULL, sizeof(out));
        assert_true(emu_fill(b.emu, b.buffer[0], 0, sizeof(out), true, &b.err));
        const struct emu_launch launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .count = true};
        assert_int_equal(bench_launch(&b, launch), VERDICT_OK);
        insts[turns] = b.result.thread_insts;
        bench_read(&b, 0, out, sizeof(out));
        assert_int_equal(out[5], 9);
        bench_finish(&b);
    }
    /* the second warp's loop goes round 998 times more, with three instructions; the first warp's
     * waits count alike */
    assert_int_equal(insts[1] - insts[0], 32 * 998 * 3);
}

static void nested_branches(void **state)
{
    (void)state;
    const char *ptx = PTX_HEAD ONE_PARAM INDEX
        "and.b32 %r4, %r1, 1;\nand.b32 %r5, %r1, 2;\nsetp.eq.u32 %p1, %r4, 0;\nsetp.eq.u32 %p2, "
        "%r5, 0;\n"
        "@%p1 bra EVEN;\n@%p2 bra ONE;\nmov.u32 %r6, 3;\nbra JOIN1;\nONE:\nmov.u32 %r6, 1;\n"
        "JOIN1:\nadd.s32 %r6, %r6, 100;\nbra JOIN;\n"
        "EVEN:\n@%p2 bra ZERO;\nmov.u32 %r6, 2;\nbra JOIN;\nZERO:\nmov.u32 %r6, 0;\n"
        "JOIN:\nst.global.u32 [%rd2], %r6;\nret;\n}\n";
    EXPECT(ptx, 1, 64, (i & 3) + (i & 1 ? 100 : 0));
}

static void exited_threads_hold_up_no_barrier(void **state)
{
    (void)state;
    const char *ptx =
        PTX_HEAD ".shared .align 4 .b8 s[512];\n" ONE_PARAM INDEX
                 "setp.ge.u32 %p1, %r1, 80;\n@%p1 bra OUT;\nshl.b32 %r4, %r1, 2;\nmov.u32 %r5, s;\n"
                 "add.s32 %r5, %r5, %r4;\nst.shared.u32 [%r5], %r1;\nbar.sync 0;\n"
                 "mov.u32 %r6, 79;\nsub.s32 %r6, %r6, %r1;\nshl.b32 %r6, %r6, 2;\nmov.u32 %r7, s;\n"
                 "add.s32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];\nst.global.u32 [%rd2], "
                 "%r8;\nOUT:\nret;\n}\n";
    EXPECT(ptx, 1, 128, i < 80 ? 79 - i : 0);
}

/* Rounds in which every warp only meets the others are progress, however many. */
static void many_barriers_are_no_deadlock(void **state)
{
    (void)state;
    const char *ptx = PTX_HEAD ONE_PARAM INDEX
        "mov.u32 %r4, 0;\nLOOP:\nbar.sync 0;\nadd.s32 %r4, %r4, 1;\n"
        "setp.lt.u32 %p1, %r4, 9000;\n@%p1 bra LOOP;\nst.global.u32 [%rd2], %r4;\nret;\n}\n";
    EXPECT(ptx, 1, 64, 9000);
}

static void spin_locks_make_progress(void **state)
{
    (void)state;
    /* out[0] is the lock, out[1] the count: every lane of every warp takes the lock once */
    const char *ptx = PTX_HEAD ONE_PARAM
        "ld.param.u64 %rd1, [p0];\n"
        "TRY:\natom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra TRY;\n"
        "ld.volatile.global.u32 %r2, [%rd1+4];\nadd.s32 %r2, %r2, 1;\nst.volatile.global.u32 "
        "[%rd1+4], %r2;\n"
        "membar.gl;\natom.global.exch.b32 %r3, [%rd1], 0;\nret;\n}\n";
    struct bench b;
    uint32_t out[NR];
    assert_int_equal(run_words(&b, ptx, 2, 96, out), VERDICT_OK);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 192);
    bench_finish(&b);
}

static void functions_are_called_by_some_lanes(void **state)
{
    (void)state;
    const char *ptx = PTX_HEAD
        ".func (.param .b32 ret) square(.param .b32 x, .param .b32 y)\n{\n.reg .b32 %r<4>;\n.reg "
        ".pred %p1;\n"
        "ld.param.u32 %r1, [x];\nld.param.u32 %r3, [y];\nsetp.gt.u32 %p1, %r1, 20;\n@%p1 bra BIG;\n"
        "mad.lo.s32 %r2, %r1, %r1, %r3;\nst.param.b32 [ret+0], %r2;\nret;\n"
        "BIG:\nst.param.b32 [ret+0], 7;\nret;\n}\n" ONE_PARAM INDEX
        "mov.u32 %r6, 5;\nand.b32 %r4, %r1, 1;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra SKIP;\n"
        "{\n.param .b32 param0;\nst.param.b32 [param0+0], %r1;\n.param .b32 param1;\n"
        "st.param.b32 [param1+0], 1;\n.param .b32 retval0;\ncall.uni (retval0), square, (param0, "
        "param1);\n"
        "ld.param.b32 %r6, [retval0+0];\n}\n"
        "SKIP:\nst.global.u32 [%rd2], %r6;\nret;\n}\n";
    EXPECT(ptx, 1, 64, i % 2 == 0 ? 5 : i > 20 ? 7 : i * i + 1);
}

static void collectives(void **state)
{
    (void)state;
#define SHFL(op) PTX_HEAD ONE_PARAM INDEX op "\nst.global.u32 [%rd2], %r6;\nret;\n}\n"
    EXPECT(SHFL("shfl.sync.bfly.b32 %r6, %r1, 5, 31, -1;"), 1, 64, i ^ 5);
    EXPECT(SHFL("shfl.sync.down.b32 %r6, %r1, 3, 31, -1;"), 1, 32, i + 3 < 32 ? i + 3 : i);
    EXPECT(SHFL("shfl.sync.up.b32 %r6, %r1, 3, 0, -1;"), 1, 32, i >= 3 ? i - 3 : i);
    EXPECT(SHFL("shfl.sync.idx.b32 %r6, %r1, 9, 31, -1;"), 1, 32, 9);
    /* segments of 8: clamp 31, segment mask 24 */
    EXPECT(SHFL("shfl.sync.down.b32 %r6|%p1, %r1, 5, 0x181f, -1;\n@!%p1 mov.u32 %r6, 99;"), 1, 32,
        i % 8 < 3 ? i + 5 : 99);
    EXPECT(
        SHFL("setp.gt.u32 %p1, %r1, 7;\nvote.sync.ballot.b32 %r6, %p1, -1;"), 1, 32, 0xffffff00u);
    EXPECT(SHFL("setp.gt.u32 %p1, %r1, 7;\nvote.sync.any.pred %p2, %p1, -1;\nvote.sync.all.pred "
                "%p3, %p1, -1;\n"
                "selp.b32 %r6, 2, 0, %p2;\nselp.b32 %r7, 1, 0, %p3;\nadd.s32 %r6, %r6, %r7;"),
        1, 32, 2);
    EXPECT(SHFL("shr.u32 %r4, %r1, 2;\nmatch.any.sync.b32 %r6, %r4, -1;"), 1, 32, 15u << (i & ~3u));
    EXPECT(SHFL("redux.sync.add.s32 %r6, %r1, -1;"), 1, 32, 496);
    EXPECT(SHFL("redux.sync.max.u32 %r6, %r1, -1;"), 1, 32, 31);
    EXPECT(SHFL("setp.lt.u32 %p1, %r1, 40;\nbar.red.popc.u32 %r6, 0, %p1;"), 1, 128, 40);
    EXPECT(SHFL("setp.lt.u32 %p1, %r1, 40;\nbar.red.or.pred %p2, 0, %p1;\nbar.red.and.pred %p3, 0, "
                "%p1;\n"
                "selp.b32 %r6, 2, 0, %p2;\nselp.b32 %r7, 1, 0, %p3;\nadd.s32 %r6, %r6, %r7;"),
        1, 128, 2);
}

/* Both sides of a branch shuffle within themselves, then all together. */
static void syncs_wait_for_their_lanes(void **state)
{
    (void)state;
    const char *ptx = PTX_HEAD ONE_PARAM INDEX
        "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra LOW;\n"
        "shfl.sync.bfly.b32 %r6, %r1, 1, 31, 0xffff0000;\nadd.s32 %r6, %r6, 100;\nbar.warp.sync "
        "-1;\nbra JOIN;\n"
        "LOW:\nshfl.sync.bfly.b32 %r6, %r1, 2, 31, 0x0000ffff;\nbar.warp.sync -1;\n"
        "JOIN:\nst.global.u32 [%rd2], %r6;\nret;\n}\n";
    EXPECT(ptx, 1, 32, i < 16 ? i ^ 2 : (i ^ 1) + 100);
}

static void named_barriers_order_producers(void **state)
{
    (void)state;
    /* warp 1 arrives at barrier 1 after writing; warp 0 waits there; 64 threads take part */
    const char *ptx = PTX_HEAD ".shared .align 4 .b8 s[128];\n" ONE_PARAM INDEX
                               "and.b32 %r4, %r1, 31;\nshl.b32 %r4, %r4, 2;\nmov.u32 %r5, "
                               "s;\nadd.s32 %r5, %r5, %r4;\nmov.u32 %r6, 1;\n"
                               "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra MAKE;\nbar.sync 1, "
                               "64;\nld.shared.u32 %r6, [%r5];\nbra JOIN;\n"
                               "MAKE:\nst.shared.u32 [%r5], %r1;\nbar.arrive 1, "
                               "64;\nJOIN:\nst.global.u32 [%rd2], %r6;\nret;\n}\n";
    EXPECT(ptx, 1, 64, i < 32 ? i + 32 : 1);
}

static void atomics(void **state)
{
    (void)state;
    static const struct {
        const char *op;
        uint32_t want;
    } cases[] = {{"add.u32 %r6, [%rd1], 3;", 3 * 256}, {"max.u32 %r6, [%rd1], %r2;", 255},
        {"or.b32 %r6, [%rd1], %r2;", 255}, {"inc.u32 %r6, [%rd1], 9;", 256 % 10},
        {"min.s32 %r6, [%rd1], -5;", (uint32_t)-5}, {"xor.b32 %r6, [%rd1], %r2;", 0},
        {"exch.b32 %r6, [%rd1], 42;", 42}, {"dec.u32 %r6, [%rd1], 99;", 44}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char ptx[2048];
        snprintf(
            ptx, sizeof(ptx), "%satom.global.%s\nret;\n}\n", PTX_HEAD ONE_PARAM INDEX, cases[i].op);
        struct bench b;
        uint32_t out[NR];
        assert_int_equal(run_words(&b, ptx, 2, 128, out), VERDICT_OK);
        assert_int_equal(out[0], cases[i].want);
        assert_int_equal(counters_get(&b.result.counters, METRIC_GLOBAL_ATOMICS), 8);
        assert_false(b.result.float_atomics);
        bench_finish(&b);
    }
}

static void float_atomics_are_noted(void **state)
{
    (void)state;
    const char *ptx = PTX_HEAD ONE_PARAM INDEX "red.global.add.f32 [%rd1], 0f3F000000;\nret;\n}\n";
    struct bench b;
    uint32_t out[NR];
    float sum;
    assert_int_equal(run_words(&b, ptx, 2, 128, out), VERDICT_OK);
    memcpy(&sum, out, 4);
    assert_true(sum == 128.0f);
    assert_true(b.result.float_atomics);
    bench_finish(&b);
}

/* Does what a kernel touches, and where its threads go, depend on what it reads? */
static void oblivious(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool oblivious;
    } cases[] = {
        {"ld.global.u32 %r6, [%rd2];\nadd.s32 %r6, %r6, 1;\nst.global.u32 [%rd2], %r6;", true},
        {"ld.global.u32 %r6, [%rd2];\nsetp.gt.s32 %p1, %r6, 5;\nselp.b32 %r6, 1, 2, %p1;\n"
         "st.global.u32 [%rd2], %r6;",
            true},
        {"setp.gt.u32 %p1, %r2, 99;\n@%p1 st.global.u32 [%rd2], %r2;", true},
        {"ld.global.u32 %r6, [%rd2];\nsetp.gt.s32 %p1, %r6, 5;\n@%p1 st.global.u32 [%rd2], %r2;",
            false},
        {"ld.global.u32 %r6, [%rd2];\nsetp.gt.s32 %p1, %r6, 5;\n@%p1 bra END;\n"
         "st.global.u32 [%rd2], %r2;\nEND:",
            false},
        {"ld.global.u32 %r6, [%rd2];\nand.b32 %r6, %r6, 4;\ncvt.u64.u32 %rd3, %r6;\n"
         "add.s64 %rd3, %rd1, %rd3;\nst.global.u32 [%rd3], %r2;",
            false},
        {"ld.global.u32 %r6, [%rd2];\nshfl.sync.bfly.b32 %r6, %r6, 1, 31, -1;\n"
         "st.global.u32 [%rd2], %r6;",
            true},
        {"tex.1d.v4.u32.s32 {%r5, %r6, %r7, %r8}, [%rd1, {%r1}];\nsetp.gt.s32 %p1, %r6, 5;\n"
         "@%p1 st.global.u32 [%rd2], %r2;",
            false},
        {"red.global.add.u32 [%rd1], 1;", true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char ptx[2048];
        struct bench b;

        snprintf(ptx, sizeof(ptx), "%s%s\nret;\n}\n", PTX_HEAD ONE_PARAM INDEX, cases[i].body);
        bench_init(&b, ptx, 1);
        assert_non_null(b.module);
        if (emu_oblivious(b.module, "k") != cases[i].oblivious)
            fail_msg("%s", cases[i].body);
        bench_finish(&b);
    }
}

/* A kernel with everything that an idle launch leaves out, and data that a branch may ask for. */
#define MUCH_DATA                                                                                  \
    ".shared .align 16 .b8 s[2048];\n" ONE_PARAM INDEX                                             \
    "mov.u32 %r4, s;\nmad.lo.u32 %r4, %r1, 16, %r4;\nshr.u32 %r5, %r2, 2;\nshl.b32 %r5, %r5, 4;\n" \
    "cvt.u64.u32 %rd4, %r5;\nadd.s64 %rd4, %rd1, %rd4;\n"                                          \
    "cp.async.ca.shared.global [%r4], [%rd4], 16;\ncp.async.wait_all;\nbar.sync 0;\n"              \
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r6, %r7}, [%r4];\n"                                \
    "ld.global.f32 %f1, [%rd2];\nex2.approx.f32 %f1, %f1;\nmov.b32 %r8, %f1;\n"                    \
    "shfl.sync.bfly.b32 %r8, %r8, 1, 31, -1;\nst.shared.u32 [%r4], %r8;\nld.shared.f32 %f2, "      \
    "[%r4];\n"                                                                                     \
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f3, %f4, %f5, %f6}, {%r6, %r7}, {%r8}, "   \
    "{%f1, %f1, %f2, %f2};\n"
#define MUCH_DATA_END "st.global.f32 [%rd2], %f3;\nred.global.add.u32 [%rd1], 1;\nret;\n}\n"

/* Launches of the same kernel on the same words, with and without its data. */
static void idle_launches(const char *body, bool expect_idle)
{
    uint32_t words[NR], out[2][NR];
    struct counters counts[2];
    char ptx[4096];

    for (uint32_t i = 0; i < NR; i++)
        words[i] = 0x3c003c00 + i;
    snprintf(ptx, sizeof(ptx), "%s%s%s", PTX_HEAD, body, MUCH_DATA_END);
    for (int idle = 0; idle < 2; idle++) {
        struct bench b;
        bench_init(&b, ptx, 1);
        if (!b.module)
            fail_msg("%s", b.result.text);
        bench_buffer(&b, words, sizeof(words));
        assert_int_equal(emu_oblivious(b.module, "k"), expect_idle);
        struct emu_launch launch = {
            .grid = {2, 1, 1}, .block = {128, 1, 1}, .count = true, .idle = idle};
        if (bench_launch(&b, launch) != VERDICT_OK)
            fail_msg("%s", b.result.text);
        bench_read(&b, 0, out[idle], sizeof(out[idle]));
        counts[idle] = b.result.counters;
        for (int m = 0; idle && m < NR_METRICS; m++)
            if (counts[0].metric[m].from != counts[1].metric[m].from ||
                counts[0].metric[m].value != counts[1].metric[m].value)
                fail_msg("%s: %g, idle %g", metric_name((enum metric)m), counts[0].metric[m].value,
                    counts[1].metric[m].value);
        bench_finish(&b);
    }
    assert_true(counters_get(&counts[0], METRIC_TIME_NS) > 0);
    assert_memory_not_equal(out[0] + 1, words + 1, sizeof(words) - 4);
    assert_memory_equal(out[1] + 1, expect_idle ? words + 1 : out[0] + 1, sizeof(words) - 4);
}

static void idle_launches_count_the_same(void **state)
{
    (void)state;
    idle_launches(MUCH_DATA, true);
    idle_launches(
        MUCH_DATA "setp.gt.f32 %p1, %f3, 0f41200000;\n@%p1 st.global.f32 [%rd2], %f4;\n", false);
}

/* A product of a warpgroup on top of data; its operands are in shared memory, or A is data. */
#define PRODUCT(descriptor, a)                                                                     \
    ".shared .align 128 .b8 s[4096];\n" ONE_PARAM INDEX "ld.global.f32 %f1, [%rd2];\n"             \
    "mov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\nld.global.u32 %r6, [%rd2];\n"        \
    "mov.u32 %r4, s;\nshr.u32 %r4, %r4, 4;\ncvt.u64.u32 %rd3, %r4;\n" descriptor                   \
    "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, "     \
    "%f3, %f4}, " a ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
#define A_DATA "{%r6, %r6, %r6, %r6}, %rd3, 1, 1, 1, 0"

static void idle_launches_of_wgmma(void **state)
{
    (void)state;
    idle_launches(PRODUCT("", "%rd3, %rd3, 1, 1, 1, 0, 0"), true);
    idle_launches(PRODUCT("", A_DATA), true);
    /* where B lies is data, though it is always the same place */
    idle_launches(
        PRODUCT("and.b32 %r6, %r6, 0;\ncvt.u64.u32 %rd3, %r6;\n", "%rd3, %rd3, 1, 1, 1, 0, 0"),
        false);
    idle_launches(PRODUCT("and.b32 %r7, %r6, 0;\ncvt.u64.u32 %rd3, %r7;\n", A_DATA), false);
    /* the sum decides */
    idle_launches(PRODUCT("", A_DATA) "setp.gt.f32 %p1, %f3, 0f41200000;\n"
                                      "@%p1 st.global.f32 [%rd2], %f4;\n",
        false);
}

/* The sums of wgmma are data, though its sources, descriptors and constants, are not. */
static void sums_of_wgmma_are_data(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b,
        PTX_HEAD
        ".shared .align 128 .b8 s[4096];\n" ONE_PARAM INDEX
        "mov.u64 %rd3, 0;\nmov.f32 %f1, 0f00000000;\nmov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\n"
        "mov.f32 %f4, %f1;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, "
        "%f3, %f4}, %rd3, %rd3, 1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
        "wgmma.wait_group.sync.aligned 0;\nsetp.gt.f32 %p1, %f1, 0f00000000;\n"
        "@%p1 st.global.u32 [%rd2], %r2;\nret;\n}\n",
        1);
    assert_non_null(b.module);
    assert_false(emu_oblivious(b.module, "k"));
    bench_finish(&b);
}

static void memory_spaces(void **state)
{
    (void)state;
    /* static shared, then dynamic shared behind it; generic addresses to shared and local */
    const char *ptx = PTX_HEAD
        ".shared .align 4 .b8 s[20];\n.extern .shared .align 16 .b8 dyn[];\n"
        ".global .align 4 .u32 table[4] = {10, 20, 30, 40};\n.const .align 4 .u32 c[2] = {5, "
        "6};\n" ONE_PARAM ".local .align 8 .b8 loc[16];\n" INDEX
        "mov.u32 %r4, s;\nst.shared.u32 [%r4+16], %r1;\nmov.u64 %rd3, dyn;\ncvta.shared.u64 %rd4, "
        "%rd3;\nmul.wide.u32 %rd5, %r1, 4;\nadd.s64 "
        "%rd6, %rd4, %rd5;\n"
        "st.u32 [%rd6], %r1;\nbar.sync 0;\nadd.s64 %rd7, %rd3, %rd5;\nld.shared.u32 %r4, [%rd7];\n"
        "mov.u64 %rd8, loc;\ncvta.local.u64 %rd9, %rd8;\nst.u32 [%rd9+4], %r4;\nld.local.u32 %r5, "
        "[loc+4];\n"
        "and.b32 %r6, %r1, 3;\nmul.wide.u32 %rd10, %r6, 4;\nmov.u64 %rd11, table;\nadd.s64 %rd10, "
        "%rd11, %rd10;\n"
        "ld.global.u32 %r7, [%rd10];\nadd.s32 %r5, %r5, %r7;\nld.const.u32 %r8, [c+4];\nadd.s32 "
        "%r5, %r5, %r8;\n"
        "cvt.u32.u64 %r9, %rd3;\nmad.lo.s32 %r5, %r9, 1000, %r5;\n"
        "st.global.u32 [%rd2], %r5;\nret;\n}\n";
    struct bench b;
    uint32_t zero[NR] = {0}, out[NR];
    bench_init(&b, ptx, 1);
    bench_buffer(&b, zero, sizeof(zero));
    struct emu_launch launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .smem_bytes = 256};
    assert_int_equal(bench_launch(&b, launch), VERDICT_OK);
    bench_read(&b, 0, out, sizeof(out));
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], 32000 + i + 10 + 10 * (i % 4) + 6);
    bench_finish(&b);
}

/* Two-dimensional blocks: a warp is several rows, each lane's own local array among others. */
static void rows_of_a_warp(void **state)
{
    (void)state;
    const char *ptx = PTX_HEAD ONE_PARAM
        ".local .align 4 .b8 loc[64];\n" INDEX "shl.b32 %r4, %r1, 2;\nst.local.u32 [loc+8], %r4;\n"
        "and.b32 %r5, %r1, 7;\nshr.u32 %r6, %r1, 3;\n"
        "st.global.u32 [%rd2], %r4;\nbar.sync 0;\n"
        "mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd3, %rd1, %rd3;\nld.global.u32 %r7, [%rd3];\n"
        "mul.wide.u32 %rd4, %r6, 4;\nadd.s64 %rd4, %rd1, %rd4;\nld.global.u32 %r8, [%rd4];\n"
        "ld.local.u32 %r9, [loc+8];\nbar.sync 0;\nmad.lo.s32 %r7, %r8, 100, %r7;\nmad.lo.s32 %r7, "
        "%r9, 10000, %r7;\n"
        "st.global.u32 [%rd2], %r7;\nret;\n}\n";
    EXPECT(ptx, 1, 64, 4 * (i % 8) + 400 * (i / 8) + 40000 * i);
}

static void vectors_and_narrow_types(void **state)
{
    (void)state;
    const char *ptx = PTX_HEAD ONE_PARAM INDEX
        "mul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd3, %rd1, %rd3;\nneg.s32 %r4, %r1;\nshl.b32 %r5, "
        "%r1, 8;\n"
        "st.global.v4.u32 [%rd3], {%r1, %r4, %r5, 77};\nld.global.v2.u32 {%r6, %r7}, [%rd3];\n"
        "ld.global.s8 %r8, [%rd3+4];\nld.global.u8 %r9, [%rd3+9];\nld.global.s16 %h1, [%rd3+4];\n"
        "cvt.s32.s16 %r10, %h1;\nadd.s32 %r6, %r6, %r7;\nadd.s32 %r6, %r6, %r8;\nadd.s32 %r6, %r6, "
        "%r9;\n"
        "sub.s32 %r6, %r6, %r10;\nst.global.u32 [%rd3+12], %r6;\nret;\n}\n";
    /* i - i + (-i) + i - (-i) = i */
    struct bench b;
    uint32_t out[NR];
    assert_int_equal(run_words(&b, ptx, 1, 64, out), VERDICT_OK);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(out[4 * i + 1], 0 - i);
        assert_int_equal(out[4 * i + 2], i << 8);
        assert_int_equal(out[4 * i + 3], i);
    }
    bench_finish(&b);
}

static void asynchronous_copies(void **state)
{
    (void)state;
    const char *ptx = PTX_HEAD
        ".shared .align 16 .b8 s[256];\n" ONE_PARAM INDEX
        "st.global.u32 [%rd2], %r1;\nbar.sync 0;\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 bra WAIT;\n"
        "mul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd4, %rd1, %rd3;\nmov.u32 %r4, s;\nshl.b32 %r5, "
        "%r1, 4;\n"
        "add.s32 %r4, %r4, %r5;\ncp.async.cg.shared.global [%r4], [%rd4], 16, 8;\n"
        "cp.async.commit_group;\ncp.async.wait_group 0;\nWAIT:\nbar.sync 0;\n"
        "mov.u32 %r6, s;\nshl.b32 %r7, %r1, 2;\nadd.s32 %r6, %r6, %r7;\nld.shared.u32 %r8, [%r6];\n"
        "st.global.u32 [%rd2], %r8;\nret;\n}\n";
    EXPECT(ptx, 1, 64, i % 4 < 2 ? i : 0);
}

/* Lanes that ignore their source get zeros, and do not read it: it is nowhere. */
static void copies_that_ignore_their_source(void **state)
{
    (void)state;
#define IGNORING(how)                                                                              \
    PTX_HEAD                                                                                       \
    ".shared .align 16 .b8 s[256];\n" ONE_PARAM INDEX                                              \
    "st.global.u32 [%rd2], %r1;\nbar.sync 0;\nmov.u32 %r6, s;\nshl.b32 %r7, %r1, 2;\n"             \
    "add.s32 %r6, %r6, %r7;\nand.b32 %r4, %r1, 3;\n" how                                           \
    "cp.async.wait_all;\nld.shared.u32 %r8, [%r6];\nst.global.u32 [%rd2], %r8;\nret;\n}\n"
    EXPECT(IGNORING("setp.eq.u32 %p1, %r4, 0;\nmov.u64 %rd3, %rd2;\n@%p1 mov.u64 %rd3, 0;\n"
                    "cp.async.ca.shared.global [%r6], [%rd3], 4, %p1;\n"),
        1, 64, i % 4 ? i : 0);
    EXPECT(IGNORING("setp.ne.u32 %p1, %r4, 0;\nmov.u64 %rd3, 0;\n@%p1 mov.u64 %rd3, %rd2;\n"
                    "cp.async.ca.shared.global [%r6], [%rd3], 4, !%p1;\n"),
        1, 64, i % 4 ? i : 0);
}

/* Where CUDA's own part of shared memory begins and ends, past a kernel's 256 bytes here. */
static void reserved_shared_memory(void **state)
{
    uint32_t out[NR];
    struct bench b;
    (void)state;
    assert_int_equal(
        run_words(&b,
            PTX_HEAD ".shared .align 16 .b8 s[256];\n" ONE_PARAM INDEX
                     "mov.u32 %r4, %reserved_smem_offset_begin;\n"
                     "mov.u32 %r5, %reserved_smem_offset_end;\nmov.u32 %r6, s;\n"
                     "st.shared.u32 [%r6+252], 9;\nst.shared.u32 [%r4], %r5;\n"
                     "ld.shared.u32 %r6, [%r4];\nmov.u32 %r5, %reserved_smem_offset_cap;\n"
                     "sub.u32 %r6, %r6, %r5;\nsub.u32 %r6, %r6, %r4;\nsetp.ge.u32 %p1, %r4, 256;\n"
                     "@%p1 add.u32 %r6, %r6, %r5;\nst.global.u32 [%rd2], %r6;\nret;\n}\n",
            1, 32, out),
        VERDICT_OK);
    assert_int_equal(
        out[0], 1024); /* CUDA programming guide, compute capability 9.0: 1 KB a block */
    bench_finish(&b);
}

static void what_no_driver_set_is_zero(void **state)
{
    uint32_t out[NR];
    struct bench b;
    (void)state;
    assert_int_equal(
        run_words(&b,
            PTX_HEAD ONE_PARAM INDEX
            "mov.b32 %r4, %envreg0;\nmov.b32 %r5, %envreg31;\nor.b32 %r6, %r4, %r5;\n"
            "mov.b32 %r5, %envreg9;\nor.b32 %r6, %r6, %r5;\nst.global.u32 [%rd2], %r6;\nret;\n}\n",
            1, 32, out),
        VERDICT_OK);
    assert_int_equal(out[0], 0);
    bench_finish(&b);
}

/* What only the driver knows, or nobody. */
static void special_registers_that_are_refused(void **state)
{
    static const char *const names[] = {
        "%envreg32", "%envreg03", "%pm0", "%reserved_smem_offset_0"};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t out[NR];
        char ptx[4096], want[64];
        struct bench b;
        snprintf(ptx, sizeof(ptx),
            "%s\n.loc 1 41 0\nmov.b32 %%r4, %s;\nret;\n}\n.file 1 \"a.cu\"\n",
            PTX_HEAD ONE_PARAM INDEX, names[i]);
        snprintf(want, sizeof(want), "mov: special register %s", names[i]);
        if (run_words(&b, ptx, 1, 32, out) != VERDICT_UNSUPPORTED || b.result.line != 41 ||
            !strstr(b.result.text, want))
            fail_msg("line %u: %s", b.result.line, b.result.text);
        bench_finish(&b);
    }
}

/* --- verdicts --- */

#define LINE ".loc 1 7 3\n"
#define FILE_TABLE "\n.file 1 \"kernel.cu\"\n"

static void expect_fault(const char *body, enum verdict verdict, unsigned line, const char *text)
{
    char ptx[4096];
    struct bench b;
    uint32_t out[NR];
    snprintf(ptx, sizeof(ptx),
        PTX_HEAD ".shared .align 16 .b8 s[256];\n%s\n%s\nret;\n}\n" FILE_TABLE, ONE_PARAM INDEX,
        body);
    enum verdict v = run_words(&b, ptx, 2, 64, out);
    if (v != verdict || b.result.line != line || !strstr(b.result.text, text))
        fail_msg("%s, line %u: %s\nwanted %s, line %u: %s", verdict_name(v), b.result.line,
            b.result.text, verdict_name(verdict), line, text);
    bench_finish(&b);
}

static void stray_accesses(void **state)
{
    (void)state;
    /* 256 words; block 1 thread 62 reads word 256 */
    expect_fault("mul.wide.u32 %rd3, %r2, 8;\nadd.s64 %rd2, %rd1, %rd3;\n" LINE
                 "ld.global.u32 %r4, [%rd2+16];",
        VERDICT_FAULT, 7,
        "out of bounds: 4-byte read 0 bytes past the end of A (1024 bytes) by thread (62,0,0) of "
        "block (1,0,0)");
    expect_fault(LINE "st.global.u32 [%rd2+-8], %r1;", VERDICT_FAULT, 7,
        "out of bounds: 4-byte write 8 bytes before the start of A (1024 bytes) by thread (0,0,0) "
        "of block (0,0,0)");
    expect_fault("mov.u64 %rd3, 0;\n" LINE "ld.global.u32 %r4, [%rd3];", VERDICT_FAULT, 7,
        "4-byte read at address 0x0, where no buffer is");
    /* the pattern of the first pass comes again, lower: below the start of shared memory */
    expect_fault(
        "mov.u32 %r6, s;\nand.b32 %r7, %r1, 31;\nxor.b32 %r7, %r7, 31;\nshl.b32 %r7, %r7, 2;\n"
        "add.s32 %r6, %r6, %r7;\nmov.u32 %r8, 0;\nL:\n" LINE
        "ld.shared.u32 %r5, [%r6];\nsub.s32 %r6, %r6, 64;\nadd.s32 %r8, %r8, 1;\n"
        "setp.lt.u32 %p1, %r8, 2;\n@%p1 bra L;",
        VERDICT_FAULT, 7, "of 256 bytes of shared memory by thread (16,0,0)");
    expect_fault(LINE "ld.global.v2.u32 {%r4, %r5}, [%rd2];", VERDICT_FAULT, 7,
        "misaligned: 8-byte read at byte 4 of A by thread (1,0,0) of block (0,0,0)");
    expect_fault("mov.u32 %r6, s;\nshl.b32 %r4, %r1, 3;\nadd.s32 %r4, %r4, %r6;\n" LINE
                 "ld.shared.u32 %r5, [%r4];",
        VERDICT_FAULT, 7,
        "out of bounds: 4-byte read at byte 256 of 256 bytes of shared memory by thread (32,0,0)");
}

static void barriers_that_cannot_complete(void **state)
{
    (void)state;
    expect_fault("setp.ge.u32 %p1, %r1, 16;\n@%p1 bra JOIN;\n" LINE
                 "bar.sync 0;\nJOIN:\nadd.s32 %r4, %r1, 1;",
        VERDICT_FAULT, 7, "barrier in divergent code: 16 of 32 threads");
    expect_fault("setp.ge.u32 %p1, %r1, 16;\n@%p1 bra JOIN;\n" LINE
                 "shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;\nJOIN:\nadd.s32 %r4, %r1, 1;",
        VERDICT_FAULT, 7, "lanes 0x0000ffff wait for lanes 0xffff0000");
}

static void other_verdicts(void **state)
{
    (void)state;
    expect_fault("setp.eq.u32 %p1, %r2, 70;\n" LINE "@%p1 trap;", VERDICT_FAULT, 7,
        "trap by thread (6,0,0) of block (1,0,0)");
    expect_fault(LINE
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, "
        "{%r1,%r1}, {%r1,%r1}, {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};",
        VERDICT_UNSUPPORTED, 7, "mma.sync.aligned.m8n8k4");
}

/* What one kernel cannot do is no concern of the others, nor of those that cannot reach it. */
static void only_the_kernel_that_reaches_it_is_unsupported(void **state)
{
    (void)state;
    const char *ptx =
        PTX_HEAD ".func odd() {\n" LINE "frobnicate.b32 %r1, {%r2, %r3};\n{ ret; }\n}\n"
                 ".func late() {\n.reg .b32 %r<4>;\n.reg .b64 %rd1;\n" LINE
                 "multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;\nret;\n}\n"
                 ".visible .entry bad() { call odd, (); ret; }\n"
                 ".visible .entry alsobad() { call late, (); ret; }\n" ONE_PARAM INDEX
                 "st.global.u32 [%rd2], 5;\nret;\n}\n" FILE_TABLE;
    struct bench b;
    uint32_t out[NR];
    assert_int_equal(run_words(&b, ptx, 1, 32, out), VERDICT_OK);
    assert_int_equal(out[31], 5);
    struct emu_launch launch = {.kernel = "bad", .grid = {1, 1, 1}, .block = {32, 1, 1}};
    assert_int_equal(bench_launch(&b, launch), VERDICT_UNSUPPORTED);
    assert_int_equal(b.result.line, 7);
    assert_non_null(strstr(b.result.text, "unsupported: instruction 'frobnicate'"));
    launch.kernel = "alsobad";
    assert_int_equal(bench_launch(&b, launch), VERDICT_UNSUPPORTED);
    assert_int_equal(b.result.line, 7);
    assert_non_null(strstr(b.result.text, "multimem.red.relaxed.sys.global.add.u32"));
    bench_finish(&b);
}

static void endless_loops_time_out(void **state)
{
    (void)state;
    const char *ptx =
        PTX_HEAD ONE_PARAM INDEX LINE "L:\nadd.s32 %r4, %r4, 1;\nbra L;\n}\n" FILE_TABLE;
    struct bench b;
    bench_init(&b, ptx, 2);
    uint32_t zero[NR] = {0};
    bench_buffer(&b, zero, sizeof(zero));
    struct emu_launch launch = {.grid = {4, 1, 1}, .block = {64, 1, 1}, .step_limit = 1000000};
    assert_int_equal(bench_launch(&b, launch), VERDICT_TIMEOUT);
    assert_int_equal(b.result.line, 7);
    bench_finish(&b);
}

/* What stands in the loop beside the load may be no reason to stay: the first warp, and a lane of
 * the second, wait for the second's others; and where nobody comes, that is a time-out. */
static void waits_give_way(void **state)
{
    static const char *const within[] = {"nanosleep.u32 20;\n", "membar.gl;\n",
        "mov.u32 %r6, %clock;\n", "prefetch.global.L2 [%rd2];\n", "cp.async.commit_group;\n", ""};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof(within) / sizeof(*within); i++) {
        const bool comes = i % 2;
        uint32_t out[NR];
        char ptx[4096];
        struct bench b;
        snprintf(ptx, sizeof(ptx),
            "%s%sL:\n%sld.volatile.shared.u32 %%r5, [s];\nsetp.ne.u32 %%p2, %%r5, %d;\n"
            "@%%p2 bra L;\nbra OUT;\nSET:\nst.volatile.shared.u32 [s], 7;\nOUT:\n"
            "st.global.u32 [%%rd2], 7;\nret;\n}\n",
            PTX_HEAD ".shared .align 4 .b8 s[4];\n" ONE_PARAM INDEX,
            "mov.u32 %r4, %tid.x;\nmov.u32 %r5, 0;\nsetp.gt.u32 %p1, %r4, 32;\n@%p1 bra SET;\n",
            within[i / 2], comes ? 7 : 8);
        bench_init(&b, ptx, 1);
        if (!b.module)
            fail_msg("%s", b.result.text);
        memset(out, 0, sizeof(out));
        bench_buffer(&b, out, sizeof(out));
        const struct emu_launch launch = {
            .grid = {1, 1, 1}, .block = {64, 1, 1}, .step_limit = 1000000};
        if (bench_launch(&b, launch) != (comes ? VERDICT_OK : VERDICT_TIMEOUT))
            fail_msg("%s%s", within[i / 2], b.result.text);
        bench_finish(&b);
    }
}

static void launches_beyond_the_chip_are_refused(void **state)
{
    (void)state;
    const char *ptx =
        PTX_HEAD ".visible .entry k(.param .u64 p0)\n.maxntid 256, 1, 1\n{\nret;\n}\n";
    static const struct {
        struct emu_launch launch;
        const char *text;
    } cases[] = {{{.grid = {1, 1, 1}, .block = {2048, 1, 1}}, "2048"},
        {{.grid = {1, 1, 1}, .block = {64, 32, 1}}, "2048 threads, the limit is 1024"},
        {{.grid = {0, 1, 1}, .block = {64, 1, 1}}, "zero"},
        {{.grid = {1, 70000, 1}, .block = {64, 1, 1}}, "65535"},
        {{.grid = {1, 1, 1}, .block = {512, 1, 1}}, "256"},
        {{.grid = {1, 1, 1}, .block = {64, 1, 1}, .smem_bytes = 240000}, "240000"},
        {{.grid = {1, 1, 1}, .block = {256, 1, 1}, .registers = 255}, NULL}};
    struct bench b;
    bench_init(&b, ptx, 1);
    bench_buffer(&b, NULL, 16);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        enum verdict v = bench_launch(&b, cases[i].launch);
        assert_int_equal(v, cases[i].text ? VERDICT_LAUNCH_FAILED : VERDICT_OK);
        if (cases[i].text && !strstr(b.result.text, cases[i].text))
            fail_msg("%s", b.result.text);
    }
    bench_finish(&b);
}

/* What no chip could launch, however its text reads. */
static void kernels_beyond_the_chip_are_refused(void **state)
{
    static const char *const cases[][2] = {
        {".visible .entry k(.param .align 8 .b8 p[32768])\n{\nret;\n}\n",
            "32768 bytes of parameters, the limit is 32764"},
        {".visible .entry k()\n{\n.local .b8 a[600000];\nret;\n}\n", "512 KiB of local memory"},
        {".visible .entry k()\n{\n.local .b8 a[4294967280];\nret;\n}\n", "512 KiB of local memory"},
        {".func f()\n{\n.local .b8 a[300000];\nret;\n}\n"
         ".visible .entry k()\n{\n.local .b8 a[300000];\ncall f, ();\nret;\n}\n",
            "512 KiB of local memory"},
        {".extern .shared .align 1048576 .b8 s[];\n.visible .entry k()\n{\n.shared .b8 t[4];\n"
         ".reg .b32 r;\nmov.u32 r, s;\nmov.u32 r, t;\nret;\n}\n",
            "shared memory"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        static const uint64_t params[4096];
        char ptx[512];
        struct bench b;
        snprintf(ptx, sizeof(ptx), "%s%s", PTX_HEAD, cases[i][0]);
        bench_init(&b, ptx, 1);
        const enum verdict v = b.module ? bench_launch(&b, (struct emu_launch){.grid = {1, 1, 1},
                                                               .block = {32, 1, 1},
                                                               .params = params,
                                                               .params_bytes = sizeof(params)})
                                        : b.result.verdict;
        if (v == VERDICT_OK || !strstr(b.result.text, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], b.result.text);
        bench_finish(&b);
    }
}

/* The lowest block at fault is the one reported, whatever the number of threads. */
static void reports_do_not_depend_on_threads(void **state)
{
    (void)state;
    const char *ptx = PTX_HEAD ONE_PARAM INDEX
        "setp.ge.u32 %p1, %r2, 777;\n@%p1 ld.global.u32 %r4, [%rd2+4096];\nret;\n}\n";
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct bench b;
        uint32_t zero[NR * 16] = {0};
        bench_init(&b, ptx, threads);
        bench_buffer(&b, zero, sizeof(zero));
        struct emu_launch launch = {.grid = {64, 1, 1}, .block = {64, 1, 1}};
        assert_int_equal(bench_launch(&b, launch), VERDICT_FAULT);
        /* word i + 1024 is past 4096 words for i >= 3072 = block 48 */
        assert_non_null(strstr(b.result.text, "thread (0,0,0) of block (48,0,0)"));
        bench_finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_diverge_and_join),
        cmocka_unit_test(nested_branches),
        cmocka_unit_test(exited_threads_hold_up_no_barrier),
        cmocka_unit_test(many_barriers_are_no_deadlock),
        cmocka_unit_test(spin_locks_make_progress),
        cmocka_unit_test(functions_are_called_by_some_lanes),
        cmocka_unit_test(collectives),
        cmocka_unit_test(syncs_wait_for_their_lanes),
        cmocka_unit_test(named_barriers_order_producers),
        cmocka_unit_test(atomics),
        cmocka_unit_test(float_atomics_are_noted),
        cmocka_unit_test(oblivious),
        cmocka_unit_test(idle_launches_count_the_same),
        cmocka_unit_test(idle_launches_of_wgmma),
        cmocka_unit_test(sums_of_wgmma_are_data),
        cmocka_unit_test(memory_spaces),
        cmocka_unit_test(rows_of_a_warp),
        cmocka_unit_test(vectors_and_narrow_types),
        cmocka_unit_test(asynchronous_copies),
        cmocka_unit_test(copies_that_ignore_their_source),
        cmocka_unit_test(reserved_shared_memory),
        cmocka_unit_test(what_no_driver_set_is_zero),
        cmocka_unit_test(special_registers_that_are_refused),
        cmocka_unit_test(stray_accesses),
        cmocka_unit_test(barriers_that_cannot_complete),
        cmocka_unit_test(other_verdicts),
        cmocka_unit_test(only_the_kernel_that_reaches_it_is_unsupported),
        cmocka_unit_test(vectors_of_one_are_their_element),
        cmocka_unit_test(vector_registers_have_parts),
        cmocka_unit_test(waits_count_twice_at_most),
        cmocka_unit_test(endless_loops_time_out),
        cmocka_unit_test(waits_give_way),
        cmocka_unit_test(launches_beyond_the_chip_are_refused),
        cmocka_unit_test(kernels_beyond_the_chip_are_refused),
        cmocka_unit_test(reports_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
