/* Tests of the choice of a device and of the packing of arguments. Expected bytes are written out
 * by hand. */
#include "device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct launch_config config = {.kernel = "f", .grid = {1, 1, 1}, .block = {32, 1, 1}};

static struct device_launch launch_of(const struct device_arg *args, unsigned nr)
{
    return (struct device_launch){.config = &config, .args = args, .nr_args = nr, .line = 7};
}

static void arguments_stand_at_their_offsets(void **state)
{
    const struct device_arg args[] = {
        {.kind = ARG_ARRAY, .address = 0x1122334455667788, .name = "A"},
        {.kind = ARG_SCALAR, .elem = ELEM_F32, .real = 1.0, .name = "alpha"},
        {.kind = ARG_INTEGER, .integer = -2},
        {.kind = ARG_SCALAR, .elem = ELEM_F16, .real = 0.5, .name = "h"},
        {.kind = ARG_INTEGER, .integer = 5},
    };
    static const uint32_t bytes[] = {8, 4, 4, 2, 8}, offsets[] = {0, 8, 12, 16, 24};
    static const uint8_t expected[32] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* A */
        0x00, 0x00, 0x80, 0x3f,                                                          /* 1.0f */
        0xfe, 0xff, 0xff, 0xff,                                                          /* -2 */
        0x00, 0x38, 0, 0, 0, 0, 0, 0,                                                    /* half */
        5, 0, 0, 0, 0, 0, 0, 0};
    struct device_launch launch = launch_of(args, 5);
    struct device_result result = {0};
    uint8_t packed[32];

    (void)state;
    assert_true(device_pack(&launch, 5, bytes, offsets, packed, sizeof(packed), &result));
    assert_int_equal(result.verdict, VERDICT_OK);
    assert_memory_equal(packed, expected, sizeof(packed));
}

static void refused(struct device_arg arg, uint32_t bytes)
{
    static const uint32_t offset = 0;
    struct device_launch launch = launch_of(&arg, 1);
    struct device_result result = {0};
    uint8_t packed[8];

    assert_false(device_pack(&launch, 1, &bytes, &offset, packed, sizeof(packed), &result));
    assert_int_equal(result.verdict, VERDICT_LAUNCH_FAILED);
    assert_int_equal(result.line, 7);
    assert_non_null(strstr(result.text, "f:"));
}

static void misfits_are_verdicts(void **state)
{
    static const uint32_t bytes = 4, offset = 0;
    struct device_arg arg = {.kind = ARG_INTEGER, .integer = 1};
    struct device_launch launch = launch_of(&arg, 1);
    struct device_result result = {0};
    uint8_t packed[8];

    (void)state;
    refused((struct device_arg){.kind = ARG_ARRAY, .address = 64, .name = "A"}, 4);
    refused((struct device_arg){.kind = ARG_INTEGER, .integer = INT64_C(1) << 32}, 4);
    refused((struct device_arg){.kind = ARG_INTEGER, .integer = -INT64_C(2147483649)}, 4);
    refused((struct device_arg){.kind = ARG_INTEGER, .integer = 256}, 1);
    refused((struct device_arg){.kind = ARG_SCALAR, .elem = ELEM_F64, .real = 1}, 4);
    assert_false(device_pack(&launch, 0, &bytes, &offset, packed, 4, &result));
    assert_int_equal(result.verdict, VERDICT_LAUNCH_FAILED);
    assert_non_null(strstr(result.text, "takes 0 arguments"));
}

/* What the compiler of this test makes of structs is what a kernel reads: fields as they come,
 * bools, pointers after narrower fields, padding written out where a vector asks for it. */
struct mixed {
    int8_t a;
    uint64_t x;
    int16_t b;
    float c;
    bool d;
    double e;
    uint8_t f;
};

struct aligned {
    int32_t level;
    _Alignas(16) float low[4];
    int16_t cells;
};

static void structs_are_laid_out_as_by_c(void **state)
{
    const struct device_arg args[] = {{.kind = ARG_INTEGER, .integer = 9},
        {.kind = ARG_STRUCT, .nr_fields = 7, .name = "{mixed}"},
        {.kind = ARG_INTEGER, .elem = ELEM_I8, .integer = -1},
        {.kind = ARG_ARRAY, .address = 0x1122334455667788, .name = "x"},
        {.kind = ARG_INTEGER, .elem = ELEM_I16, .integer = 300},
        {.kind = ARG_SCALAR, .elem = ELEM_F32, .real = 1.5, .name = "c"},
        {.kind = ARG_INTEGER, .elem = ELEM_BOOL, .integer = 1},
        {.kind = ARG_SCALAR, .elem = ELEM_F64, .real = -0.25, .name = "e"},
        {.kind = ARG_INTEGER, .elem = ELEM_U8, .integer = 255},
        {.kind = ARG_STRUCT, .nr_fields = 10, .name = "{aligned}"},
        {.kind = ARG_INTEGER, .elem = ELEM_I32, .integer = 3},
        {.kind = ARG_INTEGER, .elem = ELEM_I32}, {.kind = ARG_INTEGER, .elem = ELEM_I64},
        {.kind = ARG_SCALAR, .elem = ELEM_F32, .real = 1, .name = "low"},
        {.kind = ARG_SCALAR, .elem = ELEM_F32, .real = 2, .name = "low"},
        {.kind = ARG_SCALAR, .elem = ELEM_F32, .real = 3, .name = "low"},
        {.kind = ARG_SCALAR, .elem = ELEM_F32, .real = 4, .name = "low"},
        {.kind = ARG_INTEGER, .elem = ELEM_I16, .integer = -7},
        {.kind = ARG_INTEGER, .elem = ELEM_I32}, {.kind = ARG_INTEGER, .elem = ELEM_I64},
        {.kind = ARG_STRUCT, .name = "{}"}};
    static const struct mixed mixed = {-1, 0x1122334455667788, 300, 1.5F, true, -0.25, 255};
    static const struct aligned aligned = {3, {1, 2, 3, 4}, -7};
    static const uint32_t bytes[] = {4, sizeof(mixed), sizeof(aligned), 1},
                          offsets[] = {0, 16, 64, 112};
    struct device_launch launch = launch_of(args, sizeof(args) / sizeof(*args));
    struct device_result result = {0};
    uint8_t packed[128];
    const uint8_t *p = packed + 16, *q = packed + 64;

    (void)state;
    assert_true(sizeof(mixed) <= 48 && sizeof(aligned) == 48);
    assert_true(device_pack(&launch, 4, bytes, offsets, packed, sizeof(packed), &result));
    assert_int_equal(packed[0], 9);
#define FIELD(from, whole, field)                                                                  \
    assert_memory_equal(                                                                           \
        (from) + offsetof(struct whole, field), &(whole).field, sizeof((whole).field))
    FIELD(p, mixed, a);
    FIELD(p, mixed, x);
    FIELD(p, mixed, b);
    FIELD(p, mixed, c);
    FIELD(p, mixed, d);
    FIELD(p, mixed, e);
    FIELD(p, mixed, f);
    FIELD(q, aligned, level);
    FIELD(q, aligned, low);
    FIELD(q, aligned, cells);
#undef FIELD
    assert_int_equal(packed[112], 0);
}

static void structs_must_fit(void **state)
{
    const struct device_arg args[] = {{.kind = ARG_STRUCT, .nr_fields = 2, .name = "{n : i32, x}"},
        {.kind = ARG_INTEGER, .elem = ELEM_I32, .integer = 3},
        {.kind = ARG_ARRAY, .address = 64, .name = "x"}};
    static const char *const why[] = {[4] = "come to more than 4 bytes",
        [8] = "more than 8",
        [12] = "more than 12",
        [24] = "only 16"};
    static const uint32_t offset = 0;
    struct device_launch launch = launch_of(args, 3);
    struct device_result result = {0};
    struct device_arg wide[2] = {args[0], {.kind = ARG_INTEGER, .elem = ELEM_I8, .integer = 256}};
    uint8_t packed[24];

    (void)state;
    for (uint32_t bytes = 4; bytes <= 24; bytes += 4) {
        bool fits = device_pack(&launch, 1, &bytes, &offset, packed, sizeof(packed), &result);

        assert_int_equal(fits, bytes == 16);
        if (why[bytes])
            assert_non_null(strstr(result.text, why[bytes]));
    }
    assert_false(
        device_pack(&launch, 2, (uint32_t[]){16, 4}, (uint32_t[]){0, 16}, packed, 24, &result));
    assert_non_null(strstr(result.text, "takes 2 arguments, the launch gives 1"));
    wide[0].nr_fields = 1;
    launch = launch_of(wide, 2);
    assert_false(device_pack(&launch, 1, (uint32_t[]){1}, &offset, packed, 24, &result));
    assert_non_null(strstr(result.text, "does not fit"));
    refused((struct device_arg){.kind = ARG_STRUCT, .name = "{}"}, 4);
}

/* 2^32 - 1 fits an unsigned parameter, -2^31 a signed one; the packing cannot know which it is. */
static void both_signs_fit(void **state)
{
    static const uint32_t bytes[] = {4, 4}, offsets[] = {0, 4};
    const struct device_arg args[] = {
        {.kind = ARG_INTEGER, .integer = UINT32_MAX}, {.kind = ARG_INTEGER, .integer = INT32_MIN}};
    struct device_launch launch = launch_of(args, 2);
    struct device_result result = {0};
    uint32_t packed[2];

    (void)state;
    assert_true(device_pack(&launch, 2, bytes, offsets, packed, sizeof(packed), &result));
    assert_int_equal(packed[0], UINT32_MAX);
    assert_int_equal(packed[1], 0x80000000u);
}

static void names_choose_devices(void **state)
{
    struct device_options options = {.name = "emu:h200", .nr_threads = 1};
    struct err err = {0};
    struct device *device = device_create(&options, &err);

    (void)state;
    /* Whatever this machine has: here is no driver. */
    setenv("KEET_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
    assert_non_null(device);
    assert_string_equal(device->chip->key, "h200");
    assert_int_equal(device->ops->time_from, PROV_MODELLED);
    device_destroy(device);
    options.name = NULL;
    device = device_create(&options, &err);
    assert_non_null(device);
    assert_string_equal(device->chip->key, "h100");
    device_destroy(device);
    options.name = "gpu";
    assert_null(device_create(&options, &err));
    assert_non_null(strstr(err.text, "/nowhere/libcuda.so.1"));
    options.name = "gpu:x";
    assert_null(device_create(&options, &err));
    assert_non_null(strstr(err.text, "gpu:N"));
    options.name = "emu:v100";
    assert_null(device_create(&options, &err));
    assert_non_null(strstr(err.text, "emu:v100"));
    device_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_stand_at_their_offsets),
        cmocka_unit_test(misfits_are_verdicts),
        cmocka_unit_test(structs_are_laid_out_as_by_c),
        cmocka_unit_test(structs_must_fit),
        cmocka_unit_test(both_signs_fit),
        cmocka_unit_test(names_choose_devices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
