/* mov: registers put together of parts and taken apart, of every shape that the manual has; copies
 * of each type; and registers of 8 bits, which only conversions, loads, stores and these can use.
 * The reference is the host's memory. */
#include "emu/sem/sem.h"
#include "emu_harness.h"

static const struct {
    unsigned bits, part;
} shapes[] = {{16, 8}, {32, 16}, {32, 8}, {64, 32}, {64, 16}, {128, 64}, {128, 32}};

enum { LANE_BYTES = 16 };

static uint8_t source_byte(unsigned i)
{
    return (uint8_t)(i * 73 + 19 + (i >> 4) * 7);
}

/* Loads each part from the lane's bytes (16 of them), puts the parts together, takes them apart and
 * stores them in the opposite order; under a guard that half of the lanes pass when `guarded`. */
static void run_shape(unsigned bits, unsigned part, bool guarded)
{
    const unsigned nr = bits / part;
    const char *guard = guarded ? "@P " : "";
    char ptx[4096], parts[2][64] = {"", ""};
    uint8_t in[32 * LANE_BYTES], out[32 * LANE_BYTES];
    struct bench b;
    int n;

    for (unsigned i = 0; i < sizeof(in); i++)
        in[i] = source_byte(i);
    for (unsigned i = 0; i < nr; i++) {
        snprintf(parts[0] + strlen(parts[0]), 32, "%sa%u", i ? ", " : "", i);
        snprintf(parts[1] + strlen(parts[1]), 32, "%sb%u", i ? ", " : "", i);
    }
    n = snprintf(ptx, sizeof(ptx), "%s%s", PTX_HEAD,
        ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.reg .b64 O, A;\n.reg .b32 l, t;\n"
        ".reg .pred P;\nld.param.u64 O, [p0];\nld.param.u64 A, [p1];\nmov.u32 l, %tid.x;\n"
        "mad.wide.u32 A, l, 16, A;\nmad.wide.u32 O, l, 16, O;\nand.b32 t, l, 1;\n"
        "setp.eq.u32 P, t, 0;\n");
    n += snprintf(
        ptx + n, sizeof(ptx) - (size_t)n, ".reg .b%u w, v;\n.reg .b%u a<4>, b<4>;\n", bits, part);
    for (unsigned i = 0; i < nr; i++)
        n += snprintf(ptx + n, sizeof(ptx) - (size_t)n, "ld.global.b%u a%u, [A+%u];\n", part, i,
            i * part / 8);
    for (unsigned i = 0; i < nr; i++) /* what stays where the guard is false */
        n += snprintf(ptx + n, sizeof(ptx) - (size_t)n, "ld.global.b%u b%u, [A+%u];\n", part, i,
            (nr - 1 - i) * part / 8);
    snprintf(ptx + n, sizeof(ptx) - (size_t)n,
        "mov.b%u w, {%s};\n%smov.b%u v, w;\n%smov.b%u {%s}, v;\n", bits, parts[0], guard, bits,
        guard, bits, parts[1]);
    for (unsigned i = 0; i < nr; i++) {
        n = (int)strlen(ptx);
        snprintf(ptx + n, sizeof(ptx) - (size_t)n, "st.global.b%u [O+%u], b%u;\n%s", part,
            (nr - 1 - i) * part / 8, i, i + 1 == nr ? "ret;\n}\n" : "");
    }
    bench_init(&b, ptx, 1);
    if (!b.module)
        fail_msg("mov.b%u of .b%u: %s", bits, part, b.result.text);
    bench_buffer(&b, in, sizeof(in)); /* what is not written stays */
    bench_buffer(&b, in, sizeof(in));
    if (bench_run(&b, 1, 32) != VERDICT_OK)
        fail_msg("mov.b%u of .b%u: %s", bits, part, b.result.text);
    bench_read(&b, 0, out, sizeof(out));
    for (unsigned l = 0; l < 32; l++) {
        uint8_t want[LANE_BYTES];
        memcpy(want, in + (size_t)l * LANE_BYTES, LANE_BYTES);
        for (unsigned i = 0; i < nr && !(guarded && l % 2); i++)
            memcpy(want + (size_t)i * part / 8,
                in + (size_t)l * LANE_BYTES + (size_t)(nr - 1 - i) * part / 8, part / 8);
        if (memcmp(out + (size_t)l * LANE_BYTES, want, LANE_BYTES) != 0)
            fail_msg("mov.b%u of .b%u%s: lane %u", bits, part, guarded ? ", guarded" : "", l);
    }
    bench_finish(&b);
}

static void every_shape(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        for (int isa = SEM_BASE; isa <= SEM_AVX512; isa++) {
            sem_use(SEM_BASE);
            sem_use((enum sem_isa)isa);
            run_shape(shapes[i].bits, shapes[i].part, false);
            run_shape(shapes[i].bits, shapes[i].part, true);
        }
    }
}

static void every_type(void **state)
{
    static const struct {
        const char *type;
        unsigned bits;
    } types[] = {{"b16", 16}, {"u16", 16}, {"s16", 16}, {"b32", 32}, {"u32", 32}, {"s32", 32},
        {"f32", 32}, {"b64", 64}, {"u64", 64}, {"s64", 64}, {"f64", 64}};
    char ptx[2048];
    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        const unsigned bits = types[i].bits;
        uint64_t in[32], out[32] = {0};
        struct bench b;
        for (unsigned l = 0; l < 32; l++)
            in[l] = UINT64_C(0x9e3779b97f4a7c15) * (l + 1);
        snprintf(ptx, sizeof(ptx),
            PTX_HEAD ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.reg .b64 O, A;\n"
                     ".reg .b32 l;\n.reg .%s x, y;\nld.param.u64 O, [p0];\nld.param.u64 A, [p1];\n"
                     "mov.u32 l, %%tid.x;\nmad.wide.u32 A, l, 8, A;\nmad.wide.u32 O, l, 8, O;\n"
                     "ld.global.b%u x, [A];\nmov.%s y, x;\nst.global.b%u [O], y;\nret;\n}\n",
            types[i].type, bits, types[i].type, bits);
        bench_init(&b, ptx, 1);
        if (!b.module)
            fail_msg("mov.%s: %s", types[i].type, b.result.text);
        bench_buffer(&b, out, sizeof(out));
        bench_buffer(&b, in, sizeof(in));
        assert_int_equal(bench_run(&b, 1, 32), VERDICT_OK);
        bench_read(&b, 0, out, sizeof(out));
        for (unsigned l = 0; l < 32; l++)
            assert_true(out[l] == (bits == 64 ? in[l] : in[l] & ((UINT64_C(1) << bits) - 1)));
        bench_finish(&b);
    }
}

/* Sinks, constants, and what a conversion leaves in 8 bits. */
static void registers_of_8_bits(void **state)
{
    static const char ptx[] =
        PTX_HEAD ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 O;\n.reg .b32 l, x, y;\n"
                 ".reg .b16 h;\n.reg .b8 a, b, c;\nld.param.u64 O, [p0];\nmov.u32 l, %tid.x;\n"
                 "mad.wide.u32 O, l, 16, O;\nsub.s32 x, l, 16;\ncvt.s8.s32 a, x;\n"
                 "mov.b16 h, {a, 7};\ncvt.u32.u16 x, h;\nst.global.b32 [O], x;\n"
                 "mov.b16 {_, b}, h;\ncvt.u32.u8 x, b;\nst.global.b32 [O+4], x;\n"
                 "cvt.s32.s8 x, a;\nst.global.b32 [O+8], x;\nst.global.b8 [O+12], a;\n"
                 "ld.global.b8 c, [O+12];\nmov.b32 y, {c, c, 0, b};\nst.global.b32 [O+12], y;\n"
                 "ret;\n}\n";
    uint32_t out[32][4] = {{0}};
    struct bench b;
    (void)state;
    bench_init(&b, ptx, 1);
    bench_buffer(&b, out, sizeof(out));
    bench_run_ok(&b, 1, 32);
    bench_read(&b, 0, out, sizeof(out));
    for (uint32_t l = 0; l < 32; l++) {
        const uint32_t a = (l - 16) & 0xff;
        assert_int_equal(out[l][0], a | 7 << 8);
        assert_int_equal(out[l][1], 7);
        assert_int_equal(out[l][2], l - 16);
        assert_int_equal(out[l][3], a | a << 8 | 7u << 24);
    }
    bench_finish(&b);
}

/* Every element of a guarded vector load from the parameters is guarded. */
static void guarded_vectors_of_parameters(void **state)
{
    static const char ptx[] = PTX_HEAD
        ".visible .entry k(.param .u64 p0, .param .align 16 .b8 q[16])\n{\n.reg .b64 O, W<2>;\n"
        ".reg .b32 l, x, y;\n.reg .pred P;\n.reg .b128 w;\nld.param.u64 O, [p0];\n"
        "mov.u32 l, %tid.x;\nmad.wide.u32 O, l, 8, O;\nsetp.lt.u32 P, l, 5;\n"
        "mov.b32 x, 1;\nmov.b32 y, 2;\n@P ld.param.v2.b32 {x, y}, [q];\n"
        "mov.b64 W0, 40;\nmov.b64 W1, 50;\nmov.b128 w, {W0, W1};\n@P ld.param.b128 w, [q];\n"
        "mov.b128 {W0, W1}, w;\ncvt.u32.u64 l, W0;\nadd.u32 x, x, l;\ncvt.u32.u64 l, W1;\n"
        "add.u32 y, y, l;\nst.global.v2.b32 [O], {x, y};\nret;\n}\n";
    uint32_t out[32][2] = {{0}};
    struct {
        uint64_t out, pad;
        uint32_t q[4];
    } params = {0, 0, {100, 200, 3000, 4000}};
    struct bench b;
    (void)state;
    bench_init(&b, ptx, 1);
    params.out = bench_buffer(&b, out, sizeof(out));
    assert_int_equal(bench_launch(&b, (struct emu_launch){.grid = {1, 1, 1},
                                          .block = {32, 1, 1},
                                          .params = &params,
                                          .params_bytes = sizeof(params)}),
        VERDICT_OK);
    bench_read(&b, 0, out, sizeof(out));
    for (uint32_t l = 0; l < 32; l++) {
        assert_int_equal(out[l][0], l < 5 ? 100 + 100 : 1 + 40);
        assert_int_equal(out[l][1], l < 5 ? 200 + 3000 : 2 + 50);
    }
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape), cmocka_unit_test(every_type),
        cmocka_unit_test(registers_of_8_bits), cmocka_unit_test(guarded_vectors_of_parameters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
