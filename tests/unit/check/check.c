/* Owns the tests of the checker's judgement, on a device of a few lines: its memory is the host's
 * and its kernels are C functions below, right and wrong in known ways. */
#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"
#include "check/check.h"
#include "check/check_compare.h"
#include "check/check_line.h"
#include "check/check_shapes.h"
#include "core/npy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* y = 2 x + 1 for an M by N matrix. */
static const char source[] = "#pragma keet size  M = 1024, N = 1024\n"
                             "#pragma keet check M = 33, N = 7\n"
                             "#pragma keet in    X : f32[M][N] = uniform(-1, 1)\n"
                             "#pragma keet out   Y : f32[M][N]\n"
                             "#pragma keet tolerance rel = 1e-5, abs = 1e-6\n"
                             "#pragma keet launch right<<<M, 32>>>(X, Y, M, N)\n"
                             "__global__ void right(const float *x, float *y, int m, int n)\n"
                             "{\n"
                             "    int i = threadIdx.x; // y[i] = 3 is a comment\n"
                             "    if (x[i] == 0) y[i] == 1;\n"
                             "    y[i] = 2 * x[i] + 1;\n"
                             "}\n";

struct fake {
    struct device base;
    unsigned nr_launches;
    uint64_t written; /* a hash of all that was written since it was 0 */
    bool finds_races; /* in everything, when asked to look */
};

static struct fake *fake_of(struct device *device)
{
    return (struct fake *)device;
}

struct device_module {
    const struct compilation *compilation;
};

/* One kernel: what it is called, and what it does. */
struct kernel {
    const char *name;
    void (*run)(
        float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result);
};

static void run_right(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    for (int64_t i = 0; i < m * n; i++)
        y[i] = 2 * x[i] + 1;
}

static void run_close(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    for (int64_t i = 0; i < m * n; i++)
        y[i] = (2 * x[i] + 1) * (1 + 4e-6f);
}

static void run_tail(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    if (m * n > 2)
        y[m * n - 1] = 0;
}

static void run_short(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n - 1, launch, result);
}

static void run_input(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    x[8] = 5;
}

static void run_moody(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    y[9] *= 1 + 1e-6f * (float)(launch % 5);
}

static void run_atomics(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_moody(x, y, m, n, launch, result);
    result->float_atomics = true;
}

static void run_wild_atomics(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    y[9] += launch % 2 ? 0 : 0.5f;
    result->float_atomics = true;
}

static void run_nan(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    y[3] = NAN;
}

static void run_past(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    y[m * n + 2] = 1;
}

static void run_before(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    y[-1] = 1;
}

static void run_race(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    result->verdict = VERDICT_RACE;
    result->line = 11;
    snprintf(result->text, sizeof(result->text), "two threads write y");
}

static void run_hard_coded(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n < 7 ? n : 7, launch, result);
    if (n > 7)
        memset(y + 7 * m, 0, (size_t)(n - 7) * (size_t)m * sizeof(*y));
}

static void run_constant(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    for (int64_t i = 0; i < m * n; i++)
        y[i] = 1;
}

/* The sum into an output that is taken to be zero: 0xAA.. is -3e-13, within any tolerance. */
static void run_stale(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    for (int64_t i = 0; i < m * n; i++)
        y[i] += 2 * x[i] + 1;
}

static void run_root(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    for (int64_t i = 0; i < m * n; i++)
        y[i] = sqrtf(x[i] + 1);
}

/* As run_root, but NaN where it should be a number just over 3: only inputs times 3 show it. */
static void run_small_root(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    for (int64_t i = 0; i < m * n; i++)
        y[i] = x[i] > 1.5f ? 0 : 2 * x[i] + 1;
}

/* A grid that is capped: right up to 512 rows. */
static void run_capped(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m < 512 ? m : 512, n, launch, result);
}

/* A loop that is cut short: right up to 512 columns. */
static void run_cut(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    for (int64_t i = 0; i < m * n; i++)
        y[i] += i % n < 512 ? 0 : 1;
}

/* An index of 16 bits and a sign: right where both sizes are not large. */
static void run_narrow(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    for (int64_t i = 1 << 19; i < m * n; i++)
        y[i] = 0;
}

/* Changes the last element of an input that is read back in pieces. */
static void run_far_input(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    if (m * n > 1 << 19)
        x[m * n - 1] = 5;
}

/* A tile that is larger than the arrays costs many times what the original costs. */
static void pad(int64_t m, int64_t n, struct device_result *result)
{
    result->thread_insts = (uint64_t)(4000000 + 100 * m * n);
}

static void run_padded(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    pad(m, n, result);
}

static void run_padded_moody(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_moody(x, y, m, n, launch, result);
    pad(m, n, result);
}

static void run_padded_stale(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_stale(x, y, m, n, launch, result);
    pad(m, n, result);
}

/* Wrong for whole numbers alone. */
static void run_padded_whole(
    float *x, float *y, int64_t m, int64_t n, unsigned launch, struct device_result *result)
{
    run_right(x, y, m, n, launch, result);
    for (int64_t i = 0; i < m * n; i++)
        y[i] += x[i] == 1 ? 1 : 0;
    pad(m, n, result);
}

static const struct kernel kernels[] = {
    {"padded", run_padded},
    {"padded_moody", run_padded_moody},
    {"padded_stale", run_padded_stale},
    {"padded_whole", run_padded_whole},
    {"far_input", run_far_input},
    {"capped", run_capped},
    {"cut", run_cut},
    {"narrow", run_narrow},
    {"right", run_right},
    {"close", run_close},
    {"tail", run_tail},
    {"short", run_short},
    {"input", run_input},
    {"moody", run_moody},
    {"atomics", run_atomics},
    {"wild_atomics", run_wild_atomics},
    {"nan", run_nan},
    {"past", run_past},
    {"before", run_before},
    {"race", run_race},
    {"hard_coded", run_hard_coded},
    {"constant", run_constant},
    {"stale", run_stale},
    {"root", run_root},
    {"small_root", run_small_root},
};

static bool fake_load(struct device *device, const struct compilation *compilation,
    struct device_module **module, struct device_result *result, struct err *err)
{
    *module = xcalloc(1, sizeof(**module));
    (*module)->compilation = compilation;
    return true;
}

static void fake_unload(struct device *device, struct device_module *module)
{
    free(module);
}

static uint64_t fake_alloc(struct device *device, uint64_t bytes, const char *name, struct err *err)
{
    return (uint64_t)(uintptr_t)xmalloc(bytes);
}

static void fake_free(struct device *device, uint64_t address)
{
    free((void *)(uintptr_t)address);
}

static bool fake_write(
    struct device *device, uint64_t address, const void *bytes, uint64_t nr, struct err *err)
{
    memcpy((void *)(uintptr_t)address, bytes, nr);
    fake_of(device)->written = hash_bytes(bytes, nr, fake_of(device)->written).low;
    return true;
}

static bool fake_read(
    struct device *device, uint64_t address, void *bytes, uint64_t nr, struct err *err)
{
    memcpy(bytes, (void *)(uintptr_t)address, nr);
    return true;
}

static bool fake_fill(struct device *device, uint64_t address, uint8_t byte, uint64_t nr,
    bool initialised, struct err *err)
{
    memset((void *)(uintptr_t)address, byte, nr);
    return true;
}

static bool fake_launch(struct device *device, struct device_module *module,
    const struct device_launch *launch, struct device_result *result, struct err *err)
{
    const struct device_arg *args = launch->args;

    memset(result, 0, sizeof(*result));
    result->thread_insts = (uint64_t)(args[2].integer * args[3].integer * 10);
    fake_of(device)->nr_launches++;
    if (fake_of(device)->finds_races && launch->sanitize) {
        result->verdict = VERDICT_RACE;
        result->line = 3;
        snprintf(result->text, sizeof(result->text), "a race");
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
        if (strcmp(kernels[i].name, launch->facts->lowered) == 0)
            kernels[i].run((float *)(uintptr_t)args[0].address, (float *)(uintptr_t)args[1].address,
                args[2].integer, args[3].integer, fake_of(device)->nr_launches, result);
    }
    return true;
}

/* Its kernels have no variables. */
static uint64_t fake_reset(struct device *device, struct device_module *module)
{
    (void)device;
    (void)module;
    return 0;
}

static const struct device_ops fake_ops = {
    .name = "fake",
    .load = fake_load,
    .unload = fake_unload,
    .alloc = fake_alloc,
    .free = fake_free,
    .write = fake_write,
    .read = fake_read,
    .fill = fake_fill,
    .reset = fake_reset,
    .launch = fake_launch,
};

struct bench {
    struct fake fake;
    struct arena *arena;
    struct task task;
    struct compilation original;
    struct checker *checker;
};

static struct compilation compiled(struct arena *arena, const char *kernel, const char *does)
{
    struct compilation compilation = {0};

    compilation.nr_kernels = 1;
    compilation.kernels = arena_array(arena, 1, sizeof(*compilation.kernels));
    compilation.kernels[0].kernel = kernel;
    compilation.kernels[0].lowered = does;
    return compilation;
}

static int setup(void **state)
{
    struct bench *b = xcalloc(1, sizeof(*b));
    struct err err = {.text = ""};

    b->fake.base.ops = &fake_ops;
    b->arena = arena_create();
    if (!task_parse(&b->task, b->arena, "dir/k.cu", source, strlen(source), &err))
        fail_msg("%s", err.text);
    b->original = compiled(b->arena, "right", "right");
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;

    checker_destroy(b->checker);
    arena_destroy(b->arena);
    free(b);
    return 0;
}

static struct candidate *check(struct bench *b, const char *does)
{
    struct candidate *c = arena_alloc(b->arena, sizeof(*c));
    struct err err = {.text = ""};

    if (!b->checker)
        b->checker = checker_create(&b->fake.base, &b->task, &b->original, NULL, &err);
    if (!b->checker)
        fail_msg("%s", err.text);
    c->arena = b->arena;
    c->task = &b->task;
    c->seed = 7;
    c->source = b->task.source;
    c->source_bytes = b->task.source_bytes;
    c->plan = b->task.plan;
    c->compilation = compiled(b->arena, "right", does);
    if (!check_kernel(b->checker, c, &err))
        fail_msg("%s", err.text);
    return c;
}

static void expect(struct bench *b, const char *does, enum verdict verdict, const char *said)
{
    struct candidate *c = check(b, does);

    if (c->verdict != verdict)
        fail_msg(
            "%s: %s: %s", does, verdict_name(c->verdict), c->verdict_text ? c->verdict_text : "");
    if (verdict != VERDICT_OK && !strstr(c->verdict_text, said))
        fail_msg("%s: '%s' does not say '%s'", does, c->verdict_text, said);
    /* whatever happened, the next one is judged on its own */
    c = check(b, "right");
    assert_int_equal(c->verdict, VERDICT_OK);
}

static void test_right(void **state)
{
    struct candidate *c = check(*state, "right");

    assert_int_equal(c->verdict, VERDICT_OK);
    assert_true(c->check.nr_shapes >= 3);
    /* three runs a shape, and one at each of the two that are long in one size */
    assert_true(c->check.nr_runs >= 3 * (c->check.nr_shapes - 2) + 2);
    assert_non_null(strstr(c->check.note, "M and N at the timed value by itself"));
    assert_true(c->check.max_abs == 0 && c->check.max_rel == 0 && c->check.q99_rel == 0);
    c = check(*state, "close");
    assert_int_equal(c->verdict, VERDICT_OK);
    assert_true(c->check.max_rel > 3.5e-6 && c->check.max_rel < 4.5e-6);
    assert_true(c->check.q99_rel > 3.5e-6 && c->check.q99_rel < 4.5e-6);
    assert_string_equal(c->check.worst_array, "Y");
}

static void test_wrong(void **state)
{
    expect(*state, "tail", VERDICT_WRONG, "k.cu:11: Y[32][6] = 0 but the reference has ");
    expect(*state, "tail", VERDICT_WRONG, "(M = 33, N = 7; 1 of 231 elements differ)");
    expect(*state, "short", VERDICT_WRONG, "Y[28][2]: element never written; the reference has");
    expect(*state, "input", VERDICT_WRONG, "X[1][1] is an input, and the kernel changed it from");
    expect(*state, "nan", VERDICT_WRONG, "Y[0][3] = nan but the reference has");
    expect(*state, "constant", VERDICT_WRONG, "Y[0][0] = 1 but the reference has");
    expect(*state, "hard_coded", VERDICT_WRONG, "Y[");
    expect(*state, "stale", VERDICT_NONDETERMINISTIC, "Y[0][0] is ");
    expect(*state, "small_root", VERDICT_WRONG, "inputs times 3; ");
}

/* Candidates that cost many times what the original costs run less often, not less well. */
static void test_dear(void **state)
{
    const struct candidate *right = check(*state, "right"), *padded = check(*state, "padded");

    assert_int_equal(padded->verdict, VERDICT_OK);
    assert_int_equal(padded->check.nr_shapes, right->check.nr_shapes);
    assert_true(padded->check.nr_runs < right->check.nr_runs);
    assert_true(padded->check.nr_runs > padded->check.nr_shapes + 2);
    expect(*state, "padded_moody", VERDICT_NONDETERMINISTIC, "Y[");
    expect(*state, "padded_stale", VERDICT_NONDETERMINISTIC, "Y[");
    expect(*state, "padded_whole", VERDICT_WRONG, "inputs: ");
}

static void test_nondeterministic(void **state)
{
    struct candidate *c;

    expect(*state, "moody", VERDICT_NONDETERMINISTIC, "Y[1][2] is ");
    expect(*state, "moody", VERDICT_NONDETERMINISTIC, "in the next on the same input (M = 33");
    c = check(*state, "atomics");
    assert_int_equal(c->verdict, VERDICT_OK);
    assert_true(c->check.nondeterministic_allowed);
    assert_non_null(strstr(c->check.note, "float atomics"));
    c = check(*state, "wild_atomics");
    assert_true(c->verdict == VERDICT_NONDETERMINISTIC || c->verdict == VERDICT_WRONG);
}

static void test_guards(void **state)
{
    expect(*state, "past", VERDICT_FAULT, "out of bounds: a write 8 bytes past the end of Y (924");
    expect(*state, "before", VERDICT_FAULT, "out of bounds: a write 4 bytes before the start of Y");
}

/* What goes wrong only where a size is as long as the timed one. */
static void test_long(void **state)
{
    expect(*state, "capped", VERDICT_WRONG, "M = 1024");
    expect(*state, "cut", VERDICT_WRONG, "N = 1024");
}

static enum verdict timed_verdict(struct bench *b, const char *does, const char *said)
{
    struct candidate *c = check(b, does);
    uint64_t insts;
    struct err err = {.text = ""};

    assert_int_equal(c->verdict, VERDICT_OK);
    assert_false(check_has_timed(c));
    if (!check_timed(b->checker, c, &insts, &err))
        fail_msg("%s", err.text);
    if (!strstr(c->verdict == VERDICT_OK ? c->check.note : c->verdict_text, said))
        fail_msg("%s", c->verdict == VERDICT_OK ? c->check.note : c->verdict_text);
    assert_true(c->verdict != VERDICT_OK || check_has_timed(c));
    return c->verdict;
}

/* What goes wrong only at the timed sizes is found there; the original runs there once. */
static void test_timed(void **state)
{
    struct bench *b = *state;
    unsigned before;

    assert_int_equal(
        timed_verdict(b, "narrow", "Y[512][0] = 0 but the reference has "), VERDICT_WRONG);
    assert_int_equal(
        timed_verdict(b, "far_input", "X[1023][1023] is an input, and the kernel changed it"),
        VERDICT_WRONG);
    before = b->fake.nr_launches;
    assert_int_equal(
        timed_verdict(b, "right", "all 1048576 outputs at the timed size compared"), VERDICT_OK);
    before = b->fake.nr_launches - before;
    assert_int_equal(timed_verdict(b, "close", "all 1048576 outputs"), VERDICT_OK);
    assert_int_equal(check(b, "right")->check.nr_runs + 1, before);
}

static void test_device_verdict(void **state)
{
    struct candidate *c = check(*state, "race");

    assert_int_equal(c->verdict, VERDICT_RACE);
    assert_int_equal(c->verdict_line, 11);
    assert_string_equal(c->verdict_text, "k.cu:11: two threads write y (M = 33, N = 7)");
}

/* A dead candidate is passed on as it is. */
static void test_dead(void **state)
{
    struct bench *b = *state;
    struct candidate c = {.verdict = VERDICT_NO_COMPILE};
    struct err err;

    check(b, "right");
    assert_true(check_kernel(b->checker, &c, &err));
    assert_int_equal(c.verdict, VERDICT_NO_COMPILE);
    assert_int_equal(c.check.nr_runs, 0);
}

/* sqrt(x + 1) has no value at x = -2: inputs times 3 prove nothing there, and must not condemn. */
static void test_scale_falls_back(void **state)
{
    struct bench *b = *state;

    b->original = compiled(b->arena, "right", "root");
    assert_int_equal(check(b, "root")->verdict, VERDICT_OK);
    assert_int_equal(check(b, "right")->verdict, VERDICT_WRONG);
}

/* The reference runs once per expensive input set, however many candidates there are. */
static void test_reference_cached(void **state)
{
    struct bench *b = *state;
    unsigned before, first;

    check(b, "right");
    before = b->fake.nr_launches;
    check(b, "right");
    first = b->fake.nr_launches - before;
    before = b->fake.nr_launches;
    check(b, "right");
    assert_int_equal(b->fake.nr_launches - before, first);
}

/* Inputs that are kept for later candidates are those that were made: what is written to the
 * device. The candidates of one seed get the same sets; the second makes some, the third none. */
static void test_inputs_kept(void **state)
{
    struct bench *b = *state;
    uint64_t made;

    check(b, "right"); /* the references run, too */
    b->fake.written = 0;
    check(b, "right");
    made = b->fake.written;
    assert_true(made != 0);
    check(b, "input"); /* which writes to its input */
    b->fake.written = 0;
    check(b, "right");
    assert_true(b->fake.written == made);
}

static void test_deterministic(void **state)
{
    struct candidate *a = check(*state, "close"), *b = check(*state, "close");

    assert_true(a->check.max_abs == b->check.max_abs && a->check.nr_runs == b->check.nr_runs);
    assert_string_equal(a->check.note, b->check.note);
}

static void test_broken_original(void **state)
{
    struct bench *b = *state;
    struct err err = {.text = ""};

    b->original = compiled(b->arena, "right", "past");
    assert_null(checker_create(&b->fake.base, &b->task, &b->original, NULL, &err));
    assert_non_null(
        strstr(err.text, "dir/k.cu:2: the original does not run cleanly at its own sizes "
                         "M = 33, N = 7: fault"));
}

/* An original that races harmlessly is not condemned for it, and neither are its candidates; the
 * note says what was not checked. */
static void test_racy_original(void **state)
{
    struct bench *b = *state;
    struct candidate *c;

    b->fake.finds_races = true;
    c = check(b, "right");
    assert_int_equal(c->verdict, VERDICT_OK);
    assert_non_null(
        strstr(c->check.note, "not checked, since the original has one (line 3: a race)"));
    assert_int_equal(check(b, "tail")->verdict, VERDICT_WRONG);
}

/* A reference line names another kernel than the one that is optimised. */
static void test_reference_kernel(void **state)
{
    struct bench *b = *state;
    char *text =
        arena_printf(b->arena, "%s#pragma keet reference oracle<<<M, 1>>>(X, Y, M, N)\n", source);
    struct candidate *c;
    struct err err;

    assert_true(task_parse(&b->task, b->arena, "k.cu", text, strlen(text), &err));
    b->original = compiled(b->arena, "oracle", "right");
    c = check(b, "close");
    assert_int_equal(c->verdict, VERDICT_OK);
    assert_true(c->check.max_rel > 3e-6);
    assert_int_equal(check(b, "constant")->verdict, VERDICT_WRONG);
}

static void test_shapes(void **state)
{
    struct bench *b = *state;
    struct check_shape *shapes;
    unsigned nr;
    bool less = false, more = false;

    shapes_choose(&b->task, 0, b->arena, &shapes, &nr);
    assert_true(nr >= 4);
    assert_int_equal(shapes[0].kind, SHAPE_EXPLICIT);
    assert_string_equal(shapes[0].text, "M = 33, N = 7");
    for (unsigned i = 1; i < nr; i++) {
        assert_true(shapes[i].kind == SHAPE_DERIVED || shapes[i].kind == SHAPE_LONG);
        less |= strcmp(shapes[i].text, "M = 32, N = 6") == 0;
        more |= strcmp(shapes[i].text, "M = 34, N = 8") == 0;
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(shapes[i].text, shapes[j].text);
    }
    assert_true(less && more);
}

/* The shapes of a task of its own. */
static unsigned shapes_of(struct bench *b, const char *text, struct check_shape **shapes)
{
    struct err err;
    unsigned nr;

    assert_true(task_parse(&b->task, b->arena, "k.cu", text, strlen(text), &err));
    shapes_choose(&b->task, 0, b->arena, shapes, &nr);
    return nr;
}

static void test_shapes_constant_size(void **state)
{
    struct bench *b = *state;
    const char *text = "#pragma keet size  N = 1024, R = 3\n#pragma keet check N = 65\n"
                       "#pragma keet out   Y : f32[N]\n#pragma keet launch f<<<N, R>>>(Y)\n"
                       "__global__ void f(float *y) {}\n";
    struct check_shape *shapes;
    const unsigned nr = shapes_of(b, text, &shapes);

    assert_true(nr >= 3);
    for (unsigned i = 0; i < nr; i++)
        assert_int_equal(shapes[i].shape.sizes.bindings[1].value, 3);
}

/* No check line: small sizes are made up, never the timed ones. */
static void test_shapes_without_checks(void **state)
{
    struct bench *b = *state;
    const char *text = "#pragma keet size  N = 100000, M = 100000\n"
                       "#pragma keet out   Y : f32[N][M]\n#pragma keet launch f<<<N, 32>>>(Y)\n"
                       "__global__ void f(float *y) {}\n";
    struct check_shape *shapes;
    const unsigned nr = shapes_of(b, text, &shapes);

    assert_true(nr >= 2);
    for (unsigned i = 0; i < nr; i++)
        assert_true(shapes[i].shape.sizes.bindings[0].value < 1000 ||
                    ((shapes[i].kind == SHAPE_LESS || shapes[i].kind == SHAPE_LONG) &&
                        shapes[i].shape.sizes.bindings[1].value < 1000));
}

static bool has_shape(
    const struct check_shape *shapes, unsigned nr, enum shape_kind kind, const char *text)
{
    for (unsigned i = 0; i < nr; i++)
        if (strcmp(shapes[i].text, text) == 0)
            return shapes[i].kind == kind;
    return false;
}

/* Sizes that hang together: blocks of so many elements each, the width of a window's output. */
static void test_shapes_that_hang_together(void **state)
{
    struct bench *b = *state;
    const char *blocks = "#pragma keet size  N = 33554432, B = 1024\n#pragma keet in X : f32[N]\n"
                         "#pragma keet out   Y : f32[B]\n#pragma keet launch f<<<B, 32>>>(X, Y)\n"
                         "__global__ void f(float *x, float *y) {}\n";
    const char *pool = "#pragma keet size  B = 64, W = 128, P = 30\n"
                       "#pragma keet in    X : f32[B][W][W]\n#pragma keet out Y : f32[B][P][P]\n"
                       "#pragma keet launch f<<<B, 32>>>(X, Y)\n"
                       "__global__ void f(float *x, float *y) {}\n";
    struct check_shape *shapes;
    unsigned nr = shapes_of(b, blocks, &shapes);

    assert_true(has_shape(shapes, nr, SHAPE_SHRUNK, "N = 32768, B = 1"));
    nr = shapes_of(b, pool, &shapes);
    assert_true(has_shape(shapes, nr, SHAPE_SHRUNK, "B = 1, W = 128, P = 30"));
}

/* Where only one size may change, and where a small one has to. */
static void test_shapes_less(void **state)
{
    struct bench *b = *state;
    const char *heads = "#pragma keet size  H = 12, T = 1024, C = 768\n"
                        "#pragma keet out   Y : f32[C][H][T]\n"
                        "#pragma keet launch f<<<T, 32>>>(Y)\n__global__ void f(float *y) {}\n";
    const char *lattice = "#pragma keet size  L = 32\n#pragma keet out   Y : f32[L][L][L][L][4]\n"
                          "#pragma keet launch f<<<L, 32>>>(Y)\n__global__ void f(float *y) {}\n";
    struct check_shape *shapes;
    unsigned nr = shapes_of(b, heads, &shapes);

    assert_true(has_shape(shapes, nr, SHAPE_LESS, "H = 12, T = 32, C = 768"));
    nr = shapes_of(b, lattice, &shapes);
    assert_true(has_shape(shapes, nr, SHAPE_LESS, "L = 16"));
}

/* What is handed to kernels only: few steps in memory as it is, and a penalty that stays where the
 * sizes are scaled. */
static void test_shapes_counts(void **state)
{
    struct bench *b = *state;
    const char *walk =
        "#pragma keet size  T = 100000, G = 5000\n#pragma keet inout X : f32[57344]\n"
        "#pragma keet launch f<<<224, 256>>>(X, T)\n"
        "#pragma keet launch f<<<224, 256>>>(X, G)\n"
        "__global__ void f(float *x, int n) {}\n";
    const char *align = "#pragma keet size  N = 4096, P = 4096\n#pragma keet inout X : f32[N][N]\n"
                        "#pragma keet launch f<<<N, 32>>>(X, N, P)\n"
                        "__global__ void f(float *x, int n, int p) {}\n";
    struct check_shape *shapes;
    unsigned nr = shapes_of(b, walk, &shapes);

    assert_true(has_shape(shapes, nr, SHAPE_LESS, "T = 32, G = 32"));
    assert_true(has_shape(shapes, nr, SHAPE_LESS, "T = 1, G = 1"));
    nr = shapes_of(b, align, &shapes);
    assert_true(has_shape(shapes, nr, SHAPE_SHRUNK, "N = 256, P = 4096"));
}

/* A check line of size 1 is checked, but tails come from the others. */
static void test_shapes_degenerate(void **state)
{
    struct bench *b = *state;
    const char *text = "#pragma keet size  N = 100000\n"
                       "#pragma keet check N = 1\n#pragma keet check N = 64\n"
                       "#pragma keet out   Y : f32[N]\n#pragma keet launch f<<<N, 32>>>(Y)\n"
                       "__global__ void f(float *y) {}\n";
    struct check_shape *shapes;
    const unsigned nr = shapes_of(b, text, &shapes);
    unsigned found = 0;

    for (unsigned i = 0; i < nr; i++)
        found += strcmp(shapes[i].text, "N = 63") == 0 || strcmp(shapes[i].text, "N = 65") == 0 ||
                 strcmp(shapes[i].text, "N = 29") == 0;
    assert_int_equal(found, 3);
}

static void write_npy(
    struct arena *arena, const char *folder, const char *name, const float *data, uint64_t nr)
{
    struct err err;

    if (!npy_write(arena_printf(arena, "%s/%s", folder, name), ELEM_F32, data, &nr, 1, &err))
        fail_msg("%s", err.text);
}

/* Files are read at the timed sizes, where they are small; elsewhere the inputs are made up. */
static void test_files(void **state)
{
    static const char text[] = "#pragma keet size   M = 4, N = 2\n"
                               "#pragma keet check  M = 33, N = 7\n"
                               "#pragma keet in     X : f32[M][N] = file(\"x.npy\")\n"
                               "#pragma keet out    Y : f32[M][N]\n"
                               "#pragma keet expect Y = file(\"y.npy\")\n"
                               "#pragma keet launch right<<<M, 32>>>(X, Y, M, N)\n"
                               "__global__ void right() {}\n";
    static const float x[] = {0, 1, 2, 3, 4, 5, 6, 7}, y[] = {1, 3, 5, 7, 9, 11, 13, 15};
    static const float wrong[] = {1, 3, 5, 7, 9, 12, 13, 15};
    struct bench *b = *state;
    char folder[] = "/tmp/keet-check-XXXXXX";
    struct err err = {.text = ""};
    struct candidate *c;

    assert_non_null(mkdtemp(folder));
    assert_true(task_parse(
        &b->task, b->arena, arena_printf(b->arena, "%s/k.cu", folder), text, strlen(text), &err));
    write_npy(b->arena, folder, "x.npy", x, 8);
    write_npy(b->arena, folder, "y.npy", wrong, 8);
    assert_null(checker_create(&b->fake.base, &b->task, &b->original, NULL, &err));
    assert_non_null(
        strstr(err.text, "the original does not compute what `expect` says: Y[2][1] = 11, "
                         "expected 12"));
    write_npy(b->arena, folder, "y.npy", y, 8);
    c = check(b, "right");
    assert_int_equal(c->verdict, VERDICT_OK);
    assert_non_null(strstr(c->check.note, "(2 given,"));
    c = check(b, "hard_coded"); /* right where N is at most 7: the tails tell */
    assert_int_equal(c->verdict, VERDICT_WRONG);
    unlink(arena_printf(b->arena, "%s/x.npy", folder));
    unlink(arena_printf(b->arena, "%s/y.npy", folder));
    rmdir(folder);
}

/* Files that are too large for each check: what leads is held to them, also where a check line has
 * the timed sizes, whose inputs are drawn. Where the original disagrees with the files, what leads
 * is compared with the original. */
static void large_files(struct bench *b, const char *check_line)
{
    const char *text = arena_printf(b->arena,
        "#pragma keet size   M = 600, N = 1000\n"
        "%s"
        "#pragma keet in     X : f32[M][N] = file(\"x.npy\")\n"
        "#pragma keet out    Y : f32[M][N]\n"
        "#pragma keet expect Y = file(\"y.npy\")\n"
        "#pragma keet launch right<<<M, 32>>>(X, Y, M, N)\n"
        "__global__ void right() {}\n",
        check_line);
    const uint64_t nr = UINT64_C(600) * 1000;
    char folder[] = "/tmp/keet-check-XXXXXX";
    float *data = arena_array(b->arena, nr, sizeof(*data));
    struct err err = {.text = ""};

    assert_non_null(mkdtemp(folder));
    assert_true(task_parse(
        &b->task, b->arena, arena_printf(b->arena, "%s/k.cu", folder), text, strlen(text), &err));
    for (uint64_t i = 0; i < nr; i++)
        data[i] = (float)i;
    write_npy(b->arena, folder, "x.npy", data, nr);
    for (uint64_t i = 0; i < nr; i++)
        data[i] = 2 * data[i] + 1;
    data[nr - 2] += 0.5f; /* as a sum in another order rounds */
    write_npy(b->arena, folder, "y.npy", data, nr);
    assert_non_null(strstr(check(b, "right")->check.note, "NOT HELD TO THE TASK'S FILES, which"));
    assert_int_equal(timed_verdict(b, "right",
                         "all 600000 outputs at the timed size compared with the task's files"),
        VERDICT_OK);
    checker_destroy(b->checker);
    b->checker = NULL;
    data[nr - 2] += 1000;
    write_npy(b->arena, folder, "y.npy", data, nr);
    assert_int_equal(
        timed_verdict(b, "right", "compared with the original's, not with the task's files: "),
        VERDICT_OK);
    assert_int_equal(timed_verdict(b, "right",
                         "the original does not compute what `expect` says: Y[599][998] = 1199997, "
                         "expected 1200997.5"),
        VERDICT_OK);
    if (!*check_line)
        assert_int_equal(
            timed_verdict(b, "narrow", "Y[524][288] = 0 but the reference has 1048577"),
            VERDICT_WRONG);
    checker_destroy(b->checker);
    b->checker = NULL;
    unlink(arena_printf(b->arena, "%s/x.npy", folder));
    unlink(arena_printf(b->arena, "%s/y.npy", folder));
    rmdir(folder);
}

static void test_large_files(void **state)
{
    struct device_ops emulator = fake_ops;
    struct bench *b = *state;

    large_files(b, "");
    emulator.catches_stray = true;
    b->fake.base.ops = &emulator;
    large_files(b, "#pragma keet check  M = 5, N = 3\n#pragma keet check  M = 600, N = 1000\n");
    b->fake.base.ops = &fake_ops;
}

static void test_tolerance(void **state)
{
    struct task task = {.has_tolerance = true, .tolerance = {1e-5, -1}};
    struct task_array f16 = {.elem = ELEM_F16}, f32 = {.elem = ELEM_F32}, i32 = {.elem = ELEM_I32};

    assert_true(compare_tolerance(&task, &f32, 1).rel == 1e-5);
    assert_true(compare_tolerance(&task, &f32, 1).abs == elem_tolerance(ELEM_F32).abs);
    assert_true(compare_tolerance(&task, &f16, 1).rel == 0x1p-10); /* one unit in the last place */
    task.tolerance = (struct tolerance){1e-3, 1e-4};
    assert_true(fabs(compare_tolerance(&task, &f32, 3).abs - 9e-4) < 1e-12);
    assert_true(compare_tolerance(&task, &f32, 0.01).abs == 1e-4);
    /* an index is right or wrong; a rounded byte may be allowed to be one off */
    assert_true(compare_tolerance(&task, &i32, 1).abs == 0);
    assert_true(compare_tolerance(&task, &i32, 1).rel == 0);
    task.tolerance.abs = 1;
    assert_true(compare_tolerance(&task, &i32, 1).abs == 1);
}

static void test_compare_wide_integers(void **state)
{
    struct task_array array = {.name = "I", .role = ROLE_OUT, .elem = ELEM_I64};
    struct task task = {.arrays = &array, .nr_arrays = 1};
    int64_t got[] = {INT64_C(9007199254740993), 5}, want[] = {INT64_C(9007199254740992), 5};
    void *got_bytes = got, *want_bytes = want;
    uint64_t nr = 2;
    struct host_arrays a = {&got_bytes, &nr, 1}, b = {&want_bytes, &nr, 1};
    struct errors *errors = xcalloc(1, sizeof(*errors));
    struct mismatch m;

    compare_outputs(
        &(struct comparison){.task = &task, .scale = 1}, &a, &b, 0xaa, 0xaa, errors, &m);
    assert_ptr_equal(m.array, &array);
    assert_int_equal(m.nr_wrong, 1);
    assert_true(errors->max_abs == 1);
    free(errors);
}

struct hit {
    double x;
    int32_t cell;
    bool alive;
    float depth;
};

static const struct struct_value hit_values[] = {{ELEM_F64, offsetof(struct hit, x)},
    {ELEM_I32, offsetof(struct hit, cell)}, {ELEM_BOOL, offsetof(struct hit, alive)},
    {ELEM_F32, offsetof(struct hit, depth)}};
static const struct struct_type hit_type = {hit_values, 4, sizeof(struct hit), "{hit}"};

static struct mismatch compare_hits(const struct hit *got, const struct hit *want)
{
    struct task_array array = {
        .name = "hits", .role = ROLE_OUT, .elem = ELEM_F64, .record = &hit_type};
    struct task task = {.arrays = &array, .nr_arrays = 1};
    struct hit mine[2], theirs[2];
    void *got_bytes = mine, *want_bytes = theirs;
    uint64_t nr = 8;
    struct host_arrays a = {&got_bytes, &nr, 1}, b = {&want_bytes, &nr, 1};
    struct errors *errors = xcalloc(1, sizeof(*errors));
    struct mismatch m;

    memset(mine, 0x11, sizeof(mine)); /* what stands between values is not compared */
    memset(theirs, 0x22, sizeof(theirs));
    for (int i = 0; i < 2; i++) {
        mine[i].x = got[i].x, theirs[i].x = want[i].x;
        mine[i].cell = got[i].cell, theirs[i].cell = want[i].cell;
        mine[i].alive = got[i].alive, theirs[i].alive = want[i].alive;
        mine[i].depth = got[i].depth, theirs[i].depth = want[i].depth;
    }
    compare_outputs(
        &(struct comparison){.task = &task, .scale = 1}, &a, &b, 0xff, 0xaa, errors, &m);
    free(errors);
    return m;
}

/* Each value of a struct by its own type: f32's tolerance for a float, none for an index. */
static void test_compare_structs(void **state)
{
    static const struct hit want[2] = {{1, 2, true, 3}, {-4, 1 << 20, false, 6}};
    const double f64 = elem_tolerance(ELEM_F64).rel, f32 = elem_tolerance(ELEM_F32).rel;
    struct arena *arena = arena_create();
    struct task_array array = {.name = "hits", .record = &hit_type, .nr_dims = 1};
    const struct env none = {0};
    struct hit got[2] = {want[0], want[1]};

    (void)state;
    assert_null(compare_hits(got, want).array);
    got[1].depth = (float)(6 * (1 + f32 / 2));
    got[0].x = 1 + f64 / 2;
    assert_null(compare_hits(got, want).array);
    got[0].x = 1 + f32 / 2; /* right for a float only */
    assert_int_equal(compare_hits(got, want).index, 0);
    got[0].x = 1;
    got[1].cell++;
    got[1].alive = true;
    assert_int_equal(compare_hits(got, want).index, 5);
    assert_int_equal(compare_hits(got, want).nr_wrong, 2);
    assert_int_equal(compare_hits(got, want).nr, 8);
    array.dims[0] = expr_literal(arena, 2);
    assert_string_equal(element_name(arena, &array, &none, 5), "hits[1], value 2 of its struct");
    assert_string_equal(element_text(arena, &array, got, 5), "1048577");
    assert_string_equal(element_text(arena, &array, got, 6), "1");
    arena_destroy(arena);
}

/* -1 has the bits of the second poison: right when the reference says so. */
static void test_poison_can_be_right(void **state)
{
    struct task_array array = {.name = "I", .role = ROLE_OUT, .elem = ELEM_I32};
    struct task task = {.arrays = &array, .nr_arrays = 1};
    int32_t got[] = {-1, -1}, want[] = {-1, 4};
    void *got_bytes = got, *want_bytes = want;
    uint64_t nr = 2;
    struct host_arrays a = {&got_bytes, &nr, 1}, b = {&want_bytes, &nr, 1};
    struct errors *errors = xcalloc(1, sizeof(*errors));
    struct mismatch m;

    compare_outputs(
        &(struct comparison){.task = &task, .scale = 1}, &a, &b, 0xff, 0xaa, errors, &m);
    assert_int_equal(m.nr_wrong, 1);
    assert_int_equal(m.index, 1);
    assert_true(m.unwritten);
    free(errors);
}

static unsigned write_line(struct arena *arena, const char *text, const char *array)
{
    struct task *task = arena_alloc(arena, sizeof(*task));
    struct candidate c = {.arena = arena, .task = task};
    char *whole = arena_printf(arena,
        "#pragma keet size N = 64\n#pragma keet in X : f32[N]\n#pragma keet out Y : f32[N]\n"
        "#pragma keet launch k<2><<<N, 32>>>(X, Y, N)\n%s",
        text);
    struct err err;

    if (!task_parse(task, arena, "k.cu", whole, strlen(whole), &err))
        fail_msg("%s", err.text);
    c.source = whole;
    c.source_bytes = strlen(whole);
    c.plan = task->plan;
    return check_write_line(&c, array);
}

static void test_write_line(void **state)
{
    struct arena *arena = ((struct bench *)*state)->arena;

    assert_int_equal(write_line(arena,
                         "__global__ void k(float *a, float *b, int n);\n"
                         "template <int W> __global__ void __launch_bounds__(32)\n"
                         "k(float *__restrict__ a, float *b, int n)\n{\n"
                         "    // b[0] = 1\n    float v = b[0] == 1 ? a[0] : 2;\n"
                         "    b[n * (W + 1)] += v;\n}\n",
                         "Y"),
        11);
    assert_int_equal(
        write_line(
            arena, "__global__ void k(float *a, float *b, int n)\n{ atomicAdd(&b[1], 2); }\n", "Y"),
        6);
    assert_int_equal(
        write_line(arena, "__global__ void k(float *a, float *b, int n)\n{\n *b = 1; }\n", "Y"), 7);
    assert_int_equal(write_line(arena,
                         "__global__ void k(const float *a, float *b, int n)\n{\n f(b)[1];\n "
                         "((float *)b)[n] = 1; }\n",
                         "Y"),
        8);
    /* no store in sight: the kernel */
    assert_int_equal(
        write_line(arena, "\n__global__ void k(float *a, float *b, int n)\n{ g(b); }\n", "Y"), 6);
    /* no such kernel: the launch */
    assert_int_equal(write_line(arena, "__global__ void q(float *b) {}\n", "Y"), 4);
    assert_int_equal(write_line(arena, "__global__ void k(", "Y"), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_right, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dear, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nondeterministic, setup, teardown),
        cmocka_unit_test_setup_teardown(test_guards, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long, setup, teardown),
        cmocka_unit_test_setup_teardown(test_timed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_device_verdict, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dead, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scale_falls_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reference_cached, setup, teardown),
        cmocka_unit_test_setup_teardown(test_inputs_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deterministic, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken_original, setup, teardown),
        cmocka_unit_test_setup_teardown(test_racy_original, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reference_kernel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shapes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shapes_constant_size, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shapes_without_checks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shapes_that_hang_together, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shapes_less, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shapes_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shapes_degenerate, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tolerance, setup, teardown),
        cmocka_unit_test_setup_teardown(test_compare_wide_integers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_compare_structs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_poison_can_be_right, setup, teardown),
        cmocka_unit_test_setup_teardown(test_write_line, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
