/* pad_shared: one more element in each row of a two-dimensional shared array. */
#include "base/str.h"
#include "propose/rewrite/rewrite.h"

#include <string.h>

/* Whether every use of the array is a full subscript, so that nothing depends on the row's length.
 */
static bool only_subscripted(const struct node *function, const struct node *array)
{
    for (const struct node *n = function; n; n = node_next(function, n)) {
        if (n->kind != NODE_NAME || n->decl != array)
            continue;
        const struct node *up = n;
        for (unsigned d = 0; d < array->type.nr_dims; d++) {
            if (!up->parent || up->parent->kind != NODE_INDEX || up->parent->child != up ||
                up->in_macro)
                return false;
            up = up->parent;
        }
        const struct node *user = up->parent;
        if (user->kind == NODE_UNARY && !strcmp(user->op, "&") &&
            !(user->parent->kind == NODE_CALL && call_is_atomic(user->parent->name)))
            return false; /* it may be read as a vector, which needs the alignment */
    }
    return true;
}

static const struct node *nth_array(
    const struct rewrite_in *in, unsigned nth, const struct node **function, bool *found_any)
{
    struct node *f;
    for (unsigned k = 0; rewrite_nth_kernel(in, k, &f) >= 0; k++)
        for (const struct node *n = f; n; n = node_next(f, n)) {
            if (n->kind != NODE_VAR || !n->is_shared || n->is_extern || n->type.nr_dims < 2)
                continue;
            *found_any = true;
            if (!nth--) {
                *function = f;
                return n;
            }
        }
    return NULL;
}

bool rewrite_pad_shared(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    bool any = false;
    const struct node *function = NULL;
    const struct node *array = nth_array(in, variant, &function, &any);
    if (!array)
        return rewrite_refuse(
            in, out, any ? "no more shared arrays" : "no two-dimensional shared array");
    out->more = true;
    const unsigned last = array->type.nr_dims - 1;
    const unsigned end = array->init ? array->init->start : array->end;
    unsigned close = end;
    while (close > array->name_at && in->source[close - 1] != ']')
        close--;
    unsigned open = close;
    while (open > array->name_at && in->source[open - 1] != '[')
        open--;
    if (close <= open || array->type.dims[last] < 1)
        return rewrite_refuse(in, out, "the extents of %s cannot be read", array->name);
    if (array->type.dims[last] % 2)
        return rewrite_refuse(in, out, "the rows of %s are odd already", array->name);
    if (!only_subscripted(function, array))
        return rewrite_refuse(in, out, "%s is used other than by subscripts", array->name);
    edits_insert(&out->edits, close - 1, " + 1");
    return rewrite_done(in, out, "pad the rows of shared array %s by one", array->name);
}
