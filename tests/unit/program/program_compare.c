/* Whether two runs of a program said the same: numbers, times, what differs by itself. */
#include "program/user_program.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
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

static struct program_comparison compare(
    void **state, const char *a, const char *b, const char *again)
{
    struct program_comparison c = {.arena = *state, .tolerance = 1e-5};

    program_compare_text(&c, "output", a, b, again);
    return c;
}

static bool same(void **state, const char *a, const char *b)
{
    return compare(state, a, b, NULL).why == NULL;
}

static void whole_numbers_are_exact(void **state)
{
    assert_true(same(state, "n = 1000000\n", "n =  1000000\n"));
    assert_false(same(state, "n = 1000000\n", "n = 1000001\n"));
    assert_false(same(state, "wrong: 0", "wrong: 1"));
    assert_false(same(state, "0x1f", "0x2f"));
    assert_false(same(state, "float4", "float2"));
}

static void others_are_within_the_tolerance(void **state)
{
    assert_true(same(state, "sum 1234.5678", "sum 1234.5700"));
    assert_false(same(state, "sum 1234.5678", "sum 1234.6678"));
    assert_true(same(state, "1.000000e+10", "1.000001e+10"));
    assert_false(same(state, "1.000000e+10", "1.001000e+10"));
    assert_true(same(state, "x = 0.125", "x = 0.126")); /* one unit of the last place */
    assert_false(same(state, "x = 0.125", "x = 0.127"));
    assert_false(same(state, "x = 0.1", "x = 0.2")); /* too few digits to call that rounding */
    assert_false(same(state, "x = -1.5", "x = 1.5"));
    assert_true(same(state, "max error 1.2e-07", "max error 2.4e-07"));
    assert_false(same(state, "density 1.2e-07", "density 2.4e-07"));
    assert_false(same(state, "max error 1.2e-07", "max error 0.5"));
}

static void what_is_no_number(void **state)
{
    assert_true(same(state, "nan", "nan"));
    assert_true(same(state, "nan", "-nan"));
    assert_false(same(state, "nan", "1.0"));
    assert_false(same(state, "inf", "-inf"));
    assert_false(same(state, "PASS", "FAIL"));
    assert_false(same(state, "a\nb\n", "a\n"));
    assert_false(same(state, "", "a\n"));
    assert_true(same(state, "nano 1.0", "nano 1.0"));
}

static void times_are_masked(void **state)
{
    assert_true(same(state, "Average kernel execution time 12.5 (us)",
        "Average kernel execution time 3.5 (us)"));
    assert_true(same(state, "took 12 ms", "took 9 ms"));
    assert_true(same(state, "12.25 GB/s, 7 GFLOPS", "19.0 GB/s, 11 GFLOPS"));
    assert_true(same(state, "elapsed: 5", "elapsed: 17"));
    assert_int_equal(compare(state, "took 12 ms", "took 9 ms", NULL).nr_masked, 1);
    /* The number behind the time is compared. */
    assert_false(same(state, "time 0.5: energy 3.14159", "time 0.5: energy 3.24159"));
    assert_false(same(state, "12 steps", "13 steps"));
    assert_false(same(state, "timestep 12", "timestep 13"));
    assert_false(same(state, "3 x 5", "4 x 5"));
}

static void what_differs_by_itself_is_masked(void **state)
{
    struct program_comparison c =
        compare(state, "at 101 sum 1.5\n", "at 777 sum 1.5\n", "at 102 sum 1.5\n");

    assert_null(c.why);
    assert_int_equal(c.nr_masked, 1);
    assert_int_equal(c.nr_numbers, 1);
    c = compare(state, "at 101 sum 1.5\n", "at 777 sum 2.5\n", "at 102 sum 1.5\n");
    assert_non_null(c.why);
    assert_non_null(strstr(c.why, "line 1"));
    c = compare(state, "at 101 sum 1.5\n", "at 101 sum 2.5\n", "at 101 sum 1.5\n");
    assert_non_null(c.why);
}

static const char *put(void **state, const char *name, const void *bytes, size_t len)
{
    char *path = arena_printf(*state, "program_compare_%d_%s", (int)getpid(), name);
    struct err err;

    assert_true(file_write(path, bytes, len, &err));
    return path;
}

static bool same_files(void **state, const void *a, const void *b, const void *again, size_t len)
{
    struct program_comparison c = {.arena = *state, .tolerance = 1e-5};
    const char *x = put(state, "a", a, len), *y = put(state, "b", b, len);
    const char *z = again != NULL ? put(state, "c", again, len) : NULL;

    program_compare_files(&c, "file", x, y, z);
    unlink(x);
    unlink(y);
    if (z != NULL)
        unlink(z);
    return c.why == NULL;
}

static void files_of_bytes(void **state)
{
    const float x[] = {1.0f, -2.0f, 0.0f}, close[] = {1.000001f, -2.0f, 0.0f},
                far[] = {1.1f, -2.0f, 0.0f};
    const double wide[] = {0.1, 2.0}, wide_close[] = {0.1000001, 2.0}, wide_far[] = {0.2, 2.0};
    const int n[] = {3, 0, 5}, m[] = {4, 0, 5};

    assert_true(same_files(state, x, x, NULL, sizeof(x)));
    assert_true(same_files(state, x, close, NULL, sizeof(x)));
    assert_false(same_files(state, x, far, NULL, sizeof(x)));
    assert_true(same_files(state, wide, wide_close, NULL, sizeof(wide)));
    assert_false(same_files(state, wide, wide_far, NULL, sizeof(wide)));
    assert_false(same_files(state, n, m, NULL, sizeof(n))); /* small whole numbers are no f32 */
    assert_false(same_files(state, x, x, far, sizeof(x)));  /* nobody knows what it should be */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_numbers_are_exact, setup, teardown),
        cmocka_unit_test_setup_teardown(others_are_within_the_tolerance, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_number, setup, teardown),
        cmocka_unit_test_setup_teardown(times_are_masked, setup, teardown),
        cmocka_unit_test_setup_teardown(what_differs_by_itself_is_masked, setup, teardown),
        cmocka_unit_test_setup_teardown(files_of_bytes, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
