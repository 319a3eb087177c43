/* Calls through registers: of functions by lane, under guards, from tables; and of what is none.
 * Functions that call themselves: each call has its own registers and memory. */
#include "emu_harness.h"

#define FUNCTIONS                                                                                  \
    PTX_HEAD ".func (.param .b32 r) twice(.param .b32 q)\n{\n.reg .b32 x;\nld.param.b32 x, [q];\n" \
             "add.u32 x, x, x;\nst.param.b32 [r], x;\nret;\n}\n"                                   \
             ".func (.param .b32 r) next(.param .b32 q)\n{\n.reg .b32 x;\n.reg .pred p;\n"         \
             "ld.param.b32 x, [q];\nsetp.gt.u32 p, x, 20;\n@p bra BIG;\nadd.u32 x, x, 1;\nBIG:\n"  \
             "st.param.b32 [r], x;\nret;\n}\n"                                                     \
             ".func (.param .b32 r) other(.param .b32 q, .param .b32 s)\n{\nret;\n}\n"             \
             ".global .align 8 .u64 table[3] = {next, 0, other};\n"
#define KERNEL                                                                                     \
    ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 A, F, G, T;\n.reg .b32 L, V, O;\n"            \
    ".reg .pred P, Q;\nld.param.u64 A, [p0];\nmov.u32 L, %tid.x;\nmad.wide.u32 A, L, 4, A;\n"      \
    "mov.u64 F, twice;\nmov.u64 T, table;\nmov.u32 V, 99;\n"
#define CALL(guard)                                                                                \
    "{\n.param .b32 q;\nst.param.b32 [q], L;\n.param .b32 r;\n"                                    \
    "form : .callprototype (.param .b32 _) _ (.param .b32 _);\n" guard                             \
    " call (r), F, (q), form;\n@!P bra SKIP;\nld.param.b32 V, [r];\nSKIP:\n}\n"                    \
    "st.global.u32 [A], V;\nret;\n}\n"

static void lanes_call_different_functions(void **state)
{
    uint32_t out[32] = {0};
    struct bench b;
    (void)state;
    bench_init(&b,
        FUNCTIONS KERNEL "ld.global.u64 G, [T];\nand.b32 O, L, 1;\nsetp.eq.u32 Q, O, 1;\n"
                         "selp.b64 F, F, G, Q;\nsetp.lt.u32 P, L, 28;\n" CALL("@P"),
        1);
    bench_buffer(&b, out, sizeof(out));
    bench_run_ok(&b, 1, 32);
    bench_read(&b, 0, out, sizeof(out));
    for (uint32_t l = 0; l < 32; l++)
        assert_int_equal(out[l], l >= 28 ? 99 : l % 2 ? 2 * l : l > 20 ? l : l + 1);
    bench_finish(&b);
}

/* Address zero, and a function that takes something else. */
static void calls_of_what_is_none(void **state)
{
    static const char *const loads[] = {"ld.global.u64 F, [T+8];\nsetp.eq.u32 P, L, L;\n",
        "ld.global.u64 F, [T+16];\nsetp.eq.u32 P, L, L;\n"};
    uint32_t out[32] = {0};
    char ptx[4096];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bench b;
        snprintf(ptx, sizeof(ptx), "%s%s%s", FUNCTIONS KERNEL, loads[i], CALL("@P"));
        bench_init(&b, ptx, 1);
        bench_buffer(&b, out, sizeof(out));
        assert_int_equal(bench_run(&b, 1, 32), VERDICT_FAULT);
        assert_non_null(strstr(b.result.text, "where no function of that form is"));
        bench_finish(&b);
    }
}

/* --- functions that call themselves --- */

#define HEADER(name) ".func (.param .b32 r) " name "(.param .b32 n)"
#define CALL_OF(guard, name, from, to)                                                             \
    "{\n.param .b32 q;\nst.param.b32 [q], " from ";\n.param .b32 s;\n" guard " call (s), " name    \
    ", (q);\n" guard " ld.param.b32 " to ", [s];\n}\n"
#define BODY(text)                                                                                 \
    "\n{\n.reg .b32 x, y, a, b;\n.reg .pred p;\n.reg .b64 F, G, H, T;\nld.param.b32 x, "           \
    "[n];\n" text "st.param.b32 [r], a;\nret;\n}\n"
#define FIB                                                                                        \
    HEADER("fib")                                                                                  \
    BODY("setp.lt.u32 p, x, 2;\nmov.b32 a, x;\n@p bra BASE;\nsub.u32 y, x, 1;\n" CALL_OF("",       \
        "fib", "y",                                                                                \
        "a") "sub.u32 y, x, 2;\n" CALL_OF("", "fib", "y", "b") "add.u32 a, a, b;\nBASE:\n")

static uint32_t fib(uint32_t n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static uint32_t sum(uint32_t n)
{
    return n * (n + 1) / 2;
}

static uint32_t is_even(uint32_t n)
{
    return n % 2 == 0;
}

static uint32_t hundred_more(uint32_t n)
{
    return n + 100;
}

static uint32_t sum_of_fib(uint32_t n)
{
    return n == 0 ? 7 : fib(n) + sum_of_fib(n - 1);
}

static uint32_t three_each(uint32_t n)
{
    return 3 * n;
}

/* f(lane modulo 14) is called by 2 blocks of 64 threads. */
static const struct {
    const char *what, *functions;
    uint32_t (*want)(uint32_t n);
} recursions[] = {{"two calls, values kept over them, lanes at different depths",
                      FIB HEADER("f") BODY(CALL_OF("", "fib", "x", "a")), fib},
    {"the address of a variable of the call further out",
        ".func f2(.param .b32 n, .param .b64 to)\n{\n.local .align 4 .b8 v[4];\n.reg .b32 x, y;\n"
        ".reg .b64 A, T, V;\n.reg .pred p;\nld.param.b32 x, [n];\nld.param.b64 T, [to];\n"
        "mov.u64 V, v;\nsetp.eq.u32 p, x, 0;\n@p bra ZERO;\ncvta.local.u64 A, V;\nsub.u32 y, x, "
        "1;\n"
        "{\n.param .b32 q;\nst.param.b32 [q], y;\n.param .b64 s;\nst.param.b64 [s], A;\n"
        "call f2, (q, s);\n}\nld.local.u32 y, [V];\nadd.u32 x, x, y;\nst.local.u32 [v], x;\n"
        "ld.local.u32 x, [V];\nZERO:\nst.u32 [T], x;\nret;\n}\n" HEADER(
            "f") "\n{\n.local .align 4 .b8 v[4];\n.reg .b32 x;\n.reg .b64 A;\n"
                 "ld.param.b32 x, [n];\nmov.u64 A, v;\ncvta.local.u64 A, A;\n{\n.param .b32 q;\n"
                 "st.param.b32 [q], x;\n.param .b64 s;\nst.param.b64 [s], A;\ncall f2, (q, s);\n}\n"
                 "ld.local.u32 x, [v];\nst.param.b32 [r], x;\nret;\n}\n",
        sum},
    {"two functions that call each other",
        HEADER("odd") ";\n" HEADER("even")
            BODY("mov.b32 a, 1;\nsetp.eq.u32 p, x, 0;\n@p bra END;\nsub.u32 x, x, 1;\n" CALL_OF(
                "", "odd", "x", "a") "END:\n") HEADER("odd")
                BODY("mov.b32 a, 0;\nsetp.eq.u32 p, x, 0;\n@p bra END;\nsub.u32 x, x, 1;\n" CALL_OF(
                    "", "even", "x", "a") "END:\n") HEADER("f") BODY(CALL_OF("", "even", "x", "a")),
        is_even},
    {"under a guard, which is looked at again after the call",
        HEADER("f") BODY("mov.b32 a, 99;\nsetp.ne.u32 p, x, 0;\nsub.u32 y, x, 1;\n" CALL_OF(
            "@p", "f", "y", "a") "add.u32 a, a, 1;\n@p bra END;\nmov.b32 a, 100;\nEND:\n"),
        hundred_more},
    {"through a register, under a guard",
        ".func (.param .b32 r) other(.param .b32 n)\n{\nret;\n}\n.global .align 8 .u64 at = "
        "other;\n" HEADER("f")
            BODY("mov.b32 a, 99;\nmov.u64 F, f;\nsetp.ne.u32 p, x, 0;\nsub.u32 y, x, 1;\n"
                 "form : .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                 "{\n.param .b32 q;\nst.param.b32 [q], y;\n.param .b32 s;\n"
                 "@p call (s), F, (q), form;\n@p ld.param.b32 a, [s];\n}\n"
                 "add.u32 a, a, 1;\n"),
        hundred_more},
    {"a recursive function that calls another, by way of one that is not",
        FIB HEADER("between") BODY(CALL_OF("", "fib", "x", "a")) HEADER("f")
            BODY("mov.b32 a, 7;\nsetp.eq.u32 p, x, 0;\n@p bra END;\nsub.u32 y, x, 1;\n" CALL_OF(
                "", "between", "x", "b") CALL_OF("", "f", "y", "a") "add.u32 a, a, b;\nEND:\n"),
        sum_of_fib},
    {"arguments from registers and constants, results to registers",
        ".func (.param .b32 r) four(.param .b32 n, .param .b64 m, .param .f32 z, .param .s8 c)\n{\n"
        ".reg .b32 x, y;\n.reg .b64 w;\n.reg .f32 f;\nld.param.b32 x, [n];\nld.param.b64 w, [m];\n"
        "shr.u64 w, w, 40;\ncvt.u32.u64 y, w;\nadd.u32 x, x, y;\nld.param.f32 f, [z];\n"
        "cvt.rzi.u32.f32 y, f;\nadd.u32 x, x, y;\nld.param.s8 y, [c];\nadd.u32 x, x, y;\n"
        "st.param.b32 [r], x;\nret;\n}\n" HEADER("f")
            BODY("mov.b32 b, 1000;\nsetp.eq.u32 p, x, 0;\nmov.b32 a, 5;\nsub.u32 y, x, 1;\n"
                 "@!p call (a), f, (y);\n@p call (a), four, (b, 0x70000000000, 3.5, -10);\n"
                 "sub.u32 a, a, b;\nadd.u32 a, a, 1001;\n@p sub.u32 a, a, 901;\n"),
        hundred_more},
    {"values of 64 bits, and what printf is given, by its own frame",
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".global .align 1 .b8 text[2] = {46, 0};\n" HEADER("f") BODY(
            "mov.b32 a, 0;\nsetp.eq.u32 p, x, 0;\n@p bra END;\nsub.u32 y, x, 1;\n"
            "cvt.u64.u32 G, x;\nshl.b64 G, G, 33;\n" CALL_OF("", "f", "y",
                "a") "mov.u64 T, text;\ncvta.global.u64 T, T;\n{\n.param .b64 u;\n"
                     "st.param.b64 [u], T;\n.param .b64 v;\nst.param.b64 [v], T;\n.param .b32 w;\n"
                     "call (w), vprintf, (u, v);\nld.param.b32 b, [w];\n}\nshr.u64 G, G, 33;\n"
                     "cvt.u32.u64 y, G;\nsub.u32 y, y, x;\nadd.u32 y, y, 3;\nadd.u32 a, a, y;\n"
                     "END:\n"),
        three_each}};

#define CALLER                                                                                     \
    ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 A;\n.reg .b32 L, V, G;\nld.param.u64 A, "     \
    "[p0];\n"                                                                                      \
    "mov.u32 L, %tid.x;\nmov.u32 G, %ctaid.x;\nmad.lo.u32 G, G, 64, L;\nmad.wide.u32 A, G, 4, "    \
    "A;\n"                                                                                         \
    "rem.u32 L, G, 14;\n" CALL_OF("", "f", "L", "V") "st.global.u32 [A], V;\nret;\n}\n"

static void functions_that_call_themselves(void **state)
{
    char ptx[8192];
    (void)state;
    for (size_t i = 0; i < sizeof(recursions) / sizeof(*recursions); i++) {
        uint32_t out[128] = {0};
        struct bench b;
        snprintf(ptx, sizeof(ptx), "%s%s%s", PTX_HEAD, recursions[i].functions, CALLER);
        bench_init(&b, ptx, 2);
        if (!b.module)
            fail_msg("%s: %s", recursions[i].what, b.result.text);
        bench_buffer(&b, out, sizeof(out));
        const struct emu_launch launch = {.grid = {2, 1, 1},
            .block = {64, 1, 1},
            .count = true,
            .find_races = true,
            .find_uninit = true,
            .find_sync = true};
        if (bench_launch(&b, launch) != VERDICT_OK)
            fail_msg("%s: %s", recursions[i].what, b.result.text);
        bench_read(&b, 0, out, sizeof(out));
        for (uint32_t l = 0; l < 128; l++) {
            if (out[l] != recursions[i].want(l % 14))
                fail_msg("%s: f(%u) is %u", recursions[i].what, l % 14, out[l]);
        }
        bench_finish(&b);
    }
}

/* A call is one instruction, saving and restoring is none. Per thread: 4 in the kernel, 6 in each
 * f that calls on (the branch that is not taken does not count), 4 in the last. */
static void calls_count_as_before(void **state)
{
    uint32_t out[128] = {0};
    struct bench b;
    (void)state;
    bench_init(&b,
        PTX_HEAD ".func f(.param .b32 n)\n{\n.reg .b32 x;\n.reg .pred p;\nld.param.b32 x, [n];\n"
                 "setp.eq.u32 p, x, 0;\n@p bra END;\nsub.u32 x, x, 1;\n{\n.param .b32 q;\n"
                 "st.param.b32 [q], x;\ncall f, (q);\n}\nEND:\nret;\n}\n"
                 ".visible .entry k()\n{\n.reg .b32 x;\nmov.b32 x, 9;\n{\n.param .b32 q;\n"
                 "st.param.b32 [q], x;\ncall f, (q);\n}\nret;\n}\n",
        1);
    bench_buffer(&b, out, sizeof(out));
    assert_int_equal(bench_run(&b, 1, 32), VERDICT_OK);
    assert_int_equal(b.result.thread_insts, 32 * (4 + 9 * 6 + 4));
    bench_finish(&b);
}

/* Without an end, by one lane only; and lanes that exit far inside leave nothing to the next block.
 */
static void stacks_have_an_end(void **state)
{
#define START "\n{\n.reg .b32 x, y, a;\n.reg .pred p;\nld.param.b32 x, [n];\nmov.b32 a, x;\n"
    static const char *const ends[] = {"setp.eq.u32 p, x, 13;\n@!p bra END;\nmov.b32 y, 13;\n",
        "sub.u32 y, x, 1;\nsetp.eq.u32 p, x, 0;\n@p exit;\n"};
    uint32_t out[128] = {0};
    char ptx[8192];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bench b;
        snprintf(ptx, sizeof(ptx), "%s%s%s%s", PTX_HEAD HEADER("f") START, ends[i],
            CALL_OF("", "f", "y", "a") "END:\nst.param.b32 [r], a;\nret;\n}\n", CALLER);
        bench_init(&b, ptx, 1);
        bench_buffer(&b, out, sizeof(out));
        if (i) {
            assert_int_equal(bench_run(&b, 2, 64), VERDICT_OK);
        } else {
            assert_int_equal(bench_run(&b, 2, 64), VERDICT_FAULT);
            assert_non_null(strstr(b.result.text, "stack overflow"));
            assert_non_null(strstr(b.result.text, "call of f by thread (13,0,0) of block (0,0,0)"));
        }
        bench_finish(&b);
    }
}

/* A function that somebody else should have: by name, and where. */
static void functions_without_a_body_are_named(void **state)
{
    struct bench b;
    (void)state;
    bench_init(&b,
        PTX_HEAD
        ".extern .func elsewhere();\n.file 1 \"a.cu\"\n"
        ".visible .entry k(.param .u64 p0)\n{\n.loc 1 17 0\ncall elsewhere, ();\nret;\n}\n",
        1);
    assert_int_equal(bench_run(&b, 1, 32), VERDICT_UNSUPPORTED);
    assert_int_equal(b.result.line, 17);
    assert_non_null(strstr(b.result.text, "call"));
    assert_non_null(strstr(b.result.text, "elsewhere"));
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_call_different_functions),
        cmocka_unit_test(calls_of_what_is_none), cmocka_unit_test(functions_that_call_themselves),
        cmocka_unit_test(calls_count_as_before), cmocka_unit_test(stacks_have_an_end),
        cmocka_unit_test(functions_without_a_body_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
