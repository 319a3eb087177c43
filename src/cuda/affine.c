/* Expanding index expressions into sums of monomials. */
#include "cuda/affine.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct context {
    const struct cuda_tree *tree;
    const struct node *function, *stop;
    unsigned depth;
};

static int by_text(const void *a, const void *b)
{
    const struct affine_symbol *x = a, *y = b;
    return strcmp(x->text, y->text);
}

static bool same_symbols(const struct monomial *a, const struct monomial *b)
{
    if (a->nr != b->nr)
        return false;
    for (unsigned i = 0; i < a->nr; i++)
        if (strcmp(a->symbols[i].text, b->symbols[i].text))
            return false;
    return true;
}

static void add_term(struct affine *out, const struct monomial *term)
{
    for (unsigned i = 0; i < out->nr; i++)
        if (same_symbols(&out->terms[i], term)) {
            out->terms[i].factor += term->factor;
            if (!out->terms[i].factor)
                out->terms[i] = out->terms[--out->nr];
            return;
        }
    if (!term->factor)
        return;
    if (out->nr == AFFINE_MAX_TERMS)
        out->known = false;
    else
        out->terms[out->nr++] = *term;
}

static struct affine constant(int64_t value)
{
    struct affine out = {.known = true};
    struct monomial term = {.factor = value};
    add_term(&out, &term);
    return out;
}

static struct affine symbol(const char *text, const struct node *decl, const struct node *node)
{
    struct affine out = {.known = true};
    struct monomial term = {.factor = 1, .nr = 1};
    term.symbols[0] = (struct affine_symbol){text, decl, node};
    add_term(&out, &term);
    return out;
}

static struct affine sum(const struct affine *a, const struct affine *b, int64_t sign)
{
    struct affine out = *a;
    out.known = a->known && b->known;
    for (unsigned i = 0; i < b->nr && out.known; i++) {
        struct monomial term = b->terms[i];
        term.factor *= sign;
        add_term(&out, &term);
    }
    return out;
}

static struct affine product(const struct affine *a, const struct affine *b)
{
    struct affine out = {.known = a->known && b->known};
    for (unsigned i = 0; i < a->nr && out.known; i++)
        for (unsigned j = 0; j < b->nr && out.known; j++) {
            struct monomial term = a->terms[i];
            if (term.nr + b->terms[j].nr > AFFINE_MAX_FACTORS) {
                out.known = false;
                break;
            }
            term.factor *= b->terms[j].factor;
            for (unsigned k = 0; k < b->terms[j].nr; k++)
                term.symbols[term.nr++] = b->terms[j].symbols[k];
            qsort(term.symbols, term.nr, sizeof(term.symbols[0]), by_text);
            add_term(&out, &term);
        }
    return out;
}

static bool is_integer(const struct node *n, const struct cuda_tree *tree, int64_t *value)
{
    if (n->kind != NODE_NUMBER || n->type.scalar == SCALAR_F32 || n->type.scalar == SCALAR_F64)
        return false;
    char *end;
    const char *text = tree_text(tree, n);
    *value = strtoll(text, &end, 0);
    return end != text;
}

static struct affine expand(struct context *c, const struct node *n)
{
    n = node_strip(n);
    int64_t value = 0;
    if (!n || ++c->depth > 200)
        return (struct affine){0};
    if (is_integer(n, c->tree, &value))
        return constant(value);
    if (n->kind == NODE_NAME) {
        if (n->decl && n->decl != c->stop && n->decl->kind == NODE_VAR &&
            !n->decl->type.is_pointer && !n->decl->type.nr_dims && !n->decl->is_shared &&
            n->decl->type.scalar >= SCALAR_BOOL && n->decl->type.scalar <= SCALAR_U64 &&
            node_is_single(c->function, n->decl))
            return expand(c, n->decl->init);
        return symbol(n->name, n->decl, NULL);
    }
    if (n->kind == NODE_MEMBER && n->child && n->child->kind == NODE_NAME && !n->child->decl)
        return symbol(arena_printf(c->tree->arena, "%s.%s", n->child->name, n->name), NULL, NULL);
    if (n->kind == NODE_BINARY && n->child && n->child->next &&
        (!strcmp(n->op, "+") || !strcmp(n->op, "-") || !strcmp(n->op, "*") ||
            (!strcmp(n->op, "<<") && is_integer(node_strip(n->child->next), c->tree, &value)))) {
        const struct affine a = expand(c, n->child);
        struct affine b = expand(c, n->child->next);
        if (!strcmp(n->op, "*"))
            return product(&a, &b);
        if (!strcmp(n->op, "<<")) {
            b = constant((int64_t)1 << (value & 31));
            return product(&a, &b);
        }
        return sum(&a, &b, *n->op == '-' ? -1 : 1);
    }
    if (n->kind == NODE_UNARY && (!strcmp(n->op, "-") || !strcmp(n->op, "+"))) {
        const struct affine zero = constant(0), a = expand(c, n->child);
        return *n->op == '-' ? sum(&zero, &a, -1) : a;
    }
    return symbol(tree_text(c->tree, n), NULL, n);
}

struct affine affine_of(const struct cuda_tree *tree, const struct node *function,
    const struct node *expression, const struct node *stop)
{
    struct context c = {tree, function, stop, 0};
    return expand(&c, expression);
}

/* Whether an opaque symbol may change with the named one, looking through single-valued locals. */
static bool opaque_depends(const struct node *n, const char *text, unsigned depth)
{
    const char *dot = strchr(text, '.');
    for (const struct node *m = n; m; m = node_next(n, m)) {
        if (dot && m->kind == NODE_MEMBER && m->child && m->child->kind == NODE_NAME &&
            !strcmp(m->name, dot + 1) && !strncmp(m->child->name, text, (size_t)(dot - text)) &&
            !m->child->name[dot - text])
            return true;
        if (m->kind != NODE_NAME)
            continue;
        if (!dot && !strcmp(m->name, text))
            return true;
        if (depth < 8 && m->decl && m->decl->kind == NODE_VAR && m->decl->init &&
            opaque_depends(m->decl->init, text, depth + 1))
            return true;
    }
    return false;
}

bool affine_depends(const struct affine *affine, const char *text)
{
    int64_t value;
    return affine_coefficient(affine, text, &value) != COEFFICIENT_ZERO;
}

enum coefficient affine_coefficient(const struct affine *affine, const char *text, int64_t *value)
{
    int64_t number = 0;
    bool symbolic = false, nonlinear = !affine->known;
    for (unsigned i = 0; i < affine->nr; i++) {
        const struct monomial *term = &affine->terms[i];
        unsigned here = 0;
        for (unsigned k = 0; k < term->nr; k++) {
            const struct affine_symbol *s = &term->symbols[k];
            if (s->node)
                nonlinear |= opaque_depends(s->node, text, 0);
            else if (!strcmp(s->text, text))
                here++;
            else if (s->decl && s->decl->kind == NODE_VAR && s->decl->init &&
                     opaque_depends(s->decl->init, text, 0))
                nonlinear = true; /* a local with several values that began at the symbol */
        }
        nonlinear |= here > 1;
        if (here == 1 && term->nr == 1)
            number += term->factor;
        else if (here == 1)
            symbolic = true;
    }
    *value = number;
    if (nonlinear)
        return COEFFICIENT_NONLINEAR;
    if (symbolic)
        return COEFFICIENT_SYMBOLIC;
    return number ? COEFFICIENT_CONSTANT : COEFFICIENT_ZERO;
}

const char *affine_coefficient_text(
    struct arena *arena, const struct affine *affine, const char *text)
{
    struct str s = {0};
    for (unsigned i = 0; i < affine->nr; i++) {
        const struct monomial *term = &affine->terms[i];
        bool here = false;
        for (unsigned k = 0; k < term->nr; k++)
            here |= !term->symbols[k].node && !strcmp(term->symbols[k].text, text);
        if (!here)
            continue;
        const int64_t size = term->factor < 0 ? -term->factor : term->factor;
        if (s.len)
            str_add(&s, term->factor < 0 ? " - " : " + ");
        else if (term->factor < 0)
            str_add(&s, "-");
        bool first = true, skipped = false;
        if (size != 1 || term->nr == 1) {
            str_addf(&s, "%lld", (long long)size);
            first = false;
        }
        for (unsigned k = 0; k < term->nr; k++) {
            const struct affine_symbol *sym = &term->symbols[k];
            if (!skipped && !sym->node && !strcmp(sym->text, text)) {
                skipped = true;
                continue;
            }
            str_addf(&s, sym->node ? "%s(%s)" : "%s%s", first ? "" : "*", sym->text);
            first = false;
        }
    }
    const char *result = arena_strdup(arena, s.len ? str_text(&s) : "0");
    str_finish(&s);
    return result;
}

bool affine_access(const struct cuda_tree *tree, const struct node *function,
    const struct node *access, const struct node **base, struct affine *index)
{
    struct context c = {tree, function, NULL, 0};
    const struct node *n = node_strip(access);
    *index = constant(0);
    if (n->kind == NODE_UNARY && n->op && !strcmp(n->op, "*")) {
        const struct node *p = node_strip(n->child);
        *base = node_base(p);
        if (!*base)
            return false;
        if (p->kind == NODE_NAME)
            return index->known;
        if (p->kind != NODE_BINARY || strcmp(p->op, "+") || node_strip(p->child)->kind != NODE_NAME)
            return false;
        *index = expand(&c, p->child->next);
        return index->known;
    }
    /* base[i][j]...: from the last subscript inwards, sizes multiply up. */
    struct affine scale = constant(1);
    const struct node *subscripts[CTYPE_MAX_DIMS];
    unsigned nr = 0;
    for (; n->kind == NODE_INDEX && nr < CTYPE_MAX_DIMS; n = node_strip(n->child))
        subscripts[nr++] = n->child->next;
    if (!nr || n->kind != NODE_NAME || !n->decl)
        return false;
    *base = n->decl;
    for (unsigned i = 0; i < nr; i++) {
        const struct affine here = expand(&c, subscripts[i]);
        const struct affine scaled = product(&here, &scale);
        *index = sum(index, &scaled, 1);
        if (i + 1 == nr)
            break;
        const unsigned dim = nr - 1 - i; /* the dimension that subscript i runs over */
        if (dim >= n->decl->type.nr_dims || n->decl->type.dims[dim] < 1)
            return false;
        const struct affine size = constant(n->decl->type.dims[dim]);
        scale = product(&scale, &size);
    }
    return index->known;
}
