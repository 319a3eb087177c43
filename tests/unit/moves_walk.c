/* Random walks over the moves on kernels of the suite: whatever is listed as an option must apply,
 * compile, and compute what the original computes, however moves are composed. A launch that asks
 * for more than the machine has is the one verdict that a tuning parameter may bring about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/rng.h"
#include "check/check.h"
#include "compile/compile.h"
#include "device/device.h"
#include "propose/propose.h"

#include <stdlib.h>
#include <string.h>

enum { NR_WALKS = 2, NR_STEPS = 4 };

static struct compiler *compiler;
static struct device *device;

struct walk {
    struct arena *arena;
    struct task task;
    struct propose *propose;
    struct checker *checker;
    struct candidate root;
    struct rng rng;
};

static void good(bool ok, const struct err *err)
{
    if (!ok)
        fail_msg("%s", err->text);
}

static void start(struct walk *w, const char *name, uint64_t seed)
{
    struct err err;
    const struct propose_options options = {.prompts_dir = KEET_SOURCE_DIR "/prompts"};
    const struct checker_options check = {.nr_seeds = 1};
    w->arena = arena_create();
    const char *path = arena_printf(w->arena, "%s/kernels/%s.cu", KEET_SOURCE_DIR, name);
    good(task_load(&w->task, w->arena, path, &err), &err);
    good((w->propose = propose_create(&options, &w->task, &err)) != NULL, &err);
    w->root = (struct candidate){
        .arena = w->arena, .task = &w->task, .parent = -1, .seed = 1, .recalled_from = -1};
    w->root.option.action = ACTION_NONE;
    good(propose_kernel(w->propose, NULL, 0, &w->root, &err), &err);
    good(compile_kernel(compiler, &w->root, &err), &err);
    w->checker = checker_create(device, &w->task, &w->root.compilation, &check, &err);
    good(w->checker != NULL, &err);
    rng_seed(&w->rng, seed, 0);
}

static bool changes_code(enum action action)
{
    return action != ACTION_TUNE && action != ACTION_UNROLL && action != ACTION_LAUNCH_BOUNDS &&
           action != ACTION_BLOCK_SHAPE;
}

/* One of the options, those that change code in depth more often. */
static const struct option *pick(struct walk *w, const struct candidate *c)
{
    const struct option *option = NULL;
    for (unsigned i = 0; i < 4 && !(option && changes_code(option->action)); i++)
        option = &c->options[rng_below(&w->rng, c->nr_options)];
    return option;
}

/* False where the walk ends. */
static bool step(struct walk *w, struct candidate *at, const char **path)
{
    struct err err;
    good(propose_options(w->propose, at, &err), &err);
    if (!at->nr_options)
        return false;
    struct candidate c = {
        .arena = w->arena, .task = &w->task, .node = 1, .seed = 2, .recalled_from = -1};
    c.option = *pick(w, at);
    *path = arena_printf(
        w->arena, "%s\n    %s: %s", *path, action_name(c.option.action), c.option.what);
    good(propose_kernel(w->propose, at->source, at->source_bytes, &c, &err), &err);
    if (c.verdict == VERDICT_OK)
        good(compile_kernel(compiler, &c, &err), &err);
    if (c.verdict == VERDICT_OK)
        good(check_kernel(w->checker, &c, &err), &err);
    if (c.verdict == VERDICT_LAUNCH_FAILED)
        return false;
    if (c.verdict != VERDICT_OK)
        fail_msg("%s: %s after%s\n%s", verdict_name(c.verdict), c.verdict_text, *path, c.source);
    *at = c;
    return true;
}

static void walk(const char *name)
{
    struct walk w;
    start(&w, name, 11);
    for (unsigned i = 0; i < NR_WALKS; i++) {
        struct candidate at = w.root;
        const char *path = "";
        for (unsigned k = 0; k < NR_STEPS && step(&w, &at, &path); k++)
            continue;
    }
    checker_destroy(w.checker);
    propose_destroy(w.propose);
    arena_destroy(w.arena);
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

static int open_world(void **state)
{
    (void)state;
    struct err err;
    const struct compiler_options options = {.arch = "sm_90a", .cache_dir = ""};
    const struct device_options emulated = {.name = "emu", .nr_threads = 2};
    compiler = compiler_create(&options, &err);
    if (!compiler)
        print_message("skipped without NVRTC: %s\n", err.text);
    device = device_create(&emulated, &err);
    return device ? 0 : -1;
}

static int close_world(void **state)
{
    (void)state;
    compiler_destroy(compiler);
    device_destroy(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_walks)};
    return cmocka_run_group_tests(tests, open_world, close_world);
}
