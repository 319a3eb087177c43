/* Branches by a table: lanes go to different places, meet again where they should, and are counted
 * as one branch. */
#include "emu_harness.h"

#define KERNEL(text)                                                                               \
    PTX_HEAD                                                                                       \
    ".file 1 \"a.cu\"\n.visible .entry k(.param .u64 p0)\n{\n.reg .b64 A;\n"                       \
    ".reg .b32 L, V, I, M, N;\n.reg .pred P;\nld.param.u64 A, [p0];\nmov.u32 L, %tid.x;\n"         \
    "mad.wide.u32 A, L, 8, A;\nmov.b32 V, 99;\n" text                                              \
    "activemask.b32 M;\nst.global.v2.b32 [A], {V, M};\nret;\n}\n"
#define PLACES                                                                                     \
    "L0:\nmov.b32 V, 10;\nbra END;\nL1:\nmov.b32 V, 11;\nbra END;\nL2:\nmov.b32 V, 12;\nEND:\n"

struct branch_case {
    const char *what, *ptx;
    uint32_t (*want)(uint32_t lane);
    uint32_t (*meets)(uint32_t lane); /* which lanes are together at the end */
    unsigned branches, divergent;
};

static uint32_t by_three(uint32_t l)
{
    return 10 + l % 3;
}

static uint32_t doubled(uint32_t l)
{
    return l % 4 == 3 ? 10 : 10 + l % 4;
}

static uint32_t eleven(uint32_t l)
{
    return 11 + 0 * l;
}

static uint32_t half_of_them(uint32_t l)
{
    return l < 16 ? by_three(l) : 99;
}

static uint32_t inner(uint32_t l)
{
    return l < 8 ? by_three(l) + 100 : 5;
}

/* 1, then 3 n + 1 or n / 2, as often as it takes. */
static uint32_t steps(uint32_t l)
{
    uint32_t n = l + 1, nr = 0;
    for (; n != 1; nr++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return nr;
}

static uint32_t all(uint32_t l)
{
    return ~(0 * l);
}

static uint32_t not_the_last_of_four(uint32_t l)
{
    return l % 4 == 3 ? 0 : 0x77777777;
}

static uint32_t left_early(uint32_t l)
{
    return l % 4 == 3 ? 0 : 10 + l % 4;
}

static const struct branch_case cases[] = {
    {"three places",
        KERNEL("T: .branchtargets L0, L1, L2;\nrem.u32 I, L, 3;\nbrx.idx I, T;\n" PLACES), by_three,
        all, 1 + 2, 1},
    {"one place twice",
        KERNEL("T: .branchtargets L0, L1, L2, L0;\nrem.u32 I, L, 4;\nbrx.idx I, T;\n" PLACES),
        doubled, all, 1 + 2, 1},
    {"all to the same",
        KERNEL("T: .branchtargets L0, L1, L2;\nmov.b32 I, 1;\nbrx.idx.uni I, T;\n" PLACES), eleven,
        all, 1 + 1, 0},
    {"some do not jump",
        KERNEL("T: .branchtargets L0, L1, L2;\nrem.u32 I, L, 3;\nsetp.lt.u32 P, L, 16;\n"
               "@P brx.idx I, T;\nbra END;\n" PLACES),
        half_of_them, all, 1 + 1 + 2, 1},
    {"in a branch of some",
        KERNEL("T: .branchtargets L0, L1, L2;\nrem.u32 I, L, 3;\nmov.b32 V, 5;\n"
               "setp.ge.u32 P, L, 8;\n@P bra OUT;\nbrx.idx I, T;\n" PLACES
               "add.u32 V, V, 100;\nOUT:\n"),
        inner, all, 1 + 1 + 2, 2},
    {"a place that only returns",
        KERNEL("T: .branchtargets L0, L1, L2, GONE;\nrem.u32 I, L, 4;\nbrx.idx I, T;\nGONE:\n"
               "ret;\n" PLACES),
        left_early, not_the_last_of_four, 1 + 2, 1},
    {"back to where it was before",
        KERNEL("T: .branchtargets EVEN, ODD, DONE;\nadd.u32 N, L, 1;\nmov.b32 V, -1;\nNEXT:\n"
               "add.u32 V, V, 1;\nsetp.eq.u32 P, N, 1;\nand.b32 I, N, 1;\n@P mov.b32 I, 2;\n"
               "brx.idx I, T;\nEVEN:\nshr.u32 N, N, 1;\nbra NEXT;\nODD:\nmad.lo.u32 N, N, 3, 1;\n"
               "bra NEXT;\nDONE:\n"),
        steps, all, 0, 0}};

static void lanes_go_where_their_index_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t out[32][2] = {{0}};
        struct bench b;
        bench_init(&b, cases[i].ptx, 1);
        if (!b.module)
            fail_msg("%s: %s", cases[i].what, b.result.text);
        bench_buffer(&b, out, sizeof(out));
        if (bench_run(&b, 1, 32) != VERDICT_OK)
            fail_msg("%s: %s", cases[i].what, b.result.text);
        bench_read(&b, 0, out, sizeof(out));
        for (uint32_t l = 0; l < 32; l++) {
            if (out[l][0] != cases[i].want(l) || out[l][1] != cases[i].meets(l))
                fail_msg(
                    "%s: lane %u has %u, together with %x", cases[i].what, l, out[l][0], out[l][1]);
        }
        const struct counters *c = &b.result.counters;
        const double branches = c->metric[METRIC_BRANCHES].value,
                     divergent = c->metric[METRIC_BRANCHES_DIVERGENT].value;
        if (cases[i].branches && (branches != cases[i].branches || divergent != cases[i].divergent))
            fail_msg("%s: %g branches, %g divergent", cases[i].what, branches, divergent);
        bench_finish(&b);
    }
}

static void an_index_past_the_list_is_a_fault(void **state)
{
    uint32_t out[64] = {0};
    struct bench b;
    (void)state;
    bench_init(&b,
        KERNEL(
            "T: .branchtargets L0, L1, L2;\nshr.u32 I, L, 3;\n.loc 1 23 0\nbrx.idx I, T;\n" PLACES),
        1);
    bench_buffer(&b, out, sizeof(out));
    assert_int_equal(bench_run(&b, 1, 32), VERDICT_FAULT);
    assert_int_equal(b.result.line, 23);
    assert_non_null(
        strstr(b.result.text, "index 3, where the list has 3 labels, by thread (24,0,0)"));
    bench_finish(&b);
}

static void what_is_no_list_is_bad_ptx(void **state)
{
    static const char *const texts[] = {KERNEL("brx.idx L, V;\n"),
        KERNEL("T: .branchtargets L0, L1, L3;\nbrx.idx L, T;\n" PLACES),
        KERNEL("T: .branchtargets L0, 5;\nbrx.idx L, T;\n" PLACES),
        KERNEL("T: .branchtargets ;\nbrx.idx L, T;\n"),
        KERNEL("T: .branchtargets L0, L1;\nmov.b32 V, T;\n" PLACES)};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct bench b;
        bench_init(&b, texts[i], 1);
        if (b.module || b.result.verdict != VERDICT_NO_COMPILE)
            fail_msg("%s: verdict %d: %s", texts[i], b.result.verdict, b.result.text);
        bench_finish(&b);
    }
}

/* A loop that lanes leave only by a jump to the function's end, and whose latch does not stand
 * last: what only lane 0 does is over where all lanes meet, at the latch. */
static void an_endless_loop_meets_at_its_latch(void **state)
{
    uint32_t out[32][2] = {0};
    struct bench b;
    (void)state;
    bench_init(&b,
        PTX_HEAD
        ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 A;\n.reg .b32 L, N, M, V;\n"
        ".reg .pred P;\nld.param.u64 A, [p0];\nmov.u32 L, %tid.x;\nmad.wide.u32 A, L, 8, A;\n"
        "mov.b32 N, 0;\nmov.b32 V, 0;\nbra HEAD;\n"
        "LATCH:\nactivemask.b32 M;\nbar.sync 0;\nst.global.v2.b32 [A], {V, M};\n"
        "add.u32 N, N, 1;\n"
        "HEAD:\nsetp.eq.u32 P, N, 3;\n@P bra DONE;\n"
        "setp.ne.u32 P, L, 0;\n@P bra LATCH;\nadd.u32 V, V, 1;\nbra LATCH;\n"
        "DONE:\nret;\n}\n",
        1);
    bench_buffer(&b, out, sizeof(out));
    bench_run_ok(&b, 1, 32);
    bench_read(&b, 0, out, sizeof(out));
    for (uint32_t l = 0; l < 32; l++) {
        assert_int_equal(out[l][0], l == 0 ? 3 : 0);
        assert_int_equal(out[l][1], 0xffffffff);
    }
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_go_where_their_index_says),
        cmocka_unit_test(an_index_past_the_list_is_a_fault),
        cmocka_unit_test(what_is_no_list_is_bad_ptx),
        cmocka_unit_test(an_endless_loop_meets_at_its_latch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
