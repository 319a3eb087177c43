/* The usual form of a kernel, recognised. */
#include "cuda/kernel_form.h"

#include <string.h>

const char axis_names[NR_AXES + 1] = "xyz";

int node_axis(const struct node *n, const char *object)
{
    for (int axis = 0; axis < NR_AXES; axis++) {
        const char name[2] = {axis_names[axis], '\0'};
        if (node_is_member(n, object, name))
            return axis;
    }
    return -1;
}

/* The axis of blockIdx.a * blockDim.a, either way round; -1 for anything else. */
static int block_start(const struct node *n)
{
    n = node_strip(n);
    if (!n || n->kind != NODE_BINARY || strcmp(n->op, "*") != 0)
        return -1;
    const struct node *l = n->child, *r = l->next;
    const int axis =
        node_axis(l, "blockIdx") >= 0 ? node_axis(l, "blockIdx") : node_axis(r, "blockIdx");
    return axis >= 0 && (node_axis(l, "blockDim") == axis || node_axis(r, "blockDim") == axis)
               ? axis
               : -1;
}

int node_coordinate(const struct node *n)
{
    n = node_strip(n);
    if (!n || n->kind != NODE_BINARY || strcmp(n->op, "+") != 0)
        return -1;
    const struct node *l = n->child, *r = l->next;
    const int axis = block_start(l) >= 0 ? block_start(l) : block_start(r);
    return axis >= 0 && (node_axis(l, "threadIdx") == axis || node_axis(r, "threadIdx") == axis)
               ? axis
               : -1;
}

bool node_uses_grid(const struct node *n)
{
    return node_uses_name(n, "threadIdx") || node_uses_name(n, "blockIdx") ||
           node_uses_name(n, "blockDim") || node_uses_name(n, "gridDim");
}

static bool add_axes(struct kernel_form *form, struct node *stmt)
{
    if (stmt->kind != NODE_DECLS)
        return true;
    for (struct node *var = stmt->child; var; var = var->next) {
        if (var->kind != NODE_VAR || !var->init)
            continue;
        const int block = node_axis(var->init, "blockIdx");
        const int axis = block >= 0 ? block : node_coordinate(var->init);
        if (axis < 0)
            continue;
        if (form->nr_axes == FORM_MAX_AXES || !node_is_single(form->function, var))
            return false;
        form->axes[form->nr_axes++] = (struct form_axis){var, (unsigned)axis, block >= 0};
    }
    return true;
}

static const char *opposite(const char *op)
{
    static const char *const pairs[][2] = {
        {"<", ">="}, {">", "<="}, {"<=", ">"}, {">=", "<"}, {"==", "!="}, {"!=", "=="}};
    for (unsigned i = 0; i < 6; i++)
        if (strcmp(pairs[i][0], op) == 0)
            return pairs[i][1];
    return NULL;
}

/* Splits a && b (for an early return: a || b) into conditions that must all hold. */
static bool add_conds(struct kernel_form *form, struct node *n, bool negated)
{
    const struct cuda_tree *tree = form->tree;
    struct node *bare = node_strip(n);
    if (bare->kind == NODE_BINARY && strcmp(bare->op, negated ? "||" : "&&") == 0)
        return add_conds(form, bare->child, negated) && add_conds(form, bare->child->next, negated);
    if (form->nr_conds == FORM_MAX_CONDS)
        return false;
    struct form_cond cond = {.node = bare};
    const char *op = bare->kind == NODE_BINARY ? bare->op : "";
    if (negated && opposite(op))
        op = opposite(op);
    else if (negated)
        op = "";
    if (bare->kind == NODE_BINARY && op[0]) {
        cond.text = arena_printf(tree->arena, "%s %s %s", tree_text(tree, bare->child), op,
            tree_text(tree, bare->child->next));
        if (strcmp(op, "<") == 0) {
            cond.low = bare->child;
            cond.high = bare->child->next;
        } else if (strcmp(op, ">") == 0) {
            cond.low = bare->child->next;
            cond.high = bare->child;
        }
    } else {
        cond.text = arena_printf(tree->arena, negated ? "!(%s)" : "(%s)", tree_text(tree, bare));
    }
    form->conds[form->nr_conds++] = cond;
    return true;
}

static bool is_bare_return(const struct node *n)
{
    if (n->kind == NODE_BLOCK)
        return n->nr_children == 1 && is_bare_return(n->child);
    return n->kind == NODE_RETURN && !n->child;
}

static bool is_early_return(const struct node *stmt)
{
    return stmt->kind == NODE_IF && !stmt->other && is_bare_return(stmt->body);
}

static bool add_stmt(struct node **list, unsigned *nr, struct node *stmt)
{
    if (*nr == FORM_MAX_STMTS)
        return false;
    list[(*nr)++] = stmt;
    return true;
}

static bool mentions_axis(const struct kernel_form *form, const struct node *n)
{
    for (unsigned i = 0; i < form->nr_axes; i++)
        if (node_uses(n, form->axes[i].var))
            return true;
    return false;
}

/* The statement that ends the prologue: the last early return, an `if` that holds all the rest, or
 * the last declaration of an axis. */
static struct node *last_of_prologue(struct kernel_form *form, bool *ok)
{
    struct node *last = NULL;
    *ok = true;
    for (struct node *s = form->body->child; s; s = s->next) {
        unsigned before = form->nr_axes;
        *ok = *ok && add_axes(form, s);
        if (is_early_return(s) && mentions_axis(form, s))
            last = s;
        else if (s->kind == NODE_IF && !s->other && !s->next && mentions_axis(form, s->cond))
            last = form->guard = s;
        else if (form->nr_axes > before)
            last = s;
    }
    return last;
}

static bool split(struct kernel_form *form)
{
    bool ok;
    struct node *last = last_of_prologue(form, &ok);
    bool in_prologue = last != NULL;
    for (struct node *s = form->body->child; s && ok; s = s->next) {
        if (!in_prologue)
            ok = add_stmt(form->work, &form->nr_work, s);
        else if (is_early_return(s))
            ok = add_conds(form, s->cond, true);
        else if (s != form->guard)
            ok = s->kind == NODE_DECLS && add_stmt(form->prologue, &form->nr_prologue, s);
        if (s == last)
            in_prologue = false;
    }
    if (!ok || !form->guard)
        return ok;
    struct node *inner = form->guard->body;
    ok = add_conds(form, form->guard->cond, false);
    if (inner->kind != NODE_BLOCK)
        return ok && add_stmt(form->work, &form->nr_work, inner);
    for (struct node *s = inner->child; s && ok; s = s->next)
        ok = add_stmt(form->work, &form->nr_work, s);
    return ok;
}

static bool uses_grid_raw(const struct kernel_form *form)
{
    for (struct node *n = form->body; n;) {
        bool axis = false;
        for (unsigned i = 0; i < form->nr_axes; i++)
            axis = axis || n == form->axes[i].var;
        if (!axis && n->kind == NODE_NAME && node_uses_grid(n))
            return true;
        n = axis ? node_skip(form->body, n) : node_next(form->body, n);
    }
    return false;
}

bool kernel_form_read(
    struct kernel_form *form, const struct cuda_tree *tree, struct node *function, const char **why)
{
    *form = (struct kernel_form){.tree = tree, .function = function, .body = function->body};
    *why = NULL;
    if (!form->body)
        *why = "the kernel has no body";
    else if (node_has_macro(function))
        *why = "the kernel uses function-like macros";
    else if (!split(form))
        *why = "the kernel is not of the form: indices, guard, work";
    if (*why)
        return false;
    form->raw = uses_grid_raw(form);
    return true;
}

const struct form_axis *form_axis_along(const struct kernel_form *form, unsigned dim)
{
    const struct form_axis *found = NULL;
    for (unsigned i = 0; i < form->nr_axes; i++) {
        if (form->axes[i].dim != dim)
            continue;
        if (found)
            return NULL;
        found = &form->axes[i];
    }
    return found;
}
