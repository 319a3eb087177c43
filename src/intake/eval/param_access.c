/* Owns what a kernel does with its parameters: whether it reads, writes or updates their memory,
 * and which values are indices. */
#include "intake/eval/param_access.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/eval/interp_parts.h"

#include <limits.h>
#include <string.h>

enum { MAX_WALK_STEPS = 600000 };

bool interp_watched(const struct interp *ip, const struct interp_value *v)
{
    return ip->walk && v->kind == VALUE_MEMORY && v->memory == ip->walk->memory;
}

struct interp_value interp_used(struct interp *ip, const struct interp_operand *o)
{
    if (ip->walk && o->memory == ip->walk->memory)
        ip->walk->reads = true;
    return o->v;
}

struct interp_value interp_asked(struct interp *ip, const struct interp_operand *o)
{
    if (interp_watched(ip, &o->v))
        ip->walk->asked = true;
    return interp_used(ip, o);
}

static void add(struct interp_walk *w, bool reads, bool writes)
{
    w->reads |= reads;
    w->writes |= writes;
}

/* What functions do that are not in the file. The first row whose word is in the name counts. */
static const struct {
    const char *word;
    bool anywhere;      /* the word is anywhere in the name; else the name begins with it */
    bool reads, writes; /* through the first argument */
    bool others_too;    /* through the other arguments too; else these are read */
} known[] = {{"__ld", false, true, false, true}, {"load", true, true, false, true},
    {"Load", true, true, false, true}, {"printf", true, false, false, true},
    {"assert", false, false, false, true}, {"prefetch", true, false, false, true},
    {"__st", false, false, true, true}, {"store", true, false, true, true},
    {"Store", true, false, true, true}, {"memcpy", false, false, true, false},
    {"memset", false, false, true, false}, {"__pipeline_memcpy", false, false, true, false}};

/* Argument n of a function that is not in the file points into the memory. */
static void pointer_passed(struct interp_walk *w, const char *name, unsigned n)
{
    if (strcmp(name, "memcpy_async") == 0) { /* a group may stand before the two pointers */
        add(w, n > 0, n < 2);
        return;
    }
    if (str_starts(name, "atomic") && n == 0) {
        add(w, true, true);
        w->atomics = true;
        return;
    }
    if (str_starts(name, "curand")) { /* a random generator changes its state */
        add(w, strcmp(name, "curand_init") != 0, true);
        return;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(known); i++)
        if (known[i].anywhere ? strstr(name, known[i].word) != NULL
                              : str_starts(name, known[i].word)) {
            const bool as_first = n == 0 || known[i].others_too;

            add(w, as_first ? known[i].reads : true, as_first && known[i].writes);
            return;
        }
    add(w, true, true);
}

/* A pointer into the memory can be had from the value. */
static bool leads_there(const struct interp *ip, const struct interp_value *v, unsigned depth)
{
    if (interp_watched(ip, v) || depth == 0)
        return depth > 0;
    if (v->kind == VALUE_ADDRESS)
        return v->slot->element == ip->walk->memory || leads_there(ip, &v->slot->v, depth - 1);
    if (v->kind == VALUE_MEMORY)
        return leads_there(ip, &v->memory->fill, depth - 1);
    for (const struct field *f = v->kind == VALUE_OBJECT ? v->object->fields : NULL; f; f = f->next)
        if (leads_there(ip, &f->slot.v, depth - 1))
            return true;
    return false;
}

void interp_walk_away(struct interp *ip, const struct interp_value *v)
{
    enum { MAX_WAY = 6 };

    if (ip->walk && leads_there(ip, v, MAX_WAY))
        add(ip->walk, true, true);
}

void interp_walk_call(
    struct interp *ip, const char *name, const struct interp_operand *args, unsigned nr)
{
    struct interp_walk *w = ip->walk;

    for (unsigned n = 0; w && n < nr; n++) {
        if (interp_watched(ip, &args[n].v)) {
            pointer_passed(w, name, n);
        } else if (args[n].memory == w->memory) { /* an element by value, with few exceptions */
            add(w, true, strstr(name, "swap") || strstr(name, "atomic"));
            w->atomics |= strstr(name, "atomic") != NULL;
        } else {
            interp_walk_away(ip, &args[n].v);
        }
    }
}

void interp_walk_object(struct interp *ip, const struct interp_operand *o)
{
    if (ip->walk && (interp_watched(ip, &o->v) || o->memory == ip->walk->memory))
        add(ip->walk, true, true);
}

bool interp_passes_const(const struct interp *ip, const struct decl *fn,
    const struct interp_operand *args, unsigned nr_args)
{
    struct param params[MAX_PARAMS];
    const unsigned nr = fn->toks ? 0 : params_read(params, NULL, ip->resolver->decls, fn);
    bool any = false;

    for (unsigned n = 0; n < nr && n < nr_args; n++)
        if (interp_watched(ip, &args[n].v)) {
            if (!params[n].is_const || !params[n].is_pointer) /* const T p, with T a pointer */
                return false;
            any = true;
        }
    return any;
}

/* Operands of asm: "=f"(p[i]), "l"(p). */
void interp_walk_asm(struct interp *ip, const struct toks *toks, unsigned from, unsigned to)
{
    static const char *const both[] = {"red.", "atom.", "bulk"};
    struct interp_walk *w = ip->walk;
    bool loads = false, stores = false;

    if (!w) /* host code */
        return;
    for (unsigned i = from; i < to; i++) {
        const char *text = toks->tok[i].kind == TOK_STRING ? toks->tok[i].text : "";

        loads = loads || strstr(text, "ld") || strstr(text, "cp.async.c");
        stores = stores || strstr(text, "st.");
        for (unsigned b = 0; b < ARRAY_SIZE(both); b++)
            if (strstr(text, both[b]))
                loads = stores = true;
    }
    for (unsigned i = from; i + 1 < to; i++) {
        const char *constraint = toks->tok[i].text;

        if (toks->tok[i].kind != TOK_STRING || !toks_is(toks, i + 1, "(") ||
            !toks->tok[i + 1].match)
            continue;
        const struct interp_operand o =
            interp_operand(ip, (struct tok_range){toks, i + 2, toks->tok[i + 1].match});

        if (interp_watched(ip, &o.v))
            add(w, loads || !stores, stores || !loads);
        else if (o.memory == w->memory)
            add(w, !strchr(constraint, '='), strchr(constraint, '=') || strchr(constraint, '+'));
    }
}

/* ---- kernels ---- */

static struct interp_value watched_pointer(struct interp *ip, struct interp_walk *w)
{
    *w = (struct interp_walk){.memory = interp_memory(ip, -1, true), .oldest = UINT_MAX};
    w->memory->lost = true;
    return interp_pointer(w->memory, NULL, 0);
}

/* Follows fn with these arguments. */
static void walk(struct interp *ip, const struct decl *fn, struct interp_operand *args, unsigned nr,
    struct interp_walk *w)
{
    const unsigned at = ip->at;

    ip->walk = w;
    w->begun = ip->nr_slots;
    ip->frame = NULL;
    ip->steps = ip->depth = 0;
    ip->limit = MAX_WALK_STEPS;
    ip->stopped = false;
    ip->at = fn->body;
    interp_call(ip, fn, args, nr, NULL, NULL, NULL);
    if (ip->stopped)
        add(w, true, true);
    ip->walk = NULL;
    ip->stopped = false;
    ip->steps = 0;
    ip->at = at;
}

/* Sets the pointer at `path` in an object. */
static void set_member(
    struct interp *ip, struct interp_object *object, const char *path, struct interp_value v)
{
    const size_t len = strcspn(path, ".[");
    struct interp_slot *slot = interp_field(ip, object, arena_strndup(ip->arena, path, len));
    const char *rest = path[len] == '[' ? strchr(path, ']') + 1 : path + len;

    if (path[len] == '[' && !*rest && slot->v.kind == VALUE_MEMORY)
        slot->v.memory->fill = v;
    else if (*rest == '.' && slot->v.kind == VALUE_OBJECT)
        set_member(ip, slot->v.object, rest + 1, v);
    else
        slot->v = v;
}

void param_access_member(struct param *p, struct interp *ip, const struct decl *fn,
    const char *object, const struct type *type, const char *path)
{
    struct param params[MAX_PARAMS];
    struct interp_operand args[MAX_PARAMS] = {0};
    struct interp_walk w;
    const unsigned nr = params_read(params, NULL, ip->resolver->decls, fn);
    const struct interp_value pointer = watched_pointer(ip, &w);

    for (unsigned n = 0; n < nr; n++)
        if (strcmp(params[n].name, object) == 0) {
            args[n].v = interp_object(ip, type);
            set_member(ip, args[n].v.object, path, pointer);
        }
    walk(ip, fn, args, nr, &w);
    p->reads = w.reads || !w.writes;
    p->writes = w.writes || !w.reads;
    p->atomics = w.atomics;
}

bool param_access_writes_variable(struct interp *ip, const struct decl *fn, const char *name)
{
    struct interp_walk w;
    struct interp_slot *slot = interp_global(ip, name);

    if (!slot)
        return true;
    const struct interp_slot before = *slot;

    slot->v = watched_pointer(ip, &w);
    slot->element = before.v.kind == VALUE_MEMORY ? NULL : w.memory;
    if (slot->element)
        slot->v = (struct interp_value){0};
    walk(ip, fn, NULL, 0, &w);
    *slot = before;
    return w.writes;
}

/* The parameter that the values of another one index: b in b[idx[i]], or in j = idx[i]; b[j]. */
static const char *indexed_by(const struct decls *decls, const struct decl *fn,
    const struct param *params, unsigned nr, const char *name)
{
    const struct toks *toks = decls->toks;

    for (unsigned i = fn->body + 1; i < fn->to; i++) {
        const char *local = NULL;

        if (!toks_is(toks, i, name) || !toks_is(toks, i + 1, "["))
            continue;
        if (toks_is(toks, i - 1, "=") && toks->tok[i - 2].kind == TOK_NAME)
            local = toks->tok[i - 2].text;
        for (unsigned p = 0; p < nr; p++)
            for (unsigned k = fn->body + 1; params[p].is_pointer && k < fn->to; k++) {
                unsigned open = k + 1;

                if (!toks_is(toks, k, params[p].name) || !toks_is(toks, open, "[") ||
                    strcmp(params[p].name, name) == 0)
                    continue;
                for (unsigned j = open + 1; j < toks->tok[open].match; j++)
                    if (j == i || (local && toks_is(toks, j, local)))
                        return params[p].name;
            }
    }
    return NULL;
}

void param_access_pointers(
    struct param *params, unsigned nr, struct interp *ip, const struct decl *fn)
{
    for (unsigned p = 0; fn->body && p < nr; p++) {
        struct interp_operand args[MAX_PARAMS] = {0};
        struct interp_walk w;

        if (!params[p].is_pointer || !*params[p].name)
            continue;
        args[p].v = watched_pointer(ip, &w);
        walk(ip, fn, args, nr, &w);
        params[p].reads = w.reads;
        params[p].writes = w.writes && !params[p].is_const;
        params[p].atomics = w.atomics;
        params[p].may_be_null = (!w.reads && !w.writes) || w.asked;
        params[p].indexed = indexed_by(ip->resolver->decls, fn, params, nr, params[p].name);
    }
}
