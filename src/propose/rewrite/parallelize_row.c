/* Spreads the work of one thread over lanes. */
#include "propose/rewrite/parallelize_row.h"

#include "base/str.h"
#include "cuda/affine.h"
#include "cuda/subst.h"
#include "propose/rewrite/warp_scan.h"

#include <string.h>

enum { MAX_REDUCTIONS = 16, MAX_ARRAYS = 16 };

enum fold { FOLD_SUM, FOLD_PRODUCT, FOLD_CALL, FOLD_GREATER, FOLD_LESS };

struct reduction {
    struct node *var;
    enum fold fold;
    const char *call;       /* FOLD_CALL: "fmaxf" */
    struct node *companion; /* FOLD_GREATER, FOLD_LESS: the index kept with the extreme */
    unsigned nr_uses;       /* how often the changes that were understood name var */
};

struct spread {
    struct row_lanes *lanes;
    struct node *written[MAX_ARRAYS], *read[MAX_ARRAYS]; /* since the last barrier */
    unsigned nr_written, nr_read;
};

static bool refuse(struct row_lanes *lanes, const char *why, const struct node *at)
{
    lanes->why = arena_printf(lanes->in->arena, "line %u: %s", at->line, why);
    return false;
}

static const char *indent_of(const struct row_lanes *lanes, const struct node *stmt)
{
    return tree_indent(lanes->in->tree, stmt->start);
}

static bool declared_in(const struct node *decl, const struct node *root)
{
    return decl->start >= root->start && decl->end <= root->end;
}

/* --- reductions: what a loop does to variables from outside --- */

static bool same_text(const struct cuda_tree *tree, const struct node *a, const struct node *b)
{
    const char *s = tree_text(tree, node_strip(a)), *t = tree_text(tree, node_strip(b));
    for (;; s++, t++) {
        while (*s == ' ' || *s == '\n')
            s++;
        while (*t == ' ' || *t == '\n')
            t++;
        if (*s != *t)
            return false;
        if (!*s)
            return true;
    }
}

static bool is_fold_call(const char *name)
{
    static const char *const names[] = {"fmaxf", "fminf", "fmax", "fmin", "max", "min", NULL};
    return str_among(name, names);
}

static bool names_var(const struct node *n, const struct node *var)
{
    n = node_strip(n);
    return n->kind == NODE_NAME && n->decl == var;
}

/* v = v + e, v = fmaxf(v, e) and the like. */
static bool read_plain_assign(struct node *assign, struct reduction *r)
{
    struct node *value = node_strip(assign->child->next);
    if (value->kind == NODE_CALL && is_fold_call(value->name) && value->nr_children >= 2) {
        struct node *last = value->child;
        unsigned hits = 0;
        for (; last; last = last->next)
            hits += names_var(last, r->var);
        r->fold = FOLD_CALL;
        r->call = value->name;
        r->nr_uses += 2;
        return hits == 1;
    }
    if (value->kind != NODE_BINARY || (strcmp(value->op, "+") && strcmp(value->op, "*")))
        return false;
    r->fold = value->op[0] == '+' ? FOLD_SUM : FOLD_PRODUCT;
    r->nr_uses += 2;
    return names_var(value->child, r->var) || names_var(value->child->next, r->var);
}

/* `if (e > v) v = e;`, or with `v = e; index = i;` in the body. */
static bool read_extreme(const struct cuda_tree *tree, struct node *test,
    const struct for_loop *loop, struct reduction *r)
{
    struct node *cond = node_strip(test->cond);
    if (test->other || cond->kind != NODE_BINARY || !strchr("<>", cond->op[0]))
        return false;
    struct node *left = cond->child, *right = left->next;
    bool var_left = names_var(left, r->var);
    if (!var_left && !names_var(right, r->var))
        return false;
    struct node *value = var_left ? right : left;
    bool greater = (cond->op[0] == '>') != var_left;
    r->fold = greater ? FOLD_GREATER : FOLD_LESS;
    r->nr_uses += 2;
    struct node *s = test->body->kind == NODE_BLOCK ? test->body->child : test->body;
    unsigned nr = test->body->kind == NODE_BLOCK ? test->body->nr_children : 1;
    bool stored = false;
    for (; nr-- > 0; s = s->next) {
        if (s->kind != NODE_ASSIGN || strcmp(s->op, "=") != 0)
            return false;
        if (names_var(s->child, r->var)) {
            stored = same_text(tree, s->child->next, value);
            continue;
        }
        struct node *target = node_strip(s->child);
        if (r->companion || target->kind != NODE_NAME || cond->op[1] == '=' ||
            !names_var(s->child->next, loop->var))
            return false;
        r->companion = target->decl;
    }
    return stored;
}

/* One change of r->var in the loop body, by the assignment or ++ at n. */
static bool read_change(
    const struct cuda_tree *tree, struct node *n, const struct for_loop *loop, struct reduction *r)
{
    if (!node_is_statement(n))
        return false;
    if (n->kind == NODE_UNARY) {
        r->fold = FOLD_SUM;
        r->nr_uses++;
        return strcmp(n->op, "++") == 0;
    }
    if (strcmp(n->op, "+=") == 0 || strcmp(n->op, "-=") == 0 || strcmp(n->op, "*=") == 0) {
        r->fold = n->op[0] == '*' ? FOLD_PRODUCT : FOLD_SUM;
        r->nr_uses++;
        return true;
    }
    if (strcmp(n->op, "=") != 0)
        return false;
    struct node *up = node_enclosing(n, NODE_IF);
    if (up && node_within(up, loop->node) && node_uses(up->cond, r->var))
        return read_extreme(tree, up, loop, r);
    return read_plain_assign(n, r);
}

static struct reduction *find_reduction(struct reduction *list, unsigned nr, const struct node *var)
{
    for (unsigned i = 0; i < nr; i++)
        if (list[i].var == var || list[i].companion == var)
            return &list[i];
    return NULL;
}

/* All variables from outside that the loop changes, as reductions. False: one of them is none. */
static bool read_reductions(
    struct row_lanes *lanes, const struct for_loop *loop, struct reduction *list, unsigned *nr)
{
    const struct cuda_tree *tree = lanes->in->tree;
    *nr = 0;
    for (struct node *n = loop->node->body; n; n = node_next(loop->node->body, n)) {
        if (!node_is_change(n) || node_strip(n->child)->kind != NODE_NAME)
            continue;
        struct node *var = node_strip(n->child)->decl;
        if (!var)
            return refuse(lanes, "an unknown variable is changed", n);
        if (declared_in(var, loop->node))
            continue;
        struct reduction *old = find_reduction(list, *nr, var);
        if (old && old->companion == var)
            continue;
        if (*nr == MAX_REDUCTIONS)
            return refuse(lanes, "too many variables are changed in the loop", n);
        struct reduction r = {.var = var};
        if (!scalar_is_word(var->type.scalar) || var->type.nr_dims || var->type.is_pointer ||
            !read_change(tree, n, loop, &r))
            return refuse(lanes,
                arena_printf(lanes->in->arena,
                    "'%s' carries a value from one iteration to the next", var->name),
                n);
        if (old && (old->fold != r.fold || old->companion || r.companion))
            return refuse(lanes, "a variable is combined in two ways", n);
        if (old)
            old->nr_uses += r.nr_uses;
        else
            list[(*nr)++] = r;
    }
    for (unsigned i = 0; i < *nr; i++) {
        const struct node *companion = list[i].companion;
        if (node_nr_uses(loop->node, list[i].var) != list[i].nr_uses ||
            (companion && node_nr_uses(loop->node, companion) != 1) ||
            (companion && companion->type.scalar != SCALAR_I32))
            return refuse(lanes,
                arena_printf(
                    lanes->in->arena, "'%s' is read while it is being combined", list[i].var->name),
                loop->node);
    }
    return true;
}

/* --- memory in a loop --- */

static bool is_memory(const struct node *target)
{
    target = node_strip(target);
    return target->kind == NODE_INDEX || target->kind == NODE_UNARY || target->kind == NODE_MEMBER;
}

/* Whether every iteration stores to an element of its own, and loads no other iteration's. */
static bool store_is_own(struct row_lanes *lanes, const struct for_loop *loop, struct node *target)
{
    const struct cuda_tree *tree = lanes->in->tree;
    struct node *access = node_strip(target);
    const struct node *base;
    struct affine index;
    if (access->kind != NODE_INDEX ||
        !affine_access(tree, lanes->function, access, &base, &index) || !base)
        return refuse(lanes, "a store that is not understood", target);
    if (!base->type.is_pointer || base->kind != NODE_PARAM)
        return refuse(lanes, "a store to an array of the thread", target);
    int64_t step;
    enum coefficient by = affine_coefficient(&index, loop->var->name, &step);
    if (by == COEFFICIENT_ZERO || by == COEFFICIENT_NONLINEAR)
        return refuse(lanes, "iterations may store to the same element", target);
    for (struct node *n = loop->node->body; n; n = node_next(loop->node->body, n)) {
        struct for_loop inner;
        if (n->kind == NODE_FOR && node_loop(n, &inner) && affine_depends(&index, inner.var->name))
            return refuse(lanes, "iterations may store to the same element", target);
        if (n->kind == NODE_INDEX && node_base(n) == base && !same_text(tree, n, access))
            return refuse(lanes, "the loop reads what other iterations store", n);
    }
    return true;
}

static bool loop_memory_ok(struct row_lanes *lanes, const struct for_loop *loop)
{
    for (struct node *n = loop->node->body; n; n = node_next(loop->node->body, n)) {
        if (n->kind == NODE_RETURN || n->kind == NODE_BREAK || n->kind == NODE_WHILE)
            return refuse(lanes, "the loop may end early", n);
        if (n->kind == NODE_CALL && !call_is_pure(n->name) &&
            !(call_is_atomic(n->name) && node_is_statement(n)))
            return refuse(lanes, "a call with effects of its own", n);
        if (node_is_change(n) && is_memory(n->child) && !store_is_own(lanes, loop, n->child))
            return false;
    }
    return true;
}

/* --- barriers between lanes --- */

static bool listed(struct node *const *list, unsigned nr, const struct node *decl)
{
    for (unsigned i = 0; i < nr; i++)
        if (list[i] == decl)
            return true;
    return false;
}

static void note(struct node **list, unsigned *nr, struct node *decl)
{
    if (*nr < MAX_ARRAYS && !listed(list, *nr, decl))
        list[(*nr)++] = decl;
}

/* Add the arrays that root reads and writes to the lists. A written array counts as read too. */
static void note_accesses(struct spread *s, struct node *root)
{
    for (struct node *n = root; n; n = node_next(root, n)) {
        struct node *base = NULL;
        if (n->kind == NODE_INDEX || (n->kind == NODE_UNARY && !strcmp(n->op, "*")))
            base = node_base(n);
        if (!base || !(base->type.is_pointer || base->is_shared))
            continue;
        note(s->read, &s->nr_read, base);
        if (node_writes(root, base))
            note(s->written, &s->nr_written, base);
    }
}

/* Whether the lanes must wait for each other before root. */
static bool conflicts(const struct spread *s, struct node *root)
{
    if (s->nr_read == MAX_ARRAYS || s->nr_written == MAX_ARRAYS)
        return true;
    for (struct node *n = root; n; n = node_next(root, n)) {
        struct node *base = NULL;
        if (n->kind == NODE_INDEX || (n->kind == NODE_UNARY && !strcmp(n->op, "*")))
            base = node_base(n);
        if (base && listed(s->written, s->nr_written, base))
            return true;
        if (base && listed(s->read, s->nr_read, base) && node_writes(root, base))
            return true;
    }
    return false;
}

static void forget_accesses(struct spread *s)
{
    s->nr_read = s->nr_written = 0;
}

static const char *barrier(const struct row_lanes *lanes)
{
    return lanes->block ? "__syncthreads();" : "__syncwarp();";
}

static void barrier_before(struct spread *s, struct node *stmt)
{
    if (!conflicts(s, stmt))
        return;
    edits_insert(
        s->lanes->edits, stmt->start, "%s\n%s", barrier(s->lanes), indent_of(s->lanes, stmt));
    forget_accesses(s);
}

/* --- code of the reductions --- */

static const char *fold_text(struct arena *arena, const char *op, const char *a, const char *b)
{
    if (strcmp(op, "+") == 0 || strcmp(op, "*") == 0)
        return arena_printf(arena, "%s %s= %s", a, op, b);
    if (strcmp(op, "<") == 0 || strcmp(op, ">") == 0)
        return arena_printf(arena, "%s = %s %s %s ? %s : %s", a, b, op, a, b, a);
    return arena_printf(arena, "%s = %s(%s, %s)", a, op, a, b);
}

static const char *part_name(const struct row_lanes *lanes, enum scalar scalar)
{
    static const char *const suffixes[] = {[SCALAR_I32] = "_int",
        [SCALAR_U32] = "_uint",
        [SCALAR_I64] = "_long",
        [SCALAR_U64] = "_ulong",
        [SCALAR_F64] = "_double",
        [SCALAR_F32] = ""};
    return arena_printf(lanes->in->arena, "%s%s", lanes->part, suffixes[scalar]);
}

const char *row_lanes_shared_decls(const struct row_lanes *lanes, const char *indent)
{
    static const struct {
        enum scalar scalar;
        const char *name;
    } types[] = {{SCALAR_F32, "float"}, {SCALAR_F64, "double"}, {SCALAR_I32, "int"},
        {SCALAR_U32, "unsigned"}, {SCALAR_I64, "long long"}, {SCALAR_U64, "unsigned long long"}};
    const char *text = "";
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
        if (lanes->shared_types & 1u << types[i].scalar)
            text = arena_printf(lanes->in->arena, "%s__shared__ %s %s[32];\n%s", text,
                types[i].name, part_name(lanes, types[i].scalar), indent);
    return text;
}

const char *row_lanes_part(struct row_lanes *lanes, enum scalar scalar)
{
    lanes->shared_types |= 1u << scalar;
    return part_name(lanes, scalar);
}

const char *row_lanes_reduction(struct row_lanes *lanes, const char *var, enum scalar scalar,
    const char *op, const char *indent)
{
    struct arena *arena = lanes->in->arena;
    const char *shuffled = arena_printf(arena, "__shfl_xor_sync(0xffffffff, %s, offset)", var);
    const char *text;
    if (op[0] == '<' || op[0] == '>')
        text = arena_printf(arena,
            "for (int offset = 16; offset > 0; offset /= 2) {\n%s    auto other = %s;\n%s    "
            "%s;\n%s}",
            indent, shuffled, indent, fold_text(arena, op, var, "other"), indent);
    else
        text = arena_printf(arena, "for (int offset = 16; offset > 0; offset /= 2)\n%s    %s;",
            indent, fold_text(arena, op, var, shuffled));
    if (!lanes->block)
        return text;
    lanes->shared_types |= 1u << scalar;
    /* each warp folds the parts of all warps; one that is there twice changes no extreme */
    const char *part = part_name(lanes, scalar);
    const char *none = !strcmp(op, "+")   ? "0"
                       : !strcmp(op, "*") ? "1"
                                          : arena_printf(arena, "%s[0]", part);
    return arena_printf(arena,
        "%s\n%sif (threadIdx.x %% 32 == 0)\n%s    %s[threadIdx.x / 32] = %s;\n%s__syncthreads();\n"
        "%s%s = threadIdx.x %% 32 < blockDim.x / 32 ? %s[threadIdx.x %% 32] : %s;\n%s%s\n"
        "%s__syncthreads();",
        text, indent, indent, part, var, indent, indent, var, part, none, indent, text, indent);
}

static const char *pair_reduction(
    struct row_lanes *lanes, const struct reduction *r, const char *indent)
{
    struct arena *arena = lanes->in->arena;
    const char *v = r->var->name, *c = r->companion->name;
    const char *op = r->fold == FOLD_GREATER ? ">" : "<";
    const char *take = arena_printf(arena,
        "if (other %s %s || (other == %s && other_%s < %s)) {\n%s        %s = other;\n"
        "%s        %s = other_%s;\n%s    }",
        op, v, v, c, c, indent, v, indent, c, c, indent);
    const char *text = arena_printf(arena,
        "for (int offset = 16; offset > 0; offset /= 2) {\n"
        "%s    %s other = __shfl_xor_sync(0xffffffff, %s, offset);\n"
        "%s    int other_%s = __shfl_xor_sync(0xffffffff, %s, offset);\n"
        "%s    %s\n%s}",
        indent, r->var->type.base, v, indent, c, c, indent, take, indent);
    if (!lanes->block)
        return text;
    lanes->shared_types |= 1u << r->var->type.scalar | 1u << SCALAR_I32;
    const char *part = part_name(lanes, r->var->type.scalar);
    const char *index = part_name(lanes, SCALAR_I32);
    if (r->var->type.scalar == SCALAR_I32)
        return NULL;
    return arena_printf(arena,
        "%s\n%sif (threadIdx.x %% 32 == 0) {\n%s    %s[threadIdx.x / 32] = %s;\n"
        "%s    %s[threadIdx.x / 32] = %s;\n%s}\n%s__syncthreads();\n%s%s = %s[0];\n%s%s = %s[0];\n"
        "%sfor (int warp = 1; warp < blockDim.x / 32; warp++) {\n%s    %s other = %s[warp];\n"
        "%s    int other_%s = %s[warp];\n%s    %s\n%s}\n%s__syncthreads();",
        text, indent, indent, part, v, indent, index, c, indent, indent, indent, v, part, indent, c,
        index, indent, indent, r->var->type.base, part, indent, c, index, indent, take, indent,
        indent);
}

/* Whether a sum starts at 0, or a product at 1: by its initialiser, and untouched before the loop.
 */
static bool starts_neutral(
    const struct row_lanes *lanes, const struct reduction *r, const struct node *loop)
{
    const struct node *var = r->var;
    if (var->kind != NODE_VAR || !var->init)
        return false;
    const char *init = tree_text(lanes->in->tree, node_strip(var->init));
    const char neutral = r->fold == FOLD_PRODUCT ? '1' : '0';
    if (init[0] != neutral || strspn(init + 1, ".0f") != strlen(init + 1))
        return false;
    for (const struct node *n = lanes->function; n; n = node_next(lanes->function, n))
        if (n->kind == NODE_NAME && n->decl == var && n->start < loop->start)
            return false;
    /* in a loop around, the variable would keep the value of the round before */
    for (const struct node *up = loop->parent; up && up != lanes->function; up = up->parent)
        if (node_is_loop(up) && !declared_in(var, up))
            return false;
    return true;
}

static bool add_reduction(struct row_lanes *lanes, const struct reduction *r, struct node *loop)
{
    struct arena *arena = lanes->in->arena;
    const char *indent = indent_of(lanes, loop), *name = r->var->name;
    unsigned end = tree_stmt_end(lanes->in->tree, loop);
    if (r->companion) {
        const char *text = pair_reduction(lanes, r, indent);
        if (!text)
            return refuse(lanes, "an index is kept with an integer extreme", loop);
        edits_insert(lanes->edits, end, "\n%s%s", indent, text);
        return true;
    }
    static const char *const ops[] = {
        [FOLD_SUM] = "+", [FOLD_PRODUCT] = "*", [FOLD_GREATER] = ">", [FOLD_LESS] = "<"};
    const char *op = r->fold == FOLD_CALL ? r->call : ops[r->fold];
    const char *text = row_lanes_reduction(lanes, name, r->var->type.scalar, op, indent);
    bool save = (r->fold == FOLD_SUM || r->fold == FOLD_PRODUCT) && !starts_neutral(lanes, r, loop);
    if (save) {
        const char *before = tree_fresh(lanes->in->tree, arena_printf(arena, "%s_before", name));
        edits_insert(lanes->edits, loop->start, "%s %s = %s;\n%s%s = %s;\n%s", r->var->type.base,
            before, name, indent, name, op[0] == '+' ? "0" : "1", indent);
        edits_insert(
            lanes->edits, end, "\n%s%s\n%s%s %s= %s;", indent, text, indent, name, op, before);
    } else {
        edits_insert(lanes->edits, end, "\n%s%s", indent, text);
    }
    return true;
}

/* --- statements --- */

static bool spread_stmts(struct spread *s, struct node *const *stmts, unsigned nr);

static void stride_loop(struct row_lanes *lanes, const struct for_loop *loop)
{
    struct arena *arena = lanes->in->arena;
    const char *start = tree_text(lanes->in->tree, loop->start);
    if (strcmp(start, "0") == 0)
        edits_replace(lanes->edits, loop->start->start, loop->start->end, "%s", lanes->lane);
    else
        edits_replace(lanes->edits, loop->start->start, loop->start->end, "%s + %s",
            text_operand(arena, start), lanes->lane);
    edits_replace(lanes->edits, loop->node->step->start, loop->node->step->end, "%s += %s",
        loop->var->name, lanes->count);
    lanes->nr_loops++;
}

/* --- nests of loops --- */

/* The loop that is the whole body of another. */
static bool only_loop_in(const struct for_loop *outer, struct for_loop *inner)
{
    struct node *body = outer->node->body;
    if (body->kind == NODE_BLOCK) {
        if (body->nr_children != 1)
            return false;
        body = body->child;
    }
    return body->kind == NODE_FOR && node_loop_up(body, inner) && !inner->step;
}

static bool counts_from_zero(const struct row_lanes *lanes, const struct for_loop *loop)
{
    return loop->declares && loop->var->type.scalar == SCALAR_I32 &&
           loop->bound->type.scalar == SCALAR_I32 && strcmp(loop->compare, "<") == 0 &&
           strcmp(tree_text(lanes->in->tree, loop->start), "0") == 0;
}

/* Whether some load of the body has neighbours where the counter's neighbours are. */
static bool runs_along(
    const struct row_lanes *lanes, const struct node *body, const struct node *counter)
{
    for (struct node *n = (struct node *)body; n; n = node_next(body, n)) {
        const struct node *base;
        struct affine index;
        int64_t step = 0;
        if (n->kind == NODE_INDEX &&
            affine_access(lanes->in->tree, lanes->function, n, &base, &index) &&
            affine_coefficient(&index, counter->name, &step) == COEFFICIENT_CONSTANT && step == 1)
            return true;
    }
    return false;
}

/* Two loops of which the inner one runs along memory, and whose iterations only combine into
 * reductions: the lanes share the iterations of both, in the order of memory. False: the nest is of
 * another kind, and nothing is edited. */
static bool flatten_nest(struct row_lanes *lanes, const struct for_loop *outer)
{
    const struct cuda_tree *tree = lanes->in->tree;
    struct arena *arena = lanes->in->arena;
    struct for_loop inner;
    if (!only_loop_in(outer, &inner) || !counts_from_zero(lanes, outer) ||
        !counts_from_zero(lanes, &inner) || !node_is_pure(inner.bound) ||
        !node_invariant(inner.bound, outer->node, true) || node_uses(inner.bound, outer->var) ||
        !runs_along(lanes, inner.node->body, inner.var) ||
        runs_along(lanes, inner.node->body, outer->var))
        return false;
    for (const struct node *n = inner.node->body; n; n = node_next(inner.node->body, n))
        if ((node_is_change(n) && is_memory(n->child)) ||
            (n->kind == NODE_INDEX && n->child->next->type.scalar != SCALAR_I32))
            return false;
    const char *both = tree_fresh(tree, "both"), *indent = indent_of(lanes, outer->node);
    const char *long_ = text_operand(arena, tree_text(tree, inner.bound));
    const bool block = inner.node->body->kind == NODE_BLOCK;
    const unsigned body = inner.node->body->start, end = tree_stmt_end(tree, inner.node->body);
    edits_replace(lanes->edits, outer->node->start, block ? body + 1 : body,
        "for (int %s = %s; %s < %s * %s; %s += %s) {\n%s    int %s = %s / %s, %s = %s %% %s;%s%s",
        both, lanes->lane, both, text_operand(arena, tree_text(tree, outer->bound)), long_, both,
        lanes->count, indent, outer->var->name, both, long_, inner.var->name, both, long_,
        block ? "" : "\n    ", block ? "" : indent);
    edits_replace(lanes->edits, end, outer->node->end > end ? outer->node->end : end, "%s%s%s",
        block ? "" : "\n", block ? "" : indent, block ? "" : "}");
    lanes->nr_loops++;
    return true;
}

static bool is_inserted_statement_place(const struct node *stmt)
{
    return stmt->parent && stmt->parent->kind == NODE_BLOCK;
}

static bool try_parallel(struct spread *s, struct node *stmt, bool *done)
{
    struct row_lanes *lanes = s->lanes;
    struct for_loop loop;
    struct reduction list[MAX_REDUCTIONS];
    unsigned nr;
    *done = false;
    if (!node_loop_up(stmt, &loop) || loop.step)
        return refuse(lanes, "a loop that does not count up by one", stmt);
    if (!node_is_pure(loop.start) || !node_is_pure(loop.bound) ||
        !node_invariant(loop.bound, stmt, true))
        return refuse(lanes, "the loop's bound changes", stmt);
    if (!read_reductions(lanes, &loop, list, &nr) || !loop_memory_ok(lanes, &loop))
        return false;
    if (!is_inserted_statement_place(stmt))
        return refuse(lanes, "a loop without braces around it", stmt);
    barrier_before(s, stmt);
    note_accesses(s, stmt);
    if (!flatten_nest(lanes, &loop))
        stride_loop(lanes, &loop);
    for (unsigned i = 0; i < nr; i++)
        if (!add_reduction(lanes, &list[i], stmt))
            return false;
    if (nr)
        forget_accesses(s);
    *done = true;
    return true;
}

/* A loop that all lanes go through together, and whose body is spread. */
static bool spread_serial_loop(struct spread *s, struct node *stmt)
{
    struct row_lanes *lanes = s->lanes;
    const char *why = lanes->why;
    unsigned before = lanes->nr_loops;
    struct node *list[64];
    unsigned nr = 0;
    if (stmt->body->kind != NODE_BLOCK || stmt->kind != NODE_FOR || node_has(stmt, NODE_BREAK) ||
        node_has(stmt, NODE_CONTINUE))
        return false;
    for (struct node *n = stmt->body->child; n; n = n->next) {
        if (nr == 64)
            return false;
        list[nr++] = n;
    }
    barrier_before(s, stmt);
    if (!spread_stmts(s, list, nr) || lanes->nr_loops == before) {
        lanes->why = why;
        return false;
    }
    edits_insert(lanes->edits,
        list[nr - 1]->kind == NODE_BLOCK ? list[nr - 1]->end
                                         : tree_stmt_end(lanes->in->tree, list[nr - 1]),
        "\n%s%s", indent_of(lanes, list[nr - 1]), barrier(lanes));
    forget_accesses(s);
    return true;
}

/* A running sum. The barrier before the loop is inserted before the loop is replaced. */
static bool try_scan(struct spread *s, struct node *stmt)
{
    struct edits *edits = s->lanes->edits;
    const unsigned nr_edits = edits->nr;
    const struct spread before = *s;
    barrier_before(s, stmt);
    if (!warp_scan_loop(s->lanes, stmt)) {
        *s = before;
        edits->nr = nr_edits;
        return false;
    }
    note_accesses(s, stmt);
    return true;
}

static bool has_store(const struct node *root)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if ((node_is_change(n) && is_memory(n->child)) ||
            (n->kind == NODE_CALL && call_is_atomic(n->name)))
            return true;
    return false;
}

static bool changes_outer_local(const struct node *root)
{
    for (const struct node *n = root; n; n = node_next(root, n)) {
        if (!node_is_change(n) || node_strip(n->child)->kind != NODE_NAME)
            continue;
        const struct node *var = node_strip(n->child)->decl;
        if (!var || !declared_in(var, root))
            return true;
    }
    return false;
}

/* A statement without loops to spread. */
static bool spread_plain(struct spread *s, struct node *stmt)
{
    struct row_lanes *lanes = s->lanes;
    for (struct node *n = stmt; n; n = node_next(stmt, n))
        if (n->kind == NODE_RETURN || n->kind == NODE_BREAK || n->kind == NODE_CONTINUE ||
            (n->kind == NODE_CALL && !call_is_pure(n->name) && !call_is_atomic(n->name)))
            return refuse(lanes, "a statement that is not understood", n);
    barrier_before(s, stmt);
    note_accesses(s, stmt);
    if (!has_store(stmt))
        return true;
    if (changes_outer_local(stmt) || stmt->kind == NODE_DECLS)
        return refuse(lanes, "a statement stores and changes a variable at once", stmt);
    edits_insert(
        lanes->edits, stmt->start, "if (%s == 0)\n%s    ", lanes->lane, indent_of(lanes, stmt));
    return true;
}

static bool spread_if(struct spread *s, struct node *stmt)
{
    struct node *list[64];
    struct node *parts[2] = {stmt->body, stmt->other};
    if (!node_is_pure(stmt->cond))
        return refuse(s->lanes, "a condition with effects", stmt);
    barrier_before(s, stmt);
    for (unsigned i = 0; i < 2; i++) {
        unsigned nr = 0;
        if (!parts[i])
            continue;
        if (parts[i]->kind != NODE_BLOCK)
            return refuse(s->lanes, "a loop without braces around it", stmt);
        for (struct node *n = parts[i]->child; n && nr < 64; n = n->next)
            list[nr++] = n;
        if (!spread_stmts(s, list, nr))
            return false;
    }
    return true;
}

static bool spread_stmts(struct spread *s, struct node *const *stmts, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++) {
        struct node *stmt = stmts[i];
        bool done = false;
        if (stmt->kind == NODE_FOR && try_parallel(s, stmt, &done) && done)
            continue;
        if (stmt->kind == NODE_FOR && try_scan(s, stmt))
            continue;
        if (stmt->kind == NODE_FOR) {
            if (has_store(stmt) || node_has(stmt->body, NODE_FOR)) {
                if (!spread_serial_loop(s, stmt))
                    return false;
                continue;
            }
        } else if (stmt->kind == NODE_IF && node_has(stmt, NODE_FOR)) {
            if (!spread_if(s, stmt))
                return false;
            continue;
        }
        if (!spread_plain(s, stmt))
            return false;
    }
    return true;
}

bool parallelize_row(struct row_lanes *lanes, struct node *const *stmts, unsigned nr)
{
    struct spread s = {.lanes = lanes};
    if (!spread_stmts(&s, stmts, nr))
        return false;
    if (lanes->nr_loops == 0 && !lanes->why)
        lanes->why = "no loop to spread over lanes";
    return lanes->nr_loops > 0;
}
