/* hoist: work moves out of loops. A division by a value that is fixed in a loop becomes a product
 * with its reciprocal; a sum that is kept in memory gets a register; conditions on a counter become
 * bounds (tighten_bounds.h). The compiler may not do the first two by itself: a product with a
 * reciprocal rounds differently, and a sum can only leave memory if no other store reaches it. */
#include "base/mem.h"
#include "base/str.h"
#include "cuda/subst.h"
#include "propose/rewrite/rewrite.h"
#include "propose/rewrite/tighten_bounds.h"

#include <ctype.h>
#include <string.h>

static const double least_rel = 1e-6;

/* The start of the statement's line, or of the pragmas before it. False: the statement does not
 * begin its line, or is in no block. */
static bool place_before(const struct rewrite_in *in, const struct node *stmt, unsigned *at)
{
    if (!stmt->parent || stmt->parent->kind != NODE_BLOCK)
        return false;
    unsigned line = tree_line_start(in->tree, stmt->start);
    for (unsigned p = line; p < stmt->start; p++)
        if (!isspace((unsigned char)in->source[p]))
            return false;
    while (line) {
        unsigned above = tree_line_start(in->tree, line - 1), p = above;
        while (in->source[p] == ' ' || in->source[p] == '\t')
            p++;
        if (in->source[p] != '#')
            break;
        line = above;
    }
    *at = line;
    return true;
}

/* --- divisions --- */

struct inverse {
    const struct node *loop;
    const char *divisor, *name;
};

/* The outermost loop around n in which the expression does not change. */
static const struct node *loop_of(const struct node *n, const struct node *expression)
{
    const struct node *best = NULL;
    for (const struct node *up = n->parent; up && up->kind != NODE_FUNCTION; up = up->parent)
        if (node_is_loop(up)) {
            if (!node_invariant(expression, up, false))
                break;
            best = up;
        }
    return best;
}

/* Whether the expression is plain names, numbers, arithmetic and pure calls. These may be computed
 * where the loop does not run at all; a load might be out of range there. */
static bool is_plain(const struct node *expression)
{
    for (const struct node *n = expression; n; n = node_next(expression, n))
        if (n->kind != NODE_NAME && n->kind != NODE_NUMBER && n->kind != NODE_BINARY &&
            n->kind != NODE_PAREN && n->kind != NODE_UNARY && n->kind != NODE_CAST &&
            !(n->kind == NODE_CALL && call_is_pure(n->name)))
            return false;
    return true;
}

static const char *find_inverse(const struct rewrite_in *in, struct inverse *known, unsigned *nr,
    const struct node *loop, const struct node *divisor, struct edits *edits)
{
    const char *text = tree_text(in->tree, divisor);
    for (unsigned i = 0; i < *nr; i++)
        if (known[i].loop == loop && !strcmp(known[i].divisor, text))
            return known[i].name;
    unsigned at;
    if (*nr == 8 || !place_before(in, loop, &at))
        return NULL;
    const char *name = tree_fresh(in->tree, "inverse");
    if (*nr) {
        unsigned k = *nr + 1;
        do
            name = arena_printf(in->arena, "inverse_%u", k++);
        while (tree_word_used(in->tree, name));
    }
    known[(*nr)++] = (struct inverse){loop, text, name};
    edits_insert(edits, at, "%sconst float %s = 1.0f / %s;\n", tree_indent(in->tree, loop->start),
        name, text_operand(in->arena, text));
    return name;
}

static bool is_f32(const struct node *n)
{
    return n->type.scalar == SCALAR_F32 && !n->type.is_pointer && !n->type.nr_dims;
}

static unsigned invert(const struct rewrite_in *in, struct edits *edits)
{
    struct inverse known[8];
    unsigned nr_known = 0, nr = 0;
    for (const struct node *n = in->tree->root; n; n = node_next(in->tree->root, n)) {
        const bool divides = n->kind == NODE_BINARY && !strcmp(n->op, "/");
        const bool assigns = n->kind == NODE_ASSIGN && !strcmp(n->op, "/=");
        if ((!divides && !assigns) || n->in_macro || !is_f32(divides ? n : n->child))
            continue;
        const struct node *divisor = n->child->next;
        if (node_strip(divisor)->kind == NODE_NUMBER || !is_plain(divisor) ||
            divisor->type.scalar == SCALAR_F64 || node_has_macro(divisor))
            continue;
        const struct node *loop = loop_of(n, divisor);
        const char *name = loop ? find_inverse(in, known, &nr_known, loop, divisor, edits) : NULL;
        if (!name)
            continue;
        edits_replace(edits, n->child->end, divisor->end, " %s %s", divides ? "*" : "*=", name);
        nr++;
    }
    return nr;
}

/* --- sums in memory --- */

static bool same_text(const struct rewrite_in *in, const struct node *a, const struct node *b)
{
    return a->end - a->start == b->end - b->start &&
           !memcmp(in->source + a->start, in->source + b->start, a->end - a->start);
}

/* Whether n runs whenever the loop's body does: it is in no branch, no inner loop, no half of &&,
 * || or ?:. */
static bool unconditional(const struct node *n, const struct node *loop)
{
    for (const struct node *up = n->parent; up != loop; up = up->parent)
        if (up->kind == NODE_IF || node_is_loop(up) || up->kind == NODE_COND ||
            up->kind == NODE_SWITCH || (up->kind == NODE_BINARY && strchr("&|", up->op[0])))
            return false;
    return true;
}

/* Whether the loop touches this element of the array and no other. */
static bool alone_in_loop(const struct rewrite_in *in, const struct node *loop,
    const struct node *element, const struct node *array)
{
    for (const struct node *n = loop; n; n = node_next(loop, n)) {
        if (n->kind == NODE_CALL && !call_is_pure(n->name))
            return false;
        if (n->kind == NODE_RETURN || n->kind == NODE_BREAK)
            return false;
        if (n->kind == NODE_NAME && n->decl == array &&
            !(n->parent->kind == NODE_INDEX && n->parent->child == n &&
                same_text(in, n->parent, element)))
            return false;
    }
    return true;
}

struct sum {
    const struct node *function, *loop, *element;
};

static bool is_sum(
    const struct rewrite_in *in, const struct node *function, const struct node *n, struct sum *sum)
{
    if (n->kind != NODE_ASSIGN || !strcmp(n->op, "=") || n->in_macro)
        return false;
    const struct node *element = node_strip(n->child);
    if (element->kind != NODE_INDEX || node_strip(element->child)->kind != NODE_NAME)
        return false;
    const struct node *array = node_base(element);
    if (!array || array->kind != NODE_PARAM || !array->type.is_pointer || !array->type.base ||
        !is_plain(element->child->next))
        return false;
    const struct node *loop = NULL;
    for (const struct node *up = n->parent; up && up != function; up = up->parent)
        if (node_is_loop(up)) {
            if (!node_invariant(element->child->next, up, false) || !unconditional(n, up) ||
                !alone_in_loop(in, up, element, array))
                break;
            loop = up;
        }
    *sum = (struct sum){function, loop, element};
    return loop != NULL;
}

static bool nth_sum(const struct rewrite_in *in, unsigned nth, struct sum *sum)
{
    struct node *f;
    for (unsigned k = 0; rewrite_nth_kernel(in, k, &f) >= 0; k++) {
        if (!rewrite_no_alias(in, f))
            continue;
        const struct node *last = NULL;
        for (const struct node *n = f; n; n = node_next(f, n))
            if (is_sum(in, f, n, sum) && !(last && same_text(in, last, sum->element))) {
                last = sum->element;
                if (!nth--)
                    return true;
            }
    }
    return false;
}

static bool keep_in_register(
    const struct rewrite_in *in, const struct sum *sum, struct rewrite_out *out)
{
    unsigned at;
    if (!place_before(in, sum->loop, &at))
        return rewrite_refuse(
            in, out, "the loop at line %u has no room before it", sum->loop->line);
    const struct node *array = node_base(sum->element);
    const char *name = tree_fresh(in->tree, "total");
    const char *element = tree_text(in->tree, sum->element);
    const char *indent = tree_indent(in->tree, sum->loop->start);
    edits_insert(&out->edits, at, "%s%s %s = %s;\n", indent, array->type.base, name, element);
    for (const struct node *n = sum->loop; n; n = node_next(sum->loop, n))
        if (n->kind == NODE_INDEX && node_base(n) == array)
            edits_replace(&out->edits, n->start, n->end, "%s", name);
    edits_insert(
        &out->edits, tree_stmt_end(in->tree, sum->loop), "\n%s%s = %s;", indent, element, name);
    return rewrite_done(
        in, out, "keep %s in a register during the loop at line %u", element, sum->loop->line);
}

bool rewrite_hoist(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct sum sum;
    out->more = variant == 0;
    if (variant) {
        unsigned nr_sums = 0;
        while (nth_sum(in, nr_sums, &sum))
            nr_sums++;
        out->more = true;
        if (variant - 1 < nr_sums)
            return nth_sum(in, variant - 1, &sum) && keep_in_register(in, &sum, out);
        out->more = tighten_bounds(in, variant - 1 - nr_sums, out);
        return out->more;
    }
    if (!in->task->has_tolerance || in->task->tolerance.rel < least_rel)
        return rewrite_refuse(in, out, "the tolerance has no room for reciprocals");
    const unsigned nr = invert(in, &out->edits);
    if (!nr)
        return rewrite_refuse(in, out, "no division by a fixed value in a loop");
    return rewrite_done(in, out, "multiply by a reciprocal made before the loop, at %u places", nr);
}
