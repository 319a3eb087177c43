/* Owns the tests of integer expressions: each row's value is computed by the C compiler from the
 * same text. */
#include "core/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct binding bindings[] = {{"M", 129}, {"N", 65}, {"K", 33}, {"Z", 0}, {"m1", -1}};
static const struct env env = {bindings, 5};

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

static int64_t value_of(struct arena *arena, const char *text)
{
    struct err err = {.text = ""};
    const struct expr *expr = expr_parse(arena, text, strlen(text), &err);
    int64_t value = 0;

    if (!expr || !expr_eval(expr, &env, &value, &err))
        fail_msg("%s: %s", text, err.text);
    return value;
}

/* C, with the same names. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wparentheses"
#pragma clang diagnostic ignored "-Wbitwise-op-parentheses"
#pragma clang diagnostic ignored "-Wlogical-op-parentheses"
#else
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#endif
#define SAME(text)                                                                                 \
    {                                                                                              \
#text, (text)                                                                              \
    }

static void test_like_c(void **state)
{
    const int64_t M = 129, N = 65, K = 33, Z = 0, m1 = -1;
    const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        SAME(1 + 2 * 3),
        SAME(2 * 3 + 4 * 5),
        SAME((1 + 2) * 3),
        SAME(20 - 3 - 4),
        SAME(100 / 7 / 2),
        SAME(100 % 7 * 2),
        SAME(-7 / 2),
        SAME(-7 % 3),
        SAME(7 / -2),
        SAME(-3 - -4),
        SAME(!Z + !M),
        SAME(!!M),
        SAME(~M & 0xff),
        SAME(-~-M),
        SAME(1 << 2 + 3),
        SAME(1 + 2 << 3),
        SAME(256 >> 2 >> 1),
        SAME(-256 >> 3),
        SAME(1 << 3 < 9),
        SAME(5 > 3 == 1),
        SAME(1 == 2 < 3),
        SAME(3 != 3 > 2),
        SAME(6 & 3 == 3),
        SAME(5 & 6 ^ 3),
        SAME(5 ^ 6 & 3),
        SAME(1 | 6 ^ 2),
        SAME(4 ^ 2 | 1),
        SAME(1 || 0 && 0),
        SAME(0 && 1 || 1),
        SAME(2 && 4),
        SAME(1 | 2 && 0),
        SAME(M < N || N < M && K < N),
        SAME(M ? 1 : 2),
        SAME(Z   ? 1
             : K ? 3
                 : 4),
        SAME(1 ? 2 ? 3 : 4 : 5),
        SAME(Z || K ? M : N),
        SAME(M >= 129 && M <= 129),
        SAME(M * N + K - M / K % 2),
        SAME(2 * M * N * K),
        SAME(4 * (M * K + K * N + M * N)),
        SAME((M + 15) / 16),
        SAME(0x10 + 0XfF),
        SAME(m1 * m1),
        SAME(+M - +N),
        SAME(M - N - K == M - (N + K)),
        SAME(1 - 1 ? 2 : 3 + 1),
        {"Z && M / Z", 0},
        {"M || M / Z", 1},
        {"M ? 1 : M / Z", 1},
        SAME(9223372036854775807),
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t got = value_of(*state, rows[i].text);

        if (got != rows[i].value)
            fail_msg("%s is %lld here and %lld in C", rows[i].text, (long long)got,
                (long long)rows[i].value);
    }
}

static void test_functions(void **state)
{
    assert_int_equal(value_of(*state, "ceil_div(M, 16)"), 9);
    assert_int_equal(value_of(*state, "ceil_div(128,16)"), 8);
    assert_int_equal(value_of(*state, "ceil_div(-7, 2)"), -3);
    assert_int_equal(value_of(*state, "ceil_div(-7, -2)"), 4);
    assert_int_equal(value_of(*state, "ceil_div(0, 5)"), 0);
    assert_int_equal(value_of(*state, "min(M, N) + max(M, N)"), 194);
    assert_int_equal(value_of(*state, "max(min(1, 2), ceil_div(5, 2))"), 3);
    assert_int_equal(value_of(*state, "1e6"), 1000000);
    assert_int_equal(value_of(*state, "2e3 * 1E2"), 200000);
    assert_int_equal(value_of(*state, "  7  "), 7);
}

static void refuse(struct arena *arena, const char *text, const char *said)
{
    struct err err = {.text = ""};
    const struct expr *expr = expr_parse(arena, text, strlen(text), &err);
    int64_t value;

    if (expr && expr_eval(expr, &env, &value, &err))
        fail_msg("%s was taken", text);
    if (!strstr(err.text, said))
        fail_msg("%s: '%s' does not say '%s'", text, err.text, said);
}

static void test_errors(void **state)
{
    char deep[400];

    refuse(*state, "", "column 1: the expression ends early");
    refuse(*state, "1 +", "column 4: the expression ends early");
    refuse(*state, "1 2", "column 3: text after the expression");
    refuse(*state, "(1", "column 3: an open parenthesis; expected ')'");
    refuse(*state, "M ? 1", "column 6: '?' without its other half");
    refuse(*state, "1.5", "column 1: a real number");
    refuse(*state, "12abc", "column 3: letters after a number");
    refuse(*state, "012", "column 1: a number starts with 0");
    refuse(*state, "foo(1)", "column 1: an unknown function");
    refuse(*state, "min(1)", "column 6: the function takes two arguments");
    refuse(*state, "1 + $", "column 5: not an expression");
    refuse(*state, "99999999999999999999", "column 1: the number is too large");
    refuse(*state, "1e19", "too large");
    refuse(*state, "Q + 1", "unknown name 'Q'");
    refuse(*state, "M / Z", "129 divided by zero");
    refuse(*state, "M % Z", "divided by zero");
    refuse(*state, "ceil_div(1, 0)", "divided by zero");
    refuse(*state, "9223372036854775807 + 1", "overflows");
    refuse(*state, "9223372036854775807 * 2", "overflows");
    refuse(*state, "-9223372036854775807 - 2", "overflows");
    refuse(*state, "(-9223372036854775807 - 1) / m1", "overflows");
    refuse(*state, "-(-9223372036854775807 - 1)", "overflows");
    refuse(*state, "1 << 63", "shift by 63");
    refuse(*state, "3 << 62", "overflows");
    refuse(*state, "1 >> m1", "shift by -1");
    memset(deep, '(', 399);
    deep[399] = 0;
    refuse(*state, deep, "nested too deeply");
    memset(deep, '-', 399);
    refuse(*state, deep, "nested too deeply");
    assert_int_equal(value_of(*state, "(-9223372036854775807 - 1) % m1"), 0);
}

static void test_names(void **state)
{
    struct err err;
    size_t at = 0;
    const char *text = " M*(TILE + 1) ";
    const struct expr *expr = expr_parse(*state, text, strlen(text), &err);

    assert_string_equal(expr_text(expr), "M*(TILE + 1)");
    assert_true(expr_uses(expr, "TILE") && expr_uses(expr, "M"));
    assert_false(expr_uses(expr, "T"));
    assert_string_equal(expr_unknown(expr, &env, &at), "TILE");
    assert_int_equal(at, 4);
    expr = expr_literal(*state, -5);
    assert_string_equal(expr_text(expr), "-5");
    assert_null(expr_unknown(expr, &env, &at));
}

/* Tuning parameters of env are numbers; n is called rows * 2, m is called x->m, and q nothing. */
static const char *called(void *context, const char *text, bool is_name)
{
    static const char *const names[][2] = {
        {"n", "rows * 2"}, {"m", "x->m"}, {"n*4", "bytes"}, {"k", "k"}};

    for (unsigned i = 0; i < 4; i++)
        if (strcmp(text, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

static void written(void **state, const char *text, const char *own, const char *cxx)
{
    static const struct binding tile = {"TILE", 128};
    struct expr_style style = {.numbers = {&tile, 1}};
    struct err err;
    struct str out = {0};
    const struct expr *expr = expr_parse(*state, text, strlen(text), &err);

    assert_true(expr_write(expr, &style, &out));
    assert_string_equal(str_move(&out, *state), own);
    style.cxx = true;
    style.stands_for = called;
    assert_true(expr_write(expr, &style, &out) == (cxx != NULL));
    if (cxx)
        assert_string_equal(str_text(&out), cxx);
    str_finish(&out);
}

static void test_writing(void **state)
{
    written(state, " ((n))*1 ", "n", "rows * 2");
    written(state, "n + 2*TILE - 1", "n+256-1", "(rows * 2) + 256 - 1");
    written(state, "(m + k)*k - (m - k)", "(m+k)*k-(m-k)", "(x->m + k) * k - (x->m - k)");
    written(state, "ceil_div(m, TILE)*2", "ceil_div(m,128)*2", "(x->m + 127) / 128 * 2");
    written(state, "k / ceil_div(m, k)", "k/ceil_div(m,k)", "k / ((x->m + k - 1) / k)");
    written(state, "ceil_div(k, 1)", "k", "k");
    written(state, "1 + max(m, min(k, 3))", "1+max(m,min(k,3))",
        "1 + (x->m > (k < 3 ? k : 3) ? x->m : (k < 3 ? k : 3))");
    written(state, "k > 2 ? n*4 : -k", "k>2?n*4:-k", "k > 2 ? bytes : -k");
    written(state, "k - 3000000000", "k-3000000000", "k - 3000000000LL");
    written(state, "k * (2 - 5)", "k*(-3)", "k * (-3)");
    written(state, "k - -(-m)", "k--(-m)", "k - -(-x->m)");
    written(state, "k + q", "k+q", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_like_c, setup, teardown),
        cmocka_unit_test_setup_teardown(test_functions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_writing, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
