/* Tests of textures and surfaces against values worked by hand from the CUDA programming guide. */
#include "emu_harness.h"

#include <math.h>

/* One thread per coordinate pair: B[4 i ..] = tex2D(C, A[2 i], A[2 i + 1]). The handle is the third
 * parameter. */
static const char fetch_2d[] =
    PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 t)\n{\n"
             ".reg .b64 %rd<8>;\n.reg .b32 %r<4>;\n.reg .f32 %f<8>;\n"
             "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [t];\n"
             "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd4, %r1, 8;\nadd.s64 %rd4, %rd1, %rd4;\n"
             "ld.global.v2.f32 {%f1, %f2}, [%rd4];\n"
             "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd3, {%f1, %f2}];\n"
             "mul.wide.u32 %rd5, %r1, 16;\nadd.s64 %rd5, %rd2, %rd5;\n"
             "st.global.v4.f32 [%rd5], {%f3, %f4, %f5, %f6};\nret;\n}\n";

enum { NR = 8 };

/* Fetches at NR places from a 4 x 2 texture of floats 0..7; the first channel of each. */
static void fetched(const struct emu_texture *like, const float places[NR][2], float out[NR])
{
    static const float texels[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct bench b;
    float got[NR][4];

    bench_init(&b, fetch_2d, 1);
    uint64_t params[3] = {
        bench_buffer(&b, places, sizeof(float) * NR * 2), bench_buffer(&b, NULL, sizeof(got))};
    struct emu_texture t = *like;

    t.address = bench_buffer(&b, texels, sizeof(texels));
    t.nr_dims = 2;
    t.size[0] = 4, t.size[1] = 2, t.size[2] = 1;
    t.pitch_bytes = 16;
    t.kind = EMU_TEXEL_FLOAT;
    t.channel_bytes = 4, t.nr_channels = 1;
    params[2] = emu_texture_create(b.emu, &t);
    assert_int_equal(bench_launch(&b, (struct emu_launch){.grid = {1, 1, 1},
                                          .block = {NR, 1, 1},
                                          .params = params,
                                          .params_bytes = sizeof(params)}),
        VERDICT_OK);
    bench_read(&b, 1, got, sizeof(got));
    for (unsigned i = 0; i < NR; i++) {
        out[i] = got[i][0];
        assert_true(got[i][1] == 0 && got[i][2] == 0);
    }
    bench_finish(&b);
}

static void same(const float got[NR], const float want[NR])
{
    for (unsigned i = 0; i < NR; i++)
        assert_true(fabsf(got[i] - want[i]) < 1e-6f);
}

static void test_nearest_and_address_modes(void **state)
{
    /* texel (x, y) holds x + 4 y */
    static const float places[NR][2] = {{0.5f, 0.5f}, {3.9f, 1.2f}, {-0.1f, 0.5f}, {4.0f, 0.0f},
        {2.5f, -3}, {2.5f, 2.0f}, {1.0f, 1.0f}, {-7, 9}};
    float got[NR];

    (void)state;
    struct emu_texture t = {.address_mode = {EMU_ADDRESS_CLAMP, EMU_ADDRESS_CLAMP}};

    fetched(&t, places, got);
    same(got, (const float[NR]){0, 7, 0, 3, 2, 6, 5, 4});
    t.address_mode[0] = t.address_mode[1] = EMU_ADDRESS_BORDER;
    fetched(&t, places, got);
    same(got, (const float[NR]){0, 7, 0, 0, 0, 0, 5, 0});
    /* wrap without normalised coordinates is clamp */
    t.address_mode[0] = t.address_mode[1] = EMU_ADDRESS_WRAP;
    fetched(&t, places, got);
    same(got, (const float[NR]){0, 7, 0, 3, 2, 6, 5, 4});
}

static void test_normalised_wrap_and_mirror(void **state)
{
    /* x * 4: 0.5, 5 -> 1 (wrap), -1 -> 3 (wrap), 5 -> 2 (mirror), -1 -> 0 (mirror) */
    static const float places[NR][2] = {{0.125f, 0}, {1.25f, 0}, {-0.25f, 0}, {0.75f, 0.5f},
        {0.75f, 1.0f}, {0.75f, 1.5f}, {2.0f, 0}, {-1.0f, 0}};
    float got[NR];

    (void)state;
    struct emu_texture t = {
        .normalized_coordinates = true, .address_mode = {EMU_ADDRESS_WRAP, EMU_ADDRESS_WRAP}};

    fetched(&t, places, got);
    same(got, (const float[NR]){0, 1, 3, 7, 3, 7, 0, 0});
    t.address_mode[0] = t.address_mode[1] = EMU_ADDRESS_MIRROR;
    fetched(&t, places, got);
    /* columns 0, 5 -> 2, -1 -> 0, 3, 3, 3, 8 -> 0 (2*4-1-8 mod 8: 8 mod 8 = 0), -4 -> 4 -> 3; rows
     * 0, 0, 0, 1, 2 -> 1, 3 -> 0 */
    same(got, (const float[NR]){0, 2, 0, 7, 7, 3, 0, 3});
}

static void test_linear_filtering(void **state)
{
    /* between centres: (1, 0.5) lies midway between texels 0 and 1 of the first row */
    static const float places[NR][2] = {{1.0f, 0.5f}, {0.5f, 0.5f}, {1.75f, 0.5f}, {2.0f, 1.0f},
        {0.0f, 0.5f}, {4.0f, 1.5f}, {1.501f, 0.5f}, {3, 1}};
    float got[NR];

    (void)state;
    struct emu_texture t = {.linear = true, .address_mode = {EMU_ADDRESS_CLAMP, EMU_ADDRESS_CLAMP}};

    fetched(&t, places, got);
    /* 1.501 - 0.5 = 1.001: the fraction 0.001 rounds to 0 of 256 */
    same(got, (const float[NR]){0.5f, 0, 1.25f, 3.5f, 0, 7, 1, 4.5f});
}

static void test_integers_channels_and_normalised_reads(void **state)
{
    static const char text[] =
        PTX_HEAD ".visible .entry k(.param .u64 out, .param .u64 t)\n{\n"
                 ".reg .b64 %rd<4>;\n.reg .b32 %r<8>;\n"
                 "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [t];\nmov.u32 %r5, %tid.x;\n"
                 "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd2, {%r5}];\n"
                 "mul.wide.u32 %rd3, %r5, 16;\nadd.s64 %rd1, %rd1, %rd3;\n"
                 "st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};\nret;\n}\n";
    static const uint8_t texels[4] = {10, 255, 128, 0};
    struct bench b;
    uint32_t got[2][4];

    (void)state;
    bench_init(&b, text, 1);
    uint64_t params[2] = {bench_buffer(&b, NULL, sizeof(got))};
    struct emu_texture t = {.address = bench_buffer(&b, texels, sizeof(texels)),
        .nr_dims = 1,
        .size = {2, 1, 1},
        .kind = EMU_TEXEL_SIGNED,
        .channel_bytes = 1,
        .nr_channels = 2,
        .address_mode = {EMU_ADDRESS_CLAMP}};
    struct emu_launch launch = {
        .grid = {1, 1, 1}, .block = {2, 1, 1}, .params = params, .params_bytes = sizeof(params)};

    params[1] = emu_texture_create(b.emu, &t);
    assert_int_equal(bench_launch(&b, launch), VERDICT_OK);
    bench_read(&b, 0, got, sizeof(got));
    assert_int_equal(got[0][0], 10);
    assert_int_equal((int32_t)got[0][1], -1);
    assert_int_equal((int32_t)got[1][0], -128);
    assert_int_equal(got[1][1], 0);
    assert_int_equal(got[0][2], 0);
    assert_int_equal(got[0][3], 1);

    t.normalized_float = true; /* -128 and -127 both read as -1 */
    params[1] = emu_texture_create(b.emu, &t);
    assert_int_equal(bench_launch(&b, launch), VERDICT_OK);
    bench_read(&b, 0, got, sizeof(got));
    float real[2];

    memcpy(real, &got[0][0], 4);
    memcpy(real + 1, &got[1][0], 4);
    assert_true(fabsf(real[0] - 10.0f / 127) < 1e-7f);
    assert_true(real[1] == -1);

    /* a handle that was destroyed, and a number that never was one */
    emu_texture_destroy(b.emu, params[1]);
    assert_int_equal(bench_launch(&b, launch), VERDICT_FAULT);
    assert_non_null(strstr(b.result.text, "not a texture or surface object"));
    params[1] = 1;
    assert_int_equal(bench_launch(&b, launch), VERDICT_FAULT);
    bench_finish(&b);
}

/* sust writes what suld reads; x counts bytes; outside traps, or reads zero. */
static void surface(const char *outside, int x, enum verdict verdict, uint32_t expected)
{
    char text[1200];
    struct bench b;
    uint32_t got[2] = {7, 7};
    static const uint32_t texels[6] = {1, 2, 3, 4, 5, 6}; /* 3 x 2 */

    snprintf(text, sizeof(text),
        PTX_HEAD ".visible .entry k(.param .u64 out, .param .u64 t, .param .u32 at)\n{\n"
                 ".reg .b64 %%rd<4>;\n.reg .b32 %%r<8>;\n"
                 "ld.param.u64 %%rd1, [out];\nld.param.u64 %%rd2, [t];\nld.param.u32 %%r1, [at];\n"
                 "mov.u32 %%r2, 1;\nmov.u32 %%r3, 4;\nmov.u32 %%r4, 99;\n"
                 "sust.b.2d.b32.trap [%%rd2, {%%r3, %%r2}], {%%r4};\n"
                 "suld.b.2d.b32.%s {%%r5}, [%%rd2, {%%r1, %%r2}];\n"
                 "st.global.u32 [%%rd1], %%r5;\nret;\n}\n",
        outside);
    bench_init(&b, text, 1);
    struct {
        uint64_t out, handle;
        int32_t at;
    } params = {.out = bench_buffer(&b, got, sizeof(got)), .at = x};
    struct emu_texture t = {.address = bench_buffer(&b, texels, sizeof(texels)),
        .nr_dims = 2,
        .size = {3, 2, 1},
        .pitch_bytes = 12,
        .kind = EMU_TEXEL_UNSIGNED,
        .channel_bytes = 4,
        .nr_channels = 1};

    params.handle = emu_texture_create(b.emu, &t);
    assert_int_equal(
        bench_launch(&b,
            (struct emu_launch){
                .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &params, .params_bytes = 20}),
        verdict);
    if (verdict == VERDICT_OK) {
        bench_read(&b, 0, got, sizeof(got));
        assert_int_equal(got[0], expected);
    }
    bench_finish(&b);
}

static void test_surfaces(void **state)
{
    (void)state;
    surface("trap", 0, VERDICT_OK, 4);
    surface("trap", 4, VERDICT_OK, 99);
    surface("trap", 12, VERDICT_FAULT, 0);
    surface("trap", -4, VERDICT_FAULT, 0);
    surface("zero", 12, VERDICT_OK, 0);
    surface("clamp", 40, VERDICT_OK, 6);
}

/* --- every form, by one thread --- */

enum { WORDS = 8 };

/* Runs text between these registers, T the handle, and gives R1 to R8. */
static enum verdict run_text(
    struct bench *b, uint64_t handle, const char *text, uint32_t out[WORDS])
{
    static char ptx[4096];
    snprintf(ptx, sizeof(ptx), "%s%s%s",
        PTX_HEAD
        ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.reg .b64 O, T, Q<5>;\n"
        ".reg .b32 R<17>;\n.reg .b16 H<9>;\n.reg .f32 f<17>;\n.reg .pred P;\n"
        "ld.param.u64 O, [p0];\nld.param.u64 T, [p1];\nmov.b32 R1, 77;\nmov.b32 R2, 77;\n"
        "mov.b32 R3, 77;\nmov.b32 R4, 77;\nmov.b32 R5, 77;\nmov.b32 R6, 77;\nmov.b32 R7, 77;\n"
        "mov.b32 R8, 77;\n",
        text,
        "\nst.global.v4.b32 [O], {R1, R2, R3, R4};\nst.global.v4.b32 [O+16], {R5, R6, R7, R8};\n"
        "ret;\n}\n");
    struct emu_result loaded;
    struct emu_module *module;
    if (!emu_load(b->emu, ptx, strlen(ptx), &module, &loaded, &b->err))
        fail_msg("%s", b->err.text);
    if (!module) {
        b->result = loaded;
        return loaded.verdict;
    }
    const uint64_t at = emu_alloc(b->emu, WORDS * 4, "out", &b->err);
    uint64_t params[2] = {at, handle};
    b->module = module;
    const enum verdict v = bench_launch(b, (struct emu_launch){.grid = {1, 1, 1},
                                               .block = {1, 1, 1},
                                               .params = params,
                                               .params_bytes = sizeof(params)});
    if (!emu_read(b->emu, at, out, WORDS * 4, &b->err))
        fail_msg("%s", b->err.text);
    emu_unload(b->emu, module);
    b->module = NULL;
    return v;
}

static void open_bench(struct bench *b)
{
    memset(b, 0, sizeof(*b));
    b->emu = emu_create(chip_default(), 1);
    b->arena = arena_create();
}

static float f32_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

/* The first NR of R1 ... are these numbers. */
static void gives(
    struct bench *b, uint64_t handle, const char *text, unsigned nr, const float *want)
{
    uint32_t out[WORDS] = {0};
    if (run_text(b, handle, text, out) != VERDICT_OK)
        fail_msg("%s: %s", text, b->result.text);
    for (unsigned i = 0; i < nr; i++)
        if (!(fabsf(f32_of(out[i]) - want[i]) <= 1e-5f * fabsf(want[i])))
            fail_msg("%s: R%u is %g, not %g", text, i + 1, (double)f32_of(out[i]), (double)want[i]);
}

static void gives_bits(
    struct bench *b, uint64_t handle, const char *text, unsigned nr, const uint32_t *want)
{
    uint32_t out[WORDS] = {0};
    if (run_text(b, handle, text, out) != VERDICT_OK)
        fail_msg("%s: %s", text, b->result.text);
    for (unsigned i = 0; i < nr; i++)
        if (out[i] != want[i])
            fail_msg("%s: R%u is 0x%x, not 0x%x", text, i + 1, out[i], want[i]);
}

static void faults(
    struct bench *b, uint64_t handle, const char *text, enum verdict want, const char *why)
{
    uint32_t out[WORDS] = {0};
    const enum verdict v = run_text(b, handle, text, out);
    if (v != want || !strstr(b->result.text, why))
        fail_msg("%s: verdict %d: %s", text, v, b->result.text);
}

#define XYZ                                                                                        \
    "mov.f32 f1, 0f3fa00000;\nmov.f32 f2, 0f40200000;\nmov.f32 f3, 0f3fe00000;\n" /* 1.25 2.5 1.75 \
                                                                                   */
#define TO "{R1, R2, R3, R4}, [T, "

/* Texels that rise evenly, 1 + 2 x + 10 y + 100 z: between their centres a linear filter gives the
 * same rise. 8 x 4 x 4, of one float each. */
static struct emu_texture rising(struct bench *b)
{
    float texels[4][4][8];
    for (unsigned z = 0; z < 4; z++)
        for (unsigned y = 0; y < 4; y++)
            for (unsigned x = 0; x < 8; x++)
                texels[z][y][x] = (float)(1 + 2 * x + 10 * y + 100 * z);
    const struct emu_texture t = {.address = bench_buffer(b, texels, sizeof(texels)),
        .nr_dims = 3,
        .size = {8, 4, 4},
        .pitch_bytes = 32,
        .layer_bytes = 128,
        .kind = EMU_TEXEL_FLOAT,
        .channel_bytes = 4,
        .nr_channels = 1,
        .linear = true,
        .address_mode = {EMU_ADDRESS_CLAMP, EMU_ADDRESS_CLAMP, EMU_ADDRESS_CLAMP}};
    return t;
}

static void test_every_geometry(void **state)
{
    struct bench b;
    (void)state;
    open_bench(&b);
    struct emu_texture t = rising(&b);
    uint64_t h = emu_texture_create(b.emu, &t);
    const float in_3d[4] = {1 + 2 * 0.75f + 10 * 2 + 100 * 1.25f, 0, 0, 1};
    gives(&b, h, XYZ "tex.3d.v4.f32.f32 " TO "{f1, f2, f3, f3}];", 3, in_3d);
    gives(&b, h, XYZ "tex.base.3d.v4.f32.f32 " TO "{f1, f2, f3, f3}];", 3, in_3d);
    const float moved[1] = {in_3d[0] + 2 * 1 - 10 * 1 + 100 * 1};
    gives(&b, h,
        XYZ "mov.b32 R9, 1;\nmov.b32 R10, -1;\ntex.3d.v4.f32.f32 " TO
            "{f1, f2, f3, f3}], {R9, R10, R9, R9};",
        1, moved);

    t.nr_dims = 2;
    h = emu_texture_create(b.emu, &t);
    const float layer[2][1] = {{1 + 2 * 0.75f + 10 * 2 + 200}, {1 + 2 * 0.75f + 10 * 2 + 300}};
    gives(&b, h, XYZ "mov.b32 R9, 2;\ntex.a2d.v4.f32.f32 " TO "{R9, f1, f2, f2}];", 1, layer[0]);
    gives(&b, h, XYZ "mov.b32 R9, 99;\ntex.a2d.v4.f32.f32 " TO "{R9, f1, f2, f2}];", 1, layer[1]);
    gives(&b, h,
        XYZ "mov.b32 R9, 2;\nmov.b32 R10, 1;\nmov.b32 R11, 0;\n"
            "tex.a2d.v4.f32.f32 " TO "{R9, f1, f2, f2}], {R10, R11};",
        1, (const float[]){layer[0][0] + 2});

    t.nr_dims = 1;
    t.layer_bytes = 32;
    h = emu_texture_create(b.emu, &t);
    gives(&b, h, XYZ "mov.b32 R9, 3;\ntex.a1d.v4.f32.f32 " TO "{R9, f1}];", 1,
        (const float[]){1 + 2 * 0.75f + 30});
    gives(&b, h, XYZ "mov.b32 R9, 2;\ntex.1d.v4.f32.f32 " TO "{f1}], {R9};", 1,
        (const float[]){1 + 2 * 2.75f});
    t.linear = false;
    h = emu_texture_create(b.emu, &t);
    gives(&b, h, "mov.b32 R9, 5;\ntex.1d.v4.f32.s32 " TO "{R9}];", 1, (const float[]){11});
    bench_finish(&b);
}

/* --- filtering by the programming guide's formulas, in whole numbers --- */

enum { UNITS = 1024, PLACES = 1024 }; /* of a coordinate to a texel; fetches of a launch */
static const int sides[3] = {8, 4, 2};

/* The texel that is read for number `at` of a row; -1: none, but zero. */
static int in_row(enum emu_address_mode mode, int side, int at)
{
    if (mode == EMU_ADDRESS_BORDER)
        return at >= 0 && at < side ? at : -1;
    if (mode == EMU_ADDRESS_CLAMP)
        return at < 0 ? 0 : at < side ? at : side - 1;
    while (at < 0 || at >= side)
        at = mode == EMU_ADDRESS_WRAP ? at + (at < 0 ? side : -side)
                                      : (at < 0 ? -1 : 2 * side - 1) - at;
    return at;
}

/* Weights are whole 256ths, and their products exact, so the sum is. */
static float filtered(const struct emu_texture *t, const float *texels, const int place[3])
{
    int64_t sum = 0;
    for (unsigned corner = 0; corner < (t->linear ? 1u << t->nr_dims : 1); corner++) {
        int64_t weight = 1;
        int row = 1, texel = 0;
        for (unsigned d = 0; d < t->nr_dims; row *= sides[d++]) {
            const int from = place[d] - (t->linear ? UNITS / 2 : 0),
                      whole = from / UNITS - (from % UNITS < 0),
                      part = (from - whole * UNITS + 2) / (UNITS / 256), upper = corner >> d & 1,
                      at = in_row(t->address_mode[d], sides[d], whole + upper);
            weight *= !t->linear ? 256 : upper ? part : 256 - part;
            texel = at < 0 || texel < 0 ? -1 : texel + at * row;
        }
        sum += texel < 0 ? 0 : weight * (int64_t)texels[texel];
    }
    return (float)((double)sum / (double)(1 << 8 * t->nr_dims));
}

/* At places that lie between two 256ths: where one is in the middle the guide is silent. */
static void check_filter(const struct emu_texture *like)
{
    static const char *const fetches[] = {"1d.v4.f32.f32 {f4, f5, f6, f7}, [T, {f1}]",
        "2d.v4.f32.f32 {f4, f5, f6, f7}, [T, {f1, f2}]",
        "3d.v4.f32.f32 {f4, f5, f6, f7}, [T, {f1, f2, f3, f3}]"};
    static float texels[64], places[PLACES][3], got[PLACES];
    static int whole[PLACES][3];
    char ptx[2048];
    struct emu_texture t = *like;
    struct bench b;
    uint32_t random = 1;

    for (unsigned i = 0; i < 64; i++)
        texels[i] = (float)(i * i % 61 + 100 * (i % 7));
    for (unsigned i = 0; i < PLACES * 3; i++) {
        const unsigned d = i % 3;
        random = random * 1664525 + 1013904223;
        const int at = (int)(random >> 8) % (5 * sides[d] * UNITS) - 2 * sides[d] * UNITS;
        whole[i / 3][d] = (at & 3) == 2 ? at - 2 : at;
        places[i / 3][d] = (float)whole[i / 3][d] / UNITS;
        if (t.normalized_coordinates)
            places[i / 3][d] /= (float)sides[d];
    }
    snprintf(ptx, sizeof(ptx),
        PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 t)\n{\n"
                 ".reg .b64 A, B, T;\n.reg .b32 L;\n.reg .f32 f<8>;\nld.param.u64 A, [a];\n"
                 "ld.param.u64 B, [b];\nld.param.u64 T, [t];\nmov.u32 L, %%tid.x;\n"
                 "mad.wide.u32 A, L, 12, A;\nmad.wide.u32 B, L, 4, B;\nld.global.f32 f1, [A];\n"
                 "ld.global.f32 f2, [A+4];\nld.global.f32 f3, [A+8];\ntex.%s;\n"
                 "st.global.f32 [B], f4;\nret;\n}\n",
        fetches[t.nr_dims - 1]);
    bench_init(&b, ptx, 1);
    uint64_t params[3] = {
        bench_buffer(&b, places, sizeof(places)), bench_buffer(&b, NULL, sizeof(got))};
    t.address = bench_buffer(&b, texels, sizeof(texels));
    params[2] = emu_texture_create(b.emu, &t);
    assert_int_equal(bench_launch(&b, (struct emu_launch){.grid = {1, 1, 1},
                                          .block = {PLACES, 1, 1},
                                          .params = params,
                                          .params_bytes = sizeof(params)}),
        VERDICT_OK);
    bench_read(&b, 1, got, sizeof(got));
    for (unsigned i = 0; i < PLACES; i++) {
        const float want = filtered(&t, texels, whole[i]);
        if (got[i] != want)
            fail_msg("%u-D, mode %d, %s: (%g, %g, %g) gives %.9g, not %.9g", t.nr_dims,
                t.address_mode[0], t.linear ? "linear" : "nearest", (double)places[i][0],
                (double)places[i][1], (double)places[i][2], (double)got[i], (double)want);
    }
    bench_finish(&b);
}

static void test_filters_against_whole_numbers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3 * 4 * 2 * 2; i++) {
        const enum emu_address_mode mode = (enum emu_address_mode)(i / 3 % 4);
        const bool normalized = i / 12 % 2;
        if (!normalized && (mode == EMU_ADDRESS_WRAP || mode == EMU_ADDRESS_MIRROR))
            continue;
        check_filter(&(struct emu_texture){.nr_dims = i % 3 + 1,
            .size = {(uint32_t)sides[0], i % 3 > 0 ? (uint32_t)sides[1] : 1,
                i % 3 > 1 ? (uint32_t)sides[2] : 1},
            .pitch_bytes = 32,
            .layer_bytes = 128,
            .kind = EMU_TEXEL_FLOAT,
            .channel_bytes = 4,
            .nr_channels = 1,
            .normalized_coordinates = normalized,
            .linear = i / 24,
            .address_mode = {mode, mode, mode}});
    }
}

static void test_kinds_of_results(void **state)
{
    static const uint16_t texels[2][4] = {{0x3c00, 0xc000, 0x3800, 0x7bff}, {0, 0, 0, 0}};
    struct bench b;
    (void)state;
    open_bench(&b);
    struct emu_texture t = {.address = bench_buffer(&b, texels, sizeof(texels)),
        .nr_dims = 1,
        .size = {2, 1, 1},
        .kind = EMU_TEXEL_FLOAT,
        .channel_bytes = 2,
        .nr_channels = 4,
        .address_mode = {EMU_ADDRESS_CLAMP}};
    uint64_t h = emu_texture_create(b.emu, &t);
#define AT_0 "mov.f32 f1, 0f3f000000;\n"
    gives(&b, h, AT_0 "tex.1d.v4.f32.f32 " TO "{f1}];", 4, (const float[]){1, -2, 0.5f, 65504});
    gives_bits(&b, h,
        AT_0 "tex.1d.v4.f16.f32 {H1, H2, H3, H4}, [T, {f1}];\nmov.b32 R1, {H1, H2};\n"
             "mov.b32 R2, {H3, H4};",
        2, (const uint32_t[]){0xc0003c00, 0x7bff3800});
    gives_bits(&b, h, AT_0 "tex.1d.v2.f16x2.f32 {R1, R2}, [T, {f1}];", 3,
        (const uint32_t[]){0xc0003c00, 0x7bff3800, 77});
    gives_bits(&b, h,
        AT_0 "setp.ne.u32 P, R1, R1;\ntex.1d.v4.f32.f32 {_, _, f3, _}|P, [T, {f1}];\n"
             "selp.b32 R1, 5, 6, P;\nmov.b32 R2, f3;",
        3, (const uint32_t[]){5, 0x3f000000, 77});
    t.kind = EMU_TEXEL_SIGNED;
    h = emu_texture_create(b.emu, &t);
    gives_bits(&b, h, AT_0 "tex.1d.v4.s32.f32 " TO "{f1}];", 4,
        (const uint32_t[]){0x3c00, 0xffffc000, 0x3800, 0x7bff});
    t.kind = EMU_TEXEL_UNSIGNED;
    h = emu_texture_create(b.emu, &t);
    gives_bits(&b, h, "mov.b32 R9, 0;\ntex.1d.v4.u32.s32 " TO "{R9}];", 4,
        (const uint32_t[]){0x3c00, 0xc000, 0x3800, 0x7bff});
    bench_finish(&b);
}

/* Level n of 16 x 16, 8 x 8 ... holds 10 n everywhere. */
static void test_mipmaps(void **state)
{
    float texels[16][16];
    struct bench b;
    (void)state;
    open_bench(&b);
    struct emu_texture t = {.nr_dims = 2,
        .size = {16, 16, 1},
        .nr_levels = 5,
        .pitch_bytes = 64,
        .kind = EMU_TEXEL_FLOAT,
        .channel_bytes = 4,
        .nr_channels = 1,
        .normalized_coordinates = true,
        .max_level = 100,
        .address_mode = {EMU_ADDRESS_CLAMP, EMU_ADDRESS_CLAMP}};
    for (unsigned level = 0; level < 5; level++) {
        const unsigned size = 16u >> level;
        for (unsigned i = 0; i < size * size; i++)
            texels[i / 16][i % 16] = (float)(10 * level);
        const uint64_t address = bench_buffer(&b, texels, (uint64_t)size * size * 4);
        if (level == 0)
            t.address = address;
        else
            t.levels[level - 1] =
                (struct emu_texture_level){.address = address, .pitch_bytes = size * 4};
    }
#define LEVEL(bits)                                                                                \
    "mov.f32 f1, 0f3f400000;\nmov.f32 f2, 0f" bits ";\ntex.level.2d.v4.f32.f32 " TO "{f1, f1}], "  \
    "f2;"
    uint64_t h = emu_texture_create(b.emu, &t);
    gives(&b, h, LEVEL("3f000000"), 1, (const float[]){0});  /* 0.5 */
    gives(&b, h, LEVEL("3f19999a"), 1, (const float[]){10}); /* 0.6 */
    gives(&b, h, LEVEL("42c80000"), 1, (const float[]){40}); /* 100 */
    gives(&b, h, LEVEL("c2c80000"), 1, (const float[]){0});  /* -100 */
    gives(&b, h, AT_0 "tex.2d.v4.f32.f32 " TO "{f1, f1}];", 1, (const float[]){0});
    gives(&b, h, AT_0 "tex.base.2d.v4.f32.f32 " TO "{f1, f1}];", 1, (const float[]){0});
    t.linear_levels = t.linear = true;
    h = emu_texture_create(b.emu, &t);
    gives(&b, h, LEVEL("3fa00000"), 1, (const float[]){12.5f}); /* 1.25 */
    gives(&b, h, LEVEL("42c80000"), 1, (const float[]){40});
    /* the longer step is 4 texels along y: level 2; and 6 along x and y: log2(6 sqrt 2), in 256ths
     */
#define STEPS(x, y)                                                                                \
    AT_0 "mov.f32 f2, 0f00000000;\nmov.f32 f3, 0f" x ";\nmov.f32 f4, 0f" y                         \
         ";\ntex.grad.2d.v4.f32.f32 " TO "{f1, f1}], "
    gives(&b, h, STEPS("3e000000", "3e800000") "{f3, f2}, {f2, f4};", 1, (const float[]){20});
    gives(&b, h, STEPS("3ec00000", "3ec00000") "{f3, f4}, {f2, f2};", 1,
        (const float[]){(float)(round(log2(6 * sqrt(2)) * 256) / 25.6)});
    t.level_bias = 0.5f;
    t.max_level = 2;
    h = emu_texture_create(b.emu, &t);
    gives(&b, h, LEVEL("3fa00000"), 1, (const float[]){17.5f});
    gives(&b, h, LEVEL("42c80000"), 1, (const float[]){20});
    gives_bits(&b, h,
        "mov.b32 R9, 3;\ntxq.width.b32 R1, [T];\ntxq.level.width.b32 R2, [T], R9;\n"
        "txq.num_mipmap_levels.b32 R3, [T];\ntxq.num_samples.b32 R4, [T];\n"
        "txq.normalized_coords.b32 R5, [T];\ntxq.depth.b32 R6, [T];\ntxq.height.b32 R7, [T];\n"
        "txq.array_size.b32 R8, [T];",
        8, (const uint32_t[]){16, 2, 5, 1, 1, 0, 16, 1});
    faults(&b, h, "mov.b32 R9, 5;\ntxq.level.width.b32 R2, [T], R9;", VERDICT_FAULT,
        "a level that is not there");
    bench_finish(&b);
}

/* Faces of 2 x 2 texels 10 f + x + 2 y, two cubes. Each direction is one that the programming
 * guide's table maps to (0.75, 0.25) of its face: the texel x = 1, y = 0. */
static void test_cube_maps(void **state)
{
    static const float directions[6][3] = {{3, 1.5f, -1.5f}, {-3, 1.5f, 1.5f}, {1.5f, 3, -1.5f},
        {1.5f, -3, 1.5f}, {1.5f, 1.5f, 3}, {-1.5f, 1.5f, -3}};
    float texels[12][2][2];
    struct bench b;
    (void)state;
    open_bench(&b);
    for (unsigned i = 0; i < 48; i++)
        texels[i / 4][i / 2 % 2][i % 2] = (float)(10 * (i / 4) + i % 4);
    struct emu_texture t = {.address = bench_buffer(&b, texels, sizeof(texels)),
        .nr_dims = 2,
        .size = {2, 2, 12},
        .pitch_bytes = 8,
        .layer_bytes = 16,
        .cube = true,
        .kind = EMU_TEXEL_FLOAT,
        .channel_bytes = 4,
        .nr_channels = 1,
        .normalized_coordinates = true,
        .address_mode = {EMU_ADDRESS_CLAMP, EMU_ADDRESS_CLAMP}};
    const uint64_t h = emu_texture_create(b.emu, &t);
    for (unsigned f = 0; f < 6; f++) {
        char text[512];
        uint32_t bits[3];
        memcpy(bits, directions[f], sizeof(bits));
        snprintf(text, sizeof(text),
            "mov.b32 f1, 0f%08x;\nmov.b32 f2, 0f%08x;\nmov.b32 f3, 0f%08x;\nmov.b32 R9, 1;\n"
            "tex.cube.v4.f32.f32 {R1, _, _, _}, [T, {f1, f2, f3, f3}];\n"
            "tex.acube.v4.f32.f32 {R2, _, _, _}, [T, {R9, f1, f2, f3}];\n"
            "tld4.r.cube.v4.f32.f32 {R3, R4, R5, R6}, [T, {f1, f2, f3, f3}];\n"
            "tld4.r.acube.v4.f32.f32 {R7, _, _, R8}, [T, {R9, f1, f2, f3}];\n",
            bits[0], bits[1], bits[2]);
        const float k = (float)(10 * f);
        /* gathered around (1.5 - 0.5, 0.5 - 0.5) = (1, 0) texels: columns 1 and, clamped, 1 */
        gives(&b, h, text, 8,
            (const float[]){k + 1, k + 61, k + 3, k + 3, k + 1, k + 1, k + 63, k + 61});
    }
    faults(&b, h, AT_0 "tex.2d.v4.f32.f32 " TO "{f1, f1}];", VERDICT_FAULT, "from a cube map");
    t.cube = false;
    faults(&b, emu_texture_create(b.emu, &t), XYZ "tex.cube.v4.f32.f32 " TO "{f1, f2, f3, f3}];",
        VERDICT_FAULT, "not a cube map");
    bench_finish(&b);
}

/* Along x across the +z face of a cube of 8 x 8: a step of 1 is half the face, four texels:
 * level 2. */
static void test_gradients_of_cube_maps(void **state)
{
    float texels[6 * 64];
    struct bench b;
    (void)state;
    open_bench(&b);
    struct emu_texture t = {.nr_dims = 2,
        .size = {8, 8, 6},
        .nr_levels = 4,
        .pitch_bytes = 32,
        .layer_bytes = 256,
        .cube = true,
        .kind = EMU_TEXEL_FLOAT,
        .channel_bytes = 4,
        .nr_channels = 1,
        .normalized_coordinates = true,
        .linear_levels = true,
        .max_level = 100,
        .address_mode = {EMU_ADDRESS_CLAMP, EMU_ADDRESS_CLAMP}};
    for (unsigned level = 0; level < 4; level++) {
        const unsigned size = 8u >> level;
        for (unsigned i = 0; i < 6 * 64; i++)
            texels[i] = (float)(10 * level);
        const uint64_t address = bench_buffer(&b, texels, (uint64_t)size * size * 24);
        if (level == 0)
            t.address = address;
        else
            t.levels[level - 1] = (struct emu_texture_level){.address = address,
                .pitch_bytes = size * 4,
                .layer_bytes = (uint64_t)size * size * 4};
    }
    const uint64_t h = emu_texture_create(b.emu, &t);
    gives(&b, h,
        "mov.f32 f0, 0f00000000;\nmov.f32 f1, 0f3f800000;\ntex.grad.cube.v4.f32.f32 " TO
        "{f0, f0, f1, f1}], {f1, f0, f0, f0}, {f0, f0, f0, f0};",
        1, (const float[]){20});
    gives(&b, h,
        "mov.f32 f0, 0f00000000;\nmov.f32 f1, 0f3f800000;\ntex.level.cube.v4.f32.f32 " TO
        "{f0, f0, f1, f1}], f1;",
        1, (const float[]){10});
    bench_finish(&b);
}

static void test_gathers(void **state)
{
    struct bench b;
    (void)state;
    open_bench(&b);
    uint8_t texels[4][4][4]; /* (x, y): 16 y + x, then + 1, + 2, + 3 */
    for (unsigned i = 0; i < 64; i++)
        texels[i / 16][i / 4 % 4][i % 4] = (uint8_t)(16 * (i / 16) + i / 4 % 4 + i % 4);
    struct emu_texture t = {.address = bench_buffer(&b, texels, sizeof(texels)),
        .nr_dims = 2,
        .size = {4, 2, 2},
        .pitch_bytes = 16,
        .layer_bytes = 32,
        .kind = EMU_TEXEL_UNSIGNED,
        .channel_bytes = 1,
        .nr_channels = 4,
        .address_mode = {EMU_ADDRESS_CLAMP, EMU_ADDRESS_CLAMP}};
    uint64_t h = emu_texture_create(b.emu, &t);
    /* around (2, 1): texels 1 and 2 of rows 0 and 1 */
#define AT_2_1 "mov.f32 f1, 0f40000000;\nmov.f32 f2, 0f3f800000;\nmov.b32 R9, 1;\nmov.b32 R10, 0;\n"
    gives_bits(
        &b, h, AT_2_1 "tld4.r.2d.v4.u32.f32 " TO "{f1, f2}];", 4, (const uint32_t[]){17, 18, 2, 1});
    gives_bits(
        &b, h, AT_2_1 "tld4.g.2d.v4.s32.f32 " TO "{f1, f2}];", 4, (const uint32_t[]){18, 19, 3, 2});
    gives_bits(&b, h, AT_2_1 "tld4.b.2d.v4.s32.f32 " TO "{f1, f2}], {R9, R10};", 4,
        (const uint32_t[]){20, 21, 5, 4});
    gives_bits(&b, h,
        AT_2_1 "setp.ne.u32 P, R1, R1;\ntld4.a.a2d.v4.u32.f32 {R1, R2, R3, R4}|P, "
               "[T, {R9, f1, f2, f2}];\nselp.b32 R5, 5, 6, P;",
        5, (const uint32_t[]){52, 53, 37, 36, 5});
    bench_finish(&b);
}

static void test_all_surfaces(void **state)
{
    uint8_t bytes[4][2][32];
    struct bench b;
    (void)state;
    open_bench(&b);
    for (unsigned i = 0; i < 256; i++)
        bytes[i / 64][i / 32 % 2][i % 32] = (uint8_t)i;
    struct emu_texture t = {.address = bench_buffer(&b, bytes, sizeof(bytes)),
        .nr_dims = 3,
        .size = {8, 2, 4},
        .pitch_bytes = 32,
        .layer_bytes = 64,
        .kind = EMU_TEXEL_SIGNED,
        .channel_bytes = 2,
        .nr_channels = 2};
    uint64_t h = emu_texture_create(b.emu, &t);
#define AT "mov.b32 R9, 8;\nmov.b32 R10, 1;\nmov.b32 R11, 2;\n"
    gives_bits(&b, h, AT "suld.b.3d.v4.b32.trap " TO "{R9, R10, R11, R11}];", 4,
        (const uint32_t[]){0xabaaa9a8, 0xafaeadac, 0xb3b2b1b0, 0xb7b6b5b4});
    gives_bits(&b, h,
        AT "suld.b.3d.cg.v2.b64.zero {Q1, Q2}, [T, {R9, R10, R11, R11}];\nmov.b64 {R1, R2}, Q1;\n"
           "mov.b64 {R3, R4}, Q2;",
        4, (const uint32_t[]){0xabaaa9a8, 0xafaeadac, 0xb3b2b1b0, 0xb7b6b5b4});
    gives_bits(&b, h,
        AT "suld.b.3d.v4.b8.clamp {H1, H2, H3, H4}, [T, {R9, R10, R11, R11}];\n"
           "cvt.u32.u16 R1, H1;\ncvt.u32.u16 R2, H4;\nmov.b32 R12, 99;\n"
           "suld.b.3d.b16.clamp H1, [T, {R12, R10, R11, R11}];\ncvt.u32.u16 R3, H1;",
        3, (const uint32_t[]){0xa8, 0xab, 0xbfbe});
    gives_bits(&b, h,
        AT "mov.b64 Q1, 0x1122334455667788;\nmov.b64 Q2, 5;\n"
           "sust.b.3d.v2.b64.trap [T, {R9, R10, R11, R11}], {Q1, Q2};\n"
           "suld.b.3d.v4.b32.trap " TO "{R9, R10, R11, R11}];",
        4, (const uint32_t[]){0x55667788, 0x11223344, 5, 0});
    gives_bits(&b, h,
        "suq.width.b32 R1, [T];\nsuq.height.b32 R2, [T];\nsuq.depth.b32 R3, [T];\n"
        "suq.array_size.b32 R4, [T];",
        4, (const uint32_t[]){8, 2, 4, 0});

    t.nr_dims = 2;
    h = emu_texture_create(b.emu, &t);
    gives_bits(&b, h,
        AT "mov.b16 H1, 0x1234;\nsust.b.a2d.b16.trap [T, {R11, R9, R10, R10}], H1;\n"
           "mov.b16 H1, 0x56;\nmov.b32 R12, 3;\nsust.b.a2d.b8.trap [T, {R12, R9, R10, R10}], H1;\n"
           "suld.b.a2d.b32.trap R1, [T, {R11, R9, R10, R10}];\n"
           "suld.b.a2d.b32.trap R2, [T, {R12, R9, R10, R10}];\nmov.b32 R12, 4;\n"
           "suld.b.a2d.b32.zero R3, [T, {R12, R9, R10, R10}];",
        3, (const uint32_t[]){0x55661234, 0xebeae956, 0});
    /* sust.p counts texels: the third of the second row; integers as they are */
    gives_bits(&b, h,
        AT "mov.b32 R12, -5;\nmov.b32 R13, 6;\n"
           "sust.p.2d.v4.b32.trap [T, {R11, R10}], {R12, R13, R12, R13};\n"
           "suld.b.2d.v2.b32.trap {R1, R2}, [T, {R9, R10}];",
        2, (const uint32_t[]){0x0006fffb, 0x2f2e2d2c});
    t.normalized_float = true; /* -1 .. 1, beyond is cut off */
    h = emu_texture_create(b.emu, &t);
    gives_bits(&b, h,
        AT "mov.f32 f1, 0f3f000000;\nmov.f32 f2, 0fc0000000;\n"
           "sust.p.2d.v2.b32.trap [T, {R11, R10}], {f1, f2};\n"
           "suld.b.2d.b32.trap R1, [T, {R9, R10}];",
        1, (const uint32_t[]){0x80014000});
    t.kind = EMU_TEXEL_FLOAT;
    t.normalized_float = false;
    h = emu_texture_create(b.emu, &t);
    gives_bits(&b, h,
        AT "mov.f32 f1, 0f3f000000;\nmov.f32 f2, 0fc0000000;\n"
           "sust.p.2d.v2.b32.trap [T, {R11, R10}], {f1, f2};\n"
           "suld.b.2d.b32.trap R1, [T, {R9, R10}];",
        1, (const uint32_t[]){0xc0003800});
    faults(&b, h, AT "mov.b32 R9, 6;\nsuld.b.2d.b32.trap R1, [T, {R9, R10}];", VERDICT_FAULT,
        "misaligned");
    faults(&b, h, AT "suld.b.2d.b32.trap R1, [T, {R9, R11}];", VERDICT_FAULT,
        "outside of the surface");
    bench_finish(&b);
}

static void test_reductions_to_surfaces(void **state)
{
    static const uint32_t start[8] = {10, 0xfffffff0, 10, 0xfffffff0, 0xff, 0xf0, 5, 0};
    struct bench b;
    (void)state;
    open_bench(&b);
    struct emu_texture t = {.address = bench_buffer(&b, start, sizeof(start)),
        .nr_dims = 1,
        .size = {8, 1, 1},
        .kind = EMU_TEXEL_SIGNED,
        .channel_bytes = 4,
        .nr_channels = 1};
    const uint64_t h = emu_texture_create(b.emu, &t);
    gives_bits(&b, h,
        "mov.b32 R9, 0;\nmov.b32 R10, 4;\nmov.b32 R11, 8;\nmov.b32 R12, 16;\nmov.b32 R13, 20;\n"
        "mov.b32 R14, 24;\nmov.b32 R15, -3;\nmov.b64 Q1, 7;\n"
        "sured.b.add.1d.u32.trap [T, {R9}], R15;\nsured.b.min.1d.s32.trap [T, {R10}], R15;\n"
        "sured.b.max.1d.u32.trap [T, {R11}], R15;\nsured.b.and.1d.b32.trap [T, {R12}], R11;\n"
        "sured.b.or.1d.b32.trap [T, {R13}], R9;\nsured.b.add.1d.u64.trap [T, {R14}], Q1;\n"
        "mov.b32 R9, 3;\nsured.p.max.1d.b32.trap [T, {R9}], R10;\nmov.b32 R9, 0;\n"
        "suld.b.1d.v4.b32.trap " TO "{R9}];\nsuld.b.1d.v4.b32.trap {R5, R6, R7, R8}, [T, {R12}];",
        8, (const uint32_t[]){7, 0xfffffff0, 0xfffffffd, 4, 8, 0xf0, 12, 0});
    gives_bits(&b, h,
        "mov.b32 R9, 24;\nmov.b64 Q1, -1;\nsured.b.min.1d.s64.trap [T, {R9}], Q1;\n"
        "suld.b.1d.v2.b32.trap {R1, R2}, [T, {R9}];\nsured.b.min.1d.u64.trap [T, {R9}], 4;\n"
        "suld.b.1d.v2.b32.trap {R3, R4}, [T, {R9}];",
        4, (const uint32_t[]){0xffffffff, 0xffffffff, 4, 0});
    bench_finish(&b);
}

/* What graphics or OpenCL alone can make: by name. */
static void test_what_is_refused(void **state)
{
    static const char *const texts[][2] = {
        {"mov.b32 R9, 0;\ntex.2dms.v4.u32.s32 " TO "{R9, R9, R9, R9}];", "2dms"},
        {AT_0 "tex.2d.v4.f32.f32 " TO "{f1, f1}], f1;", "a comparison of depths"},
        {AT_0 "tex.2d.v4.f32.f32 {R1, R2, R3, R4}, [T, T, {f1, f1}];", "separate samplers"},
        {"txq.filter_mode.b32 R1, [T];", "txq.filter_mode"},
        {"suq.memory_layout.b32 R1, [T];", "suq.memory_layout"},
        {".global .texref tex;\n" AT_0 "tex.1d.v4.f32.f32 {R1, R2, R3, R4}, [tex, {f1}];",
            "texture references"}};
    struct bench b;
    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        faults(&b, 0, texts[i][0], VERDICT_UNSUPPORTED, texts[i][1]);
    bench_finish(&b);
}

int main(void)
{
    unsetenv("KEET_RECORD_FORMS"); /* records know no texture objects */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_and_address_modes),
        cmocka_unit_test(test_normalised_wrap_and_mirror),
        cmocka_unit_test(test_linear_filtering),
        cmocka_unit_test(test_integers_channels_and_normalised_reads),
        cmocka_unit_test(test_surfaces),
        cmocka_unit_test(test_every_geometry),
        cmocka_unit_test(test_filters_against_whole_numbers),
        cmocka_unit_test(test_kinds_of_results),
        cmocka_unit_test(test_mipmaps),
        cmocka_unit_test(test_cube_maps),
        cmocka_unit_test(test_gradients_of_cube_maps),
        cmocka_unit_test(test_gathers),
        cmocka_unit_test(test_all_surfaces),
        cmocka_unit_test(test_reductions_to_surfaces),
        cmocka_unit_test(test_what_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
