/* Tests of the roofline: peaks by type, what the tolerance allows, and the bytes that must move.
 * Expected times are worked by hand from NVIDIA's published peak rates of H100 SXM5. */
#include "core/roofline.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **state)
{
    *state = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(*state);
    return 0;
}

static const struct task *task_of(struct arena *arena, const char *lines)
{
    struct task *task = arena_array(arena, 1, sizeof(*task));
    struct err err;
    const char *text = arena_printf(arena,
        "#pragma keet size N = 1024\n%s\n#pragma keet launch f<<<1, 32>>>(C, N)\n"
        "__global__ void f(void *c, int n) {}\n",
        lines);

    if (!task_parse(task, arena, "k.cu", text, strlen(text), &err)) {
        fail_msg("%s", err.text);
    }
    return task;
}

static struct roofline of(struct arena *arena, const char *lines)
{
    return task_roofline(chip_default(), task_of(arena, lines), NULL);
}

/* A product of 1024 x 1024 matrices: 2^31 operations. */
static const char *product(
    struct arena *arena, const char *in, const char *out, const char *tolerance)
{
    return arena_printf(arena,
        "#pragma keet in A : %s[N][N]\n#pragma keet in B : %s[N][N]\n"
        "#pragma keet out C : %s[N][N]\n%s\n#pragma keet work flops = 2*N*N*N",
        in, in, out, tolerance);
}

static void near(double value, double expected)
{
    if (fabs(value - expected) > 0.005 * expected) {
        fail_msg("%g, expected %g", value, expected);
    }
}

/* 2^31 operations at the whitepaper's peak rates (T/s), by type of the arrays. */
static void flops_take_the_type_of_the_arrays(void **state)
{
    static const struct {
        const char *in, *out;
        double plain, vector; /* T/s; vector 0: no instruction */
        const char *name;
    } rows[] = {
        {"f64", "f64", 33.5, 33.5, "f64 FMA"},
        {"f32", "f32", 66.9, 66.9, "f32 FMA"},
        {"tf32", "f32", 495, 0, "the vector pipe"},
        {"f16", "f32", 989, 133.8, "half2 FMA"},
        {"bf16", "f32", 989, 133.8, "bfloat162 FMA"},
        {"e4m3", "f32", 1979, 0, "the vector pipe"},
        {"i8", "i32", 1979, 133.8, "dp4a"},
        {"u8", "u32", 1979, 133.8, "dp4a"},
        {"i32", "i32", 33.5, 33.5, "32-bit multiply-add"},
        {"u32", "f32", 66.9, 66.9, "f32 FMA"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct roofline r = of(*state, product(*state, rows[i].in, rows[i].out, ""));

        assert_int_equal(r.source, ROOFLINE_STATED);
        near(r.compute_ns, 0x1p31 / rows[i].plain / 1e3);
        near(r.vector_ns + 1, rows[i].vector > 0 ? 0x1p31 / rows[i].vector / 1e3 + 1 : 1);
        assert_string_equal(roofline_vector_name(r.type), rows[i].name);
        assert_true(r.fastest_ns <= r.compute_ns);
    }
}

/* Scales and indices do not decide. */
static void small_arrays_and_indices_do_not_count(void **state)
{
    struct roofline r = of(*state,
        "#pragma keet in A : i8[N][N]\n#pragma keet in B : i8[N][N]\n#pragma keet in s : f32[N]\n"
        "#pragma keet out C : f32[N][N]\n#pragma keet work flops = 2*N*N*N");

    assert_int_equal(r.type, WORK_INT8);
    r = of(*state, "#pragma keet in v : f32[N]\n#pragma keet in at : i32[N] = integers(0, N-1)\n"
                   "#pragma keet out C : f32[N]\n#pragma keet work flops = 2*N*N*N");
    assert_int_equal(r.type, WORK_F32);
    r = of(*state, "#pragma keet in A : f16[N][N]\n#pragma keet in B : f16[N][N]\n"
                   "#pragma keet in bias : f32[N]\n#pragma keet out C : f32[N][N]\n"
                   "#pragma keet work flops = 2*N*N*N");
    assert_int_equal(r.type, WORK_F16);
}

/* What tensor cores may do of f32 and f64 work depends on the tolerance. */
static void the_tolerance_admits_tensor_cores(void **state)
{
    static const struct {
        const char *type, *tolerance;
        double rate; /* T/s of the fastest unit that may be right */
    } rows[] = {
        {"f32", "#pragma keet tolerance rel = 1e-3, abs = 1e-4", 989},
        {"f32", "#pragma keet tolerance rel = 1e-4, abs = 1e-6", 989 / 3.0},
        {"f32", "", 989 / 3.0}, /* 2^-17 */
        {"f32", "#pragma keet tolerance rel = 1e-7, abs = 0", 66.9},
        {"f32", "#pragma keet tolerance rel = 0, abs = 0", 66.9},
        {"f64", "", 66.9}, /* the tensor cores' own f64 */
        {"f64", "#pragma keet tolerance rel = 1e-3, abs = 0", 989},
        {"f16", "#pragma keet tolerance rel = 0.1, abs = 0", 1979},
        {"i32", "", 1979}, /* where the values fit in 8 bits */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct roofline r =
            of(*state, product(*state, rows[i].type, rows[i].type, rows[i].tolerance));

        near(r.fastest_ns, 0x1p31 / rows[i].rate / 1e3);
        assert_true(r.least_ns == fmax(r.fastest_ns, r.memory_ns));
    }
}

static void kinds_of_work_stand_beside_each_other(void **state)
{
    static const char arrays[] = "#pragma keet in A : f32[N][N]\n#pragma keet out C : f32[N][N]\n"
                                 "#pragma keet tolerance rel = 0, abs = 0\n";
    /* 1e6 exponentials: 16 a clock and SM is 4.18 T/s; the FMA pipe adds 33.5 T/s. */
    struct roofline r =
        of(*state, arena_printf(*state,
                       "%s#pragma keet work f32_flops = 1000, special_ops = 1000000", arrays));

    assert_int_equal(r.type, WORK_SPECIAL);
    near(r.compute_ns, 1e6 / 4.18 / 1e3);
    near(r.fastest_ns, 1e6 / (4.18 + 33.45) / 1e3);
    assert_true(r.flops == 1000);
    r = of(*state,
        arena_printf(*state, "%s#pragma keet work int8_ops = 1000000, int32_ops = 100000", arrays));
    assert_int_equal(r.type, WORK_INT32);
    near(r.compute_ns, 1e5 / 33.5 / 1e3);
    assert_true(r.flops == 1100000);
    r = of(*state, arena_printf(*state,
                       "%s#pragma keet work f64_flops = 1, tf32_flops = 1, f16_flops = 1, "
                       "bf16_flops = 1, fp8_flops = 1, bytes = 8",
                       arrays));
    assert_true(r.flops == 5 && r.bytes == 8);
}

static void bytes_are_no_more_than_there_are(void **state)
{
    static const char arrays[] = "#pragma keet in A : f32[N][N]\n#pragma keet inout C : f32[N]\n";
    const double mib = 1 << 20;
    const struct task *task =
        task_of(*state, arena_printf(*state, "%s#pragma keet work bytes = 100*N*N", arrays));
    struct profile profile = {.nr_launches = 1, .time_from = PROV_MODELLED};
    struct roofline r = task_roofline(chip_default(), task, NULL);

    assert_true(r.bytes == 4 * mib + 8 * 1024); /* all is read once, and C is written */
    near(r.memory_ns, 1.0345 * r.bytes / (0.989 * 3.35e3));
    /* Half of A was never touched. */
    counters_set(&profile.total, METRIC_GLOBAL_UNIQUE_BYTES, 2 * mib, PROV_COUNTED);
    profile.total.blocks_run = profile.total.blocks_all = 8;
    assert_true(task_roofline(chip_default(), task, &profile).bytes == 2 * mib);
    profile.total.blocks_run = 4; /* a sample proves nothing */
    assert_true(task_roofline(chip_default(), task, &profile).bytes == r.bytes);
}

/* A card's clock stops while results are still in L2; nothing is faster than L2. The model writes
 * all back, at the rates of reading and writing. */
static void results_may_stay_in_l2_on_a_card(void **state)
{
    const struct task *task =
        task_of(*state, "#pragma keet in A : f32[N][N]\n#pragma keet out C : f32[N][2*N]\n"
                        "#pragma keet work bytes = 12*N*N");
    const struct profile modelled = {.time_from = PROV_MODELLED};
    const struct profile measured = {.time_from = PROV_MEASURED};

    /* A third of it is read, and the bus turns round as often. */
    near(task_roofline(chip_default(), task, &modelled).memory_ns,
        12.583e6 * (1.0345 + 2 + 0.146) / 3 / (0.989 * 3.35e3));
    near(task_roofline(chip_default(), task, &measured).memory_ns, 12.583e6 / 9.7e3);
}

/* Without a `work` line the counted bytes give a roofline, which says so. */
static void counted_bytes_give_a_roofline(void **state)
{
    const struct task *task =
        task_of(*state, "#pragma keet in A : f32[N][N]\n#pragma keet out C : f32[N][N]");
    const double mib = 1 << 20;
    struct counters launches[2] = {{.blocks_run = 4, .blocks_all = 8}};
    struct profile profile = {
        .nr_launches = 1, .launches = launches, .time_from = PROV_MODELLED, .total = launches[0]};

    assert_int_equal(task_roofline(chip_default(), task, &profile).source, ROOFLINE_NONE);
    counters_set(&launches[0], METRIC_GLOBAL_UNIQUE_BYTES, 3 * mib, PROV_SAMPLED);
    profile.total = launches[0];
    struct roofline r = task_roofline(chip_default(), task, &profile);
    assert_int_equal(r.source, ROOFLINE_COUNTED);
    assert_int_equal(r.counted, PROV_SAMPLED);
    assert_true(r.bytes == 6 * mib); /* of a half of the blocks */
    /* A second launch that moves all again adds no more than the arrays have. */
    launches[1] = launches[0];
    profile.nr_launches = 2;
    assert_true(task_roofline(chip_default(), task, &profile).bytes == 8 * mib);
    counters_set(&profile.total, METRIC_DRAM_BYTES, 5 * mib, PROV_MODELLED);
    assert_true(task_roofline(chip_default(), task, &profile).bytes == 5 * mib);
}

static void says_the_units(void **state)
{
    static const struct {
        const char *type, *tolerance, *said;
    } rows[] = {
        {"f32", "#pragma keet tolerance rel = 1e-3, abs = 1e-4",
            "at least 32.1 us by f32 FMA, 2.17 us where tensor cores do it within the tolerance"},
        {"f32", "#pragma keet tolerance rel = 0, abs = 0", "at least 32.1 us by f32 FMA"},
        {"i8", "", "at least 16 us by dp4a, 1.09 us on tensor cores"},
        {"e4m3", "", "at least 1.09 us"},
        {"i32", "",
            "at least 64.2 us by 32-bit multiply-add, 1.09 us where tensor cores do it, on values "
            "of "
            "8 bits"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct roofline r =
            of(*state, product(*state, rows[i].type, rows[i].type, rows[i].tolerance));
        struct str text = {0};

        roofline_say(&r, &text);
        assert_string_equal(str_text(&text), rows[i].said);
        str_finish(&text);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(flops_take_the_type_of_the_arrays),
        TEST(small_arrays_and_indices_do_not_count),
        TEST(the_tolerance_admits_tensor_cores),
        TEST(kinds_of_work_stand_beside_each_other),
        TEST(bytes_are_no_more_than_there_are),
        TEST(results_may_stay_in_l2_on_a_card),
        TEST(counted_bytes_give_a_roofline),
        TEST(says_the_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
