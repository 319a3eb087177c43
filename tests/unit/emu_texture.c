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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_and_address_modes),
        cmocka_unit_test(test_normalised_wrap_and_mirror),
        cmocka_unit_test(test_linear_filtering),
        cmocka_unit_test(test_integers_channels_and_normalised_reads),
        cmocka_unit_test(test_surfaces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
