/* Owns the contract lines that say how to check (assume, fixed, inputs), and the lines that say
 * what the kernel stands for (pytorch). */
#include "core/task_read.h"

#include <string.h>

static bool is(const struct pragma *pragma, const char *keyword)
{
    return strcmp(pragma->keyword, keyword) == 0;
}

static bool holds_for(const struct expr *expr, const struct env *sizes)
{
    struct err ignored;
    int64_t value;

    return expr_eval(expr, sizes, &value, &ignored) && value;
}

bool task_assumes(const struct task *task, const struct env *sizes)
{
    for (unsigned i = 0; i < task->nr_assumes; i++)
        if (!holds_for(task->assumes[i], sizes))
            return false;
    return true;
}

/* assume N % 4 == 0 */
static bool read_assume(struct task_reader *r, const struct pragma *pragma)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    struct task *task = r->task;
    const char *at = c.p;
    const struct expr **expr = &task->assumes[task->nr_assumes];

    if (task->nr_assumes == MAX_WHERES)
        return cursor_fail(&c, at, "too many assume lines; expected at most %d", MAX_WHERES);
    if (!cursor_expr(&c, &task->timed.sizes, expr))
        return false;
    if (!holds_for(*expr, &task->timed.sizes))
        return cursor_fail(&c, at, "the timed sizes do not satisfy it; expected sizes that do");
    for (unsigned i = 0; i < task->nr_checks; i++)
        if (!holds_for(*expr, &task->checks[i].sizes))
            return cursor_fail(&c, at,
                "the sizes of line %u do not satisfy it; expected sizes that do",
                task->checks[i].line);
    task->nr_assumes++;
    return true;
}

/* fixed alpha, beta */
static bool read_fixed(struct task_reader *r, const struct pragma *pragma)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    bool more = true;

    while (more) {
        const char *at = c.p, *name;
        struct task_scalar *scalar = NULL;

        if (!cursor_name(&c, &name, "the name of a scalar line"))
            return false;
        for (unsigned i = 0; i < r->task->nr_scalars; i++)
            if (strcmp(r->task->scalars[i].name, name) == 0)
                scalar = &r->task->scalars[i];
        if (!scalar)
            return cursor_fail(
                &c, at, "unknown scalar '%s'; expected the name of a scalar line", name);
        scalar->is_fixed = true;
        cursor_skip(&c);
        more = cursor_take(&c, ",");
        cursor_skip(&c);
    }
    return cursor_end(&c, "the names");
}

/* inputs nan */
static bool read_inputs(struct task_reader *r, const struct pragma *pragma)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    const char *at = c.p, *name;

    if (!cursor_name(&c, &name, "nan"))
        return false;
    if (strcmp(name, "nan") != 0)
        return cursor_fail(&c, at, "unknown inputs '%s'; expected nan", name);
    r->task->inputs_nan = true;
    return cursor_end(&c, "nan");
}

/* The PyTorch text that the task came from: each pragma holds one line of it, unchanged. */
static void read_pytorch(struct task_reader *r)
{
    const char *text = NULL;

    for (unsigned i = 0; i < r->lines->nr; i++) {
        const struct pragma *p = &r->lines->pragmas[i];
        const char *from = r->lines->source + p->text_at + p->rest, *to = r->lines->source + p->end;

        if (!is(p, "pytorch"))
            continue;
        from += from < to && *from == ' ';
        text = arena_printf(r->arena, "%s%.*s\n", text ? text : "", (int)(to - from), from);
    }
    r->task->pytorch = text;
}

bool reader_check_lines(struct task_reader *r)
{
    r->task->assumes = arena_array(r->arena, MAX_WHERES + 1, sizeof(*r->task->assumes));
    read_pytorch(r);
    for (unsigned i = 0; i < r->lines->nr; i++) {
        const struct pragma *p = &r->lines->pragmas[i];

        if ((is(p, "assume") && !read_assume(r, p)) || (is(p, "fixed") && !read_fixed(r, p)) ||
            (is(p, "inputs") && !read_inputs(r, p)))
            return false;
    }
    return true;
}
