/* Widens the loads of loops with the stride of the grid. */
#include "propose/rewrite/vectorize_loop.h"

#include "base/str.h"
#include "cuda/deps.h"
#include "cuda/kernel_form.h"
#include "cuda/subst.h"
#include "propose/rewrite/extent.h"

#include <string.h>

enum { MAX_WIDE = 8 };

struct wide_loop {
    const struct rewrite_in *in;
    const struct node *function;
    struct for_loop loop;
    struct deps deps;
    const struct node *arrays[MAX_WIDE]; /* parameters that are read at [counter] */
    unsigned nr_arrays, element_bytes;
};

/* "gridDim.x * blockDim.x", in any order. */
static bool is_grid_stride(const struct node *n)
{
    n = n ? node_strip(n) : NULL;
    if (!n || n->kind != NODE_BINARY || strcmp(n->op, "*") != 0)
        return false;
    const struct node *a = n->child, *b = a->next;
    return (node_is_member(a, "gridDim", "x") && node_is_member(b, "blockDim", "x")) ||
           (node_is_member(a, "blockDim", "x") && node_is_member(b, "gridDim", "x"));
}

static bool is_fixed(const struct wide_loop *w, const struct node *bound)
{
    for (const struct node *n = bound; n; n = node_next(bound, n))
        if (n->kind == NODE_INDEX || n->kind == NODE_CALL || n->kind == NODE_MEMBER ||
            (n->kind == NODE_NAME && n->decl &&
                (n->decl->kind != NODE_PARAM || node_assigns(w->function->body, n->decl))))
            return false;
    return true;
}

static bool find_loop(struct wide_loop *w)
{
    const struct node *body = w->function->body;
    for (const struct node *n = body->child; n; n = n->next)
        if (n->kind == NODE_FOR && node_loop_up(n, &w->loop) && !strcmp(w->loop.compare, "<") &&
            node_coordinate(node_strip(w->loop.start)) == 0 && is_grid_stride(w->loop.step) &&
            w->loop.var->type.scalar == SCALAR_I32 && is_fixed(w, w->loop.bound))
            return true;
    return false;
}

static unsigned bytes_of(enum scalar scalar)
{
    switch (scalar) {
    case SCALAR_I8:
    case SCALAR_U8:
        return 1;
    case SCALAR_I16:
    case SCALAR_U16:
    case SCALAR_F16:
    case SCALAR_BF16:
        return 2;
    case SCALAR_I32:
    case SCALAR_U32:
    case SCALAR_F32:
        return 4;
    default:
        return 0;
    }
}

/* p[counter], where the parameter p is only read. */
static const struct node *array_at(const struct wide_loop *w, const struct node *n)
{
    if (n->kind != NODE_INDEX)
        return NULL;
    const struct node *base = node_strip(n->child), *at = node_strip(n->child->next);
    return base->kind == NODE_NAME && base->decl && base->decl->kind == NODE_PARAM &&
                   at->kind == NODE_NAME && at->decl == w->loop.var &&
                   !node_writes(w->function->body, base->decl)
               ? base->decl
               : NULL;
}

static bool find_arrays(struct wide_loop *w)
{
    const struct node *body = w->loop.node->body;
    for (const struct node *n = body; n; n = node_next(body, n)) {
        const struct node *array = array_at(w, n);
        unsigned i = 0;
        if (!array)
            continue;
        while (i < w->nr_arrays && w->arrays[i] != array)
            i++;
        if (i < w->nr_arrays)
            continue;
        const unsigned bytes = bytes_of(array->type.scalar);
        if (i == MAX_WIDE || !bytes || (i && bytes != w->element_bytes))
            return false;
        w->element_bytes = bytes;
        w->arrays[w->nr_arrays++] = array;
    }
    return w->nr_arrays > 0;
}

static bool is_commutative(const struct node *change)
{
    static const char *const ops[] = {"+=", "-=", "*=", "|=", "&=", "^=", "++", "--", NULL};
    static const char *const names[] = {"fmaxf", "fminf", "max", "min", "fmax", "fmin", NULL};
    if (change->kind == NODE_UNARY || strcmp(change->op, "=") != 0)
        return str_among(change->op, ops);
    const struct node *call = node_strip(change->child->next), *var = node_strip(change->child);
    return call->kind == NODE_CALL && call->nr_children == 2 && str_among(call->name, names) &&
           (node_strip(call->child)->decl == var->decl ||
               node_strip(call->child->next)->decl == var->decl) &&
           node_nr_uses(call, var->decl) == 1;
}

/* What changes of a variable must share to come in any order: "+", "*", the name of a function. */
static const char *way_of(const struct node *change)
{
    const char *op = change->op;
    if (!strcmp(op, "="))
        return node_strip(change->child->next)->name;
    return op[0] == '-' || op[0] == '+' ? "+" : op;
}

/* Whether the loop only adds to the variable, or whatever it does in one way, and never reads it
 * for another purpose. */
static bool is_gathered(const struct node *body, const struct node *var)
{
    const char *way = NULL;
    unsigned nr_uses = 0;
    for (const struct node *n = body; n; n = node_next(body, n)) {
        if (!node_is_change(n) || node_strip(n->child)->decl != var)
            continue;
        const unsigned own = node_nr_uses(n, var);
        if (!is_commutative(n) || own != (!strcmp(n->op, "=") ? 2 : 1) ||
            (way && strcmp(way, way_of(n)) != 0))
            return false;
        way = way_of(n);
        nr_uses += own;
    }
    return nr_uses == node_nr_uses(body, var);
}

/* An atomic by itself, whose order does not matter. */
static bool is_plain_atomic(const struct node *call)
{
    return call_is_atomic(call->name) && node_is_statement(call) && !strstr(call->name, "CAS") &&
           !strstr(call->name, "Exch") && !strstr(call->name, "Inc") && !strstr(call->name, "Dec");
}

/* Whether an element may be any thread's: the body knows of the thread by the counter alone, and
 * what is kept from round to round is added up. */
static bool is_anyones(const struct wide_loop *w, const char **why)
{
    const struct node *body = w->loop.node->body;
    for (const struct node *n = body; n; n = node_next(body, n)) {
        *why = "calls, returns or pointers in the loop";
        if (n->in_macro || n->kind == NODE_RETURN || n->kind == NODE_OTHER ||
            (n->kind == NODE_CALL && !call_is_pure(n->name) && !is_plain_atomic(n)))
            return false;
        *why = "the loop stores, or what it keeps depends on the order";
        if (node_is_change(n)) {
            const struct node *to = node_strip(n->child);
            if (to->kind != NODE_NAME || !to->decl || to->decl->kind != NODE_VAR ||
                to->decl->is_shared || to->decl->type.nr_dims ||
                (!node_within(to->decl, body) && !is_gathered(body, to->decl)))
                return false;
        }
        *why = "the loop knows of its thread by more than the counter";
        if (n->kind == NODE_MEMBER && node_uses_grid(n))
            return false;
        const struct node *d = n->kind == NODE_NAME ? n->decl : NULL;
        if (!d || d->kind != NODE_VAR || node_within(d, w->loop.node) || d->is_shared)
            continue;
        if (node_assigns(body, d)
                ? !d->init || deps_of(&w->deps, d->init) & (DEPS_THREAD | DEPS_BLOCK)
                : deps_of(&w->deps, n) & (DEPS_THREAD | DEPS_BLOCK))
            return false;
    }
    return true;
}

static const char *body_text(const struct wide_loop *w, const struct substs *s, unsigned indent)
{
    return subst_statement(w->in->tree, w->loop.node->body, s, indent);
}

static void write_loops(const struct wide_loop *w, unsigned width, struct rewrite_out *out)
{
    const struct cuda_tree *tree = w->in->tree;
    struct arena *arena = w->in->arena;
    const struct node *loop = w->loop.node;
    const char *i = w->loop.var->name, *in = tree_indent(tree, loop->start);
    const char *groups = tree_fresh(tree, "groups"), *g = tree_fresh(tree, "group"),
               *u = tree_fresh(tree, "u");
    const char *start = tree_text(tree, w->loop.start), *step = tree_text(tree, w->loop.step),
               *bound = text_operand(arena, tree_text(tree, w->loop.bound));
    const char *type = width * w->element_bytes == 16 ? "uint4" : "uint2";
    const unsigned deep = (unsigned)strlen(in);
    struct substs s = {.nr = 0};
    const struct substs none = {.nr = 0};
    struct str code = {0};
    str_addf(&code, "const int %s = ((", groups);
    for (unsigned k = 0; k < w->nr_arrays; k++)
        str_addf(&code, "%s(size_t)%s", k ? " | " : "", w->arrays[k]->name);
    str_addf(&code, ") & %u) == 0 ? %s / %u : 0;\n%sfor (int %s = %s; %s < %s; %s += %s) {\n",
        width * w->element_bytes - 1, bound, width, in, g, start, g, groups, g, step);
    for (unsigned k = 0; k < w->nr_arrays; k++)
        str_addf(&code, "%s    const %s %s = *(const %s *)&%s[%s * %u];\n", in, type,
            tree_fresh(tree, arena_printf(arena, "wide_%s", w->arrays[k]->name)), type,
            w->arrays[k]->name, g, width);
    for (const struct node *n = loop->body; n; n = node_next(loop->body, n)) {
        const struct node *array = array_at(w, n);
        if (array)
            substs_add(&s, n,
                arena_printf(arena, "((const %s *)&%s)[%s]", array->type.base,
                    tree_fresh(tree, arena_printf(arena, "wide_%s", array->name)), u));
    }
    str_addf(&code,
        "%s    #pragma unroll\n%s    for (int %s = 0; %s < %u; %s++) {\n"
        "%s        const int %s = %s * %u + %s;\n%s        %s\n%s    }\n%s}\n",
        in, in, u, u, width, u, in, i, g, width, u, in, body_text(w, &s, deep + 8), in, in);
    str_addf(&code, "%sfor (int %s = %s * %u + %s; %s < %s; %s += %s)\n%s    %s", in, i, groups,
        width, start, i, bound, i, step, in, body_text(w, &none, deep + 4));
    edits_replace(&out->edits, loop->start,
        loop->body->kind == NODE_BLOCK ? loop->end : tree_stmt_end(tree, loop->body), "%s",
        str_text(&code));
    str_finish(&code);
}

bool vectorize_loop(const struct rewrite_in *in, const struct node *function, unsigned bytes,
    struct rewrite_out *out)
{
    struct wide_loop *w = arena_alloc(in->arena, sizeof *w);
    const char *name = function->name, *why = NULL;
    *w = (struct wide_loop){.in = in, .function = function};
    if (!find_loop(w))
        return rewrite_refuse(in, out, "%s: no loop with the stride of the grid", name);
    if (!find_arrays(w) || w->element_bytes >= bytes)
        return rewrite_refuse(
            in, out, "%s: the loop reads no array, element by element, that has wider loads", name);
    deps_solve(&w->deps, function);
    if (w->deps.overflow || !is_anyones(w, &why))
        return rewrite_refuse(in, out, "%s: %s", name, why ? why : "too many variables");
    write_loops(w, bytes / w->element_bytes, out);
    return rewrite_done(
        in, out, "loads of %u bytes in the loop at line %u of %s", bytes, w->loop.node->line, name);
}
