/* Makes bounds of conditions in a nest of loops. The iterations that fall away had no effect. */
#include "propose/rewrite/tighten_bounds.h"

#include "base/str.h"
#include "cuda/affine.h"
#include "cuda/subst.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NEST = 6, MAX_CONDS = 8 };

struct nest {
    const struct rewrite_in *in;
    const struct node *function;
    struct for_loop loops[MAX_NEST]; /* outermost first */
    unsigned nr_loops;
    const struct node *test;                    /* the `if` */
    const char *low[MAX_NEST], *high[MAX_NEST]; /* inclusive, exclusive; NULL where none */
    const char *rest;                           /* conditions that stay, or "" */
    unsigned nr_moved;
};

static const struct node *only_child(const struct node *body)
{
    return body->kind == NODE_BLOCK && body->nr_children == 1 ? body->child : body;
}

static bool read_loop(struct nest *n, const struct node *stmt)
{
    struct for_loop loop;
    if (n->nr_loops == MAX_NEST || !node_loop_up(stmt, &loop) || loop.step ||
        loop.var->type.scalar != SCALAR_I32 || node_has_macro(stmt))
        return false;
    n->loops[n->nr_loops++] = loop;
    return true;
}

/* for (...) for (...) { int a = ...; if (...) work } with nothing else in any body. */
static bool read_nest(struct nest *n, const struct node *stmt)
{
    n->nr_loops = 0;
    while (stmt->kind == NODE_FOR) {
        if (!read_loop(n, stmt))
            return false;
        stmt = only_child(stmt->body);
    }
    if (!n->nr_loops)
        return false;
    const struct node *s = stmt;
    if (stmt->kind == NODE_BLOCK) {
        for (s = stmt->child; s && s->kind == NODE_DECLS; s = s->next)
            if (!node_is_pure(s))
                return false;
    }
    n->test = s;
    return s && s->kind == NODE_IF && !s->other && (stmt == s || !s->next) && node_is_pure(s->cond);
}

static bool is_plain(const struct node *root)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (n->kind != NODE_NAME && n->kind != NODE_NUMBER && n->kind != NODE_BINARY &&
            n->kind != NODE_PAREN && n->kind != NODE_UNARY)
            return false;
    return true;
}

/* A side of a comparison without the counter, as text for the loop's head: locals of the nest stand
 * for their initialisers, the counter for 0. False when a name changes in the nest, or has no value
 * at the head. */
static bool constant_part(
    const struct nest *n, const struct node *side, unsigned target, const char **text)
{
    const struct node *outer = n->loops[0].node;
    struct substs substs = {.nr = 0};
    struct substs counter = {.nr = 0};
    substs_add(&counter, n->loops[target].var, "0");
    substs_add(&substs, n->loops[target].var, "0");
    if (!is_plain(side))
        return false;
    for (const struct node *m = side; m; m = node_next(side, m)) {
        if (m->kind != NODE_NAME || !m->decl)
            continue;
        bool is_counter = false;
        for (unsigned l = 0; l < n->nr_loops; l++) {
            is_counter |= m->decl == n->loops[l].var;
            if (m->decl == n->loops[l].var && l > target)
                return false;
        }
        if (is_counter)
            continue;
        if (m->decl->kind == NODE_VAR && node_within(m->decl, outer)) {
            if (!m->decl->init || !is_plain(m->decl->init) || node_assigns(outer, m->decl))
                return false;
            for (const struct node *k = m->decl->init; k; k = node_next(m->decl->init, k)) {
                bool known = k->kind != NODE_NAME || !k->decl || !node_within(k->decl, outer);
                for (unsigned l = 0; l <= target && !known; l++)
                    known = k->decl == n->loops[l].var;
                if (!known || (k->kind == NODE_NAME && k->decl && !node_within(k->decl, outer) &&
                                  node_assigns(outer, k->decl)))
                    return false;
            }
            substs_add(&substs, m->decl,
                arena_printf(
                    n->in->arena, "(%s)", subst_text(n->in->tree, m->decl->init, &counter)));
        } else if (node_assigns(outer, m->decl)) {
            return false;
        }
    }
    *text = subst_text(n->in->tree, side, &substs);
    return true;
}

/* "(x + 0 - s / 2)" reads better as "x - s / 2". */
static const char *tidy(struct arena *arena, const char *text)
{
    struct str s = {0};
    const char *p = text;
    while (*p) {
        if ((!strncmp(p, " + 0", 4) || !strncmp(p, " - 0", 4)) && !isalnum((unsigned char)p[4]) &&
            p[4] != '.' && strncmp(p + 4, " *", 2) && strncmp(p + 4, " /", 2) &&
            strncmp(p + 4, " %", 2)) {
            p += 4;
        } else if (!strncmp(p, "0 + ", 4) && (p == text || p[-1] == '(')) {
            p += 4;
        } else {
            str_add_char(&s, *p++);
        }
    }
    char *out = arena_strdup(arena, str_text(&s));
    str_finish(&s);
    const size_t len = strlen(out);
    unsigned depth = 0;
    for (size_t i = 0; i < len; i++) {
        depth += out[i] == '(';
        depth -= out[i] == ')';
        if (!depth && i + 1 < len)
            return out;
    }
    return len > 2 && out[0] == '(' ? arena_strndup(arena, out + 1, len - 2) : out;
}

static const char *difference(struct arena *arena, const char *a, const char *b, int plus)
{
    a = tidy(arena, a);
    b = tidy(arena, b);
    const char *text;
    if (!strcmp(b, "0"))
        text = a;
    else if (!strcmp(a, "0"))
        text = arena_printf(arena, "-%s", text_operand(arena, b));
    else
        text = arena_printf(arena, "%s - %s", a, text_operand(arena, b));
    return plus ? arena_printf(arena, "%s + 1", text) : text;
}

static void merge(struct arena *arena, const char **old, const char *text, const char *function)
{
    *old = *old ? arena_printf(arena, "%s(%s, %s)", function, *old, text) : text;
}

/* Make one comparison a bound of the innermost loop that it depends on. */
static bool move_condition(struct nest *n, const struct node *cond)
{
    cond = node_strip(cond);
    if (cond->kind != NODE_BINARY || !strchr("<>", cond->op[0]) || !strcmp(cond->op, "<<") ||
        !strcmp(cond->op, ">>"))
        return false;
    const struct node *a = cond->child, *b = a->next;
    if (a->type.scalar != SCALAR_I32 || b->type.scalar != SCALAR_I32)
        return false;
    const struct affine fa = affine_of(n->in->tree, n->function, a, NULL);
    const struct affine fb = affine_of(n->in->tree, n->function, b, NULL);
    int target = -1;
    for (unsigned l = 0; l < n->nr_loops; l++)
        if (affine_depends(&fa, n->loops[l].var->name) ||
            affine_depends(&fb, n->loops[l].var->name))
            target = (int)l;
    if (target < 0)
        return false;
    const char *name = n->loops[target].var->name, *ta, *tb;
    int64_t va, vb;
    const enum coefficient ka = affine_coefficient(&fa, name, &va);
    const enum coefficient kb = affine_coefficient(&fb, name, &vb);
    const int64_t by = va - vb;
    if (ka > COEFFICIENT_CONSTANT || kb > COEFFICIENT_CONSTANT || (by != 1 && by != -1) ||
        !constant_part(n, a, (unsigned)target, &ta) || !constant_part(n, b, (unsigned)target, &tb))
        return false;
    struct arena *arena = n->in->arena;
    const bool less = (cond->op[0] == '<') == (by == 1), equal = cond->op[1] == '=';
    const char *edge = by == 1 ? difference(arena, tb, ta, less == equal)
                               : difference(arena, ta, tb, less == equal);
    if (less)
        merge(arena, &n->high[target], edge, "min");
    else
        merge(arena, &n->low[target], edge, "max");
    n->nr_moved++;
    return true;
}

static void split_conditions(struct nest *n, const struct node *cond)
{
    const struct node *c = node_strip(cond);
    if (c->kind == NODE_BINARY && !strcmp(c->op, "&&")) {
        split_conditions(n, c->child);
        split_conditions(n, c->child->next);
    } else if (!move_condition(n, cond)) {
        n->rest = arena_printf(
            n->in->arena, "%s%s%s", n->rest, *n->rest ? " && " : "", tree_text(n->in->tree, cond));
    }
}

static bool is_blank(const char *source, unsigned from, unsigned to)
{
    while (from < to && isspace((unsigned char)source[from]))
        from++;
    return from >= to;
}

static void edit_nest(const struct nest *n, struct edits *edits)
{
    for (unsigned l = 0; l < n->nr_loops; l++) {
        const struct for_loop *loop = &n->loops[l];
        if (n->low[l])
            edits_replace(edits, loop->start->start, loop->start->end, "max(%s, %s)",
                tree_text(n->in->tree, loop->start), n->low[l]);
        if (n->high[l])
            edits_replace(edits, loop->bound->start, loop->bound->end, "min(%s, %s%s)",
                tree_text(n->in->tree, loop->bound), n->high[l], loop->compare[1] ? " - 1" : "");
    }
    const struct node *test = n->test, *body = test->body;
    const bool nested = body->kind == NODE_BLOCK && body->child && test->parent->kind == NODE_BLOCK;
    const struct node *last = body->child;
    while (nested && last->next)
        last = last->next;
    if (*n->rest) {
        edits_replace(edits, test->start, body->start, "if (%s) ", n->rest);
    } else if (nested && is_blank(n->in->source, body->start + 1, body->child->start) &&
               is_blank(n->in->source, tree_stmt_end(n->in->tree, last), body->end - 1)) {
        edits_replace(edits, test->start, body->child->start, "%s", "");
        edits_replace(edits, tree_stmt_end(n->in->tree, last), body->end, "%s", "");
        for (unsigned at = body->child->start; at < last->end; at++)
            if (!strncmp(n->in->source + at, "\n    ", 5))
                edits_replace(edits, at + 1, at + 5, "%s", "");
    } else {
        edits_replace(edits, test->start, body->start, "%s", "");
    }
}

bool tighten_bounds(const struct rewrite_in *in, unsigned nth, struct rewrite_out *out)
{
    struct node *f;
    for (unsigned k = 0; rewrite_nth_kernel(in, k, &f) >= 0; k++)
        for (const struct node *stmt = f; stmt; stmt = node_next(f, stmt)) {
            struct nest n = {.in = in, .function = f, .rest = ""};
            if (stmt->kind != NODE_FOR || !read_nest(&n, stmt))
                continue;
            split_conditions(&n, n.test->cond);
            if (!n.nr_moved || nth--)
                continue;
            edit_nest(&n, &out->edits);
            return rewrite_done(in, out,
                "make %u conditions in the loops at line %u part of their bounds", n.nr_moved,
                stmt->line);
        }
    return rewrite_refuse(in, out, "no conditions on a loop's counter inside the loop");
}
