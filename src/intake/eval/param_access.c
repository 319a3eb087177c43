/* Owns what a kernel does with its parameters: whether it reads, writes or updates their memory,
 * and which values are indices. */
#include "intake/eval/param_access.h"

#include "base/str.h"
#include "intake/eval/memory_effects.h"
#include "intake/syntax/spelling.h"

#include <string.h>

enum { MAX_CALLS_DOWN = 3 };

void param_access_member(struct param *p, const struct resolver *resolver, const struct decl *fn,
    const char *object, const char *member, const struct decl *type)
{
    const struct toks *toks = resolver->decls->toks;
    const unsigned open = type ? toks_find(toks, type->from, type->to, "{") : 0;
    struct memory_effects effects = {0};

    memory_effects_of_member(resolver, fn, object, member, &effects);
    for (unsigned i = open + 1; type && open < type->to && i < toks->tok[open].match; i++) {
        const struct decl method = {.body = i, .to = toks->tok[i].match, .open = i};

        if (!tok_is(&toks->tok[i], "{") || !toks->tok[i].match)
            continue;
        memory_effects_of_pointer(resolver, &method, member, &effects);
        memory_effects_of_member(resolver, &method, "this", member, &effects);
        i = toks->tok[i].match;
    }
    p->reads = effects.reads || !effects.writes;
    p->writes = effects.writes || !effects.reads;
    p->atomics = effects.atomics;
}

/* The parameter that the values of another one index: b in b[idx[i]], or in j = idx[i]; b[j]. */
static const char *indexed_by(const struct decls *decls, const struct decl *fn,
    const struct param *params, unsigned nr, const char *name)
{
    const struct toks *toks = decls->toks;

    for (unsigned i = fn->body + 1; i < fn->to; i++) {
        const char *local = NULL;

        if (!tok_is(&toks->tok[i], name) || !tok_is(&toks->tok[i + 1], "["))
            continue;
        if (tok_is(&toks->tok[i - 1], "=") && toks->tok[i - 2].kind == TOK_NAME)
            local = toks->tok[i - 2].text;
        for (unsigned p = 0; p < nr; p++)
            for (unsigned k = fn->body + 1; params[p].is_pointer && k < fn->to; k++) {
                unsigned open = k + 1;

                if (!tok_is(&toks->tok[k], params[p].name) || !tok_is(&toks->tok[open], "[") ||
                    strcmp(params[p].name, name) == 0)
                    continue;
                for (unsigned j = open + 1; j < toks->tok[open].match; j++)
                    if (j == i || (local && tok_is(&toks->tok[j], local)))
                        return params[p].name;
            }
    }
    return NULL;
}

/* Token i, which names p, stands in a comparison with null: if (p), !p, p == nullptr, p ? ... */
static bool is_asked_for(const struct toks *toks, unsigned i)
{
    static const char *const before[] = {"!", "&&", "||", NULL}, *const after[] = {
                                                                     ")", "&&", "||", NULL};
    const struct tok *prev = &toks->tok[i - 1], *next = &toks->tok[i + 1];

    if (tok_is(next, "==") || tok_is(next, "!="))
        return spelling_is_null(next[1].text);
    if (tok_is(prev, "==") || tok_is(prev, "!="))
        return spelling_is_null(toks->tok[i - 2].text);
    if (tok_is(prev, "(") && tok_is(&toks->tok[i - 2], "if"))
        return str_among(next->text, after);
    return tok_is(prev, "!") || tok_is(next, "?") ||
           (str_among(prev->text, before) && str_among(next->text, after));
}

static bool asks_for(
    const struct resolver *resolver, const struct decl *fn, const char *name, unsigned depth);

/* The function that gets token i as an argument compares that parameter with null. */
static bool callee_asks(
    const struct resolver *resolver, const struct decl *fn, unsigned i, unsigned depth)
{
    const struct toks *toks = resolver->decls->toks;
    struct param params[MAX_PARAMS];
    unsigned open = i, arg = 0;

    while (--open > fn->body && !tok_is(&toks->tok[open], "(")) {
        if (tok_is(&toks->tok[open], ";") || tok_is(&toks->tok[open], "{"))
            return false;
        if (toks->tok[open].match && toks->tok[open].match < open)
            open = toks->tok[open].match;
        else
            arg += tok_is(&toks->tok[open], ",");
    }
    const struct decl *callee = toks->tok[open - 1].kind == TOK_NAME
                                    ? decls_function(resolver->decls, toks->tok[open - 1].text)
                                    : NULL;

    return callee && callee->body && arg < params_read(params, NULL, resolver->decls, callee) &&
           asks_for(resolver, callee, params[arg].name, depth);
}

static bool asks_for(
    const struct resolver *resolver, const struct decl *fn, const char *name, unsigned depth)
{
    const struct toks *toks = resolver->decls->toks;

    for (unsigned i = fn->body + 1; i < fn->to && *name; i++)
        if (tok_is(&toks->tok[i], name) &&
            (is_asked_for(toks, i) || (depth > 0 && callee_asks(resolver, fn, i, depth - 1))))
            return true;
    return false;
}

void param_access_pointers(
    struct param *params, unsigned nr, const struct resolver *resolver, const struct decl *fn)
{
    for (unsigned p = 0; fn->body && p < nr; p++) {
        struct memory_effects effects = {0};

        if (!params[p].is_pointer || !*params[p].name)
            continue;
        memory_effects_of_pointer(resolver, fn, params[p].name, &effects);
        params[p].reads = effects.reads;
        params[p].writes = effects.writes && !params[p].is_const;
        params[p].atomics = effects.atomics;
        params[p].may_be_null = (!effects.reads && !effects.writes) ||
                                asks_for(resolver, fn, params[p].name, MAX_CALLS_DOWN);
        params[p].indexed = indexed_by(resolver->decls, fn, params, nr, params[p].name);
    }
}
