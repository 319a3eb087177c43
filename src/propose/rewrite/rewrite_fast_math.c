/* fast_math: float constants where double ones crept in, and the fast intrinsics. Only for tasks
 * whose outputs are floats with a tolerance that has room for it. */
#include "base/mem.h"
#include "base/str.h"
#include "propose/rewrite/rewrite.h"

#include <stdlib.h>
#include <string.h>

/* The intrinsics' errors are a few units in the last place of f32 (CUDA C++ Programming Guide,
 * Mathematical Functions, Intrinsic Functions: 2 ulp and a little more with the argument). */
static const double least_rel = 1e-5, least_abs_tanh = 1e-6;

static bool all_float_outputs(const struct rewrite_in *in)
{
    for (unsigned i = 0; i < in->task->nr_arrays; i++)
        if (in->task->arrays[i].role != ROLE_IN && !elem_is_float(in->task->arrays[i].elem))
            return false;
    return true;
}

static bool is_float(const struct node *n)
{
    return n->type.scalar == SCALAR_F32 && !n->type.is_pointer && !n->type.nr_dims;
}

/* --- double constants --- */

/* The largest expression of type double around a literal. */
static const struct node *double_root(const struct node *n)
{
    while (n->parent && n->parent->type.scalar == SCALAR_F64 &&
           (n->parent->kind == NODE_BINARY || n->parent->kind == NODE_PAREN ||
               n->parent->kind == NODE_UNARY || n->parent->kind == NODE_COND ||
               (n->parent->kind == NODE_CALL && call_is_pure(n->parent->name))))
        n = n->parent;
    return n;
}

/* Whether an expression is double by its literals alone: no variable in it is double, and a float
 * is in it or takes its value. */
static bool double_by_accident(const struct node *root)
{
    bool has_float = false;
    for (const struct node *n = root; n; n = node_next(root, n)) {
        if (n->kind == NODE_CAST && n->type.scalar == SCALAR_F64)
            return false;
        if ((n->kind == NODE_NAME || n->kind == NODE_INDEX || n->kind == NODE_MEMBER) &&
            n->type.scalar == SCALAR_F64)
            return false;
        has_float |= is_float(n) && n->kind != NODE_NUMBER;
    }
    /* Whoever gives it to a double variable or function wants a double. */
    const struct node *user = root->parent;
    while (user && user->kind == NODE_PAREN)
        user = user->parent;
    if (user && user->kind == NODE_VAR && user->type.scalar == SCALAR_F64)
        return false;
    if (user && user->kind == NODE_ASSIGN && user->child->type.scalar == SCALAR_F64)
        return false;
    if (user && user->kind == NODE_CALL && user->type.scalar == SCALAR_F64)
        return false;
    return has_float || (user && user->kind == NODE_ASSIGN && is_float(user->child));
}

static unsigned demote(const struct rewrite_in *in, struct edits *edits)
{
    unsigned nr = 0;
    for (const struct node *n = in->tree->root; n; n = node_next(in->tree->root, n)) {
        if (n->kind != NODE_NUMBER || n->type.scalar != SCALAR_F64 || n->in_macro)
            continue;
        const char *text = tree_text(in->tree, n);
        if (!strpbrk(text, ".eE") || strpbrk(text, "fFlLxX") || !double_by_accident(double_root(n)))
            continue;
        edits_insert(edits, n->end, "f");
        nr++;
    }
    return nr;
}

/* --- intrinsics --- */

static const struct intrinsic {
    const char *from[2];
    const char *to;
} intrinsics[] = {
    {{"expf", "exp"}, "__expf"},
    {{"exp10f", "exp10"}, "__exp10f"},
    {{"logf", "log"}, "__logf"},
    {{"log2f", "log2"}, "__log2f"},
    {{"log10f", "log10"}, "__log10f"},
    {{"powf", "pow"}, "__powf"},
};

static bool is_call(const struct node *n, const char *a, const char *b)
{
    return n->kind == NODE_CALL && is_float(n) && (!strcmp(n->name, a) || !strcmp(n->name, b));
}

static unsigned callee_end(const struct rewrite_in *in, const struct node *call)
{
    unsigned at = call->start;
    while (at < call->end && in->source[at] != '(')
        at++;
    return at;
}

static bool is_one(const struct rewrite_in *in, const struct node *n)
{
    n = node_strip(n);
    return n->kind == NODE_NUMBER && strtod(tree_text(in->tree, n), NULL) == 1.0;
}

static bool edit_division(const struct rewrite_in *in, const struct node *n, struct edits *edits)
{
    const struct node *a = n->child, *b = a->next, *root = node_strip(b);
    if (is_one(in, a) && is_call(root, "sqrtf", "sqrt") && b == root) {
        edits_replace(edits, n->start, callee_end(in, root), "rsqrtf");
        return true;
    }
    const struct node *divisor = node_strip(b);
    if (divisor->kind == NODE_NUMBER)
        return false; /* the compiler multiplies where that is exact */
    edits_insert(edits, n->start, "__fdividef(");
    edits_replace(edits, a->end, b->start, ", ");
    edits_insert(edits, n->end, ")");
    return true;
}

static unsigned use_intrinsics(const struct rewrite_in *in, struct edits *edits)
{
    unsigned nr = 0;
    const bool tanh_fits = in->task->tolerance.abs >= least_abs_tanh;
    for (const struct node *n = in->tree->root; n; n = node_next(in->tree->root, n)) {
        if (n->in_macro)
            continue;
        for (size_t i = 0; i < ARRAY_SIZE(intrinsics); i++) {
            if (is_call(n, intrinsics[i].from[0], intrinsics[i].from[1])) {
                edits_replace(edits, n->start, callee_end(in, n), "%s", intrinsics[i].to);
                nr++;
            }
        }
        if (tanh_fits && is_call(n, "tanhf", "tanh") && n->child) {
            /* tanh(x) = 1 - 2 / (exp(2x) + 1): right in the limits, elsewhere to within 1e-7. */
            edits_replace(
                edits, n->start, n->child->start, "(1.0f - __fdividef(2.0f, __expf(2.0f * (");
            edits_replace(edits, n->child->end, n->end, ")) + 1.0f))");
            nr++;
        }
        if (n->kind == NODE_BINARY && !strcmp(n->op, "/") && is_float(n))
            nr += edit_division(in, n, edits);
    }
    return nr;
}

bool rewrite_fast_math(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    if (in->forbid_fast_math)
        return rewrite_refuse(in, out, "fast math is forbidden");
    if (!in->task->has_tolerance || in->task->tolerance.rel < least_rel)
        return rewrite_refuse(in, out, "the tolerance has no room for it");
    if (!all_float_outputs(in))
        return rewrite_refuse(in, out, "an output is not a float");
    unsigned nr_constants = 0, nr_intrinsics = 0;
    if (variant > 2)
        return rewrite_refuse(in, out, "there are three variants");
    if (variant != 1)
        nr_constants = demote(in, &out->edits);
    if (variant != 0)
        nr_intrinsics = use_intrinsics(in, &out->edits);
    out->more = variant < 2;
    if (variant == 0 && !nr_constants)
        return rewrite_refuse(in, out, "no double constants among floats");
    if (variant == 1 && !nr_intrinsics)
        return rewrite_refuse(in, out, "no division or function with a fast intrinsic");
    if (variant == 2 && (!nr_constants || !nr_intrinsics))
        return rewrite_refuse(in, out, "there is one kind of fast math to use");
    if (variant == 0)
        return rewrite_done(in, out, "make %u double constants float", nr_constants);
    if (variant == 1)
        return rewrite_done(in, out, "use fast intrinsics at %u places", nr_intrinsics);
    return rewrite_done(in, out,
        "make %u double constants float and use fast intrinsics at %u places", nr_constants,
        nr_intrinsics);
}
