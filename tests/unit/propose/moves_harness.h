/* Moves on a kernel: its original, then step by step what a move makes of where we are. What a good
 * result must pass is the test's: `judge` is declared here and defined there. Include cmocka.h
 * first. */
#ifndef KEET_TESTS_MOVES_HARNESS_H
#define KEET_TESTS_MOVES_HARNESS_H

#include "base/err.h"
#include "check/check.h"
#include "compile/compile.h"
#include "device/device.h"
#include "propose/propose.h"
#include "tests/sanitized.h"

#include <stdlib.h>
#include <string.h>

static struct compiler *compiler; /* NULL without NVRTC */
static struct device *device;

struct bench {
    struct arena *arena;
    struct task task;
    struct propose *propose;
    struct checker *checker;       /* made with the first result that is checked */
    struct candidate original, at; /* at: the last good one */
};

static void judge(struct bench *b, struct candidate *c);

static inline void good(bool ok, const struct err *err)
{
    if (!ok)
        fail_msg("%s", err->text);
}

/* Compile it, and compare what it computes with the original, which is the first that comes. */
static inline void bench_check(struct bench *b, struct candidate *c)
{
    const struct checker_options options = {.nr_seeds = 1};
    struct err err;
    if (c->verdict == VERDICT_OK)
        good(compile_kernel(compiler, c, &err), &err);
    if (!b->checker) {
        b->checker = checker_create(device, &b->task, &c->compilation, &options, &err);
        good(b->checker != NULL, &err);
    }
    if (c->verdict == VERDICT_OK)
        good(check_kernel(b->checker, c, &err), &err);
}

static inline struct bench *bench_begin(const char *path, const char *source, bool forbid_fast_math)
{
    struct err err;
    struct arena *arena = arena_create();
    struct bench *b = arena_alloc(arena, sizeof *b);
    const struct propose_options options = {
        .prompts_dir = KEET_SOURCE_DIR "/prompts", .forbid_fast_math = forbid_fast_math};
    b->arena = arena;
    good(task_parse(&b->task, arena, path, source, strlen(source), &err), &err);
    b->propose = propose_create(&options, &b->task, &err);
    good(b->propose != NULL, &err);
    b->original = (struct candidate){
        .arena = arena, .task = &b->task, .parent = -1, .seed = 1, .recalled_from = -1};
    b->original.option.action = ACTION_NONE;
    good(propose_kernel(b->propose, NULL, 0, &b->original, &err), &err);
    assert_int_equal(b->original.verdict, VERDICT_OK);
    b->at = b->original;
    return b;
}

/* A judge: the candidate computes what the original computes. With sanitizers, which are here for
 * the rewriter, nothing is compiled and run. */
static inline void bench_must_equal(struct bench *b, struct candidate *c)
{
    if (!compiler || KEET_SANITIZED)
        return;
    bench_check(b, c);
    if (c->verdict != VERDICT_OK)
        fail_msg("%s: %s\n%s", verdict_name(c->verdict), c->verdict_text, c->source);
}

/* A bench whose original has been judged. */
static inline struct bench *begin_judged(const char *source)
{
    struct bench *b = bench_begin("test.cu", source, false);
    judge(b, &b->original);
    b->at = b->original;
    return b;
}

static inline void end(struct bench *b)
{
    struct arena *arena = b->arena;
    checker_destroy(b->checker);
    propose_destroy(b->propose);
    arena_destroy(arena);
}

static inline struct candidate apply_option(struct bench *b, const struct option *option)
{
    struct err err;
    struct candidate c = {.arena = b->arena,
        .task = &b->task,
        .node = 1,
        .seed = 2,
        .recalled_from = -1,
        .option = *option};
    good(propose_kernel(b->propose, b->at.source, b->at.source_bytes, &c, &err), &err);
    return c;
}

static inline struct candidate apply(struct bench *b, enum action action, unsigned variant)
{
    const struct option option = {.action = action,
        .variant = variant,
        .proposer = action == ACTION_TUNE ? PROPOSER_TUNER : PROPOSER_REWRITER};
    return apply_option(b, &option);
}

/* The move applies to where we are, and what comes out is good. */
static inline void step(struct bench *b, enum action action, unsigned variant)
{
    struct candidate c = apply(b, action, variant);
    if (c.verdict != VERDICT_OK)
        fail_msg("%s", c.verdict_text);
    judge(b, &c);
    b->at = c;
}

static inline void has(const struct bench *b, const char *text)
{
    if (!strstr(b->at.source, text))
        fail_msg("lacks: %s\n%s", text, b->at.source);
}

static inline void lacks(const struct bench *b, const char *text)
{
    if (strstr(b->at.source, text))
        fail_msg("still has: %s\n%s", text, b->at.source);
}

static inline void refuses(
    struct bench *b, enum action action, unsigned variant, const char *reason)
{
    struct candidate c = apply(b, action, variant);
    assert_int_equal(c.verdict, VERDICT_NO_KERNEL);
    if (!strstr(c.verdict_text, reason))
        fail_msg("%s (expected %s)", c.verdict_text, reason);
}

/* The move is refused for each of the sources, for its own reason. */
static inline void refuses_each(
    enum action action, const char *const *sources, const char *const *reasons, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++) {
        struct bench *b = bench_begin("test.cu", sources[i], false);
        refuses(b, action, 0, reasons[i]);
        end(b);
    }
}

static inline int open_world(void **state)
{
    (void)state;
    struct err err;
    const struct compiler_options options = {.arch = "sm_90a"};
    const struct device_options emulated = {.name = "emu", .nr_threads = 2};
    compiler = compiler_create(&options, &err);
    if (!compiler)
        print_message("without NVRTC nothing is compiled: %s\n", err.text);
    device = device_create(&emulated, &err);
    return device ? 0 : -1;
}

static inline int close_world(void **state)
{
    (void)state;
    compiler_destroy(compiler);
    device_destroy(device);
    return 0;
}

#endif
