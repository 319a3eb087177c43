/* Owns the hammering of the task language: no bytes may crash a reader, and what was read once must
 * be read the same as a candidate.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_task -max_len=4096 build/corpus kernels */
#include "base/arena.h"
#include "core/inputs.h"
#include "core/task.h"

#include "hammer.h"

#include <stdlib.h>
#include <string.h>

static const char original[] =
    "#pragma keet size   M = 64, N = 2*M\n"
    "#pragma keet check  M = 5\n"
    "#pragma keet in     A : f32[M][N] = uniform(-1, 1)\n"
    "#pragma keet in     I : i32[M+1] = sorted(0, N)\n"
    "#pragma keet out    C : f32[M]\n"
    "#pragma keet scalar alpha : f32 = 1.5\n"
    "#pragma keet tolerance rel = 1e-3, abs = 1e-4\n"
    "#pragma keet tune   T = 16 in {8, 16}\n"
    "#pragma keet launch f<<<ceil_div(M, T), T>>>(A, I, C, alpha, M, N)\n"
    "__global__ void f(const float *A, const int *I, float *C, float alpha, int M, int N) {}\n";

/* Errors begin with the file and have something to say. */
static void check_err(const struct err *err, const char *path)
{
    assert(strncmp(err->text, path, strlen(path)) == 0);
    assert(strstr(err->text, "; expected ") || strlen(err->text) > 20);
}

static void use(struct task *task, struct arena *arena)
{
    struct err err;
    struct plan plan;
    enum verdict verdict;
    float small[64];
    uint64_t nr;

    /* The original is a candidate of itself. */
    if (!plan_parse(&plan, task, arena, task->source, task->source_bytes, &verdict, &err))
        abort();
    assert(plan.nr_launches == task->plan.nr_launches && plan.nr_tunes == task->plan.nr_tunes);
    for (unsigned i = 0; i < task->nr_arrays; i++) {
        struct env env = plan_env(arena, &plan, &task->timed);

        if (!array_elems(&task->arrays[i], &env, &nr, &err))
            abort();
        if (task->arrays[i].gen.kind != GEN_FILE)
            inputs_fill(&task->arrays[i], &env, "", 1, 3, small, nr > 32 ? 32 : nr, &err);
    }
}

static void read_once(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    const char *text = size ? (const char *)data : "";
    struct task task;
    struct plan plan;
    enum verdict verdict;
    struct err err;
    char *code = task_code(text, size);
    const struct expr *expr;
    int64_t value;

    assert(strlen(code) <= size);
    free(code);
    if (task_parse(&task, arena, "t.cu", text, size, &err))
        use(&task, arena);
    else
        check_err(&err, "t.cu:");
    if (!task_parse(&task, arena, "t.cu", original, strlen(original), &err))
        abort();
    if (!plan_parse(&plan, &task, arena, text, size, &verdict, &err)) {
        assert(verdict == VERDICT_CONTRACT || verdict == VERDICT_NO_KERNEL);
        check_err(&err, "t.cu:");
    }
    expr = expr_parse(arena, text, size, &err);
    if (expr) {
        struct env env = plan_env(arena, &task.plan, &task.timed);

        expr_eval(expr, &env, &value, &err);
    }
    arena_destroy(arena);
}

const struct fuzzer fuzzer = {
    .once = read_once, .marks = "(){}[]<>;,*&=+-/%\"#:.0123456789eE\n aNMK"};
