/* What many blocks do to the same counters: the same on any number of host threads, seen in program
 * order by the thread that did it, and sooner or later by blocks that wait for it. */
#include "emu_harness.h"

#include "base/mem.h"

/* Three buffers; %r1: tid.x, %r2: ctaid.x, %r4: number of the thread in the grid, %r5: some bits
 * that differ from thread to thread. */
#define HEAD                                                                                       \
    PTX_HEAD ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n"              \
             ".reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.reg .pred %p<4>;\n"                          \
             "ld.param.u64 %rd0, [p0];\nld.param.u64 %rd1, [p1];\nld.param.u64 %rd2, [p2];\n"      \
             "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"               \
             "mad.lo.u32 %r4, %r2, %r3, %r1;\nmul.lo.u32 %r5, %r4, 0x9e3779b1;\n"                  \
             "shr.u32 %r6, %r5, 15;\nxor.b32 %r5, %r5, %r6;\n"
#define TAIL "ret;\n}\n"

enum { BLOCKS = 24, THREADS = 96, MOST_HOST_THREADS = 4 };

static uint32_t bits_of(uint32_t thread)
{
    const uint32_t x = thread * 0x9e3779b1u;
    return x ^ x >> 15;
}

static void expect_ok(struct bench *b, uint32_t blocks, uint32_t threads)
{
    const struct emu_launch launch = {.grid = {blocks, 1, 1},
        .block = {threads, 1, 1},
        .count = true,
        .untimed = true,
        .step_limit = 1 << 28};
    if (bench_launch(b, launch) != VERDICT_OK)
        fail_msg("%s", b->result.text);
}

/* --- every integer operation on few counters --- */

struct contended {
    const char *op, *type;
    unsigned bytes;
    uint64_t start;
    uint64_t (*then)(uint64_t old, uint64_t operand);
};

static uint64_t add32(uint64_t old, uint64_t x)
{
    return (uint32_t)(old + x);
}
static uint64_t add64(uint64_t old, uint64_t x)
{
    return old + x;
}
static uint64_t and_bits(uint64_t old, uint64_t x)
{
    return old & x;
}
static uint64_t or_bits(uint64_t old, uint64_t x)
{
    return old | x;
}
static uint64_t xor_bits(uint64_t old, uint64_t x)
{
    return old ^ x;
}
static uint64_t min_u(uint64_t old, uint64_t x)
{
    return old < x ? old : x;
}
static uint64_t max_u(uint64_t old, uint64_t x)
{
    return old > x ? old : x;
}
static uint64_t min_s32(uint64_t old, uint64_t x)
{
    return (int32_t)old < (int32_t)x ? old : x;
}
static uint64_t max_s64(uint64_t old, uint64_t x)
{
    return (int64_t)old > (int64_t)x ? old : x;
}
/* the limit of inc and dec is the same for all: else their order would show */
static uint64_t inc(uint64_t old, uint64_t x)
{
    return old >= 100 ? 0 : old + 1;
}
static uint64_t dec(uint64_t old, uint64_t x)
{
    return old == 0 || old > 100 ? 100 : old - 1;
}

static const struct contended contended[] = {
    {"add", "u32", 4, 7, add32},
    {"add", "s32", 4, 0, add32},
    {"add", "u64", 8, UINT64_C(0xffffffff00000000), add64},
    {"and", "b32", 4, 0xffffffffu, and_bits},
    {"or", "b32", 4, 0, or_bits},
    {"xor", "b32", 4, 0x55555555u, xor_bits},
    {"and", "b64", 8, ~UINT64_C(0), and_bits},
    {"or", "b64", 8, 0, or_bits},
    {"xor", "b64", 8, 1, xor_bits},
    {"min", "u32", 4, 0xffffffffu, min_u},
    {"max", "u32", 4, 0, max_u},
    {"min", "s32", 4, 0, min_s32},
    {"max", "s64", 8, UINT64_C(0x8000000000000000), max_s64},
    {"max", "u64", 8, 0, max_u},
    {"inc", "u32", 4, 3, inc},
    {"dec", "u32", 4, 3, dec},
};

/* Thread t's operand goes to counter t % nr (of buffer A), once by `form`. */
static void run_contended(
    const struct contended *c, const char *form, unsigned nr, unsigned host_threads)
{
    char ptx[4096];
    uint64_t *want = xcalloc(nr, 8), *got = xcalloc(nr, 8);
    const bool limited = c->then == inc || c->then == dec;
    snprintf(ptx, sizeof(ptx),
        "%srem.u32 %%r7, %%r4, %u;\nmul.wide.u32 %%rd3, %%r7, %u;\nadd.s64 %%rd3, %%rd0, %%rd3;\n"
        "%s\ncvt.u64.u32 %%rd4, %%r5;\nshl.b64 %%rd5, %%rd4, 31;\nxor.b64 %%rd4, %%rd4, %%rd5;\n"
        "%s.global.%s.%s %s[%%rd3], %s;\n" TAIL,
        HEAD, nr, c->bytes, limited ? "mov.u32 %r5, 100;" : "", form, c->op, c->type,
        strcmp(form, "red") == 0 ? ""
        : c->bytes == 8          ? "%rd9, "
                                 : "%r9, ",
        c->bytes == 8 ? "%rd4" : "%r5");
    struct bench b;
    bench_init(&b, ptx, host_threads);
    for (unsigned i = 0; i < nr; i++) {
        want[i] = c->start;
        memcpy((char *)got + (size_t)i * c->bytes, &c->start, c->bytes);
    }
    bench_buffer(&b, got, (uint64_t)nr * c->bytes);
    expect_ok(&b, BLOCKS, THREADS);
    for (uint32_t t = 0; t < BLOCKS * THREADS; t++) {
        const uint64_t x = bits_of(t), operand = c->bytes == 8 ? x ^ x << 31 : x;
        want[t % nr] = c->then(want[t % nr], operand);
    }
    bench_read(&b, 0, got, (uint64_t)nr * c->bytes);
    for (unsigned i = 0; i < nr; i++) {
        uint64_t one = 0;
        memcpy(&one, (char *)got + (size_t)i * c->bytes, c->bytes);
        if (one != want[i])
            fail_msg("%s.%s.%s, %u host threads: counter %u of %u is %llx, not %llx", form, c->op,
                c->type, host_threads, i, nr, (unsigned long long)one, (unsigned long long)want[i]);
    }
    bench_finish(&b);
    free(want);
    free(got);
}

static void counters_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(contended) / sizeof(*contended); i++) {
        for (unsigned threads = 1; threads <= MOST_HOST_THREADS; threads++) {
            run_contended(&contended[i], "red", 5, threads);
            run_contended(&contended[i], "atom", 5, threads);
        }
        run_contended(&contended[i], "red", 5001, 2); /* more than 16 KB of them */
    }
}

/* Each thread gets a number of its own. */
static void results_that_are_read_are_right(void **state)
{
    (void)state;
    const char *ptx = HEAD "atom.global.add.u32 %r7, [%rd0], 1;\nmul.wide.u32 %rd3, %r7, 4;\n"
                           "add.s64 %rd3, %rd1, %rd3;\nst.global.u32 [%rd3], 1;\n" TAIL;
    static uint32_t out[BLOCKS * THREADS];
    for (unsigned threads = 1; threads <= MOST_HOST_THREADS; threads++) {
        struct bench b;
        const uint32_t zero = 0;
        bench_init(&b, ptx, threads);
        bench_buffer(&b, &zero, 4);
        memset(out, 0, sizeof(out));
        bench_buffer(&b, out, sizeof(out));
        expect_ok(&b, BLOCKS, THREADS);
        bench_read(&b, 1, out, sizeof(out));
        for (unsigned i = 0; i < BLOCKS * THREADS; i++)
            assert_int_equal(out[i], 1);
        bench_finish(&b);
    }
}

/* Lanes of one instruction add to two buffers, and to one of them other instructions add too. */
static void sums_to_several_buffers(void **state)
{
    (void)state;
    const char *ptx =
        HEAD "red.global.add.u32 [%rd0], 1;\nand.b32 %r7, %r1, 1;\nsetp.eq.u32 %p1, %r7, 0;\n"
             "selp.b64 %rd3, %rd0, %rd1, %p1;\nred.global.add.u32 [%rd3], 10;\n"
             "@%p1 red.global.add.u32 [%rd1], 100;\nred.add.u32 [%rd2], 1000;\n" TAIL;
    for (unsigned threads = 1; threads <= MOST_HOST_THREADS; threads++) {
        struct bench b;
        const uint32_t zero = 0, n = BLOCKS * THREADS,
                       want[3] = {n + 5 * n, 5 * n + 50 * n, 1000 * n};
        bench_init(&b, ptx, threads);
        for (unsigned i = 0; i < 3; i++)
            bench_buffer(&b, &zero, 4);
        expect_ok(&b, BLOCKS, THREADS);
        for (unsigned i = 0; i < 3; i++) {
            uint32_t got;
            bench_read(&b, i, &got, 4);
            assert_int_equal(got, want[i]);
        }
        bench_finish(&b);
    }
}

/* --- program order --- */

/* Additions, loads and stores of one thread to its own word of A; what it loaded goes to B. */
static void a_thread_sees_its_own_sums(void **state)
{
    (void)state;
    const char *ptx =
        HEAD "mul.wide.u32 %rd3, %r4, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd3, %rd0, %rd3;\n"
             "red.global.add.u32 [%rd3], 3;\nld.global.u32 %r7, [%rd3];\n"
             "red.global.add.u32 [%rd3], 4;\nld.global.u32 %r8, [%rd3];\n"
             "mad.lo.u32 %r8, %r8, 100, %r7;\nst.global.u32 [%rd4], %r8;\n"
             "st.global.u32 [%rd3], 500;\nred.global.add.u32 [%rd3], 1;\n" TAIL;
    enum { NR = 16 * 64 };
    static uint32_t words[2][NR];
    for (unsigned threads = 1; threads <= MOST_HOST_THREADS; threads++) {
        struct bench b;
        memset(words, 0, sizeof(words));
        bench_init(&b, ptx, threads);
        bench_buffer(&b, words[0], sizeof(words[0]));
        bench_buffer(&b, words[1], sizeof(words[1]));
        expect_ok(&b, NR / 64, 64);
        bench_read(&b, 0, words[0], sizeof(words[0]));
        bench_read(&b, 1, words[1], sizeof(words[1]));
        for (unsigned i = 0; i < NR; i++) {
            assert_int_equal(words[0][i], 501);
            assert_int_equal(words[1][i], 703);
        }
        bench_finish(&b);
    }
}

/* Warps add to their block's word of A, and after a barrier another warp reads it. */
static void a_block_sees_its_own_sums(void **state)
{
    (void)state;
    const char *ptx = HEAD
        "mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd3, %rd0, %rd3;\n"
        "red.global.add.u32 [%rd3], %r1;\nbar.sync 0;\nsetp.ne.u32 %p1, %r1, 64;\n@%p1 bra OUT;\n"
        "ld.global.u32 %r7, [%rd3];\nst.global.u32 [%rd4], %r7;\nOUT:\n" TAIL;
    for (unsigned threads = 1; threads <= MOST_HOST_THREADS; threads++) {
        uint32_t words[BLOCKS] = {0};
        struct bench b;
        bench_init(&b, ptx, threads);
        bench_buffer(&b, words, sizeof(words));
        bench_buffer(&b, words, sizeof(words));
        expect_ok(&b, BLOCKS, THREADS);
        bench_read(&b, 1, words, sizeof(words));
        for (unsigned i = 0; i < BLOCKS; i++)
            assert_int_equal(words[i], THREADS * (THREADS - 1) / 2);
        bench_finish(&b);
    }
}

/* --- between blocks --- */

/* The last block waits until all the others have added. */
static void a_block_waits_for_sums(void **state)
{
    (void)state;
    const char *ptx = HEAD
        "setp.eq.u32 %p1, %r2, 23;\n@%p1 bra WAIT;\nred.global.add.u32 [%rd0], 1;\nbra OUT;\n"
        "WAIT:\nld.volatile.global.u32 %r7, [%rd0];\nsetp.ne.u32 %p2, %r7, 23;\n@%p2 bra WAIT;\n"
        "st.global.u32 [%rd1], %r7;\nOUT:\n" TAIL;
    for (unsigned threads = 1; threads <= MOST_HOST_THREADS; threads++) {
        struct bench b;
        uint32_t word = 0;
        bench_init(&b, ptx, threads);
        bench_buffer(&b, &word, 4);
        bench_buffer(&b, &word, 4);
        expect_ok(&b, BLOCKS, 1);
        bench_read(&b, 1, &word, 4);
        assert_int_equal(word, BLOCKS - 1);
        bench_finish(&b);
    }
}

/* Block 0 adds, and waits for block 1, which waits for the sum: it arrives before block 0 ends. */
static void a_block_that_waits_lets_its_sums_go(void **state)
{
    (void)state;
    const char *ptx = HEAD
        "setp.eq.u32 %p1, %r2, 1;\n@%p1 bra SECOND;\nred.global.add.u32 [%rd0], 1;\n"
        "FIRST:\nld.volatile.global.u32 %r7, [%rd1];\nsetp.eq.u32 %p2, %r7, 0;\n@%p2 bra FIRST;\n"
        "bra OUT;\n"
        "SECOND:\nld.volatile.global.u32 %r7, [%rd0];\nsetp.eq.u32 %p2, %r7, 0;\n"
        "@%p2 bra SECOND;\nst.volatile.global.u32 [%rd1], 1;\nOUT:\n" TAIL;
    struct bench b;
    uint32_t word = 0;
    bench_init(&b, ptx, 2);
    bench_buffer(&b, &word, 4);
    bench_buffer(&b, &word, 4);
    expect_ok(&b, 2, 1);
    bench_finish(&b);
}

/* Who sees a sum that a fence puts last sees those before it: A[0] says how many blocks have added
 * to all the others, and block 0 watches, once B says that the first of them is at it. */
static void fences_order_sums(void **state)
{
    (void)state;
    const char *ptx =
        HEAD "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra START;\nmul.wide.u32 %rd3, %r1, 4;\n"
             "add.s64 %rd3, %rd0, %rd3;\nmov.u32 %r9, 0;\n"
             "MORE:\nred.global.add.u32 [%rd3+4], 1;\nadd.s64 %rd3, %rd3, 128;\n"
             "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p2, %r9, 32;\n@%p2 bra MORE;\n"
             "setp.ne.u32 %p2, %r1, 0;\n@%p2 bra OUT;\nmembar.gl;\n"
             "red.global.add.u32 [%rd0], 1;\nst.volatile.global.u32 [%rd1], 1;\nbra OUT;\n"
             "START:\nld.volatile.global.u32 %r7, [%rd1];\n"
             "setp.eq.u32 %p2, %r7, 0;\n@%p2 bra START;\n"
             "AGAIN:\nld.volatile.global.u32 %r7, [%rd0];\nmembar.gl;\n"
             "ld.volatile.global.u32 %r8, [%rd0+4096];\nsetp.lt.u32 %p2, %r8, %r7;\n@%p2 trap;\n"
             "setp.ne.u32 %p2, %r7, 23;\n@%p2 bra AGAIN;\nOUT:\n" TAIL;
    static const uint32_t zero[1025];
    for (unsigned i = 0; i < 20; i++) {
        struct bench b;
        bench_init(&b, ptx, 2);
        bench_buffer(&b, zero, sizeof(zero));
        bench_buffer(&b, zero, 4);
        expect_ok(&b, BLOCKS, 32);
        bench_finish(&b);
    }
}

/* --- what is wrong is found as ever --- */

static void stray_sums_are_found(void **state)
{
    (void)state;
    const char *ptx =
        HEAD "rem.u32 %r7, %r5, 100;\nmul.wide.u32 %rd3, %r7, 4;\nadd.s64 %rd3, %rd0, %rd3;\n"
             "red.global.add.u32 [%rd3], 1;\nsetp.eq.u32 %p1, %r4, 700;\nadd.s64 %rd4, %rd0, 400;\n"
             "@%p1 red.global.add.u32 [%rd4], 1;\n" TAIL;
    for (unsigned threads = 1; threads <= MOST_HOST_THREADS; threads++) {
        static const uint32_t zero[100];
        struct bench b;
        bench_init(&b, ptx, threads);
        bench_buffer(&b, zero, sizeof(zero));
        assert_int_equal(bench_run(&b, BLOCKS, THREADS), VERDICT_FAULT);
        assert_string_equal(b.result.text, "out of bounds: 4-byte atomic 0 bytes past the end of A "
                                           "(400 bytes) by thread (28,0,0) of block (7,0,0)");
        bench_finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_do_not_depend_on_threads),
        cmocka_unit_test(results_that_are_read_are_right),
        cmocka_unit_test(sums_to_several_buffers),
        cmocka_unit_test(a_thread_sees_its_own_sums),
        cmocka_unit_test(a_block_sees_its_own_sums),
        cmocka_unit_test(a_block_waits_for_sums),
        cmocka_unit_test(a_block_that_waits_lets_its_sums_go),
        cmocka_unit_test(fences_order_sums),
        cmocka_unit_test(stray_sums_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
