/* Owns the acceptance test of planted faults: each file in faults/ is broken in one way, and must
 * get exactly its verdict, with the line marked FAULT and the cause named; and after each, a right
 * candidate must still pass. */
#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "check/check.h"
#include "compile/compile.h"
#include "core/candidate.h"
#include "device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FOLDER KEET_SOURCE_DIR "/tests/kernels/"

static const struct fault {
    const char *file; /* in faults/, without .cu */
    bool is_sum;      /* the original is row_sum.cu, not scale.cu */
    enum verdict verdict;
    const char *said[3]; /* parts of the text */
} faults[] = {
    {"tail_wrong", false, VERDICT_WRONG, {"Y[1000] = ", "but the reference has", "1 of 1001"}},
    {"tail_unwritten", false, VERDICT_WRONG, {"Y[1000]: element never written", "N = 1001"}},
    {"stale_output", false, VERDICT_WRONG, {"element never written; the reference has"}},
    {"nan", false, VERDICT_WRONG, {"= nan but the reference has"}},
    {"constant_output", false, VERDICT_WRONG, {"Y[0] = 0 but the reference has"}},
    {"hard_coded", false, VERDICT_WRONG, {"Y[0] = 0 but the reference has"}},
    {"range_assumed", false, VERDICT_WRONG, {"but the reference has", "inputs times 3"}},
    {"input_written", false, VERDICT_WRONG,
        {"X[0] is an input, and the kernel changed it", "to 0"}},
    {"read_past", false, VERDICT_FAULT, {"out of bounds", "read", "past the end of X"}},
    {"read_before", false, VERDICT_FAULT, {"out of bounds", "read", "before the start of X"}},
    {"write_past", false, VERDICT_FAULT, {"out of bounds", "write", "past the end of Y"}},
    {"null_pointer", false, VERDICT_FAULT, {"out of bounds", "read"}},
    {"misaligned", false, VERDICT_FAULT, {"misaligned", "8-byte read"}},
    {"trap", false, VERDICT_FAULT, {"trap"}},
    {"accumulates", false, VERDICT_FAULT, {"uninitialised", "Y"}},
    {"uninitialised_scratch", true, VERDICT_FAULT, {"uninitialised", "ws"}},
    {"uninitialised_shared", true, VERDICT_FAULT, {"uninitialised", "shared"}},
    {"shared_past_end", true, VERDICT_FAULT, {"out of bounds", "shared"}},
    {"divergent_barrier", true, VERDICT_FAULT, {"barrier"}},
    {"shared_race", true, VERDICT_RACE, {"shared"}},
    {"missing_barrier", true, VERDICT_RACE, {"shared"}},
    {"global_race", true, VERDICT_RACE, {"Y"}},
    {"endless", false, VERDICT_TIMEOUT, {"waits for ever", "again and again"}},
    {"remembers", false, VERDICT_NONDETERMINISTIC, {"in one run and", "in the next"}},
    {"order_of_arrival", true, VERDICT_NONDETERMINISTIC, {"in one run and", "in the next"}},
    {"last_one_wins", true, VERDICT_NONDETERMINISTIC, {"in one run and", "in the next"}},
    {"too_many_threads", false, VERDICT_LAUNCH_FAILED, {"2048", "1 to 1024"}},
    {"too_much_shared", false, VERDICT_LAUNCH_FAILED, {"shared memory", "227 KB"}},
    {"empty_grid", false, VERDICT_LAUNCH_FAILED, {"grid.x is 0", "`N / 1024`"}},
    {"wrong_argument", false, VERDICT_LAUNCH_FAILED, {"scale"}},
    {"missing_argument", false, VERDICT_LAUNCH_FAILED, {"scale"}},
    {"too_much_static_shared", false, VERDICT_NO_COMPILE, {"shared"}},
    {"unknown_kernel", false, VERDICT_NO_COMPILE, {"scaled"}},
    {"syntax", false, VERDICT_NO_COMPILE, {"expected a \";\""}},
    {"unknown_name", false, VERDICT_NO_COMPILE, {"\"beta\" is undefined"}},
    {"include_host", false, VERDICT_NO_COMPILE, {"/etc/passwd"}},
    {"unsupported", false, VERDICT_UNSUPPORTED, {"multimem"}},
    {"changed_contract", false, VERDICT_CONTRACT, {"abs = 10", "line 8 of the original"}},
    {"added_contract", false, VERDICT_CONTRACT, {"adds to the contract", "inout X"}},
    {"unknown_pragma", false, VERDICT_CONTRACT, {"'lunch'", "did you mean 'launch'?"}},
    {"no_kernel", false, VERDICT_NO_KERNEL, {"expected a __global__ function"}},
};

struct original {
    struct task task;
    struct candidate *root;
    struct checker *checker;
    struct candidate *good; /* a right candidate, compiled once */
};

static struct {
    struct arena *arena;
    struct compiler *compiler;
    struct device *device;
    struct original originals[2];
} bench;

static struct candidate *read_candidate(
    struct arena *arena, const struct task *task, const char *name)
{
    struct candidate *c = arena_alloc(arena, sizeof(*c));
    char *path = arena_printf(arena, FOLDER "%s.cu", name), *text;
    struct err err;

    if (!file_read(path, TASK_MAX_BYTES, &text, &c->source_bytes, &err))
        fail_msg("%s", err.text);
    c->arena = arena;
    c->task = task;
    c->seed = 1;
    c->source = arena_strndup(arena, text, c->source_bytes);
    free(text);
    return c;
}

/* What the loop does with a proposal, up to the check. */
static void evaluate(struct original *o, struct candidate *c)
{
    enum verdict verdict;
    struct err err = {.text = ""};

    if (!plan_parse(&c->plan, c->task, c->arena, c->source, c->source_bytes, &verdict, &err)) {
        candidate_fail(c, verdict, 0, "%s", err.text);
        return;
    }
    if (!compile_kernel(bench.compiler, c, &err) ||
        (o->checker && !check_kernel(o->checker, c, &err)))
        fail_msg("%s", err.text);
}

static void prepare(struct original *o, const char *name, const char *good)
{
    struct err err = {.text = ""};
    char *path = arena_printf(bench.arena, FOLDER "%s.cu", name);

    if (!task_load(&o->task, bench.arena, path, &err))
        fail_msg("%s", err.text);
    o->root = read_candidate(bench.arena, &o->task, name);
    evaluate(o, o->root);
    if (o->root->verdict != VERDICT_OK)
        fail_msg("%s", o->root->verdict_text);
    o->checker = checker_create(bench.device, &o->task, &o->root->compilation, NULL, &err);
    if (!o->checker)
        fail_msg("%s", err.text);
    o->good = read_candidate(bench.arena, &o->task, good);
    evaluate(o, o->good);
}

static int setup(void **state)
{
    const struct compiler_options compiler = {.arch = "sm_90a"};
    const struct device_options device = {.name = "emu"};
    struct err err = {.text = ""};

    bench.arena = arena_create();
    bench.compiler = compiler_create(&compiler, &err);
    bench.device = bench.compiler ? device_create(&device, &err) : NULL;
    if (!bench.device)
        fail_msg("%s", err.text);
    prepare(&bench.originals[0], "scale", "faults/good_scale");
    prepare(&bench.originals[1], "row_sum", "faults/good_row_sum");
    return 0;
}

static int teardown(void **state)
{
    checker_destroy(bench.originals[0].checker);
    checker_destroy(bench.originals[1].checker);
    device_destroy(bench.device);
    compiler_destroy(bench.compiler);
    arena_destroy(bench.arena);
    return 0;
}

/* The line with the marker; 0: the file has none. */
static unsigned marked_line(const char *source)
{
    const char *mark = strstr(source, "// FAULT");
    unsigned line = mark != NULL;

    for (; mark && source < mark; source++)
        line += *source == '\n';
    return line;
}

static void check_good(struct original *o)
{
    struct arena *arena = arena_create();
    struct candidate c = *o->good;
    struct err err;

    c.arena = arena;
    if (!check_kernel(o->checker, &c, &err))
        fail_msg("%s", err.text);
    if (c.verdict != VERDICT_OK)
        fail_msg("the right candidate: %s: %s", verdict_name(c.verdict), c.verdict_text);
    assert_true(c.check.nr_shapes >= 4 && c.check.nr_runs >= 12);
    arena_destroy(arena);
}

static unsigned judge(const struct fault *fault)
{
    struct original *o = &bench.originals[fault->is_sum];
    struct arena *arena = arena_create();
    char *name = arena_printf(arena, "faults/%s", fault->file), place[64];
    struct candidate *c = read_candidate(arena, &o->task, name);
    unsigned line = marked_line(c->source), bad = 0;

    evaluate(o, c);
    if (c->verdict != fault->verdict) {
        print_error("%s: verdict %s, not %s\n", fault->file, verdict_name(c->verdict),
            verdict_name(fault->verdict));
        bad = 1;
    }
    for (int i = 0; i < 3 && fault->said[i]; i++) {
        if (!c->verdict_text || !strstr(c->verdict_text, fault->said[i])) {
            print_error("%s: does not say '%s'\n", fault->file, fault->said[i]);
            bad = 1;
        }
    }
    snprintf(place, sizeof(place), ".cu:%u:", line);
    if (line && (!c->verdict_text || !strstr(c->verdict_text, place))) {
        print_error("%s: line %u is not named\n", fault->file, line);
        bad = 1;
    }
    print_message("%s%s: %s: %s\n", bad ? "BAD " : "", fault->file, verdict_name(c->verdict),
        c->verdict_text ? c->verdict_text : "");
    arena_destroy(arena);
    check_good(o); /* the run goes on */
    return bad;
}

static void test_faults(void **state)
{
    unsigned bad = 0;

    for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
        bad += judge(&faults[i]);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults)};

    return cmocka_run_group_tests(tests, setup, teardown);
}
