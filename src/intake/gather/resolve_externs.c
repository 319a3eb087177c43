/* Owns which other files define the device functions and variables that a file only declares. */
#include "intake/gather/source_set.h"
#include "intake/syntax/spelling.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MISSING = 64, MAX_LOOKED = 4096 };

static bool has_word(const struct decls *decls, const struct decl *d, const char *word)
{
    return toks_find(decls->toks, d->from, d->to, word) < d->to;
}

static bool is_extern(const struct decls *decls, const struct decl *d)
{
    return has_word(decls, d, "extern") && !has_word(decls, d, "__shared__");
}

/* One of the first nr declarations defines it. */
static bool is_defined(const struct decls *decls, const struct decl *what, unsigned nr)
{
    const struct decl *first = nr ? decls_function(decls, what->name) : NULL;

    if (what->kind == DECL_FUNCTION)
        return first && first->body && first < decls->decl + nr;
    for (unsigned i = 0; i < nr; i++)
        if (decls->decl[i].kind == DECL_VARIABLE && decls->decl[i].is_device &&
            strcmp(decls->decl[i].name, what->name) == 0 && !is_extern(decls, &decls->decl[i]))
            return true;
    return false;
}

/* Finds kept declarations without a definition, one of each name. Returns how many there are. */
static unsigned missing(const struct decls *decls, const struct decl **found)
{
    unsigned nr = 0, nr_looked = 0;

    for (unsigned i = 0; i < decls->nr_own && nr < MAX_MISSING && nr_looked < MAX_LOOKED; i++) {
        const struct decl *d = &decls->decl[i];
        bool is = d->keep && d->is_device && !d->is_kernel && *d->name &&
                  ((d->kind == DECL_FUNCTION && !d->body) ||
                      (d->kind == DECL_VARIABLE && is_extern(decls, d)));

        for (unsigned f = 0; is && f < nr; f++)
            is = strcmp(found[f]->name, d->name) != 0;
        nr_looked += is;
        if (is && !is_defined(decls, d, decls->nr_own))
            found[nr++] = d;
    }
    return nr;
}

/* ---- the neighbours ---- */

static bool is_here(const struct source_set *set, const char *path)
{
    for (unsigned f = 0; f < set->nr_own_files; f++)
        if (strcmp(set->files[f].path, path) == 0)
            return true;
    return false;
}

static bool neighbour_defines(struct source_set *set, struct neighbour *n, const struct decl *what)
{
    if (!n->read) {
        n->read = true;
        if (strstr(n->file.text, "__") &&
            toks_lex(&n->toks, set->arena, n->file.text, n->file.bytes))
            decls_read(&n->decls, set->arena, &n->toks);
    }
    return is_defined(&n->decls, what, n->decls.nr);
}

/* The only neighbour that defines it; NULL: none does, or several do. */
static struct neighbour *definer(struct source_set *set, const struct decl *what)
{
    struct neighbour *found = NULL;

    source_set_neighbours(set);
    for (unsigned i = 0; i < set->nr_neighbours; i++) {
        struct neighbour *n = &set->neighbours[i];

        if (!spelling_has_word(n->file.text, what->name) || !neighbour_defines(set, n, what))
            continue;
        if (found || is_here(set, n->file.path))
            return NULL;
        found = n;
    }
    return found;
}

/* ---- twins ---- */

static int by_name(const void *a, const void *b)
{
    const struct decl *x = *(const struct decl *const *)a, *y = *(const struct decl *const *)b;
    const int order = strcmp(x->name, y->name);

    return order ? order : (x->from > y->from) - (x->from < y->from);
}

static bool same_place(const struct decls *decls, unsigned a, unsigned b)
{
    while (a != b) {
        const struct container *x = &decls->container[a], *y = &decls->container[b];

        if (!a || !b ||
            !tok_range_same((struct tok_range){decls->toks, x->from, x->open},
                (struct tok_range){decls->toks, y->from, y->open}))
            return false;
        a = x->parent;
        b = y->parent;
    }
    return true;
}

/* The two declarations cannot stand in one text. */
static bool clash(const struct decls *decls, const struct decl *a, const struct decl *b)
{
    const struct toks *toks = decls->toks;

    if (!*a->name || a->kind != b->kind)
        return false;
    if (a->kind == DECL_FUNCTION)
        return a->body && b->body &&
               tok_range_same((struct tok_range){toks, a->open, toks->tok[a->open].match},
                   (struct tok_range){toks, b->open, toks->tok[b->open].match});
    if (a->kind == DECL_VARIABLE)
        return !is_extern(decls, a) && !is_extern(decls, b);
    return a->kind == DECL_TYPE && toks_find(toks, a->from, a->to, "{") < a->to &&
           toks_find(toks, b->from, b->to, "{") < b->to;
}

/* Drops what two files say in the same words. False: the files cannot be read together. */
static bool part_twins(struct source_set *set)
{
    struct decls *decls = &set->decls;
    const struct decl **kept = arena_array(set->arena, decls->nr_own + 1, sizeof(*kept));
    unsigned nr = 0;

    for (unsigned i = 0; i < decls->nr_own; i++)
        if (decls->decl[i].keep && decls->decl[i].kind != DECL_DIRECTIVE)
            kept[nr++] = &decls->decl[i];
    qsort(kept, nr, sizeof(*kept), by_name);
    for (unsigned i = 1; i < nr; i++)
        for (unsigned k = i;
             set->toks.tok[kept[i]->from].at >= set->own_bytes && kept[i]->keep && k > 0; k--) {
            const struct decl *a = kept[k - 1];

            if (strcmp(a->name, kept[i]->name) != 0)
                break;
            if (!a->keep || !same_place(decls, a->container, kept[i]->container))
                continue;
            if (tok_range_same((struct tok_range){&set->toks, a->from, a->to},
                    (struct tok_range){&set->toks, kept[i]->from, kept[i]->to}))
                decls->decl[kept[i] - decls->decl].is_twin = true;
            else if (clash(decls, a, kept[i]))
                return false;
        }
    for (unsigned i = 0; i < decls->nr_own; i++)
        decls->decl[i].keep = decls->decl[i].keep && !decls->decl[i].is_twin;
    return true;
}

static bool unlink_all(struct source_set *set)
{
    set->nr_linked = 0;
    set->unlinked = true;
    return true;
}

/* Links the neighbours that define what is missing. True: there are more than before. */
static bool link_definers(struct source_set *set, const struct decl *const *wanted, unsigned nr)
{
    const unsigned before = set->nr_linked;

    for (unsigned i = 0; i < nr && set->nr_linked < SOURCE_SET_MAX_LINKED; i++) {
        const struct neighbour *n = definer(set, wanted[i]);
        bool again = false;

        for (unsigned l = before; n && l < set->nr_linked; l++)
            again = again || set->linked[l].file == &n->file;
        if (n && !again)
            set->linked[set->nr_linked++] = (struct linked){&n->file, wanted[i]->name};
    }
    return set->nr_linked > before;
}

bool resolve_externs(struct source_set *set)
{
    const struct decl *wanted[MAX_MISSING];
    const unsigned nr = missing(&set->decls, wanted);

    if (set->unlinked)
        return false;
    for (unsigned i = 0; i < nr; i++)
        for (unsigned l = 0; l < set->nr_linked; l++)
            if (strcmp(set->linked[l].name, wanted[i]->name) == 0)
                return unlink_all(set); /* linking does not help */
    if (set->nr_linked && !part_twins(set))
        return unlink_all(set);
    return link_definers(set, wanted, nr);
}
