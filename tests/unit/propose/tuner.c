/* The tuner: which values it offers, that `where` binds it, that only tune lines change. */
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

static struct candidate make(struct bench *b, unsigned i)
{
    struct err err;
    struct candidate c = {.arena = b->arena, .task = &b->task, .option = b->root.options[i]};
    assert_true(propose_kernel(b->propose, source, strlen(source), &c, &err));
    assert_int_equal(c.verdict, VERDICT_OK);
    return c;
}

/* By hand: singles (32,2) (128,2) (64,4); (64,1) breaks the where. Joint ones change both: (32,4);
 * (128,4) is 512 threads-steps and forbidden, (.,1) too. */
static void test_neighbours(void **state)
{
    struct bench *b = *state;
    bool seen[4] = {false};
    unsigned nr = 0;
    for (unsigned i = 0; i < b->root.nr_options; i++) {
        if (b->root.options[i].action != ACTION_TUNE)
            continue;
        const struct candidate c = make(b, i);
        const int64_t block = c.plan.tunes[0].value, steps = c.plan.tunes[1].value;
        nr++;
        seen[0] |= block == 32 && steps == 2;
        seen[1] |= block == 128 && steps == 2;
        seen[2] |= block == 64 && steps == 4;
        seen[3] |= block == 32 && steps == 4;
    }
    assert_int_equal(nr, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_true(seen[i]);
}

static void test_only_the_line_changes(void **state)
{
    struct bench *b = *state;
    for (unsigned i = 0; i < b->root.nr_options; i++) {
        if (b->root.options[i].action != ACTION_TUNE)
            continue;
        const struct candidate c = make(b, i);
        assert_non_null(strstr(c.source, "   // threads\n"));
        assert_string_equal(
            strstr(c.source, "#pragma keet where"), strstr(source, "#pragma keet where"));
        assert_memory_equal(c.source, source, strstr(source, "tune") - source);
        assert_non_null(strstr(c.proposal_note, " instead of "));
    }
}

static void test_past_the_end(void **state)
{
    struct bench *b = *state;
    struct err err;
    struct candidate c = {.arena = b->arena, .task = &b->task};
    c.option = (struct option){.action = ACTION_TUNE, .proposer = PROPOSER_TUNER, .variant = 77};
    assert_true(propose_kernel(b->propose, source, strlen(source), &c, &err));
    assert_int_equal(c.verdict, VERDICT_NO_KERNEL);
    assert_non_null(c.verdict_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_neighbours, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_the_line_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_past_the_end, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
