/* Tests of the grounding checker: over 200 true sentences and over 200 with one planted falsehood
 * (number, unit, metric, line, direction, identifier), written by templates about a made-up
 * profile. */
#include "explain/ground.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char source[] = "__global__ void saxpy(const float *X, float *Y, float alpha, int n)\n"
                             "{\n"
                             "    __shared__ float tile[48][33];\n"
                             "    int index = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    float sum = 0;\n"
                             "    for (int step = 0; step < 128; step++)\n"
                             "        sum += X[index * 128 + step];\n"
                             "    tile[threadIdx.y][threadIdx.x] = sum;\n"
                             "    __syncthreads();\n"
                             "    if (index < n)\n"
                             "        Y[index] = alpha * tile[0][threadIdx.x] + expf(sum);\n"
                             "}\n";
static const char *const words[] = {"saxpy", "alpha", "tile", "index", "step", "sum"};
static const char *const wrong_words[] = {"sgemm", "beta", "tiles", "idx", "stage", "total"};
static const char *const codes[] = {"tile[48][33]", "blockIdx.x * blockDim.x", "float sum = 0",
    "step < 128", "X[index * 128 + step]", "tile[threadIdx.y]", "__syncthreads()", "index < n"};

static struct arena *arena;
static struct counters counters;
static unsigned nr_true, nr_accused, nr_false, nr_found;

/* Values that are far from each other, and from the numbers in the source. */
static void fill(void)
{
    double value = 23.7;

    for (int m = 0; m < NR_METRICS - 12; m++) {
        bool percent = strcmp(metric_unit((enum metric)m), "%") == 0;

        value *= 1.37;
        counters_set(&counters, (enum metric)m,
            percent ? 11.3 + 2.6 * (m % 31) : floor(fmod(value, 1e9) + 301), PROV_COUNTED);
    }
}

/* Is every claim in it grounded? There must be one. */
static bool holds(const char *text)
{
    struct ground ground;

    ground_check(&ground, arena, text, &(struct ground_facts){&counters, source, NULL, NULL});
    return ground.nr_claims > 0 && ground.nr_grounded == ground.nr_claims;
}

static void say(bool true_, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(bool true_, const char *format, ...)
{
    char text[512];
    va_list ap;
    bool held;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    held = holds(text);
    if (true_) {
        nr_true++;
        nr_accused += !held;
    } else {
        nr_false++;
        nr_found += !held;
    }
    if (held != true_)
        printf("%s: %s\n", true_ ? "accused" : "missed", text);
}

static void say_numbers(enum metric m)
{
    const char *name = metric_name(m);
    const double value = counters_get(&counters, m);
    const bool percent = strcmp(metric_unit(m), "%") == 0;

    if (percent) {
        say(true, "The value of %s is %.1f%%, which is what limits it.", name, value);
        say(true, "Look at %s. It stays above %.0f%% (as measured).", name, floor(value) - 3);
        say(false, "Look at %s. It stays above %.0f%% (as measured).", name, ceil(value) + 4);
        say(false, "Something else is above %.0f%%.", floor(value) - 3);
        say(true, "With `%s` at %.0f%%, little is left.", name, rint(value));
        say(false, "The value of %s is %.1f%%, which is what limits it.", name, value + 6.4);
        say(false, "%s is above %.0f%%.", name, value + 5);
        say(false, "%s is %.1f KB.", name, value);
        return;
    }
    say(true, "%s = %.0f.", name, value);
    say(true, "The profile has `%s` at %.3g.", name, value);
    say(true, "%s is more than %.0f.", name, floor(value * 0.8));
    say(false, "%s = %.0f.", name, floor(value * 1.3));
    say(false, "%s is more than %.0f.", name, ceil(value * 1.2));
    say(false, "%s is below %.0f.", name, floor(value * 0.7));
    say(false, "The profile has `%s` at %.3g%%.", name, value);
}

static void say_names(enum metric m)
{
    const char *name = metric_name(m);
    char wrong[200];

    say(true, "Look at `%s` first.", name);
    snprintf(wrong, sizeof(wrong), "%s", name);
    wrong[strcspn(wrong, "_") + 2] = 'q';
    say(false, "Look at `%s` first.", wrong);
}

/* Two metrics and their ratio; a number from somewhere else in the same sentence. */
static void say_ratios(enum metric a, enum metric b)
{
    const double x = counters_get(&counters, a), y = counters_get(&counters, b);
    const char *one = metric_name(a), *two = metric_name(b);

    say(true, "`%s` is %.0f and `%s` %.0f, a ratio of %.3g.", one, x, two, y, x / y);
    say(false, "`%s` is %.0f and `%s` %.0f, a ratio of %.3g.", one, x, two, y, 1.21 * x / y);
    say(false, "`%s` is %.0f and `%s` %.0f.", one, y, two, x);
}

static void say_lines(void)
{
    for (unsigned line = 1; line <= 12; line++) {
        say(true, "The time goes into line %u.", line);
        say(false, "The time goes into line %u.", line + 12);
    }
    for (unsigned i = 0; i < 8; i++) {
        say(true, "Line %u has `%s` in it.", i + 3, codes[i]);
        say(false, "Line %u has `%s` in it.", (i + 4) % 8 + 3, codes[i]);
    }
    for (unsigned i = 0; i < 6; i++) {
        say(true, "The variable `%s` is computed again and again.", words[i]);
        say(false, "The variable `%s` is computed again and again.", wrong_words[i]);
    }
    for (unsigned line = 2; line <= 12; line += 2) {
        say(true, "Lines 1, %u and %u belong together.", line - 1, line);
        say(false, "Lines 1, %u and %u belong together.", line - 1, line + 12);
    }
    say(true, "Line 7 makes 40960 requests of 128-bit words.");
    say(false, "Line 7 makes 50960 requests.");
    say(false, "Line 8 makes 40960 requests.");
    say(true, "Line 6 bounds `step`.\nNext: use `float4` and tiles of 64 by 64 at line 7.");
    say(false, "Line 6 bounds `step`.\nNext: use `float4` and tiles of 64 by 64 at line 70.");
    say(true, "Call expf() once.");
    say(false, "Call logf() once.");
}

static bool is_percent(enum metric m)
{
    return strcmp(metric_unit(m), "%") == 0;
}

static void test_claims(void **state)
{
    static struct line_cost line = {.line = 7, .global_requests = 40960};

    (void)state;
    counters.lines = &line;
    counters.nr_lines = 1;
    for (int m = 1; m < 30; m += 2)
        if (!is_percent((enum metric)m) && !is_percent((enum metric)(m + 1)))
            say_ratios((enum metric)m, (enum metric)(m + 1));
    for (int m = 0; m < NR_METRICS - 12; m++) {
        say_numbers((enum metric)m);
        if (m % 2 == 0)
            say_names((enum metric)m);
    }
    for (int m = NR_METRICS - 12; m < NR_METRICS; m++) /* absent ones */
        say(false, "Look at `%s` first.", metric_name((enum metric)m));
    say_lines();
    printf("%u of %u false claims found, %u of %u true ones accused\n", nr_found, nr_false,
        nr_accused, nr_true);
    assert_true(nr_true >= 200 && nr_false >= 200);
    assert_true(nr_found * 100 >= nr_false * 95);
    assert_true(nr_accused * 100 <= nr_true * 2);
}

/* Several claims in one text, each judged for itself; the mark stands behind what does not hold. */
static void test_share_and_mark(void **state)
{
    struct counters few = {0};
    struct ground ground;
    const char *marked;

    (void)state;
    counters_set(&few, METRIC_TIME_NS, 25600, PROV_MEASURED);
    counters_set(&few, METRIC_DRAM_PCT, 81.25, PROV_MEASURED);
    ground_check(&ground, arena,
        "It takes 25.6 us with DRAM at 81%. Line 7 reads `X[index * 128 + step]`, but 93.1% is "
        "wrong.",
        &(struct ground_facts){&few, source, NULL, NULL});
    assert_int_equal(ground.nr_claims, 5);
    assert_int_equal(ground.nr_grounded, 4);
    assert_false(ground.claims[4].grounded);
    marked = ground_mark(&ground, arena,
        "It takes 25.6 us with DRAM at 81%. Line 7 reads `X[index "
        "* 128 + step]`, but 93.1% is wrong.");
    assert_non_null(strstr(marked, "93.1% [?: no metric"));
    assert_null(strstr(marked, "81% [?"));
}

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    fill();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims), cmocka_unit_test(test_share_and_mark)};

    return cmocka_run_group_tests(tests, setup, teardown);
}
