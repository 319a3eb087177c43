/* A tile turned in shared memory. */
#include "propose/turned_tile.h"

#include "base/str.h"
#include "propose/affine.h"
#include "propose/extent.h"
#include "propose/kernel_form.h"
#include "propose/subst.h"

#include <string.h>

struct turning {
    const struct rewrite_in *in;
    struct rewrite_out *out;
    struct kernel_form form;
    const struct form_axis *x, *y;
    struct node *store;   /* the one statement */
    struct node *payload; /* what goes through the tile: all of the value, or the one load in it */
    bool store_turned;    /* the store runs across memory, else the load does */
    const char *width, *height; /* of the block */
};

static bool refuse(struct turning *t, const char *why)
{
    return rewrite_refuse(t->in, t->out, "%s: %s", t->form.function->name, why);
}

enum run { RUN_X, RUN_Y, RUN_NEITHER };

/* The axis along which neighbouring threads touch neighbouring elements. */
static enum run run_of(const struct turning *t, const struct node *access)
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

static bool choose_payload(struct turning *t)
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
    t->store_turned = stored == RUN_Y;
    t->payload = value;
    if (t->store_turned)
        return nr && run_of(t, load) == RUN_X
                   ? true
                   : refuse(t, "its loads do not run along memory either");
    if (stored != RUN_X || nr != 1 || run_of(t, load) != RUN_Y)
        return refuse(t, "neither its loads nor its stores run across memory");
    t->payload = load;
    return true;
}

static bool launches_fit(struct turning *t)
{
    for (unsigned l = 0; l < t->in->plan->nr_launches; l++) {
        struct launch_text text;
        if (rewrite_kernel(t->in, l) != t->form.function)
            continue;
        if (!launch_text_read(t->in, l, &text, t->out))
            return false;
        if ((t->width && (strcmp(t->width, text.block[0]) || strcmp(t->height, text.block[1]))) ||
            strcmp(text.block[2], "1") != 0 || !extent_is_constant(t->in, text.block[0]) ||
            !extent_is_constant(t->in, text.block[1]))
            return refuse(t, "the block's shape is not the same constant in all launches");
        t->width = text.block[0];
        t->height = text.block[1];
    }
    return true;
}

static bool read_turning(struct turning *t, struct node *function)
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

/* One pass over the tile: the indices from the given place in the block, then the statement. */
static void write_pass(
    const struct turning *t, struct str *code, const char *lx, const char *ly, const char *stmt)
{
    const struct cuda_tree *tree = t->in->tree;
    const char *conds = "";
    str_add(code, "    {\n");
    for (unsigned i = 0; i < t->form.nr_prologue; i++) {
        const struct node *s = t->form.prologue[i], *var = s->child;
        if (var == t->x->var)
            str_addf(code, "        int %s = blockIdx.x * %s + %s;\n", var->name,
                text_operand(t->in->arena, t->width), lx);
        else if (var == t->y->var)
            str_addf(code, "        int %s = blockIdx.y * %s + %s;\n", var->name,
                text_operand(t->in->arena, t->height), ly);
        else
            str_addf(code, "        %s;\n", tree_text(tree, s));
    }
    for (unsigned i = 0; i < t->form.nr_conds; i++)
        conds = arena_printf(t->in->arena, "%s%s%s", conds, i ? " && " : "", t->form.conds[i].text);
    if (conds[0])
        str_addf(code, "        if (%s)\n    ", conds);
    str_addf(code, "        %s;\n    }\n", stmt);
}

bool turned_tile(const struct rewrite_in *in, struct node *function, struct rewrite_out *out)
{
    struct turning t = {.in = in, .out = out};
    struct str code = {0};
    if (!read_turning(&t, function))
        return false;
    struct arena *arena = in->arena;
    const char *tile = tree_fresh(in->tree, "tile"), *tid = tree_fresh(in->tree, "tid");
    const char *w = text_operand(arena, t.width), *h = text_operand(arena, t.height);
    const char *lx = arena_printf(arena, "%s / %s", tid, h);
    const char *ly = arena_printf(arena, "%s %% %s", tid, h);
    const char *near_tile = arena_printf(arena, "%s[threadIdx.y][threadIdx.x]", tile);
    const char *far_tile = arena_printf(arena, "%s[%s][%s]", tile, ly, lx);
    struct substs s = {.nr = 0};
    substs_add(&s, t.payload, t.store_turned ? far_tile : near_tile);
    const char *type = node_base(t.store->child)->type.base;
    if (!t.store_turned)
        type = node_base(t.payload)->type.base;
    str_addf(&code, "{\n    __shared__ %s %s[%s][%s + 1];\n", type, tile, h, w);
    str_addf(&code, "    int %s = threadIdx.y * %s + threadIdx.x;\n", tid, w);
    const char *fill = arena_printf(
        arena, "%s = %s", t.store_turned ? near_tile : far_tile, tree_text(in->tree, t.payload));
    const char *drain = subst_text(in->tree, t.store, &s);
    if (t.store_turned)
        write_pass(&t, &code, "threadIdx.x", "threadIdx.y", fill);
    else
        write_pass(&t, &code, lx, ly, fill);
    str_add(&code, "    __syncthreads();\n");
    if (t.store_turned)
        write_pass(&t, &code, lx, ly, drain);
    else
        write_pass(&t, &code, "threadIdx.x", "threadIdx.y", drain);
    str_add(&code, "}");
    edits_replace(&out->edits, t.form.body->start, t.form.body->end, "%s", str_text(&code));
    str_finish(&code);
    return rewrite_done(in, out, "tiles of %s turned in shared memory", function->name);
}
