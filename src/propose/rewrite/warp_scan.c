/* Makes a scan by shuffles of a loop that adds to a sum and looks at it in every iteration. Each
 * round takes as many iterations as there are lanes. */
#include "propose/rewrite/warp_scan.h"

#include "base/str.h"
#include "cuda/affine.h"
#include "cuda/subst.h"

#include <string.h>

struct scan {
    struct row_lanes *lanes;
    struct for_loop loop;
    struct node *sum;       /* the variable */
    const struct node *add; /* the statement sum += own */
    const char *own;        /* what an iteration adds, in terms of the loop's variable */
    bool looks_before;      /* the sum is read before the iteration adds to it */
    const char *total, *value, *inside, *first; /* names */
};

static bool is_integer(enum scalar s)
{
    return scalar_is_word(s) && s != SCALAR_F32 && s != SCALAR_F64;
}

static bool find_add(struct scan *s)
{
    const struct node *body = s->loop.node->body;
    for (const struct node *n = body->child; n; n = n->next) {
        if (n->kind != NODE_ASSIGN || strcmp(n->op, "+=") ||
            node_strip(n->child)->kind != NODE_NAME)
            continue;
        struct node *var = node_strip(n->child)->decl;
        if (!var || node_within(var, s->loop.node))
            continue;
        if (s->add)
            return false;
        s->add = n;
        s->sum = var;
    }
    return s->add && s->sum->kind == NODE_VAR && !s->sum->type.nr_dims && s->sum->type.base &&
           scalar_is_word(s->sum->type.scalar);
}

/* Whether the store is to an element of the iteration's own, and the loop touches no other element
 * of that array. */
static bool stores_own(const struct scan *s, const struct node *store)
{
    const struct cuda_tree *tree = s->lanes->in->tree;
    const struct node *target = node_strip(store->child), *base;
    struct affine index;
    int64_t step;
    if (target->kind != NODE_INDEX ||
        !affine_access(tree, s->lanes->function, target, &base, &index) ||
        base->kind != NODE_PARAM || !base->type.is_pointer ||
        affine_coefficient(&index, s->loop.var->name, &step) != COEFFICIENT_CONSTANT)
        return false;
    const char *text = tree_text(tree, target);
    for (const struct node *n = s->loop.node; n; n = node_next(s->loop.node, n))
        if (n->kind == NODE_NAME && n->decl == base &&
            (n->parent->kind != NODE_INDEX || strcmp(tree_text(tree, n->parent), text)))
            return false;
    return true;
}

static bool body_is_simple(const struct scan *s)
{
    const struct node *body = s->loop.node->body;
    bool stored = false;
    for (const struct node *n = node_next(body, body); n; n = node_next(body, n)) {
        if (n->kind >= NODE_FOR && n->kind <= NODE_CONTINUE && n->kind != NODE_IF)
            return false;
        if ((n->kind == NODE_CALL && !call_is_pure(n->name)) || n->in_macro)
            return false;
        if (n->kind == NODE_DECLS && (stored || n->nr_children != 1 || n->parent != body))
            return false; /* declarations come first, so that they load nothing stored here */
        if (!node_is_change(n) || n == s->add)
            continue;
        if (node_strip(n->child)->kind == NODE_NAME || !stores_own(s, n))
            return false;
        stored = true;
    }
    return true;
}

/* What the iteration adds, as an expression that holds before anything of the iteration has run. */
static bool read_own(struct scan *s)
{
    const struct cuda_tree *tree = s->lanes->in->tree;
    const struct node *value = s->add->child->next;
    struct substs substs = {.nr = 0};
    if (!node_is_pure(value) || node_uses(value, s->sum))
        return false;
    for (const struct node *n = value; n; n = node_next(value, n)) {
        if (n->kind == NODE_INDEX && node_writes(s->loop.node->body, node_base(n)))
            return false; /* the iteration may store it first */
        if (n->kind != NODE_NAME || !n->decl || n->decl == s->loop.var ||
            !node_within(n->decl, s->loop.node))
            continue;
        const struct node *init = n->decl->init;
        if (!init || !node_is_pure(init) || node_uses(init, s->sum))
            return false;
        for (const struct node *m = init; m; m = node_next(init, m))
            if (m->kind == NODE_NAME && m->decl && m->decl != s->loop.var &&
                node_within(m->decl, s->loop.node))
                return false;
        substs_add(
            &substs, n->decl, arena_printf(s->lanes->in->arena, "(%s)", tree_text(tree, init)));
    }
    s->own = subst_text(tree, value, &substs);
    return !substs_full(&substs);
}

static bool read_scan(struct scan *s, struct node *stmt)
{
    if (!node_loop_up(stmt, &s->loop) || s->loop.step || stmt->body->kind != NODE_BLOCK)
        return false;
    if (!node_is_pure(s->loop.start) || !node_invariant(s->loop.bound, stmt, true))
        return false;
    if (!find_add(s) || !body_is_simple(s) || !read_own(s))
        return false;
    for (const struct node *n = stmt->body; n; n = node_next(stmt->body, n))
        if (n->kind == NODE_NAME && n->decl == s->sum && n->start < s->add->start)
            s->looks_before = true;
    return !s->looks_before ||
           is_integer(s->sum->type.scalar); /* a difference: exact in integers */
}

static void add_body(const struct scan *s, struct str *code, const char *in8)
{
    struct arena *arena = s->lanes->in->arena;
    const struct cuda_tree *tree = s->lanes->in->tree;
    for (const struct node *n = s->loop.node->body->child; n; n = n->next) {
        if (n == s->add)
            continue;
        struct substs substs = {.nr = 0};
        substs_add(&substs, s->sum,
            n->start < s->add->start
                ? arena_printf(arena, "(%s + %s - own)", s->sum->name, s->value)
                : arena_printf(arena, "(%s + %s)", s->sum->name, s->value));
        str_addf(code, "%s%s\n", in8, subst_statement(tree, n, &substs, strlen(in8)));
    }
}

/* The scan over a warp; with several warps, also what the warps before add. */
static void add_shuffles(const struct scan *s, struct str *code, const char *in4)
{
    const char *base = s->sum->type.base, *v = s->value;
    str_addf(code, "%s%s %s = own;\n%sfor (int offset = 1; offset < 32; offset *= 2) {\n", in4,
        base, v, in4);
    str_addf(code, "%s    %s other = __shfl_up_sync(0xffffffff, %s, offset);\n", in4, base, v);
    str_addf(code, "%s    if (threadIdx.x %% 32 >= offset)\n%s        %s += other;\n%s}\n", in4,
        in4, v, in4);
    if (!s->lanes->block) {
        str_addf(code, "%s%s %s = __shfl_sync(0xffffffff, %s, 31);\n", in4, base, s->total, v);
        return;
    }
    const char *part = row_lanes_part(s->lanes, s->sum->type.scalar);
    str_addf(code, "%sif (threadIdx.x %% 32 == 31)\n%s    %s[threadIdx.x / 32] = %s;\n", in4, in4,
        part, v);
    str_addf(code, "%s__syncthreads();\n%s%s %s = 0;\n", in4, in4, base, s->total);
    str_addf(code, "%sfor (int warp = 0; warp < blockDim.x / 32; warp++) {\n", in4);
    str_addf(
        code, "%s    if (warp < threadIdx.x / 32)\n%s        %s += %s[warp];\n", in4, in4, v, part);
    str_addf(
        code, "%s    %s += %s[warp];\n%s}\n%s__syncthreads();\n", in4, s->total, part, in4, in4);
}

bool warp_scan_loop(struct row_lanes *lanes, struct node *stmt)
{
    struct scan s = {.lanes = lanes};
    const struct cuda_tree *tree = lanes->in->tree;
    struct arena *arena = lanes->in->arena;
    if (!read_scan(&s, stmt) || node_uses_name(stmt, "own") || node_uses_name(stmt, "other"))
        return false;
    s.total = tree_fresh(tree, "added");
    s.value = tree_fresh(tree, "running");
    s.inside = tree_fresh(tree, "inside");
    s.first = tree_fresh(tree, "first");
    const char *indent = tree_indent(tree, stmt->start);
    const char *in4 = arena_printf(arena, "%s    ", indent);
    const char *in8 = arena_printf(arena, "%s        ", indent);
    const char *bound = tree_text(tree, s.loop.bound), *i = s.loop.var->name;
    const char *type = s.loop.var->type.base;
    struct str code = {0};
    str_addf(&code, "for (%s %s = %s; %s %s %s; %s += %s) {\n", type, s.first,
        tree_text(tree, s.loop.start), s.first, s.loop.compare, bound, s.first, lanes->count);
    str_addf(&code, "%s%s %s = %s + %s;\n", in4, type, i, s.first, lanes->lane);
    str_addf(&code, "%sbool %s = %s %s %s;\n", in4, s.inside, i, s.loop.compare, bound);
    str_addf(&code, "%s%s own = %s ? %s : 0;\n", in4, s.sum->type.base, s.inside, s.own);
    add_shuffles(&s, &code, in4);
    str_addf(&code, "%sif (%s) {\n", in4, s.inside);
    add_body(&s, &code, in8);
    str_addf(&code, "%s}\n%s%s += %s;\n%s}", in4, in4, s.sum->name, s.total, indent);
    edits_replace(lanes->edits, stmt->start, tree_stmt_end(tree, stmt), "%s", str_text(&code));
    str_finish(&code);
    lanes->nr_loops++;
    return true;
}
