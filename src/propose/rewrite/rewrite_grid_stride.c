/* grid_stride: an element-wise kernel in which each thread takes one element becomes a loop with
 * the stride of the grid. The grid becomes a few blocks per multiprocessor. */
#include "base/str.h"
#include "cuda/kernel_form.h"
#include "propose/rewrite/grid_stride.h"
#include "propose/rewrite/launch_line.h"

#include <string.h>

struct guarded_element {
    const struct node *decl; /* the statement `int i = blockIdx.x * blockDim.x + threadIdx.x;` */
    const struct node *var;  /* i */
    const struct node
        *guard; /* `if (i < n) work`, or `if (i >= n) return;` with the work after it */
    const struct node *bound; /* n */
    bool returns;             /* the guard is the second of these */
};

static bool compares(
    const struct node *cond, const struct node *var, const char *op, const struct node **bound)
{
    cond = node_strip(cond);
    if (cond->kind != NODE_BINARY || strcmp(cond->op, op))
        return false;
    const struct node *left = node_strip(cond->child);
    *bound = cond->child->next;
    return left->kind == NODE_NAME && left->decl == var;
}

static bool is_plain_return(const struct node *n)
{
    if (n && n->kind == NODE_BLOCK && n->nr_children == 1)
        n = n->child;
    return n && n->kind == NODE_RETURN && !n->child;
}

static bool find_pattern(const struct node *function, struct guarded_element *p)
{
    *p = (struct guarded_element){0};
    const struct node *s = function->body->child;
    for (; s && s->kind == NODE_DECLS; s = s->next) {
        if (s->nr_children == 1 && s->child->init && node_coordinate(s->child->init) == 0) {
            p->decl = s;
            p->var = s->child;
            s = s->next;
            break;
        }
    }
    if (!p->var || !s || s->kind != NODE_IF || s->other || !node_is_single(function, p->var))
        return false;
    p->guard = s;
    if (!s->next && compares(s->cond, p->var, "<", &p->bound))
        return true;
    p->returns = true;
    return s->next && compares(s->cond, p->var, ">=", &p->bound) && is_plain_return(s->body);
}

static const char *loop_head(const struct rewrite_in *in, const struct guarded_element *p)
{
    const char *init = tree_text(in->tree, p->var);
    return arena_printf(in->arena, "for (%s; %s < %s; %s += gridDim.x * blockDim.x)", init,
        p->var->name, tree_text(in->tree, p->bound), p->var->name);
}

static void edit_code(const struct rewrite_in *in, const struct node *function,
    const struct guarded_element *p, struct edits *edits)
{
    /* The loop's head takes the place of all from the declaration to the end of the guard's head.
     */
    if (!p->returns) {
        unsigned head_end = p->guard->cond->end;
        while (in->source[head_end] != ')')
            head_end++;
        edits_replace(edits, p->decl->start, head_end + 1, "%s", loop_head(in, p));
        return;
    }
    const unsigned guard_end = tree_stmt_end(in->tree, p->guard);
    edits_replace(edits, p->decl->start, guard_end, "%s {", loop_head(in, p));
    unsigned close = function->body->end - 1;
    while (close > guard_end && (in->source[close - 1] == ' ' || in->source[close - 1] == '\t'))
        close--;
    const char *indent = tree_indent(in->tree, p->decl->start);
    for (unsigned at = guard_end; at < close; at++)
        if (in->source[at] == '\n' && at + 1 < close && in->source[at + 1] != '\n')
            edits_insert(edits, at + 1, "    ");
    edits_insert(edits, close, "%s}\n", indent);
}

static bool works_alone(const struct node *function)
{
    return !node_has_barrier(function->body) && !node_has_shared(function->body) &&
           !node_uses_name(function, "gridDim");
}

bool grid_stride_edit(const struct rewrite_in *in, struct node *function, unsigned launch,
    int64_t blocks, const char *choices, struct rewrite_out *out)
{
    struct guarded_element p;
    if (!find_pattern(function, &p) || p.guard->in_macro)
        return rewrite_refuse(in, out,
            "%s is not one coordinate, one guard, and the work of one element", function->name);
    if (!works_alone(function))
        return rewrite_refuse(in, out, "%s works together as a block or grid", function->name);
    unsigned nr_returns = 0;
    for (const struct node *n = function->body; n; n = node_next(function->body, n))
        nr_returns += n->kind == NODE_RETURN;
    if (nr_returns > p.returns)
        return rewrite_refuse(in, out, "%s returns in the middle", function->name);
    uint32_t block[3], grid[3];
    if (!rewrite_block(in, launch, block) || !rewrite_grid(in, launch, grid))
        return rewrite_refuse(in, out, "the launch of %s does not evaluate", function->name);
    if (grid[0] < 2 * 132 || grid[1] != 1 || grid[2] != 1 ||
        (uint64_t)grid[0] * block[0] > 1u << 30)
        return rewrite_refuse(
            in, out, "the grid of %s is small, huge, or not a line", function->name);
    const char *name = tree_fresh(in->tree, "BLOCKS");
    struct launch_lines lines;
    if (!launch_lines_read(in, function, &lines, out))
        return false;
    for (unsigned i = 0; i < lines.nr; i++) {
        struct launch_line *line = &lines.items[i];
        line->grid[0] = arena_printf(in->arena, "min(%s, %s)", line->grid[0], name);
        launch_line_write(line, &out->edits);
    }
    pragma_add_tune(in, &out->edits, name, blocks, choices);
    edit_code(in, function, &p, &out->edits);
    return true;
}

bool rewrite_grid_stride(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct node *function;
    const int launch = rewrite_nth_kernel(in, variant, &function);
    if (launch < 0)
        return rewrite_refuse(in, out, "no more kernels");
    out->more = true;
    if (!grid_stride_edit(in, function, (unsigned)launch, 1056, "264, 528, 1056, 2112", out))
        return false;
    return rewrite_done(
        in, out, "let %s run over its elements with the stride of the grid", function->name);
}
