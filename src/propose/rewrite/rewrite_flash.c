/* attention: recognises it in one kernel, a query a thread. flash_code.c writes it anew. */
#include "propose/rewrite/flash.h"

#include "base/str.h"
#include "cuda/affine.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/product.h"

#include <string.h>

enum { BY_QUERY = 1, BY_COUNTER = 2, MAX_COLUMNS = 128, STEP = 16 };

static bool is_var(const struct node *n, const struct node *decl)
{
    n = n ? node_strip(n) : NULL;
    return decl && n && n->kind == NODE_NAME && n->decl == decl;
}

static bool is_zero(const struct flash *f, const struct node *n)
{
    static const char *const zeros[] = {"0", "0.0f", "0.f", "0.0", "0.", NULL};
    return n && str_among(tree_text(f->in->tree, node_strip(n)), zeros);
}

static bool is_operation(const struct node *n, const char *op)
{
    return n->kind == NODE_BINARY && !strcmp(n->op, op);
}

static bool is_set(const struct node *n, const char *op)
{
    return n && n->kind == NODE_ASSIGN && !strcmp(n->op, op);
}

/* The nth statement of a body; NULL: there is none. */
static struct node *nth_of(const struct node *body, unsigned nth)
{
    if (body->kind != NODE_BLOCK)
        return nth ? NULL : (struct node *)body;
    return node_child(body, nth);
}

/* --- the loops over d --- */

/* array[d] */
static bool is_element(const struct node *n, const struct node *array, const struct node *column)
{
    n = node_strip(n);
    return n->kind == NODE_INDEX && is_var(n->child, array) && is_var(n->child->next, column);
}

/* Whether the loop goes over all elements of a local array: its bound is written as the extent. */
static bool goes_over(const struct flash *f, const struct for_loop *loop, const struct node *array)
{
    const struct cuda_tree *tree = f->in->tree;
    const unsigned from = array->name_at + (unsigned)strlen(array->name);
    const char *bound = arena_printf(f->in->arena, "[%s]", tree_text(tree, loop->bound));
    return !loop->step && !strcmp(loop->compare, "<") && is_zero(f, loop->start) &&
           str_starts(tree->source + from, bound);
}

static bool is_local_floats(const struct node *n)
{
    return n->kind == NODE_VAR && n->type.nr_dims == 1 && n->type.scalar == SCALAR_F32 &&
           !n->type.is_pointer && !n->is_shared && n->type.dims[0] >= STEP &&
           n->type.dims[0] <= MAX_COLUMNS && n->type.dims[0] % STEP == 0;
}

/* An element of a matrix of 16-bit floats, along d in memory, whose place is not itself loaded. */
static bool read_load(
    struct flash *f, struct node *n, const struct node *column, struct flash_load *to)
{
    const struct node *base;
    struct affine index;
    int64_t step;
    struct node *load = product_load(n);
    if (!load || (load->type.scalar != SCALAR_BF16 && load->type.scalar != SCALAR_F16) ||
        !affine_access(f->in->tree, f->form.function, load, &base, &index) ||
        !(base->kind == NODE_PARAM || node_is_single(f->form.function, base)) ||
        !base->type.is_pointer || !base->type.is_const || !node_is_pure(load) ||
        affine_coefficient(&index, column->name, &step) != COEFFICIENT_CONSTANT || step != 1 ||
        (f->scalar != SCALAR_OTHER && f->scalar != load->type.scalar))
        return false;
    for (const struct node *inner = load; (inner = node_next(load, inner));)
        if (node_is_load(inner))
            return false;
    f->scalar = load->type.scalar;
    *to = (struct flash_load){load, column};
    return true;
}

/* q(d), or q(d) times a factor that is the same for all. */
static bool read_query(struct flash *f, struct node *n, const struct node *column)
{
    n = node_strip(n);
    if (is_operation(n, "*")) {
        struct node *one = n->child, *two = one->next;
        if (!product_load(one)) {
            one = two;
            two = n->child;
        }
        if (f->scale || node_has(two, NODE_INDEX) || !node_is_pure(two) || node_uses(two, column) ||
            flash_by_query(f, two))
            return false;
        f->scale = two;
        n = one;
    }
    return read_load(f, n, column, &f->q);
}

/* q[d] = ...; o[d] = 0; */
static bool read_first_loop(struct flash *f, const struct for_loop *loop)
{
    const struct node *s;
    for (unsigned i = 0; (s = nth_of(loop->node->body, i)); i++) {
        const struct node *to = is_set(s, "=") ? node_strip(s->child) : NULL;
        const struct node *array = to && to->kind == NODE_INDEX ? node_base(to) : NULL;
        if (!array || !is_local_floats(array) || !is_element(to, array, loop->var) ||
            !goes_over(f, loop, array) || (f->columns && f->columns != array->type.dims[0]))
            return false;
        f->columns = array->type.dims[0];
        if (is_zero(f, s->child->next) && !f->sums)
            f->sums = array;
        else if (!f->queries && read_query(f, s->child->next, loop->var))
            f->queries = array;
        else
            return false;
    }
    return f->sums != NULL;
}

/* score += q[d] * K(k, d) */
static bool read_scores(struct flash *f, const struct for_loop *loop, const struct node *score)
{
    const struct node *s = nth_of(loop->node->body, 0);
    struct node *by = is_set(s, "+=") ? node_strip(s->child->next) : NULL;
    if (!by || nth_of(loop->node->body, 1) || !is_var(s->child, score) || !is_operation(by, "*") ||
        !goes_over(f, loop, f->sums))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        struct node *one = i ? by->child->next : by->child, *two = i ? by->child : one->next;
        const bool query = f->queries ? is_element(one, f->queries, loop->var)
                                      : product_load(one) && flash_by_query(f, one) &&
                                            read_load(f, one, loop->var, &f->q);
        if (query && read_load(f, two, loop->var, &f->k))
            return true;
    }
    return false;
}

/* --- the loop over keys --- */

struct flash_names { /* the locals of a round */
    const struct node *score, *most, *old, *weight;
    bool scored, totalled, summed, moved;
};

/* exp(from - most) */
static bool is_exp(const struct node *n, const struct node *from, const struct node *most)
{
    static const char *const names[] = {"expf", "__expf", "exp", NULL};
    n = node_strip(n);
    const struct node *d = n->kind == NODE_CALL && n->nr_children == 1 && str_among(n->name, names)
                               ? node_strip(n->child)
                               : NULL;
    return d && is_operation(d, "-") && is_var(d->child, from) && is_var(d->child->next, most);
}

static bool is_largest(const struct flash *f, const struct node *n, const struct node *score)
{
    static const char *const names[] = {"fmaxf", "max", "fmax", NULL};
    n = node_strip(n);
    return n->kind == NODE_CALL && n->nr_children == 2 && str_among(n->name, names) &&
           ((is_var(n->child, f->largest) && is_var(n->child->next, score)) ||
               (is_var(n->child, score) && is_var(n->child->next, f->largest)));
}

static bool read_locals(struct flash *f, struct flash_names *names, const struct node *decls)
{
    for (const struct node *v = decls->child; v; v = v->next) {
        if (!v->init || v->type.scalar != SCALAR_F32 || v->type.nr_dims || v->type.is_pointer)
            return false;
        if (!names->score && is_zero(f, v->init))
            names->score = v;
        else if (names->scored && !names->most && is_largest(f, v->init, names->score))
            names->most = v;
        else if (names->most && !names->old && !names->moved &&
                 is_exp(v->init, f->largest, names->most))
            names->old = v;
        else if (names->most && !names->weight && is_exp(v->init, names->score, names->most))
            names->weight = v;
        else
            return false;
    }
    return true;
}

/* One of the two summands is `was * old`; the other comes back. */
static struct node *other_summand(const struct flash_names *names, const struct node *n,
    const struct node *array, const struct node *was)
{
    n = node_strip(n);
    for (unsigned i = 0; is_operation(n, "+") && i < 2; i++) {
        const struct node *by = node_strip(i ? n->child->next : n->child);
        if (!is_operation(by, "*"))
            continue;
        for (unsigned k = 0; k < 2; k++) {
            const struct node *one = k ? by->child->next : by->child,
                              *two = k ? by->child : by->child->next;
            if (is_var(two, names->old) && (array ? is_element(one, array, was) : is_var(one, was)))
                return i ? n->child : n->child->next;
        }
    }
    return NULL;
}

/* o[d] = o[d] * old + weight * V(k, d) */
static bool read_sums(struct flash *f, const struct flash_names *names, const struct for_loop *loop)
{
    const struct node *s = nth_of(loop->node->body, 0);
    struct node *add = is_set(s, "=") && is_element(s->child, f->sums, loop->var)
                           ? other_summand(names, s->child->next, f->sums, loop->var)
                           : NULL;
    add = add ? node_strip(add) : NULL;
    if (!add || nth_of(loop->node->body, 1) || !is_operation(add, "*") ||
        !goes_over(f, loop, f->sums))
        return false;
    return (is_var(add->child, names->weight) &&
               read_load(f, add->child->next, loop->var, &f->v)) ||
           (is_var(add->child->next, names->weight) && read_load(f, add->child, loop->var, &f->v));
}

static bool read_change(struct flash *f, struct flash_names *names, const struct node *s)
{
    if (is_set(s, "*=") && is_var(s->child, names->score) && names->scored && !names->most &&
        !f->scale && node_is_pure(s->child->next) && !node_has(s->child->next, NODE_INDEX) &&
        !node_uses(s->child->next, f->keys.var) && !flash_by_query(f, s->child->next)) {
        f->scale = s->child->next;
        return true;
    }
    if (is_set(s, "=") && is_var(s->child, f->largest) && names->old && !names->moved)
        return names->moved = is_var(s->child->next, names->most);
    if (is_set(s, "=") && is_var(s->child, f->total) && names->weight && !names->totalled) {
        const struct node *add = other_summand(names, s->child->next, NULL, f->total);
        return names->totalled = add && is_var(add, names->weight);
    }
    return false;
}

static bool read_keys(struct flash *f)
{
    struct flash_names names = {.score = NULL};
    struct node *s;
    for (unsigned i = 0; (s = nth_of(f->keys.node->body, i)); i++) {
        struct for_loop loop;
        if (s->kind == NODE_DECLS && read_locals(f, &names, s))
            continue;
        if (s->kind != NODE_FOR && read_change(f, &names, s))
            continue;
        if (s->kind != NODE_FOR || !node_loop_up(s, &loop))
            return false;
        if (!names.scored && names.score)
            names.scored = read_scores(f, &loop, names.score);
        else if (names.weight && names.old && !names.summed)
            names.summed = read_sums(f, &names, &loop);
        else
            return false;
        if (!names.scored || (f->v.load && !names.summed))
            return false;
    }
    return names.scored && names.summed && names.totalled && names.moved;
}

/* --- around it --- */

bool flash_by_query(const struct flash *f, const struct node *n)
{
    return (deps_of(&f->deps, n) & (BY_QUERY | DEPS_THREAD)) != 0;
}

/* Locals beside the loops. */
static bool read_decls(struct flash *f, const struct node *decls, bool last)
{
    for (const struct node *v = decls->child; v; v = v->next) {
        const char *init = v->init ? tree_text(f->in->tree, node_strip(v->init)) : "";
        unsigned *nr = last ? &f->nr_last : &f->nr_decls;
        if (v == f->query->var || (!v->init && is_local_floats(v)))
            continue;
        if (!last && v->type.scalar == SCALAR_F32 && !v->type.is_pointer && !v->type.nr_dims) {
            if (!f->largest && (!strcmp(init, "-INFINITY") || !strcmp(init, "-FLT_MAX"))) {
                f->largest = v;
                continue;
            }
            if (!f->total && is_zero(f, v->init)) {
                f->total = v;
                continue;
            }
        }
        if (!v->init || v->is_shared || v->type.nr_dims || *nr == FLASH_MAX_DECLS ||
            !node_is_pure(v->init) || !node_is_single(f->form.function, v) ||
            (f->largest && node_uses(v->init, f->largest)) ||
            (!last && node_has(v->init, NODE_INDEX)))
            return false;
        (last ? f->last_decls : f->decls)[(*nr)++] = v;
    }
    return true;
}

/* Threads and blocks are used for the query, and blocks for what is the same in a block. */
static bool grid_is_plain(const struct flash *f)
{
    static const char *const objects[] = {"threadIdx", "blockDim", "gridDim"};
    const struct node *function = f->form.function;
    for (const struct node *n = function; n; n = node_next(function, n)) {
        if (node_within(n, f->query->var) || n->kind != NODE_MEMBER)
            continue;
        for (unsigned i = 0; i < 3; i++)
            if (node_axis(n, objects[i]) >= 0)
                return false;
        if (node_axis(n, "blockIdx") == (int)f->query->dim)
            return false;
    }
    return true;
}

static bool read_statements(struct flash *f)
{
    struct for_loop loop;
    for (unsigned i = 0; i < f->form.nr_prologue; i++)
        if (f->form.prologue[i]->kind != NODE_DECLS || !read_decls(f, f->form.prologue[i], false))
            return false;
    for (unsigned i = 0; i < f->form.nr_work; i++) {
        struct node *s = f->form.work[i];
        if (s->kind == NODE_DECLS && !f->store && read_decls(f, s, f->keys.node != NULL))
            continue;
        if (s->kind != NODE_FOR || !node_loop_up(s, &loop) || f->store)
            return false;
        if (!f->sums) {
            if (!read_first_loop(f, &loop))
                return false;
        } else if (!f->keys.node) {
            f->keys = loop;
            if (loop.step || strcmp(loop.compare, "<") != 0 || !is_zero(f, loop.start) ||
                !node_is_pure(loop.bound) || node_has(loop.bound, NODE_INDEX) || !f->largest ||
                !f->total || !read_keys(f))
                return false;
        } else {
            f->store = nth_of(s->body, 0);
            f->last_column = loop.var;
            if (nth_of(s->body, 1) || !is_set(f->store, "=") || !goes_over(f, &loop, f->sums))
                return false;
        }
    }
    return f->store != NULL;
}

/* The store is to a parameter that the kernel has nowhere else, and of its locals it has o[d]
 * alone, and those that stay. */
static bool store_is_apart(const struct flash *f)
{
    const struct node *function = f->form.function, *to = node_base(f->store->child);
    const struct node *value = f->store->child->next;
    if (!to || to->kind != NODE_PARAM || node_nr_uses(function, to) != 1 || !node_is_pure(value) ||
        node_uses(f->store, f->largest) || (f->queries && node_uses(f->store, f->queries)))
        return false;
    for (unsigned i = 0; i < f->nr_last; i++)
        if (node_uses(f->last_decls[i], f->sums) ||
            (f->queries && node_uses(f->last_decls[i], f->queries)))
            return false;
    for (const struct node *n = f->store; n; n = node_next(f->store, n))
        if (is_var(n, f->sums) && n->kind == NODE_NAME &&
            !(n->parent && is_element(n->parent, f->sums, f->last_column)))
            return false;
    for (unsigned i = 0; i < function_nr_params(function); i++)
        if (function_param(function, i) != to &&
            node_writes(function->body, function_param(function, i)))
            return false;
    return true;
}

bool flash_read(
    struct flash *f, const struct rewrite_in *in, struct node *function, const char **why)
{
    f->in = in;
    if (!kernel_form_read(&f->form, in->tree, function, why))
        return false;
    for (unsigned i = 0; i < f->form.nr_axes; i++)
        if (!f->form.axes[i].block_only) {
            if (f->query)
                return *why = "threads along more than one axis", false;
            f->query = &f->form.axes[i];
        }
    if (!f->query || !grid_is_plain(f) || node_has_shared(function) || node_has_barrier(function) ||
        node_has_macro(function))
        return *why = "it is not a query in each thread", false;
    f->deps.guard = f->form.guard;
    deps_seed(&f->deps, f->query->var, BY_QUERY);
    for (const struct node *n = function; n; n = node_next(function, n)) {
        struct for_loop loop;
        if (n->kind == NODE_FOR && node_loop_up(n, &loop))
            deps_seed(&f->deps, loop.var, BY_COUNTER);
    }
    deps_solve(&f->deps, function);
    if (f->deps.overflow || !read_statements(f))
        return *why = "it is no softmax of scores with a running maximum", false;
    if (!f->q.load || flash_by_query(f, f->k.load) || flash_by_query(f, f->v.load))
        return *why = "queries do not share keys and values", false;
    if (!store_is_apart(f) || !rewrite_no_alias(in, function))
        return *why = "it stores more than its result", false;
    return true;
}

bool rewrite_flash(const struct rewrite_in *in, unsigned nth, struct rewrite_out *out)
{
    /* A weight is rounded to 16 bits: to 2^-9 of it as bf16. */
    const struct tolerance *t = &in->task->tolerance;
    struct flash *f = arena_alloc(in->arena, sizeof *f);
    struct launch_lines lines;
    struct node *function;
    const char *why = NULL;
    if (rewrite_nth_kernel(in, nth, &function) < 0)
        return rewrite_refuse(in, out, "no three launches in a row, and no such kernel");
    out->more = true;
    if (!in->task->has_tolerance || t->rel < 0x1p-8 || t->abs < 0x1p-9)
        return rewrite_refuse(in, out, "the tolerance has no room for weights of 16 bits");
    if (!flash_read(f, in, function, &why))
        return rewrite_refuse(in, out, "%s: %s", function->name, why);
    if (!launch_lines_read(in, function, &lines, out))
        return false;
    if (lines.nr != 1 || in->task->inputs_nan)
        return rewrite_refuse(in, out, "%s is launched more than once, or for NaN", function->name);
    f->line = lines.items[0];
    return flash_write(f, out);
}
