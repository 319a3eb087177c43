/* Recognises contractions. */
#include "propose/rewrite/contraction.h"

#include "cuda/affine.h"

#include <string.h>

static bool say(const char **why, const char *text)
{
    *why = text;
    return false;
}

enum { ALONG_ANY = ALONG_X | ALONG_Y | ALONG_K | ALONG_OUTER };

static unsigned mask_of(const struct contraction *c, const struct node *n)
{
    return deps_of(&c->deps, n) & (ALONG_X | ALONG_Y | ALONG_K);
}

/* The usual axes: threads along x make columns, threads along y rows; see turn. */
static bool read_thread_axes(struct contraction *c, const char **why)
{
    c->x = form_axis_along(&c->form, 0);
    c->y = form_axis_along(&c->form, 1);
    if (!c->x || !c->y || c->x->block_only || c->y->block_only)
        return say(why, "there is not one index along thread x and one along y");
    for (unsigned i = 0; i < c->form.nr_axes; i++)
        if (!c->form.axes[i].block_only && &c->form.axes[i] != c->x && &c->form.axes[i] != c->y)
            return say(why, "threads along a third axis");
    return true;
}

/* Other axes: threads along x make columns, the nth index of blocks counts rows, and whatever else
 * there is has one value a block. */
static bool read_block_axes(struct contraction *c, unsigned nth, const char **why)
{
    c->x = form_axis_along(&c->form, 0);
    c->y = NULL;
    for (unsigned i = 0; i < c->form.nr_axes; i++)
        if (c->form.axes[i].block_only && nth-- == 0)
            c->y = &c->form.axes[i];
    if (!c->x || c->x->block_only || !c->y || form_axis_along(&c->form, c->y->dim) != c->y)
        return say(why, "there is not one index along thread x and one of blocks");
    for (unsigned i = 0; i < c->form.nr_axes; i++)
        if (form_axis_along(&c->form, c->form.axes[i].dim) != &c->form.axes[i])
            return say(why, "two indices along one axis");
    if (!extent_cond(&c->form, c->y->var))
        c->rows = tree_fresh(c->in->tree, arena_printf(c->in->arena, "nr_%s", c->y->var->name));
    return true;
}

/* The statement of that kind with which a body ends, and before which there are declarations alone;
 * NULL: the body is another. */
static struct node *only_statement(struct node *body, enum node_kind kind)
{
    struct node *s = body->kind == NODE_BLOCK ? body->child : body;
    unsigned nr = body->kind == NODE_BLOCK ? body->nr_children : 1;
    for (; nr > 1 && s->kind == NODE_DECLS; nr--)
        s = s->next;
    return nr == 1 && s->kind == kind ? s : NULL;
}

/* Choose the loop over k: the first one whose counter the condition in the body does not depend on,
 * since its tiles have no edges; the innermost one where there is none. */
static unsigned choose_k(const struct contraction *c, const struct for_loop *loops, unsigned nr)
{
    struct deps deps = {.guard = c->form.guard};
    for (unsigned i = 0; i < nr; i++)
        deps_seed(&deps, loops[i].var, 1u << i);
    deps_solve(&deps, c->form.function);
    for (unsigned i = 0; c->cond && i < nr; i++)
        if (!(deps_of(&deps, c->cond) & 1u << i))
            return i;
    return nr - 1;
}

/* Find the loops of the nest, and which of them is over k. */
static bool read_nest(struct contraction *c, const char **why)
{
    struct for_loop loops[CONTRACTION_MAX_OUTER + 1];
    unsigned nr = 0;
    for (struct node *n = c->nest, *when; n;) {
        if (nr > CONTRACTION_MAX_OUTER)
            return say(why, "too many loops in each other");
        if (!node_loop_up(n, &loops[nr]) || loops[nr].step || strcmp(loops[nr].compare, "<") != 0)
            return say(why, "the loop does not count up by one");
        nr++;
        when = c->cond ? NULL : only_statement(n->body, NODE_IF);
        n = only_statement(n->body, NODE_FOR);
        if (when && !when->other && (n = only_statement(when->body, NODE_FOR)))
            c->cond = when->cond; /* around a loop as good as in it */
    }
    c->body = loops[nr - 1].node->body;
    if (!node_innermost(loops[nr - 1].node))
        return say(why, "several loops, or other statements, inside the loop");
    struct node *inner = nr > 1 && !c->cond ? only_statement(c->body, NODE_IF) : NULL;
    if (inner && !inner->other) {
        c->cond = inner->cond;
        c->body = inner->body;
    }
    const unsigned k = choose_k(c, loops, nr);
    c->loop = loops[k];
    for (unsigned i = 0; i < nr; i++)
        if (i != k)
            c->outer[c->nr_outer++] = loops[i];
    return true;
}

static bool find_loop(struct contraction *c, const char **why)
{
    unsigned nr = 0;
    for (unsigned i = 0; i < c->form.nr_work; i++) {
        struct node *s = c->form.work[i];
        if (s->kind == NODE_FOR) {
            nr++;
            c->loop_at = i;
            c->nest = s;
        } else if (node_has(s, NODE_FOR) || node_has(s, NODE_WHILE) || node_has(s, NODE_RETURN)) {
            return say(why, "loops within other statements");
        } else if (!nr && s->kind != NODE_DECLS) {
            return say(why, "statements other than declarations before the loop");
        }
    }
    if (nr != 1)
        return say(why, "not exactly one loop");
    return read_nest(c, why);
}

static void solve(struct contraction *c)
{
    c->deps.guard = c->form.guard;
    deps_seed(&c->deps, c->x->var, ALONG_X);
    deps_seed(&c->deps, c->y->var, ALONG_Y);
    deps_seed(&c->deps, c->loop.var, ALONG_K);
    for (unsigned i = 0; i < c->nr_outer; i++)
        deps_seed(&c->deps, c->outer[i].var, ALONG_OUTER);
    deps_solve(&c->deps, c->form.function);
}

/* Whether an initialiser only loads what the kernel does not write, such as a bias. */
static bool init_is_plain(const struct contraction *c, const struct node *init)
{
    for (const struct node *n = init; n; n = node_next(init, n)) {
        const struct node *base = n->kind == NODE_INDEX ? node_base(n) : NULL;
        if (n->kind == NODE_INDEX && (!base || node_writes(c->form.function, base)))
            return false;
    }
    return node_is_pure(init);
}

static bool is_counter(const struct contraction *c, const struct node *var)
{
    for (unsigned i = 0; i < c->nr_outer; i++)
        if (c->outer[i].var == var)
            return true;
    return var == c->loop.var;
}

/* Find the variables from before the loop that it changes. The loop must have no other effect. */
static bool find_accs(struct contraction *c, const char **why)
{
    struct node *body = c->nest->body;
    for (struct node *n = body; n; n = node_next(body, n)) {
        if (n->kind == NODE_CALL && !call_is_pure(n->name))
            return say(why, "a call with effects in the loop");
        if (n->kind == NODE_WHILE || n->kind == NODE_DO || n->kind == NODE_CONTINUE)
            return say(why, "jumps in the loop");
        if (!node_is_change(n))
            continue;
        struct node *target = node_strip(n->child), *var = target->decl;
        if (target->kind != NODE_NAME || !var || var->kind != NODE_VAR || var->type.nr_dims ||
            var->type.is_pointer)
            return say(why, "the loop stores to memory");
        if (node_within(var, body) || is_counter(c, var))
            continue;
        bool known = false;
        for (unsigned i = 0; i < c->nr_accs; i++)
            known = known || c->accs[i] == var;
        if (known)
            continue;
        if (c->nr_accs == CONTRACTION_MAX_ACCS || !var->init || !init_is_plain(c, var->init))
            return say(why, "the variable that the loop changes has no plain initialiser");
        c->accs[c->nr_accs++] = var;
    }
    return c->nr_accs ? true : say(why, "the loop changes no variable");
}

/* The load with the conversions around it: __half2float(A[i]). */
static struct node *with_conversions(struct node *n)
{
    while (n->parent && (n->parent->kind == NODE_PAREN || n->parent->kind == NODE_CAST ||
                            (n->parent->kind == NODE_CALL && n->parent->nr_children == 1 &&
                                call_is_pure(n->parent->name))))
        n = n->parent;
    return n;
}

static const char *type_name(enum scalar scalar)
{
    static const char *const names[] = {[SCALAR_I8] = "signed char",
        [SCALAR_U8] = "unsigned char",
        [SCALAR_I16] = "short",
        [SCALAR_U16] = "unsigned short",
        [SCALAR_I32] = "int",
        [SCALAR_U32] = "unsigned",
        [SCALAR_I64] = "long long",
        [SCALAR_U64] = "unsigned long long",
        [SCALAR_F16] = "half",
        [SCALAR_BF16] = "__nv_bfloat16",
        [SCALAR_F32] = "float",
        [SCALAR_F64] = "double"};
    return scalar < sizeof names / sizeof names[0] ? names[scalar] : NULL;
}

static bool is_one(const struct affine *index, const char *name)
{
    int64_t step = 0;
    return affine_coefficient(index, name, &step) == COEFFICIENT_CONSTANT && step == 1;
}

static bool add_operand(struct contraction *c, struct node *load, unsigned mask, const char **why)
{
    struct arena *arena = c->in->arena;
    struct node *n = with_conversions(load);
    struct contraction_operand o = {
        .node = n, .text = tree_text(c->in->tree, n), .axis = mask & ~ALONG_K};
    const struct node *base;
    struct affine index;
    if (!affine_access(c->in->tree, c->form.function, load, &base, &index))
        return say(why, "an address that is not understood");
    o.k_runs = is_one(&index, c->loop.var->name);
    const struct form_axis *axis = o.axis == ALONG_X ? c->x : c->y;
    o.axis_runs =
        is_one(&index, arena_printf(arena, "%s.%c", axis->block_only ? "blockIdx" : "threadIdx",
                           axis_names[axis->dim]));
    o.type = type_name(n->type.scalar);
    if (!o.type || n->type.is_pointer || !node_base(load))
        return say(why, "an operand of a strange type");
    for (unsigned i = 0; i < c->nr_operands; i++) {
        if (strcmp(c->operands[i].text, o.text) == 0) {
            o.tile = c->operands[i].tile;
            o.fragment = c->operands[i].fragment;
        }
    }
    if (c->nr_operands == CONTRACTION_MAX_TILES)
        return say(why, "too many operands");
    if (!o.tile) {
        const char *name = node_base(load)->name;
        o.tile = tree_fresh(c->in->tree, arena_printf(arena, "tile_%s", name));
        o.fragment = tree_fresh(c->in->tree, arena_printf(arena, "part_%s", name));
        for (unsigned i = 0; i < c->nr_operands; i++) {
            if (strcmp(c->operands[i].tile, o.tile) == 0) {
                o.tile = arena_printf(arena, "%s_%u", o.tile, i + 1);
                o.fragment = arena_printf(arena, "%s_%u", o.fragment, i + 1);
            }
        }
    }
    c->operands[c->nr_operands++] = o;
    return true;
}

static bool find_operands(struct contraction *c, const char **why)
{
    struct node *body = c->nest->body;
    unsigned axes = 0;
    for (struct node *n = body; n;) {
        bool load = n->kind == NODE_INDEX || (n->kind == NODE_UNARY && !strcmp(n->op, "*"));
        unsigned mask = load ? mask_of(c, n) : 0;
        if (load && (mask & (ALONG_X | ALONG_Y))) {
            if (mask != (ALONG_X | ALONG_K) && mask != (ALONG_Y | ALONG_K))
                return say(why, "a load that depends on more, or less, than k and one axis");
            if (node_has(n->child, NODE_INDEX) ||
                node_has(n->child->next ? n->child->next : n, NODE_CALL))
                return say(why, "an address that is itself loaded");
            if (!add_operand(c, n, mask, why))
                return false;
            axes |= mask;
        } else if (load && node_has(n->child->next ? n->child->next : n->child, NODE_INDEX)) {
            return say(why, "an address that is itself loaded");
        }
        n = load ? node_skip(body, n) : node_next(body, n);
    }
    if ((axes & (ALONG_X | ALONG_Y)) != (ALONG_X | ALONG_Y))
        return say(why, "no operand is shared between threads along both axes");
    return true;
}

/* Whether all locals but the accumulators can be computed anew: each has one pure initialiser. */
static bool locals_are_single(const struct contraction *c, const char **why)
{
    for (unsigned part = 0; part < 2; part++) {
        struct node *const *list = part ? c->form.work : c->form.prologue;
        unsigned nr = part ? c->loop_at : c->form.nr_prologue;
        for (unsigned i = 0; i < nr; i++) {
            for (struct node *var = list[i]->child; var; var = var->next) {
                bool acc = false;
                for (unsigned j = 0; j < c->nr_accs; j++)
                    acc = acc || c->accs[j] == var;
                if (acc && !part)
                    return say(why, "a sum that starts before the guard");
                if (!acc && (!var->init || var->is_shared || !node_is_pure(var->init) ||
                                !node_is_single(c->form.function, var)))
                    return say(why, "a local variable that is written more than once");
            }
        }
    }
    return true;
}

/* In a nest: whether the counters start and end alike for all threads and rounds, whether each
 * local is a pure value, and whose zeros stand for the condition. */
static bool nest_is_plain(struct contraction *c, const char **why)
{
    for (unsigned i = 0; i < c->nr_outer; i++)
        if (deps_of(&c->deps, c->outer[i].start) & ALONG_ANY ||
            deps_of(&c->deps, c->outer[i].bound) & ALONG_ANY || !node_is_pure(c->outer[i].bound) ||
            node_has(c->outer[i].bound, NODE_INDEX) || node_has(c->outer[i].start, NODE_INDEX))
            return say(why, "loops in each other that do not all go equally far");
    for (struct node *n = c->nest->body; c->nr_outer && n; n = node_next(c->nest->body, n))
        if (n->kind == NODE_VAR && !is_counter(c, n) &&
            (!n->init || !node_is_pure(n->init) || node_has(n->init, NODE_INDEX) ||
                !node_is_single(c->form.function, n)))
            return say(why, "a local variable of the loop that is not one plain value");
    if (!c->cond)
        return true;
    const unsigned mask = mask_of(c, c->cond);
    if (((mask & ALONG_X) && (mask & ALONG_Y)) || node_has(c->cond, NODE_INDEX) ||
        !node_is_pure(c->cond))
        return say(why, "a condition on the sum that loads, or mixes both axes");
    c->cond_axis = mask & ALONG_Y ? ALONG_Y : ALONG_X;
    return true;
}

static bool guards_are_separate(const struct contraction *c, const char **why)
{
    for (unsigned i = 0; i < c->form.nr_conds; i++) {
        unsigned mask = mask_of(c, c->form.conds[i].node);
        if ((mask & ALONG_X) && (mask & ALONG_Y))
            return say(why, "a guard that mixes both axes");
        if (node_has(c->form.conds[i].node, NODE_INDEX))
            return say(why, "a guard that loads");
        const struct node *root = c->form.conds[i].node;
        for (const struct node *n = root; n; n = node_next(root, n))
            if (n->kind == NODE_NAME && n->decl && n->decl != c->x->var && n->decl != c->y->var &&
                mask_of(c, n))
                return say(why, "a guard on a value that is computed from the indices");
    }
    if (deps_of(&c->deps, c->loop.start) & ALONG_ANY ||
        deps_of(&c->deps, c->loop.bound) & ALONG_ANY || !node_is_pure(c->loop.bound) ||
        node_has(c->loop.bound, NODE_INDEX) || node_has(c->loop.start, NODE_INDEX))
        return say(why, "threads differ in how far they loop");
    return true;
}

static bool is_operand(const struct contraction *c, const struct node *n)
{
    for (unsigned i = 0; i < c->nr_operands; i++)
        if (node_strip(n) == node_strip(c->operands[i].node))
            return true;
    return false;
}

static bool is_product(const struct contraction *c, const struct node *n, unsigned *axes)
{
    for (unsigned i = 0; i < c->nr_operands; i++)
        if (node_strip(n) == node_strip(c->operands[i].node))
            *axes |= c->operands[i].axis;
    n = node_strip(n);
    if (n->kind == NODE_BINARY && strcmp(n->op, "*") == 0)
        return is_product(c, n->child, axes) && is_product(c, n->child->next, axes);
    if (c->nr_outer && deps_of(&c->deps, n) & ALONG_ANY)
        return is_operand(c, n);
    return is_operand(c, n) || (!node_has(n, NODE_INDEX) && !node_has(n, NODE_CALL));
}

/* Whether the body is acc += product of operands and nothing else, so that zeros beyond the last k
 * change nothing. */
static bool is_neutral(const struct contraction *c)
{
    struct node *s = c->body->kind == NODE_BLOCK ? c->body->child : c->body;
    unsigned nr = c->body->kind == NODE_BLOCK ? c->body->nr_children : 1;
    for (; nr-- > 0; s = s->next) {
        unsigned axes = 0;
        if (c->nr_outer && s->kind == NODE_DECLS)
            continue;
        if (s->kind != NODE_ASSIGN || strcmp(s->op, "+=") != 0 ||
            !is_product(c, s->child->next, &axes) || !axes || (c->cond && !(axes & c->cond_axis)))
            return false;
    }
    return true;
}

static bool stores_after_only(const struct contraction *c, const char **why)
{
    for (unsigned i = c->loop_at + 1; i < c->form.nr_work; i++)
        for (struct node *n = c->form.work[i]; n; n = node_next(c->form.work[i], n))
            if (n->kind == NODE_CALL && !call_is_pure(n->name) && !call_is_atomic(n->name))
                return say(why, "a call that is not understood after the loop");
    if (!rewrite_no_alias(c->in, c->form.function))
        return say(why, "one array is given twice to the kernel");
    /* the loop must not read what other threads may have stored already */
    for (unsigned i = 0; i < c->nr_operands; i++) {
        struct node *load = c->operands[i].node;
        for (; load->kind != NODE_INDEX && load->kind != NODE_UNARY; load = load->child)
            if (!load->child)
                return say(why, "an operand that is not understood");
        struct node *base = node_base(load);
        if (!base || node_writes(c->form.function, base))
            return say(why, "an operand is written in the same kernel");
    }
    return true;
}

static bool read_along(struct contraction *c, const char **why)
{
    if (!find_loop(c, why))
        return false;
    solve(c);
    if (c->deps.overflow)
        return say(why, "too many variables");
    if (!find_accs(c, why) || !find_operands(c, why) || !locals_are_single(c, why) ||
        !guards_are_separate(c, why) || !nest_is_plain(c, why) || !stores_after_only(c, why))
        return false;
    c->neutral = is_neutral(c);
    if (c->nr_outer && !c->neutral)
        return say(why, "the loops in each other make other things than sums of products");
    return !c->cond || !c->in->task->inputs_nan ||
           say(why, "a sum that leaves elements out, which may be NaN");
}

/* Whether all stores go to neighbours in memory where threads are neighbours along y, not x. */
static bool stores_run_along_y(const struct contraction *c)
{
    unsigned nr = 0;
    for (unsigned i = c->loop_at + 1; i < c->form.nr_work; i++)
        for (struct node *n = c->form.work[i]; n; n = node_next(c->form.work[i], n)) {
            struct node *target = node_is_change(n) ? node_strip(n->child) : NULL;
            const struct node *base;
            struct affine index;
            if (!target || target->kind != NODE_INDEX)
                continue;
            nr++;
            if (!affine_access(c->in->tree, c->form.function, target, &base, &index) ||
                !is_one(&index, "threadIdx.y") || is_one(&index, "threadIdx.x"))
                return false;
        }
    return nr > 0;
}

/* Let threads along y make columns, where that is how the outputs lie in memory. */
static void turn(struct contraction *c)
{
    const struct contraction before = *c;
    const char *why;
    if (c->x->dim || c->y->dim != 1 || c->y->block_only || !stores_run_along_y(c))
        return;
    *c = (struct contraction){.in = c->in, .form = before.form, .x = before.y, .y = before.x};
    if (!read_along(c, &why))
        *c = before;
}

bool contraction_read(
    struct contraction *c, const struct rewrite_in *in, struct node *function, const char **why)
{
    struct kernel_form form;
    const char *first = NULL;
    if (!kernel_form_read(&form, in->tree, function, why))
        return false;
    if (form.raw)
        return say(why, "threadIdx is used in other ways");
    for (unsigned nth = 0; nth <= form.nr_axes; nth++) {
        *c = (struct contraction){.in = in, .form = form};
        if ((nth ? read_block_axes(c, nth - 1, why) : read_thread_axes(c, why)) &&
            read_along(c, why)) {
            turn(c);
            return true;
        }
        first = nth ? first : *why;
    }
    *why = first;
    return false;
}
