/* Calls through registers: of functions by lane, under guards, from tables; and of what is none. */
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
    if (!b.module)
        fail_msg("%s", b.result.text);
    bench_buffer(&b, out, sizeof(out));
    if (bench_run(&b, 1, 32) != VERDICT_OK)
        fail_msg("%s", b.result.text);
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
        if (!b.module)
            fail_msg("%s", b.result.text);
        bench_buffer(&b, out, sizeof(out));
        assert_int_equal(bench_run(&b, 1, 32), VERDICT_FAULT);
        assert_non_null(strstr(b.result.text, "where no function of that form is"));
        bench_finish(&b);
    }
}

static void recursion_is_refused_by_name(void **state)
{
    struct bench b;
    (void)state;
    bench_init(&b,
        PTX_HEAD ".func again()\n{\ncall again, ();\nret;\n}\n"
                 ".visible .entry k(.param .u64 p0)\n{\ncall again, ();\nret;\n}\n",
        1);
    if (b.module)
        assert_int_equal(bench_run(&b, 1, 32), VERDICT_UNSUPPORTED);
    assert_int_equal(b.result.verdict, VERDICT_UNSUPPORTED);
    assert_non_null(strstr(b.result.text, "recursive calls"));
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_call_different_functions),
        cmocka_unit_test(calls_of_what_is_none), cmocka_unit_test(recursion_is_refused_by_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
