/* Dependences of locals, followed to a fixed point. */
#include "cuda/deps.h"

#include <string.h>

static unsigned *mask_of(struct deps *deps, const struct node *decl)
{
    for (unsigned i = 0; i < deps->nr; i++)
        if (deps->decls[i] == decl)
            return &deps->masks[i];
    if (deps->nr == DEPS_MAX) {
        deps->overflow = true;
        return &deps->masks[DEPS_MAX - 1];
    }
    deps->decls[deps->nr] = decl;
    deps->masks[deps->nr] = 0;
    return &deps->masks[deps->nr++];
}

void deps_seed(struct deps *deps, const struct node *decl, unsigned mask)
{
    *mask_of(deps, decl) |= mask;
}

unsigned deps_of(const struct deps *deps, const struct node *root)
{
    unsigned mask = 0;
    for (const struct node *n = root; n; n = node_next(root, n)) {
        if (n->kind != NODE_NAME)
            continue;
        if (strcmp(n->name, "threadIdx") == 0)
            mask |= DEPS_THREAD;
        else if (strcmp(n->name, "blockIdx") == 0)
            mask |= DEPS_BLOCK;
        for (unsigned i = 0; n->decl && i < deps->nr; i++)
            if (deps->decls[i] == n->decl)
                mask |= deps->masks[i];
    }
    return mask;
}

/* What it depends on whether n runs: the conditions of the ifs and loops around n. */
static unsigned control_mask(
    const struct deps *deps, const struct node *n, const struct node *function)
{
    unsigned mask = 0;
    for (const struct node *up = n->parent; up && up != function; up = up->parent)
        if (up->cond && up != deps->guard)
            mask |= deps_of(deps, up->cond);
    return mask;
}

/* One pass over the function. True: a mask has changed. */
static bool spread(struct deps *deps, unsigned nr_seeds, const struct node *function)
{
    bool changed = false;
    for (const struct node *n = function; n; n = node_next(function, n)) {
        const struct node *decl = NULL;
        unsigned mask = 0;
        if (n->kind == NODE_VAR && n->init) {
            decl = n;
            mask = deps_of(deps, n->init);
        } else if (n->kind == NODE_ASSIGN) {
            decl = node_base(n->child);
            mask = deps_of(deps, n->child->next) | control_mask(deps, n, function);
        } else if (node_is_change(n)) {
            decl = node_base(n->child);
            mask = control_mask(deps, n, function);
        }
        if (!decl || decl->kind != NODE_VAR)
            continue;
        unsigned *known = mask_of(deps, decl);
        if (known < deps->masks + nr_seeds)
            continue;
        changed = changed || (*known | mask) != *known;
        *known |= mask;
    }
    return changed;
}

void deps_solve(struct deps *deps, const struct node *function)
{
    unsigned nr_seeds = deps->nr;
    while (spread(deps, nr_seeds, function) && !deps->overflow)
        continue;
}
