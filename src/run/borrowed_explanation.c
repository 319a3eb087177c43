/* Owns the explanations that are borrowed from another kernel's run. */
#include "run/borrowed_explanation.h"

#include "base/mem.h"
#include "store/store.h"

#include <stdlib.h>

struct borrowed_explanation {
    struct arena *arena;
    struct candidate *path; /* from the original to the best */
    unsigned nr;
};

/* All nodes by number, in the arena. */
static bool load_nodes(struct store *store, struct arena *arena, struct candidate **nodes,
    int64_t *nr, struct err *err)
{
    struct run_info run;
    bool found;

    if (!store_find_run(store, arena, &run, &found, err))
        return false;
    if (!found)
        return err_set(err, "there is no run in it");
    if (!store_nr_nodes(store, nr, err))
        return false;
    *nodes = arena_array(arena, (size_t)*nr + 1, sizeof(**nodes));
    for (int64_t i = 0; i < *nr; i++) {
        (*nodes)[i] = (struct candidate){.arena = arena, .parent = -1};
        if (!store_load_node(store, i, &(*nodes)[i], &found, err))
            return false;
    }
    return *nr > 0 || err_set(err, "there is no node in it");
}

static void take_path(struct borrowed_explanation *d, const struct candidate *nodes, int64_t nr)
{
    int64_t best = 0;

    for (int64_t i = 0; i < nr; i++)
        if (nodes[i].verdict == VERDICT_OK && nodes[i].speedup > nodes[best].speedup)
            best = i;
    for (int64_t at = best; at >= 0; at = nodes[at].parent)
        d->nr++;
    d->path = arena_array(d->arena, d->nr, sizeof(*d->path));
    for (int64_t at = best, i = d->nr; at >= 0; at = nodes[at].parent)
        d->path[--i] = nodes[at];
}

struct borrowed_explanation *borrowed_explanation_open(const char *path, struct err *err)
{
    struct borrowed_explanation *d = xcalloc(1, sizeof(*d));
    struct store *store = store_open(path, err);
    struct candidate *nodes = NULL;
    int64_t nr = 0;
    bool ok;

    d->arena = arena_create();
    ok = store && load_nodes(store, d->arena, &nodes, &nr, err);
    if (ok)
        take_path(d, nodes, nr);
    else
        err_wrap(err, "%s", path);
    store_close(store);
    if (ok)
        return d;
    borrowed_explanation_close(d);
    return NULL;
}

void borrowed_explanation_close(struct borrowed_explanation *d)
{
    if (!d)
        return;
    arena_destroy(d->arena);
    free(d);
}

const struct candidate *borrowed_explanation_at(
    const struct borrowed_explanation *d, unsigned depth)
{
    return !d ? NULL : &d->path[depth < d->nr ? depth : d->nr - 1];
}
