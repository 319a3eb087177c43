/* Owns the tests of input generators: in range, with the right moments, the same every time. */
#include "base/arena.h"
#include "base/file.h"
#include "core/inputs.h"
#include "core/npy.h"

#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { NR = 20000 };

static const struct binding sizes[] = {{"N", 300}, {"NNZ", 4001}};
static const struct env env = {sizes, 2};

static double room[NR];

static const void *fill(struct task_array array, uint64_t seed, double scale, uint64_t nr)
{
    struct err err;

    memset(room, 0xee, sizeof(room));
    if (!inputs_fill(&array, &env, "", seed, scale, room, nr, &err))
        fail_msg("%s", err.text);
    return room;
}

static struct task_array reals(enum gen_kind kind, double a, double b)
{
    return (struct task_array){
        .name = "A", .elem = ELEM_F64, .gen = {.kind = kind, .a = a, .b = b}};
}

static struct task_array wholes(enum elem elem, enum gen_kind kind, double a, double b)
{
    return (struct task_array){.name = "I", .elem = elem, .gen = {.kind = kind, .a = a, .b = b}};
}

static void moments(const double *x, double *mean, double *deviation)
{
    double sum = 0, squares = 0;

    for (int i = 0; i < NR; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    *mean = sum / NR;
    *deviation = sqrt(squares / NR - *mean * *mean);
}

static void test_uniform(void **state)
{
    const double *x = fill(reals(GEN_UNIFORM, -2, 4), 7, 1, NR);
    double mean, deviation;

    for (int i = 0; i < NR; i++)
        assert_true(x[i] >= -2 && x[i] < 4);
    moments(x, &mean, &deviation);
    assert_true(fabs(mean - 1) < 0.05);                        /* 4 sigma of the mean of 20000 */
    assert_true(fabs(deviation - 6 / sqrt(12)) < 0.05);        /* (b - a) / sqrt(12) */
    x = fill(reals(GEN_UNIFORM, -1.5e308, 1.5e308), 7, 1, NR); /* b - a is no double */
    for (int i = 0; i < NR; i++)
        assert_true(isfinite(x[i]) && fabs(x[i]) <= 1.5e308);
    for (int i = 0; i < NR; i++)
        room[i] /= 1.5e308;
    moments(room, &mean, &deviation);
    assert_true(fabs(mean) < 0.02 && fabs(deviation - 2 / sqrt(12)) < 0.02);
}

static void test_normal(void **state)
{
    const double *x = fill(reals(GEN_NORMAL, 3, 2), 7, 1, NR);
    double mean, deviation;
    int within = 0;

    moments(x, &mean, &deviation);
    assert_true(fabs(mean - 3) < 0.06);
    assert_true(fabs(deviation - 2) < 0.06);
    for (int i = 0; i < NR; i++)
        within += fabs(x[i] - 3) < 2;
    assert_true(fabs((double)within / NR - 0.6827) < 0.02);
}

static void test_scale(void **state)
{
    double first = *(const double *)fill(reals(GEN_UNIFORM, -1, 1), 5, 1, 4);

    assert_true(*(const double *)fill(reals(GEN_UNIFORM, -1, 1), 5, 3, 4) == 3 * first);
    assert_true(*(const double *)fill(reals(GEN_UNIFORM, -1, 1), 5, -1, 4) == -first);
    assert_true(*(const double *)fill(reals(GEN_CONSTANT, 2.5, 0), 5, 3, 4) == 2.5);
    assert_true(*(const int32_t *)fill(wholes(ELEM_I32, GEN_CONSTANT, 4, 0), 5, -1, 4) == 4);
}

static void test_integers(void **state)
{
    const int32_t *x = fill(wholes(ELEM_I32, GEN_INTEGERS, -3, 5), 1, 3, NR);
    int seen[9] = {0};

    for (int i = 0; i < NR; i++) {
        assert_true(x[i] >= -3 && x[i] <= 5);
        seen[x[i] + 3]++;
    }
    for (int i = 0; i < 9; i++)
        assert_true(abs(seen[i] - NR / 9) < 300);
}

static void test_sorted(void **state)
{
    struct arena *arena = arena_create();
    struct err err;
    struct task_array array = wholes(ELEM_I32, GEN_SORTED, 0, 0);
    const int32_t *x;
    int longest = 0;

    array.gen.b_int = expr_parse(arena, "NNZ", 3, &err);
    x = fill(array, 11, 1, 301);
    assert_int_equal(x[0], 0);
    assert_int_equal(x[300], 4001);
    for (int i = 0; i < 300; i++) {
        assert_true(x[i] <= x[i + 1]);
        longest = x[i + 1] - x[i] > longest ? x[i + 1] - x[i] : longest;
    }
    assert_true(longest > 14); /* rows differ: the mean is 13.3 */
    x = fill(array, 11, 1, 1);
    assert_int_equal(x[0], 0);
    arena_destroy(arena);
}

/* Four fifths of the values lie in the lowest fifth of the range, and four fifths of these in its
 * lowest fifth. */
static void test_skewed(void **state)
{
    const int32_t *x = fill(wholes(ELEM_I32, GEN_SKEWED, 100, 2599), 4, 1, NR);
    int fifth = 0, part = 0;

    (void)state;
    for (int i = 0; i < NR; i++) {
        assert_true(x[i] >= 100 && x[i] <= 2599);
        fifth += x[i] < 600;
        part += x[i] < 200;
    }
    assert_true(abs(fifth - NR * 4 / 5) < 300);
    assert_true(abs(part - NR * 16 / 25) < 300);
}

static void test_nearly_sorted(void **state)
{
    const int32_t *x = fill(wholes(ELEM_I32, GEN_NEARLY_SORTED, 0, 6399), 4, 1, 6400);
    int falls = 0;

    (void)state;
    for (int i = 0; i < 6400; i++) {
        assert_true(x[i] >= 0 && x[i] <= 6399 && abs(x[i] - i) <= 101);
        falls += i > 0 && x[i] < x[i - 1];
    }
    assert_true(falls > 2000);
}

static void test_sorted_skewed(void **state)
{
    const int32_t *x = fill(wholes(ELEM_I32, GEN_SORTED_SKEWED, 0, 10000), 4, 1, 1001);

    (void)state;
    assert_int_equal(x[0], 0);
    assert_int_equal(x[1000], 10000);
    for (int i = 0; i < 1000; i++)
        assert_true(x[i] <= x[i + 1]);
    assert_true(abs(x[800] - 2000) < 50 && abs(x[640] - 400) < 20);
}

static void test_runs(void **state)
{
    const int32_t *x = fill(wholes(ELEM_I32, GEN_RUNS, 8, 0), 3, 1, 1003);
    bool seen[1003] = {false};
    int moved = 0;

    (void)state;
    for (int i = 0; i < 1003; i++) {
        assert_true(x[i] >= 0 && x[i] < 1003 && !seen[x[i]]);
        seen[x[i]] = true;
        moved += x[i] != i;
        assert_true(i % 8 == 0 || i >= 1000 || x[i] == x[i - 1] + 1);
    }
    assert_true(moved > 900);
}

static void test_permutation(void **state)
{
    const uint16_t *x = fill(wholes(ELEM_U16, GEN_PERMUTATION, 0, 0), 3, 1, 1000);
    bool seen[1000] = {false};
    int moved = 0;

    for (int i = 0; i < 1000; i++) {
        assert_true(x[i] < 1000 && !seen[x[i]]);
        seen[x[i]] = true;
        moved += x[i] != i;
    }
    assert_true(moved > 950);
}

static void test_iota(void **state)
{
    const int64_t *x = fill(wholes(ELEM_I64, GEN_IOTA, 5, -2), 3, 1, 10);

    for (int i = 0; i < 10; i++)
        assert_int_equal(x[i], 5 - 2 * i);
}

struct mixed {
    int8_t a;
    double x[2];
    bool flag;
    uint16_t count;
    float y;
};

/* Each value of a struct as an array of its type would get it; what stands between is left. */
static void test_structs(void **state)
{
    static const struct struct_value values[] = {{ELEM_I8, offsetof(struct mixed, a)},
        {ELEM_F64, offsetof(struct mixed, x)}, {ELEM_F64, offsetof(struct mixed, x[1])},
        {ELEM_BOOL, offsetof(struct mixed, flag)}, {ELEM_U16, offsetof(struct mixed, count)},
        {ELEM_F32, offsetof(struct mixed, y)}};
    static const struct struct_type type = {values, 6, sizeof(struct mixed), "{mixed}"};
    struct task_array array = {
        .name = "A", .elem = ELEM_I8, .record = &type, .gen = {.kind = GEN_VALUES}};
    struct mixed *once = malloc(1000 * sizeof(*once));
    const struct mixed *s;
    double sum = 0, least = 1, most = -1;
    bool flags[2] = {false, false};

    (void)state;
    assert_non_null(once);
    assert_int_equal(array_bytes(&array, 6000), 1000 * sizeof(*once));
    memcpy(once, fill(array, 7, 1, 6000), 1000 * sizeof(*once));
    s = fill(array, 7, 3, 6000);
    for (int i = 0; i < 1000; i++) {
        assert_in_range(s[i].a, 0, 9);
        assert_in_range(s[i].count, 0, 9);
        flags[((const uint8_t *)&s[i])[offsetof(struct mixed, flag)]] = true;
        assert_int_equal(s[i].count, once[i].count); /* a scale is for reals */
        assert_true(s[i].x[1] == 3 * once[i].x[1]);
        assert_true(fabsf(s[i].y - 3 * once[i].y) < 1e-6F);
        assert_int_equal(((const uint8_t *)&s[i])[1], 0xee);
        sum += once[i].x[0];
        least = fmin(least, once[i].y);
        most = fmax(most, once[i].y);
    }
    assert_true(flags[0] && flags[1]);
    assert_true(fabs(sum / 1000) < 0.1 && least < -0.9 && most > 0.9);
    array.gen = (struct gen){.kind = GEN_CONSTANT, .a = 2};
    s = fill(array, 7, 3, 6000);
    assert_true(s[999].x[0] == 2 && s[999].a == 2 && s[999].y == 2);
    free(once);
}

static void test_deterministic(void **state)
{
    struct task_array a = reals(GEN_UNIFORM, 0, 1), b = a;
    double first[64];

    memcpy(first, fill(a, 42, 1, 64), sizeof(first));
    assert_memory_equal(first, fill(a, 42, 1, 64), sizeof(first));
    /* a shorter array is a prefix: elements do not depend on each other */
    assert_memory_equal(first, fill(a, 42, 1, 16), 16 * sizeof(double));
    assert_memory_not_equal(first, fill(a, 43, 1, 64), sizeof(first));
    b.name = "B";
    assert_memory_not_equal(first, fill(b, 42, 1, 64), sizeof(first));
}

/* Each type's default fills exactly its own bytes with values in its range. */
static void test_every_type(void **state)
{
    for (int e = 0; e < NR_ELEMS; e++) {
        struct task_array array = {.name = "T", .elem = (enum elem)e};
        unsigned char before[8];
        uint64_t nr = 100;

        array.gen = gen_default(array.elem);
        fill(array, 1, 1, nr);
        memset(before, 0xee, sizeof(before));
        assert_memory_equal((char *)room + nr * elem_bytes(array.elem), before, 8);
        for (uint64_t i = 0; i < nr; i++) {
            double v = elem_get(array.elem, room, i);

            assert_true(elem_is_float(array.elem) ? v >= -1 && v <= 1
                                                  : v >= 0 && v <= (e == ELEM_BOOL ? 1 : 9));
        }
    }
}

static void test_file(void **state)
{
    char folder[] = "/tmp/keet-inputs-XXXXXX", path[64];
    const float data[] = {1, 2, 3};
    const uint64_t dims[] = {3};
    struct task_array array = {.name = "A", .elem = ELEM_F32, .gen = {.kind = GEN_FILE}};
    struct err err;
    float got[3];

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/a.npy", folder);
    assert_true(npy_write(path, ELEM_F32, data, dims, 1, &err));
    array.gen.path = "a.npy";
    assert_true(inputs_fill(&array, &env, folder, 1, 1, got, 3, &err));
    assert_memory_equal(got, data, sizeof(data));
    array.gen.path = "b.npy";
    assert_false(inputs_fill(&array, &env, folder, 1, 1, got, 3, &err));
    assert_non_null(strstr(err.text, "A: cannot open"));
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_sorted),
        cmocka_unit_test(test_skewed),
        cmocka_unit_test(test_nearly_sorted),
        cmocka_unit_test(test_sorted_skewed),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_permutation),
        cmocka_unit_test(test_iota),
        cmocka_unit_test(test_structs),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
