/* The tuner: which points it gives out, that `where` binds it, that only tune lines change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "propose/propose.h"

#include <stdlib.h>
#include <string.h>

static const char source[] = "#pragma keet size N = 4096\n"
                             "#pragma keet inout X : f32[N]\n"
                             "#pragma keet tune  BLOCK = 64 in {32, 64, 128}   // threads\n"
                             "#pragma keet tune  STEPS=2 in {1, 2, 4}\n"
                             "#pragma keet where BLOCK*STEPS <= 256 && STEPS != 1\n"
                             "#pragma keet launch f<<<ceil_div(N, BLOCK*STEPS), BLOCK>>>(X, N)\n"
                             "__global__ void f(float *x, int n)\n{\n"
                             "    for (int k = 0; k < STEPS; k++) {\n"
                             "        int i = (blockIdx.x * STEPS + k) * BLOCK + threadIdx.x;\n"
                             "        if (i < n)\n            x[i] += 1;\n    }\n}\n";

struct bench {
    struct arena *arena;
    struct task task;
    struct propose *propose;
    struct candidate root;
};

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    struct err err;
    b->arena = arena_create();
    if (!task_parse(&b->task, b->arena, "t.cu", source, strlen(source), &err))
        fail_msg("%s", err.text);
    const struct propose_options options = {.prompts_dir = KEET_SOURCE_DIR "/prompts"};
    b->propose = propose_create(&options, &b->task, &err);
    if (!b->propose)
        fail_msg("%s", err.text);
    b->root = (struct candidate){.arena = b->arena, .task = &b->task};
    b->root.option.action = ACTION_NONE;
    assert_true(propose_kernel(b->propose, NULL, 0, &b->root, &err));
    assert_true(propose_options(b->propose, &b->root, &err));
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    propose_destroy(b->propose);
    arena_destroy(b->arena);
    free(b);
    return 0;
}

static struct candidate make_of(struct bench *b, const char *text, unsigned variant)
{
    struct err err;
    struct candidate c = {.arena = b->arena,
        .task = &b->task,
        .option = {.action = ACTION_TUNE, .proposer = PROPOSER_TUNER, .variant = variant}};
    assert_true(propose_kernel(b->propose, text, strlen(text), &c, &err));
    return c;
}

static void tell(struct bench *b, struct candidate *c, double time_ns)
{
    c->verdict = time_ns > 0 ? VERDICT_OK : VERDICT_WRONG;
    c->speedup = time_ns > 0 ? 100 / time_ns : 0;
    propose_told(b->propose, c, 0);
}

/* By hand: the space has (32,2) (32,4) (64,2) (64,4) (128,2); (.,1) and (128,4) break the where.
 * Each is given out once, wherever the tuner is asked; after that, the best that was measured. */
static void test_points(void **state)
{
    struct bench *b = *state;
    unsigned nr = 0, seen = 0;
    tell(b, &b->root, 100);
    unsigned nr_named = 0; /* (32,2), (128,2), (64,4) */
    for (unsigned i = 0; i < b->root.nr_options; i++) {
        const bool named = strncmp(b->root.options[i].what, "set ", 4) == 0;
        nr += b->root.options[i].action == ACTION_TUNE && !named;
        nr_named += b->root.options[i].action == ACTION_TUNE && named;
    }
    assert_int_equal(nr, 4);
    assert_int_equal(nr_named, 3);
    const char *text = source;
    for (unsigned v = 0; v < 4; v++) {
        struct candidate c = make_of(b, text, v);
        assert_int_equal(c.verdict, VERDICT_OK);
        const int64_t block = c.plan.tunes[0].value, steps = c.plan.tunes[1].value;
        assert_true(block * steps <= 256 && steps != 1 && !(block == 64 && steps == 2));
        seen |= 1u << (block / 64 * 2 + steps / 4);
        tell(b, &c, block == 32 && steps == 4 ? 50 : 80);
        text = c.source; /* from where we are now */
    }
    assert_int_equal(__builtin_popcount(seen), 4);
    struct candidate best = make_of(b, source, 5);
    assert_int_equal(best.plan.tunes[0].value * 10 + best.plan.tunes[1].value, 324);
    best = make_of(b, best.source, 5); /* from the best itself: the next best */
    assert_int_equal(best.verdict, VERDICT_OK);
    assert_int_not_equal(best.plan.tunes[0].value * 10 + best.plan.tunes[1].value, 324);
}

/* Points under way are not given out twice, and points that failed are not tried again. */
static void test_once(void **state)
{
    struct bench *b = *state;
    struct candidate made[4];
    for (unsigned v = 0; v < 4; v++) {
        made[v] = make_of(b, source, v);
        for (unsigned i = 0; i < v; i++)
            assert_string_not_equal(made[i].source, made[v].source);
    }
    for (unsigned v = 0; v < 4; v++)
        tell(b, &made[v], v < 3 ? 0 : 70);
    struct candidate again = make_of(b, source, 4);
    assert_string_equal(again.source, made[3].source);
}

static void test_only_the_line_changes(void **state)
{
    struct bench *b = *state;
    for (unsigned i = 0; i < b->root.nr_options && i < 4; i++) {
        if (b->root.options[i].action != ACTION_TUNE)
            continue;
        const struct candidate c = make_of(b, source, i);
        assert_non_null(strstr(c.source, "   // threads\n"));
        assert_string_equal(
            strstr(c.source, "#pragma keet where"), strstr(source, "#pragma keet where"));
        assert_memory_equal(c.source, source, strstr(source, "tune") - source);
        assert_non_null(strstr(c.proposal_note, " instead of "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_points, setup, teardown),
        cmocka_unit_test_setup_teardown(test_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_the_line_changes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
