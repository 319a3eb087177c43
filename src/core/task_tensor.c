/* Owns reading tensor_map(x, box(64, 128), ...) of a launch. */
#include "core/task_read.h"

#include <string.h>

/* The expressions between parentheses, at most as many as there are dimensions. */
static bool read_exprs(
    struct task_reader *r, struct cursor *c, const struct expr **values, unsigned *nr)
{
    struct cursor list, item;

    if (!cursor_expect(c, "(", "no parenthesis"))
        return false;
    list = cursor_until(c, ")");
    *nr = 0;
    do {
        if (*nr == TENSOR_VIEW_DIMS)
            return cursor_fail(&list, list.p, "more than five dimensions of a tensor map");
        cursor_skip(&list);
        item = cursor_until(&list, ",");
        if (!cursor_expr(&item, &r->plan_env, &values[(*nr)++]))
            return false;
    } while (cursor_take(&list, ","));
    return cursor_expect(c, ")", "an open parenthesis");
}

static bool read_part(struct task_reader *r, struct cursor *c, struct tensor_view *view)
{
    const struct expr *swizzle[TENSOR_VIEW_DIMS];
    unsigned nr;

    if (cursor_take(c, "box"))
        return read_exprs(r, c, view->box, &view->nr_box);
    if (cursor_take(c, "size"))
        return read_exprs(r, c, view->size, &view->nr_size);
    if (cursor_take(c, "stride"))
        return read_exprs(r, c, view->stride, &view->nr_stride);
    if (cursor_take(c, "step"))
        return read_exprs(r, c, view->step, &view->nr_step);
    if (cursor_take(c, "nan"))
        return view->nan = true;
    if (cursor_take(c, "interleave"))
        return cursor_fail(c, c->p, "interleaved layouts of tensor maps are not emulated");
    if (!cursor_take(c, "swizzle"))
        return cursor_fail(c, c->p,
            "unknown part of a tensor map; expected box, size, stride, step, swizzle or nan");
    if (!read_exprs(r, c, swizzle, &nr))
        return false;
    view->swizzle = swizzle[0];
    return nr == 1 || cursor_fail(c, c->p, "swizzle takes one number: 32, 64 or 128");
}

bool reader_tensor_map(struct task_reader *r, struct cursor *c, struct launch_arg *arg, bool *is)
{
    struct cursor all = *c, list;
    const char *name, *at;

    *is = false;
    if (!cursor_take(&all, "tensor_map") || !cursor_take(&all, "("))
        return true;
    *is = true;
    struct tensor_view *view = arena_alloc(r->arena, sizeof(*view));

    *view = (struct tensor_view){.written = arena_strndup(r->arena, c->p, (size_t)(c->end - c->p))};
    list = cursor_until(&all, ")");
    cursor_skip(&list);
    at = list.p;
    if (!cursor_name(&list, &name, "the array under the tensor map"))
        return false;
    const struct task_array *array = task_find_array(r->contract, r->plan, name);

    if (!array || array->record)
        return cursor_fail(
            &list, at, "'%s' is no array of numbers; expected one that is declared", name);
    while (cursor_take(&list, ",")) {
        cursor_skip(&list);
        if (!read_part(r, &list, view))
            return false;
    }
    if (view->nr_box == 0)
        return cursor_fail(&list, list.p, "a tensor map without a box; expected box(64, 128)");
    *arg = (struct launch_arg){.kind = ARG_TENSOR_MAP, .name = array->name, .tensor = view};
    return cursor_end(&list, "the tensor map") && cursor_expect(&all, ")", "an open parenthesis") &&
           cursor_end(&all, "the tensor map");
}
