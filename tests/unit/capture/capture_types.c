/* What a mangled name says, what contents are like, and contracts of launches. */
#include "base/file.h"
#include "capture/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int setup(void **state)
{
    *state = arena_create();
    return 0;
}

static int teardown(void **state)
{
    arena_destroy(*state);
    return 0;
}

static void names_and_types(void **state)
{
    const char *types[4];
    enum elem elem;

    assert_string_equal(capture_name(*state, "_Z5scaleIfEvPT_i", types, 3), "scale<float>");
    assert_string_equal(types[0], "float*");
    assert_string_equal(types[1], "int");
    assert_null(types[2]);
    assert_string_equal(capture_name(*state, "_Z3dotILi2EEvPK7double2PKyPS0_", types, 3), "dot<2>");
    assert_true(capture_elem(types[0], &elem) && elem == ELEM_F64 && capture_is_const(types[0]));
    assert_true(capture_elem(types[1], &elem) && elem == ELEM_U64);
    assert_false(capture_is_const(types[2]));
    assert_string_equal(
        capture_name(*state, "_ZN12_GLOBAL__N_14stepEPh", types, 1), "(anonymous namespace)::step");
    assert_true(capture_elem(types[0], &elem) && elem == ELEM_U8);
    assert_string_equal(capture_name(*state, "plain_c", types, 1), "plain_c");
    assert_null(types[0]);
    assert_false(capture_elem("Image", &elem));
    assert_false(capture_elem("integer*", &elem));
    assert_false(capture_elem(NULL, &elem));
}

static void contents_are_described(void **state)
{
    const struct binding bindings[] = {{"n", 40}, {"nnz", 9}};
    const struct env sizes = {bindings, 2}, none = {NULL, 0};
    const int32_t offsets[] = {0, 2, 2, 5, 9}, columns[] = {3, 39, 7, 12, 0, 25, 38, 1, 2},
                  same[] = {4, 4, 4}, steps[] = {1, 4, 7}, odd[] = {-3, 5, 1};
    const float reals[] = {0.5f, -2.f, 1.f}, filled[] = {2, 2, 2}, zeros[] = {0, 0, 0},
                rising[] = {0.5f, 1, 30.25f};

    assert_string_equal(capture_describe(*state, ELEM_I32, offsets, 5, &sizes), "sorted(0, nnz)");
    assert_string_equal(
        capture_describe(*state, ELEM_I32, columns, 9, &sizes), "integers(0, n - 1)");
    assert_string_equal(capture_describe(*state, ELEM_I32, columns, 9, &none), "integers(0, 39)");
    assert_string_equal(capture_describe(*state, ELEM_I32, same, 3, &sizes), "constant(4)");
    assert_string_equal(capture_describe(*state, ELEM_I32, steps, 3, &sizes), "iota(1, 3)");
    assert_string_equal(capture_describe(*state, ELEM_I32, odd, 3, &sizes), "integers(-3, 5)");
    assert_string_equal(capture_describe(*state, ELEM_F32, reals, 3, &sizes), "uniform(-2, 1)");
    assert_string_equal(capture_describe(*state, ELEM_F32, filled, 3, &sizes), "uniform(1, 3)");
    assert_string_equal(capture_describe(*state, ELEM_F32, zeros, 3, &sizes), "uniform(0, 1)");
    assert_string_equal(capture_describe(*state, ELEM_F32, rising, 3, &sizes), "sorted(1, 30)");
    assert_null(capture_describe(*state, ELEM_F32, reals, 1, &sizes));
}

/* All digits of whole numbers; no bound that the type, or an expression, cannot hold. */
static void wide_contents_are_described(void **state)
{
    const struct env none = {NULL, 0};
    const int32_t same[] = {1234567891, 1234567891}, steps[] = {INT32_MIN, -1, INT32_MAX - 1};
    const int64_t ends[] = {INT64_MAX, INT64_MIN, 0},
                  near[] = {INT64_MAX - 1, INT64_MAX, INT64_MAX};
    const uint64_t empty[] = {UINT64_MAX, UINT64_MAX};
    const float large[] = {3e38f, 3e38f};
    const double doubles[] = {1.7e308, -1.7e308};

    assert_string_equal(capture_describe(*state, ELEM_I32, same, 2, &none), "constant(1234567891)");
    assert_string_equal(
        capture_describe(*state, ELEM_I32, steps, 3, &none), "iota(-2147483648, 2147483647)");
    assert_string_equal(capture_describe(*state, ELEM_I64, ends, 3, &none),
        "integers(-9223372036854775807 - 1, 9223372036854775807)");
    assert_string_equal(capture_describe(*state, ELEM_I64, near, 3, &none),
        "sorted(9223372036854775806, 9223372036854775807)");
    assert_string_equal(capture_describe(*state, ELEM_U64, empty, 2, &none), "sorted(-1, -1)");
    assert_string_equal(
        capture_describe(*state, ELEM_F32, large, 2, &none), "uniform(1.5e+38, 3.00000001e+38)");
    assert_string_equal(
        capture_describe(*state, ELEM_F64, doubles, 2, &none), "uniform(-1.7e+308, 1.7e+308)");
}

/* A struct by value with an address in it, an offset, a number, and what nobody had written. */
static void a_contract_of_the_capture(void **state)
{
    uint8_t image[24] = {[16] = 60, [20] = 7}, pointer[8] = {0}, factor[4] = {0, 0, 0, 0x3f};
    const struct capture_pointer in_image = {0, 0, 0}, out = {0, 1, 8};
    static const uint8_t nothing[8] = {0}, stale[8] = {0, 0, 16};
    struct capture_param params[] = {{0, 24, image, &in_image, 1, false, "Image"},
        {24, 8, pointer, &out, 1, false, "float*"}, {32, 4, factor, NULL, 0, false, "float"}};
    struct capture_memory memories[] = {{.bytes = 64,
                                            .kind = "device",
                                            .name = "arg0_at0",
                                            .elem = ELEM_U8,
                                            .kept = true,
                                            .written = true,
                                            .before = "f/0-1/arg0_at0.before.npy"},
        {.bytes = 64,
            .kind = "device",
            .name = "arg1",
            .elem = ELEM_F32,
            .kept = true,
            .stored = true,
            .changed = true,
            .after = "f/0-1/arg1.after.npy"}};
    struct capture_launch launch = {.symbol = "flip",
        .name = "flip",
        .grid = {4, 1, 1},
        .block = {8, 2, 1},
        .params = params,
        .memories = memories,
        .nr_params = 3,
        .nr_memories = 2,
        .ran = true};
    const float row[] = {1, 3, 2, 2};
    char sample[] = "/tmp/keet-capture-XXXXXX";
    struct str lines = {0};
    struct err err = {.text = ""};

    close(mkstemp(sample));
    if (!capture_contract(&lines, *state, &launch, "f", &err))
        fail_msg("%s", err.text);
    assert_string_equal(str_text(&lines),
        "#pragma keet in arg0_at0 : u8[64] = file(\"0-1/arg0_at0.before.npy\")\n"
        "#pragma keet out arg1 : f32[16]\n"
        "#pragma keet expect arg1 = file(\"0-1/arg1.after.npy\")\n"
        "#pragma keet scalar arg2 : f32 = 0.5\n"
        "#pragma keet launch flip<<<4, dim3(8, 2, 1)>>>({arg0_at0, 0 : u32, 0 : u32, 60 : u32, "
        "7 : u32}, arg1 + 2, arg2)\n");
    str_clear(&lines); /* a pointer to nothing is a number; one to who knows what is not */
    params[2] = (struct capture_param){32, 8, nothing, NULL, 0, false, "float*"};
    assert_true(capture_contract(&lines, *state, &launch, "f", &err));
    assert_non_null(strstr(str_text(&lines), ", arg1 + 2, 0)\n"));
    params[2].data = stale;
    assert_false(capture_contract(&lines, *state, &launch, "f", &err));
    assert_non_null(strstr(err.text, "points to nothing"));
    params[2] = (struct capture_param){32, 4, factor, NULL, 0, false, "float"};
    str_clear(&lines); /* what was over the limit gets other contents, and is not expected */
    memories[0] = (struct capture_memory){.bytes = 64,
        .kind = "device",
        .name = "arg0_at0",
        .elem = ELEM_F32,
        .written = true,
        .stored = true,
        .changed = true,
        .sample = sample};
    assert_true(file_write(sample, row, sizeof(row), &err));
    assert_true(capture_contract(&lines, *state, &launch, "f", &err));
    assert_non_null(strstr(str_text(&lines), "--limit"));
    assert_non_null(strstr(str_text(&lines), "keet inout arg0_at0 : f32[16] = uniform(1, 3)\n#"));
    assert_null(strstr(str_text(&lines), "expect arg0"));
    unlink(sample);
    str_clear(&lines); /* what could not be read leaves no sample */
    memories[0].sample = NULL;
    assert_true(capture_contract(&lines, *state, &launch, "f", &err));
    assert_null(strstr(str_text(&lines), "--limit"));
    assert_non_null(strstr(str_text(&lines), "64 bytes of arg0_at0 could not be read when"));
    assert_non_null(strstr(str_text(&lines), "keet inout arg0_at0 : f32[16]\n"));
    str_clear(&lines); /* what was stored there already is a result as well */
    memories[0].kept = true;
    memories[0].changed = false;
    memories[0].before = "f/0-1/x.npy";
    assert_true(capture_contract(&lines, *state, &launch, "f", &err));
    assert_non_null(
        strstr(str_text(&lines), "keet inout arg0_at0 : f32[16] = file(\"0-1/x.npy\")\n"));
    assert_non_null(strstr(str_text(&lines), "keet expect arg0_at0 = file(\"0-1/x.npy\")\n"));
    memories[0].stored = memories[1].stored = false;
    memories[1].written = true;
    assert_false(capture_contract(&lines, *state, &launch, "f", &err));
    assert_non_null(strstr(err.text, "stored into no memory"));
    launch.name = "each<main::{lambda(float)#1}>";
    assert_false(capture_contract(&lines, *state, &launch, "f", &err));
    assert_non_null(strstr(err.text, "without a name"));
    launch.ran = false;
    assert_false(capture_contract(&lines, *state, &launch, "f", &err));
    str_finish(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_and_types, setup, teardown),
        cmocka_unit_test_setup_teardown(contents_are_described, setup, teardown),
        cmocka_unit_test_setup_teardown(wide_contents_are_described, setup, teardown),
        cmocka_unit_test_setup_teardown(a_contract_of_the_capture, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
