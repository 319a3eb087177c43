/* Sends tiles through shared memory, to be read in the other order. */
#include "propose/rewrite/transpose_tile.h"

#include "base/str.h"
#include "cuda/affine.h"
#include "cuda/kernel_form.h"
#include "cuda/subst.h"
#include "propose/rewrite/extent.h"

#include <string.h>

struct transpose {
    const struct rewrite_in *in;
    struct rewrite_out *out;
    struct kernel_form form;
    const struct form_axis *x, *y;
    struct launch_lines lines;
    struct node *store;   /* the one statement */
    struct node *payload; /* what goes through the tile: the whole value, or the one load in it */
    bool store_crosses;   /* the store runs across memory, else the load does */
    const char *width, *height; /* of the block */
};

static bool refuse(struct transpose *t, const char *why)
{
    return rewrite_refuse(t->in, t->out, "%s: %s", t->form.function->name, why);
}

enum run { RUN_X, RUN_Y, RUN_NEITHER };

/* The axis along which neighbouring threads touch neighbouring elements. */
static enum run run_of(const struct transpose *t, const struct node *access)
{
    const struct node *base;
    struct affine index;
    int64_t dx = 0, dy = 0;
    if (!affine_access(t->in->tree, t->form.function, access, &base, &index))
        return RUN_NEITHER;
    enum coefficient x = affine_coefficient(&index, "threadIdx.x", &dx);
    enum coefficient y = affine_coefficient(&index, "threadIdx.y", &dy);
    if (x == COEFFICIENT_CONSTANT && dx == 1)
        return RUN_X;
    return y == COEFFICIENT_CONSTANT && dy == 1 && x == COEFFICIENT_SYMBOLIC ? RUN_Y : RUN_NEITHER;
}

static bool choose_payload(struct transpose *t)
{
    struct node *value = t->store->child->next, *load = NULL;
    unsigned nr = 0;
    for (struct node *n = value; n; n = node_next(value, n)) {
        if (n->kind != NODE_INDEX)
            continue;
        load = n;
        nr++;
    }
    enum run stored = run_of(t, node_strip(t->store->child));
    t->store_crosses = stored == RUN_Y;
    t->payload = value;
    if (t->store_crosses)
        return nr && run_of(t, load) == RUN_X
                   ? true
                   : refuse(t, "its loads do not run along memory either");
    if (stored != RUN_X || nr != 1 || run_of(t, load) != RUN_Y)
        return refuse(t, "neither its loads nor its stores run across memory");
    t->payload = load;
    return true;
}

static bool launches_fit(struct transpose *t)
{
    if (!launch_lines_read(t->in, t->form.function, &t->lines, t->out))
        return false;
    for (unsigned i = 0; i < t->lines.nr; i++) {
        const struct launch_line *line = &t->lines.items[i];
        if ((t->width && (strcmp(t->width, line->block[0]) || strcmp(t->height, line->block[1]))) ||
            strcmp(line->block[2], "1") != 0 || !extent_is_constant(t->in, line->block[0]) ||
            !extent_is_constant(t->in, line->block[1]))
            return refuse(t, "the block's shape is not the same constant in all launches");
        t->width = line->block[0];
        t->height = line->block[1];
    }
    return true;
}

static bool read_transpose(struct transpose *t, struct node *function)
{
    const char *why;
    if (!kernel_form_read(&t->form, t->in->tree, function, &why))
        return rewrite_refuse(t->in, t->out, "%s: %s", function->name, why);
    t->x = form_axis_along(&t->form, 0);
    t->y = form_axis_along(&t->form, 1);
    if (!t->x || !t->y || t->x->block_only || t->y->block_only || t->form.raw)
        return refuse(t, "there is not one index along thread x and one along y");
    if (t->form.nr_work != 1 || t->form.work[0]->kind != NODE_ASSIGN ||
        strcmp(t->form.work[0]->op, "=") != 0)
        return refuse(t, "it does more than one store");
    t->store = t->form.work[0];
    struct node *base = node_base(t->store->child);
    if (node_strip(t->store->child)->kind != NODE_INDEX || !base ||
        !node_is_pure(t->store->child->next) || node_uses(t->store->child->next, base) ||
        !rewrite_no_alias(t->in, function))
        return refuse(t, "a store that is not understood");
    for (unsigned i = 0; i < t->form.nr_prologue; i++)
        if (t->form.prologue[i]->nr_children != 1)
            return refuse(t, "several variables in one declaration");
    return choose_payload(t) && launches_fit(t);
}

/* Names of what the new kernel is made of. */
struct transpose_names {
    const char *tx, *ty; /* tuning parameters: the tile's width and height */
    const char *tile, *tid, *nr_threads, *value, *u, *e, *lx, *ly;
};

/* The head of a loop in which the block's threads go over the tile, along x or along y. */
static void write_places(
    const struct transpose *t, const struct transpose_names *n, struct str *code, bool along_x)
{
    const struct cuda_tree *tree = t->in->tree;
    const char *fast = along_x ? n->lx : n->ly, *slow = along_x ? n->ly : n->lx;
    const char *run = along_x ? n->tx : n->ty;
    str_addf(code,
        "    #pragma unroll\n    for (int %s = 0; %s < (%s * %s + %s - 1) / %s; %s++) {\n", n->u,
        n->u, n->tx, n->ty, n->nr_threads, n->nr_threads, n->u);
    str_addf(code, "        int %s = %s + %s * %s;\n", n->e, n->tid, n->u, n->nr_threads);
    str_addf(code, "        int %s = %s %% %s, %s = %s / %s;\n", fast, n->e, run, slow, n->e, run);
    for (unsigned i = 0; i < t->form.nr_prologue; i++) {
        const struct node *s = t->form.prologue[i], *var = s->child;
        if (var == t->x->var)
            str_addf(code, "        int %s = blockIdx.x * %s + %s;\n", var->name, n->tx, n->lx);
        else if (var == t->y->var)
            str_addf(code, "        int %s = blockIdx.y * %s + %s;\n", var->name, n->ty, n->ly);
        else
            str_addf(code, "        %s;\n", tree_text(tree, s));
    }
    str_addf(code, "        if ((%s * %s %% %s == 0 || %s < %s * %s)", n->tx, n->ty, n->nr_threads,
        n->e, n->tx, n->ty);
    for (unsigned i = 0; i < t->form.nr_conds; i++)
        str_addf(code, " && %s", t->form.conds[i].text);
    str_add(code, ")\n");
}

/* First all loads, so that they are under way together; then the tile; then the stores. */
static void write_kernel(const struct transpose *t, const struct transpose_names *n)
{
    struct arena *arena = t->in->arena;
    struct str code = {0};
    struct substs s = {.nr = 0};
    const struct node *typed = t->store_crosses ? t->store->child : t->payload;
    const char *type = node_base(typed)->type.base;
    const char *element = arena_printf(arena, "%s[%s][%s]", n->tile, n->ly, n->lx);
    substs_add(&s, t->payload, element);
    str_addf(&code, "{\n    __shared__ %s %s[%s][%s + 1];\n", type, n->tile, n->ty, n->tx);
    str_addf(&code, "    const int %s = %s * %s;\n", n->nr_threads, text_operand(arena, t->width),
        text_operand(arena, t->height));
    str_addf(&code, "    int %s = threadIdx.y * %s + threadIdx.x;\n", n->tid,
        text_operand(arena, t->width));
    str_addf(&code, "    %s %s[(%s * %s + %s - 1) / %s];\n", type, n->value, n->tx, n->ty,
        n->nr_threads, n->nr_threads);
    write_places(t, n, &code, t->store_crosses);
    str_addf(&code, "            %s[%s] = %s;\n    }\n", n->value, n->u,
        tree_text(t->in->tree, t->payload));
    write_places(t, n, &code, t->store_crosses);
    str_addf(
        &code, "            %s = %s[%s];\n    }\n    __syncthreads();\n", element, n->value, n->u);
    write_places(t, n, &code, !t->store_crosses);
    str_addf(&code, "            %s;\n    }\n}", subst_text(t->in->tree, t->store, &s));
    edits_replace(&t->out->edits, t->form.body->start, t->form.body->end, "%s", str_text(&code));
    str_finish(&code);
}

static void edit_launches(const struct transpose *t, const struct transpose_names *n)
{
    for (unsigned i = 0; i < t->lines.nr; i++) {
        struct launch_line *line = &t->lines.items[i];
        extent_cover(t->in, line, &t->form, t->x, n->tx);
        extent_cover(t->in, line, &t->form, t->y, n->ty);
        launch_line_write(line, &t->out->edits);
    }
}

bool transpose_tile(const struct rewrite_in *in, struct node *function, struct rewrite_out *out)
{
    struct transpose t = {.in = in, .out = out};
    const struct cuda_tree *tree = in->tree;
    if (!read_transpose(&t, function))
        return false;
    const struct transpose_names n = {tree_fresh(tree, "TILE_X"), tree_fresh(tree, "TILE_Y"),
        tree_fresh(tree, "tile"), tree_fresh(tree, "tid"), tree_fresh(tree, "NR_THREADS"),
        tree_fresh(tree, "value"), tree_fresh(tree, "u"), tree_fresh(tree, "e"),
        tree_fresh(tree, "lx"), tree_fresh(tree, "ly")};
    write_kernel(&t, &n);
    pragma_add_tune(in, &out->edits, n.tx, 32, "16, 32, 64");
    pragma_add_tune(in, &out->edits, n.ty, 32, "16, 32, 64");
    edit_launches(&t, &n);
    return rewrite_done(in, out, "tiles of %s turned in shared memory", function->name);
}
