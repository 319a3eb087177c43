/* Takes flat indices apart, and rounds that end early. */
#include "propose/rewrite/plain_form.h"

#include "cuda/subst.h"
#include "propose/rewrite/contraction.h"

#include <string.h>

enum { MAX_FACTORS = 8, MAX_DIVISORS = 4, BLOCK_X = 32, BLOCK_Y = 8, MAX_DEPTH = 4 };

/* A product of parameters, literals and tuning parameters, as text of the kernel. */
struct factors {
    const char *texts[MAX_FACTORS];
    unsigned nr;
};

struct flat_index {
    const struct rewrite_in *in;
    struct node *function;
    struct kernel_form form;
    const struct form_axis *axis;
    const struct form_cond *cond; /* index < rows * columns */
    struct factors columns, rows;
    const char *x, *y; /* names of the new indices */
    struct edits edits;
};

/* --- products --- */

static bool is_integer(const struct ctype *type)
{
    return !type->is_pointer && !type->nr_dims && type->scalar >= SCALAR_I32 &&
           type->scalar <= SCALAR_U64;
}

/* What has the same value, for numbers of 31 bits. */
static const struct node *bare(const struct node *n)
{
    while (n->child && (n->kind == NODE_PAREN || (n->kind == NODE_CAST && is_integer(&n->type))))
        n = n->child;
    return n;
}

/* Does the body declare the name again? There it is another variable than where the factor stands.
 */
static bool is_hidden(const struct node *function, const char *name)
{
    for (const struct node *n = function->body; n; n = node_next(function->body, n))
        if (n->kind == NODE_VAR && !strcmp(n->name, name))
            return true;
    return false;
}

/* Add the factors of an expression; a local with one value counts as what it began with. */
static bool add_factors(
    const struct flat_index *f, const struct node *n, struct factors *to, unsigned depth)
{
    n = bare(n);
    if (n->kind == NODE_BINARY && !strcmp(n->op, "*"))
        return add_factors(f, n->child, to, depth) && add_factors(f, n->child->next, to, depth);
    const struct node *decl = n->kind == NODE_NAME ? n->decl : NULL;
    if (decl && !is_integer(&decl->type))
        return false;
    if (decl && decl->kind == NODE_VAR && decl->init && depth < MAX_DEPTH &&
        node_is_single(f->function, decl))
        return add_factors(f, decl->init, to, depth + 1);
    const char *text = tree_text(f->in->tree, n);
    const bool param = decl && decl->kind == NODE_PARAM && !node_assigns(f->function, decl) &&
                       !is_hidden(f->function, decl->name);
    const bool tune = n->kind == NODE_NAME && !decl && pragma_find_tune(f->in, n->name);
    if (to->nr == MAX_FACTORS || !(param || tune || extent_is_literal(text)))
        return false;
    to->texts[to->nr++] = text;
    return true;
}

static bool factors_of(const struct flat_index *f, const struct node *n, struct factors *to)
{
    *to = (struct factors){.nr = 0};
    return add_factors(f, n, to, 0);
}

/* Take all factors of `some` away. False: not all are there. */
static bool take_away(struct factors *from, const struct factors *some)
{
    for (unsigned i = 0; i < some->nr; i++) {
        unsigned k = 0;
        while (k < from->nr && strcmp(from->texts[k], some->texts[i]) != 0)
            k++;
        if (k == from->nr)
            return false;
        for (from->nr--; k < from->nr; k++)
            from->texts[k] = from->texts[k + 1];
    }
    return true;
}

/* The product in the kernel; with a launch line, in its terms. NULL: a factor is none there. */
static const char *product_text(
    const struct flat_index *f, const struct factors *factors, const struct launch_line *line)
{
    struct arena *arena = f->in->arena;
    const enum scalar scalar = f->axis->var->type.scalar;
    const bool wide = !line && factors->nr > 1 && (scalar == SCALAR_I64 || scalar == SCALAR_U64);
    const char *text = NULL;
    for (unsigned i = 0; i < factors->nr; i++) {
        const char *one = factors->texts[i];
        for (unsigned k = 0; line && k < function_nr_params(f->function); k++) {
            const struct node *param = function_param(f->function, k);
            if (strcmp(param->name, factors->texts[i]) != 0)
                continue;
            one = launch_line_argument(line, f->function, param);
            if (!one)
                return NULL;
            one = text_operand(arena, one);
        }
        if (text)
            text = arena_printf(arena, "%s * %s", text, one);
        else
            text = wide ? arena_printf(arena, "(%s)%s", f->axis->var->type.base, one) : one;
    }
    return text ? text : "1";
}

/* --- flat indices --- */

static bool is_index(const struct flat_index *f, const struct node *n)
{
    return bare(n)->kind == NODE_NAME && bare(n)->decl == f->axis->var;
}

/* What stands where a quotient or a remainder of the index stood; NULL: it stays. */
static const char *digit_text(const struct flat_index *f, const struct node *n)
{
    struct factors by;
    if (n->kind != NODE_BINARY || (*n->op != '/' && *n->op != '%') || n->op[1] ||
        !is_index(f, n->child) || !factors_of(f, n->child->next, &by) ||
        !take_away(&by, &f->columns))
        return NULL;
    if (*n->op == '%')
        return by.nr ? NULL : f->x;
    return by.nr ? arena_printf(f->in->arena, "(%s / (%s))", f->y, product_text(f, &by, NULL))
                 : f->y;
}

static bool is_same(const struct factors *a, const struct factors *b)
{
    struct factors rest = *a;
    return a->nr == b->nr && take_away(&rest, b);
}

/* The products by which the index is divided: of remainders first, which are what runs fastest. */
static unsigned find_divisors(const struct flat_index *f, struct factors divisors[MAX_DIVISORS])
{
    unsigned nr = 0;
    for (unsigned quotients = 0; quotients < 2; quotients++)
        for (const struct node *n = f->form.body; n; n = node_next(f->form.body, n)) {
            struct factors by;
            if (n->kind != NODE_BINARY || strcmp(n->op, quotients ? "/" : "%") != 0 ||
                !is_index(f, n->child) || !factors_of(f, n->child->next, &by))
                continue;
            bool known = !by.nr;
            for (unsigned i = 0; i < nr; i++)
                known = known || is_same(&divisors[i], &by);
            if (!known && nr < MAX_DIVISORS)
                divisors[nr++] = by;
        }
    return nr;
}

/* Whether the kernel has one index along x, which is declared by itself and guarded by one product,
 * and nothing else along x or y. */
static bool read_flat(struct flat_index *f)
{
    const char *why;
    const struct rewrite_in *in = f->in;
    if (!kernel_form_read(&f->form, in->tree, f->function, &why) || f->form.raw)
        return false;
    for (unsigned i = 0; i < f->form.nr_axes; i++) {
        const struct form_axis *axis = &f->form.axes[i];
        if (axis->dim == 2 && axis->block_only)
            continue;
        if (axis->dim || axis->block_only || f->axis)
            return false;
        f->axis = axis;
    }
    for (const struct node *n = f->form.body; n; n = node_next(f->form.body, n))
        if (n->kind == NODE_NAME && !n->decl && pragma_find_tune(in, n->name))
            return false; /* it may go with the old launch */
    f->cond = f->axis ? extent_cond(&f->form, f->axis->var) : NULL;
    return f->cond && f->axis->var->parent->nr_children == 1 && f->cond->node->op[0] &&
           is_integer(&f->axis->var->type);
}

static bool edit_launches(struct flat_index *f)
{
    struct rewrite_out ignored = {.why = NULL};
    struct launch_lines lines;
    struct arena *arena = f->in->arena;
    if (!launch_lines_read(f->in, f->function, &lines, &ignored))
        return false;
    for (unsigned i = 0; i < lines.nr; i++) {
        struct launch_line *line = &lines.items[i];
        const char *columns = product_text(f, &f->columns, line),
                   *rows = product_text(f, &f->rows, line);
        if (!columns || !rows || strcmp(line->grid[1], "1") || strcmp(line->block[1], "1") ||
            strcmp(line->block[2], "1") || line->in_clusters)
            return false;
        line->grid[0] = arena_printf(arena, "ceil_div(%s, %d)", columns, BLOCK_X);
        line->grid[1] = arena_printf(arena, "ceil_div(%s, %d)", rows, BLOCK_Y);
        line->block[0] = arena_printf(arena, "%d", BLOCK_X);
        line->block[1] = arena_printf(arena, "%d", BLOCK_Y);
        launch_line_write(line, &f->edits);
    }
    extent_drop_tunes(f->in, f->function, &f->edits);
    extent_drop_bounds(f->in, f->function, &f->edits);
    return true;
}

/* Let the index be row * columns + column. */
static bool split_index(struct flat_index *f)
{
    const struct cuda_tree *tree = f->in->tree;
    const struct node *var = f->axis->var, *decls = var->parent, *cond = f->cond->node;
    const char *columns = product_text(f, &f->columns, NULL);
    if (!factors_of(f, f->cond->high, &f->rows) || !take_away(&f->rows, &f->columns))
        return false;
    const char *rows = product_text(f, &f->rows, NULL);
    const bool early = strchr(cond->op, '=') != NULL; /* index >= limit: return */
    const char *compare = early ? ">=" : "<";
    f->x = tree_fresh(tree, "column");
    f->y = tree_fresh(tree, "row");
    edits_replace(&f->edits, decls->start, tree_stmt_end(tree, decls),
        "%s %s = blockIdx.x * blockDim.x + threadIdx.x, %s = blockIdx.y * blockDim.y + "
        "threadIdx.y;\n%s%s %s = %s * (%s) + %s;",
        var->type.base, f->x, f->y, tree_indent(tree, decls->start), var->type.base, var->name,
        f->y, columns, f->x);
    edits_replace(&f->edits, cond->start, cond->end, "(%s %s %s %s %s %s %s)", f->y, compare, rows,
        early ? "||" : "&&", f->x, compare, columns);
    for (const struct node *n = f->form.body; n;) {
        const char *text = digit_text(f, n);
        if (text)
            edits_replace(&f->edits, n->start, n->end, "%s", text);
        n = text ? node_skip(f->form.body, n) : node_next(f->form.body, n);
    }
    return edit_launches(f);
}

/* --- rounds that end early --- */

static bool is_continue(const struct node *n)
{
    return n->kind == NODE_BLOCK ? n->nr_children == 1 && is_continue(n->child)
                                 : n->kind == NODE_CONTINUE;
}

/* Put the rest of a round into an `if`. */
static unsigned end_rounds(const struct flat_index *f, struct edits *edits)
{
    unsigned nr = 0;
    for (const struct node *n = f->function; n; n = node_next(f->function, n)) {
        const struct node *block = n->parent;
        if (n->kind != NODE_IF || n->other || !is_continue(n->body) || !block ||
            block->kind != NODE_BLOCK || !block->parent || block->parent->kind != NODE_FOR)
            continue;
        const unsigned end =
            n->body->kind == NODE_BLOCK ? n->end : tree_stmt_end(f->in->tree, n->body);
        edits_replace(edits, n->start, end, "if (!(%s)) {", tree_text(f->in->tree, n->cond));
        edits_insert(edits, block->end - 1, "}\n%s", tree_indent(f->in->tree, block->end - 1));
        nr++;
    }
    return nr;
}

/* --- one form after the other --- */

static bool has_contraction(const struct rewrite_in *in, struct node *function)
{
    const char *why;
    struct contraction *c = arena_alloc(in->arena, sizeof *c);
    return contraction_read(c, in, function, &why);
}

/* Read the text with the edits made. */
static bool reads(struct flat_index *f, unsigned nth, struct rewrite_in *plain)
{
    const struct rewrite_in *in = f->in;
    struct node *function;
    struct plan *plan = arena_alloc(in->arena, sizeof *plan);
    enum verdict verdict;
    struct err err;
    *plain = *in;
    plain->source = edits_apply(&f->edits, in->source, in->bytes, &plain->bytes);
    if (!plain->source ||
        !plan_parse(plan, in->task, in->arena, plain->source, plain->bytes, &verdict, &err))
        return false;
    plain->plan = plan;
    plain->tree =
        cuda_tree_parse(in->arena, plain->source, plain->bytes, plan->tunes, plan->nr_tunes, &err);
    return plain->tree && !plain->tree->trouble && rewrite_nth_kernel(plain, nth, &function) >= 0 &&
           has_contraction(plain, function);
}

bool plain_form_read(const struct rewrite_in *in, struct rewrite_in *plain)
{
    struct node *function;
    for (unsigned nth = 0; rewrite_nth_kernel(in, nth, &function) >= 0; nth++) {
        struct flat_index *f = arena_alloc(in->arena, sizeof *f);
        struct factors divisors[MAX_DIVISORS];
        *f = (struct flat_index){.in = in, .function = function, .edits.arena = in->arena};
        if (!function->body || !node_has(function, NODE_FOR) || node_has_macro(function) ||
            has_contraction(in, function))
            continue;
        if (end_rounds(f, &f->edits) && reads(f, nth, plain))
            return true;
        const unsigned nr = read_flat(f) ? find_divisors(f, divisors) : 0;
        for (unsigned i = 0; i < nr; i++) {
            f->edits = (struct edits){.arena = in->arena};
            f->columns = divisors[i];
            end_rounds(f, &f->edits);
            if (split_index(f) && reads(f, nth, plain))
                return true;
        }
    }
    return false;
}
