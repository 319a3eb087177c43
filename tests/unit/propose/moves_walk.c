/* Random walks over the moves on kernels of the suite: whatever is listed as an option must apply,
 * compile, and compute what the original computes, however moves are composed. A launch that asks
 * for more than the machine has is the one verdict that a tuning parameter may bring about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "moves_harness.h"

#include "base/file.h"
#include "base/rng.h"

#include <stdio.h>

enum { NR_WALKS = 2, NR_STEPS = 4 };

static void judge(struct bench *b, struct candidate *c)
{
    bench_check(b, c);
}

static bool changes_code(enum action action)
{
    return action != ACTION_TUNE && action != ACTION_UNROLL && action != ACTION_LAUNCH_BOUNDS &&
           action != ACTION_BLOCK_SHAPE;
}

/* One of the options, those that change code in depth more often. */
static const struct option *pick(struct rng *rng, const struct candidate *c)
{
    const struct option *option = NULL;
    for (unsigned i = 0; i < 4 && !(option && changes_code(option->action)); i++)
        option = &c->options[rng_below(rng, c->nr_options)];
    return option;
}

/* False where the walk ends. */
static bool go_on(struct bench *b, struct rng *rng, const char **path)
{
    struct err err;
    good(propose_options(b->propose, &b->at, &err), &err);
    if (!b->at.nr_options)
        return false;
    const struct option *option = pick(rng, &b->at);
    struct candidate c = apply_option(b, option);
    *path =
        arena_printf(b->arena, "%s\n    %s: %s", *path, action_name(option->action), option->what);
    judge(b, &c);
    if (c.verdict == VERDICT_LAUNCH_FAILED)
        return false;
    if (c.verdict != VERDICT_OK)
        fail_msg("%s: %s after%s\n%s", verdict_name(c.verdict), c.verdict_text, *path, c.source);
    b->at = c;
    return true;
}

static void walk(const char *name)
{
    char path[512], *source;
    struct err err;
    struct rng rng;
    size_t len;
    snprintf(path, sizeof path, "%s/kernels/%s.cu", KEET_SOURCE_DIR, name);
    good(file_read(path, TASK_MAX_BYTES, &source, &len, &err), &err);
    struct bench *b = bench_begin(path, source, false);
    judge(b, &b->original);
    rng_seed(&rng, 11, 0);
    for (unsigned i = 0; i < NR_WALKS; i++) {
        const char *moves = "";
        b->at = b->original;
        for (unsigned k = 0; k < NR_STEPS && go_on(b, &rng, &moves); k++)
            continue;
    }
    end(b);
    free(source);
}

static void test_walks(void **state)
{
    (void)state;
    static const char *const names[] = {
        "matmul", "softmax", "conv2d", "distance", "transpose", "histogram", "dot", "nbody"};
    if (!compiler)
        skip();
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        walk(names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_walks)};
    return cmocka_run_group_tests(tests, open_world, close_world);
}
