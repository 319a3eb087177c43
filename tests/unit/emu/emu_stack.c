/* alloca, stacksave and stackrestore: whose memory it is, how long, and what cannot be. */
#include "emu_harness.h"

#define KERNEL                                                                                     \
    ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 A, F, G, H, T;\n.reg .b32 L, V, W, I;\n"      \
    ".reg .pred P, Q;\nld.param.u64 A, [p0];\nmov.u32 L, %tid.x;\nmad.wide.u32 A, L, 4, A;\n"      \
    "mov.u32 V, 0;\nmov.u32 I, 0;\n"
#define END "st.global.u32 [A], V;\nret;\n}\n"
#define CALL_F(with, result)                                                                       \
    "{\n.param .b32 q;\nst.param.b32 [q], " with ";\n.param .b32 r;\n"                             \
    "call (r), f, (q);\nld.param.b32 " result ", [r];\n}\n"
#define F                                                                                          \
    ".func (.param .b32 r) f(.param .b32 n)\n{\n.reg .b32 x, y, z;\n.reg .b64 S, B;\n"             \
    ".reg .pred p;\nld.param.b32 x, [n];\n"

static uint32_t seven(uint32_t lane)
{
    return (void)lane, 7;
}

static uint32_t itself(uint32_t lane)
{
    return lane;
}

static uint32_t ten_times(uint32_t lane)
{
    return 10 * lane;
}

static uint32_t squares(uint32_t lane)
{
    return lane ? lane * lane + squares(lane - 1) : 0;
}

static const struct {
    const char *what, *text;
    uint32_t (*want)(uint32_t lane);
} uses[] = {
    {"the pointer is the lowest address, as aligned as asked, and what stacksave then gives",
        KERNEL
        "alloca.u64 F, 12, 256;\nstacksave.u64 G;\nsetp.eq.u64 P, F, G;\n@P add.u32 V, V, 1;"
        "\nand.b64 H, F, 255;\nsetp.eq.u64 P, H, 0;\n@P add.u32 V, V, 2;\n"
        "alloca.u64 G, 8;\nadd.u64 H, G, 8;\nsetp.eq.u64 P, H, F;\n@P add.u32 V, V, 4;\n" END,
        seven},
    {"no alignment is less than eight",
        KERNEL "mov.u32 V, 7;\nalloca.u64 F, 1, 1;\nalloca.u64 G, 3;\nor.b64 H, F, G;\n"
               "and.b64 H, H, 7;\nsetp.ne.u64 P, H, 0;\n@P mov.u32 V, 0;\n" END,
        seven},
    {"pointers of 32 bits",
        KERNEL "alloca.u32 W, 16, 16;\nst.local.u32 [W+12], L;\nstacksave.u32 I;\n"
               "alloca.u32 V, 16;\nst.local.u32 [V+12], 9;\nstackrestore.u32 I;\n"
               "stacksave.u32 I;\nsetp.eq.u32 P, I, W;\n@P ld.local.u32 V, [W+12];\n" END,
        itself},
    {"each lane has as much as it asks for, if it does",
        KERNEL "setp.gt.u32 P, L, 0;\nmul.wide.u32 G, L, 4;\n@P alloca.u64 F, G;\nMORE:\n"
               "setp.ge.u32 Q, I, L;\n@Q bra DONE;\nmad.wide.u32 H, I, 4, F;\n"
               "st.local.u32 [H], 10;\nadd.u32 I, I, 1;\nbra MORE;\nDONE:\nmov.u32 I, 0;\nSUM:\n"
               "setp.ge.u32 Q, I, L;\n@Q bra SUMMED;\nmad.wide.u32 H, I, 4, F;\n"
               "ld.local.u32 W, [H];\nadd.u32 V, V, W;\nadd.u32 I, I, 1;\nbra SUM;\nSUMMED:\n" END,
        ten_times},
    {"a generic address",
        KERNEL "alloca.u64 F, 8;\ncvta.local.u64 G, F;\nst.u32 [G], L;\nld.local.u32 V, [F];\n" END,
        itself},
    {"what was saved is restored, again and again",
        KERNEL "alloca.u64 T, 4;\nst.local.u32 [T], L;\nMORE:\nstacksave.u64 G;\n"
               "alloca.u64 F, 4096;\nst.local.u32 [F], 99;\nstackrestore.u64 G;\nadd.u32 I, I, 1;\n"
               "setp.lt.u32 P, I, 100;\n@P bra MORE;\nld.local.u32 V, [T];\n" END,
        itself},
    {"a function's is its caller's again when it returns, on every way out of it",
        F "and.b32 y, x, 1;\nsetp.eq.u32 p, y, 0;\nalloca.u64 S, 4096;\nst.local.u32 [S], x;\n"
          "ld.local.u32 y, [S];\nst.param.b32 [r], y;\n@p ret;\nalloca.u64 S, 1024;\n"
          "st.local.u32 [S], 99;\n}\n" KERNEL "alloca.u64 T, 4;\nst.local.u32 [T], L;\n"
          "stacksave.u64 G;\nMORE:\nadd.u32 W, L, I;\n" CALL_F("W",
              "V") "stacksave.u64 H;\nsetp.ne.u64 P, G, H;\n@P bra WRONG;\nadd.u32 I, I, 1;\n"
                   "setp.lt.u32 P, I, 100;\n@P bra MORE;\nsub.u32 V, V, 99;\nld.local.u32 W, [T];\n"
                   "setp.eq.u32 P, W, V;\n@P bra RIGHT;\nWRONG:\nmov.u32 V, 1234;\nRIGHT:\n" END,
        itself},
    {"a function that begins with a loop keeps what it found before it",
        ".func g()\n{\n.reg .b64 S, B;\n.reg .pred p;\nMORE:\nalloca.u64 S, 1024;\n"
        "and.b64 B, S, 4096;\nsetp.ne.u64 p, B, 0;\n@p bra MORE;\n}\n" KERNEL
        "stacksave.u64 F;\nAGAIN:\ncall g, ();\nadd.u32 I, I, 1;\nsetp.lt.u32 P, I, 100;\n"
        "@P bra AGAIN;\nstacksave.u64 G;\nsetp.eq.u64 P, F, G;\n@P mov.u32 V, 7;\n" END,
        seven},
    {"calls that are under way have each their own",
        F "mov.b32 y, 0;\nsetp.eq.u32 p, x, 0;\n@p bra OUT;\nmul.wide.u32 B, x, 4;\n"
          "alloca.u64 S, B;\nst.local.u32 [S], x;\nsub.u32 y, x, 1;\n" CALL_F(
              "y", "y") "ld.local.u32 z, [S];\nmad.lo.u32 y, z, z, y;\nOUT:\nst.param.b32 [r], "
                        "y;\nret;\n}\n" KERNEL CALL_F("L", "V") END,
        squares}};

static void stacks_are_used(void **state)
{
    char ptx[8192];
    (void)state;
    for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++) {
        uint32_t out[32] = {0};
        struct bench b;
        snprintf(ptx, sizeof(ptx), "%s%s", PTX_HEAD, uses[i].text);
        bench_init(&b, ptx, 1);
        if (!b.module)
            fail_msg("%s: %s", uses[i].what, b.result.text);
        bench_buffer(&b, out, sizeof(out));
        const struct emu_launch launch = {.grid = {3, 1, 1},
            .block = {32, 1, 1},
            .count = true,
            .find_uninit = true,
            .find_sync = true};
        if (bench_launch(&b, launch) != VERDICT_OK)
            fail_msg("%s: %s", uses[i].what, b.result.text);
        bench_read(&b, 0, out, sizeof(out));
        for (uint32_t l = 0; l < 32; l++) {
            if (out[l] != uses[i].want(l))
                fail_msg("%s: lane %u has %u", uses[i].what, l, out[l]);
        }
        bench_finish(&b);
    }
}

static void what_cannot_be(void **state)
{
    static const struct {
        const char *text, *why;
        enum verdict verdict;
    } wrong[] = {{"setp.eq.u32 P, L, 3;\n@P alloca.u64 F, 70000;\n",
                     "stack overflow: alloca of 70000 bytes aligned to 8, where 65536 of 65536 are "
                     "left, by thread (3,0,0) of block (0,0,0)",
                     VERDICT_FAULT},
        {"MORE:\nalloca.u64 F, 4096, 64;\nbra MORE;\n",
            "alloca of 4096 bytes aligned to 64, where 0 of 65536 are left", VERDICT_FAULT},
        {"alloca.u64 F, -8;\n", "stack overflow", VERDICT_FAULT},
        {"alloca.u64 F, 8, 8388608;\n", "stack overflow", VERDICT_FAULT},
        {"alloca.u64 F, 8, 24;\n", "power of two", VERDICT_UNSUPPORTED},
        {"alloca.u64 F, 8;\nstackrestore.u64 0;\n", "stackrestore of 0x0", VERDICT_FAULT},
        {"stacksave.u64 F;\nalloca.u64 G, 64;\nstackrestore.u64 F;\nstackrestore.u64 G;\n",
            "a stacksave gave that still holds, by thread (0,0,0)", VERDICT_FAULT},
        {"alloca.u64 F, 8;\nld.local.u32 V, [F];\n", "uninitialised", VERDICT_FAULT},
        {"alloca.u64 F, 8;\nst.local.u32 [F+4096], V;\n", "out of bounds", VERDICT_FAULT}};
    char ptx[4096];
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        uint32_t out[32] = {0};
        struct bench b;
        snprintf(ptx, sizeof(ptx), "%s%s%s", PTX_HEAD KERNEL, wrong[i].text, END);
        bench_init(&b, ptx, 1);
        if (!b.module)
            fail_msg("%s", b.result.text);
        bench_buffer(&b, out, sizeof(out));
        const struct emu_launch launch = {
            .grid = {1, 1, 1}, .block = {32, 1, 1}, .find_uninit = true};
        if (bench_launch(&b, launch) != wrong[i].verdict || !strstr(b.result.text, wrong[i].why))
            fail_msg("%s: %s", wrong[i].text, b.result.text);
        bench_finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_used), cmocka_unit_test(what_cannot_be)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
