/* Owns the tests of element types: known bit patterns, and rounding checked on every pair of
 * neighbouring values of the small formats. */
#include "core/elem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static uint64_t bits_of(enum elem elem, double value)
{
    uint64_t bits = 0;

    elem_set(elem, &bits, 0, value);
    return bits;
}

static double value_of(enum elem elem, uint64_t bits)
{
    return elem_get(elem, &bits, 0);
}

/* IEEE 754 binary16 and bfloat16 patterns; OFP8 (OCP 8-bit Floating Point Specification 1.0, tables
 * 1 and 2). */
static void test_known(void **state)
{
    static const struct {
        enum elem elem;
        double value;
        uint32_t bits;
    } known[] = {
        {ELEM_F16, 0, 0x0000},
        {ELEM_F16, -0.0, 0x8000},
        {ELEM_F16, 1, 0x3c00},
        {ELEM_F16, -2, 0xc000},
        {ELEM_F16, 0.1, 0x2e66},
        {ELEM_F16, 1.0 / 3, 0x3555},
        {ELEM_F16, 65504, 0x7bff},
        {ELEM_F16, 65519.99, 0x7bff},
        {ELEM_F16, 65520, 0x7c00},
        {ELEM_F16, 0x1p-24, 0x0001},
        {ELEM_F16, 0x1p-25, 0x0000},
        {ELEM_F16, 0x1.8p-24, 0x0002},
        {ELEM_F16, 0x1p-14, 0x0400},
        {ELEM_F16, 2049, 0x6800},
        {ELEM_F16, 2051, 0x6802},
        {ELEM_F16, INFINITY, 0x7c00},
        {ELEM_F16, 1e300, 0x7c00},
        {ELEM_F16, -1e300, 0xfc00},
        {ELEM_BF16, 1, 0x3f80},
        {ELEM_BF16, 3.140625, 0x4049},
        {ELEM_BF16, 3.14159265, 0x4049},
        {ELEM_BF16, 257, 0x4380},
        {ELEM_BF16, 259, 0x4382},
        {ELEM_BF16, 3.4e38, 0x7f80},
        {ELEM_BF16, 0x1.fep127, 0x7f7f},
        {ELEM_BF16, 0x1p-133, 0x0001},
        {ELEM_BF16, -INFINITY, 0xff80},
        {ELEM_E4M3, 1, 0x38},
        {ELEM_E4M3, -1.5, 0xbc},
        {ELEM_E4M3, 448, 0x7e},
        {ELEM_E4M3, 464, 0x7e},
        {ELEM_E4M3, 1000, 0x7e},
        {ELEM_E4M3, -INFINITY, 0xfe},
        {ELEM_E4M3, 0x1p-6, 0x08},
        {ELEM_E4M3, 0x1p-9, 0x01},
        {ELEM_E4M3, 0x1p-10, 0x00},
        {ELEM_E4M3, 0x1.8p-9, 0x02},
        {ELEM_E5M2, 1, 0x3c},
        {ELEM_E5M2, 57344, 0x7b},
        {ELEM_E5M2, 1e6, 0x7b},
        {ELEM_E5M2, 0x1p-14, 0x04},
        {ELEM_E5M2, 0x1p-16, 0x01},
        {ELEM_E5M2, 1.125, 0x3c},
        {ELEM_E5M2, 1.375, 0x3e},
        {ELEM_TF32, 1, 0x3f800000},
        {ELEM_TF32, 1 + 0x1p-10, 0x3f802000},
        {ELEM_TF32, 1 + 0x1p-11, 0x3f800000},
        {ELEM_TF32, 1 + 0x1.8p-10, 0x3f804000},
        {ELEM_F32, 0.1, 0x3dcccccd},
        {ELEM_BOOL, 0.25, 1},
        {ELEM_I8, 127.4, 0x7f},
        {ELEM_I8, 300, 0x7f},
        {ELEM_I8, -300, 0x80},
        {ELEM_I8, 2.5, 2},
        {ELEM_I8, 3.5, 4},
        {ELEM_U8, -3, 0},
        {ELEM_U8, 1e9, 0xff},
        {ELEM_U16, 70000, 0xffff},
        {ELEM_I16, -1, 0xffff},
        {ELEM_I32, 1e12, 0x7fffffff},
        {ELEM_U32, 4294967295.0, 0xffffffff},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        assert_int_equal(bits_of(known[i].elem, known[i].value), known[i].bits);
    assert_int_equal(bits_of(ELEM_F64, 0.1), 0x3fb999999999999a);
    assert_int_equal(bits_of(ELEM_I64, 1e300), INT64_MAX);
    assert_int_equal(bits_of(ELEM_I64, -1e300), (uint64_t)INT64_MIN);
    assert_int_equal(bits_of(ELEM_U64, 1e300), UINT64_MAX);
    assert_int_equal(bits_of(ELEM_U64, -1), 0);
}

static void test_nan(void **state)
{
    assert_int_equal(bits_of(ELEM_F16, NAN), 0x7fff);
    assert_int_equal(bits_of(ELEM_BF16, NAN), 0x7fff);
    assert_int_equal(bits_of(ELEM_E4M3, NAN), 0x7f);
    assert_int_equal(bits_of(ELEM_E5M2, NAN), 0x7f);
    assert_int_equal(bits_of(ELEM_I32, NAN), 0);
    assert_int_equal(bits_of(ELEM_U64, NAN), 0);
    for (int e = ELEM_F64; e <= ELEM_E5M2; e++)
        assert_true(isnan(value_of((enum elem)e, bits_of((enum elem)e, NAN))));
    assert_true(isnan(value_of(ELEM_F16, 0xfc01)));
    assert_true(isinf(value_of(ELEM_E5M2, 0xfc)) && value_of(ELEM_E5M2, 0xfc) < 0);
    assert_true(isnan(value_of(ELEM_E5M2, 0x7d)));
    assert_true(value_of(ELEM_E4M3, 0x78) == 256); /* exponent 15 is an ordinary one */
}

/* bf16 is the upper half of an f32, so its decoding has an independent definition. */
static void test_bf16_is_half_of_f32(void **state)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint32_t wide = bits << 16;
        float f32;
        double got = value_of(ELEM_BF16, bits);

        memcpy(&f32, &wide, 4);
        assert_true(isnan(f32) ? isnan(got) : got == (double)f32);
    }
}

/* f16 by its definition: (-1)^s 2^(e-15) (1 + m/1024), 2^-14 m/1024 when e is 0. */
static void test_f16_by_definition(void **state)
{
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        double e = bits >> 10, m = bits & 1023;
        double want = e == 0 ? m / 1024 * pow(2, -14) : pow(2, e - 15) * (1 + m / 1024);

        assert_true(value_of(ELEM_F16, bits) == want);
        assert_true(value_of(ELEM_F16, bits | 0x8000) == -want);
    }
}

/* Between neighbours a < b: a itself, just under the middle, the middle (to the even one), just
 * over it. */
static void check_rounding(enum elem elem, uint32_t top, unsigned shift)
{
    for (uint32_t bits = 0; bits < top; bits++) {
        uint64_t low = (uint64_t)bits << shift, high = (uint64_t)(bits + 1) << shift;
        double a = value_of(elem, low), b = value_of(elem, high), middle = (a + b) / 2;

        assert_true(a < b);
        assert_int_equal(bits_of(elem, a), low);
        assert_int_equal(bits_of(elem, nextafter(middle, a)), low);
        assert_int_equal(bits_of(elem, nextafter(middle, b)), high);
        assert_int_equal(bits_of(elem, middle), bits & 1 ? high : low);
        if (bits) /* signs mirror */
            assert_int_equal(bits_of(elem, -a), low | (uint64_t)1 << (8 * elem_bytes(elem) - 1));
    }
}

static void test_rounding(void **state)
{
    check_rounding(ELEM_F16, 0x7bff, 0);
    check_rounding(ELEM_BF16, 0x7f7f, 0);
    check_rounding(ELEM_E4M3, 0x7e, 0);
    check_rounding(ELEM_E5M2, 0x7b, 0);
    check_rounding(ELEM_TF32, 0x3fbff, 13);
}

static void test_int(void **state)
{
    uint64_t bits = UINT64_MAX;
    int8_t i8[3] = {0, -7, 0};
    uint8_t flag = 0x80;

    assert_int_equal(elem_get_int(ELEM_U64, &bits, 0), -1);
    assert_int_equal(elem_get_int(ELEM_I8, i8, 1), -7);
    assert_int_equal(elem_get_int(ELEM_BOOL, &flag, 0), 1);
    elem_set_int(ELEM_I8, i8, 2, -1000);
    assert_int_equal(i8[2], -128);
    elem_set_int(ELEM_I64, &bits, 0, (INT64_C(1) << 53) + 1);
    assert_int_equal(bits, (UINT64_C(1) << 53) + 1);
    elem_set_int(ELEM_U8, &flag, 0, -1);
    assert_int_equal(flag, 0);
    elem_set_int(ELEM_F32, &bits, 0, 16777217);
    assert_true(elem_get(ELEM_F32, &bits, 0) == 16777216);
    assert_int_equal(elem_get_int(ELEM_F32, &bits, 0), 16777216);
}

static void test_names(void **state)
{
    for (int e = 0; e < NR_ELEMS; e++) {
        enum elem back;
        const char *name = elem_name((enum elem)e);

        assert_true(elem_parse(name, strlen(name), &back) && back == (enum elem)e);
    }
    enum elem elem;
    assert_false(elem_parse("f3", 2, &elem));
    assert_false(elem_parse("f322", 4, &elem));
    assert_true(elem_tolerance(ELEM_I32).rel == 0);
    assert_true(elem_tolerance(ELEM_BF16).rel > elem_tolerance(ELEM_F16).rel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_bf16_is_half_of_f32),
        cmocka_unit_test(test_f16_by_definition),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_int),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
