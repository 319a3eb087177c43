/* Owns what a kernel does with its parameters: memory read, written, updated; values that index. */
#include "intake/roles.h"

#include "intake/uses.h"

#include <string.h>

void param_member(struct param *p, const struct host *host, const struct decl *fn,
    const char *object, const char *member, const struct decl *type)
{
    const struct toks *toks = host->decls->toks;
    const unsigned open = type ? toks_find(toks, type->from, type->to, "{") : 0;
    struct use use = {0};

    use_of_member(host, fn, object, member, &use);
    for (unsigned i = open + 1; type && open < type->to && i < toks->tok[open].match; i++) {
        const struct decl method = {.body = i, .to = toks->tok[i].match, .open = i};

        if (!tok_is(&toks->tok[i], "{") || !toks->tok[i].match)
            continue;
        use_of_pointer(host, &method, member, &use);
        use_of_member(host, &method, "this", member, &use);
        i = toks->tok[i].match;
    }
    p->reads = use.reads || !use.writes;
    p->writes = use.writes || !use.reads;
    p->atomics = use.atomics;
}

/* Values that stand inside the subscript of another pointer: b[idx[i]], or j = idx[i]; b[j]. */
static const char *indexed_by(const struct decls *decls, const struct decl *fn,
    const struct param *params, unsigned nr, const char *name)
{
    const struct toks *toks = decls->toks;

    for (unsigned i = fn->body + 1; i < fn->to; i++) {
        const char *local = NULL;

        if (toks->tok[i].kind != TOK_NAME || strcmp(toks->tok[i].text, name) != 0 ||
            !tok_is(&toks->tok[i + 1], "["))
            continue;
        if (tok_is(&toks->tok[i - 1], "=") && toks->tok[i - 2].kind == TOK_NAME)
            local = toks->tok[i - 2].text;
        for (unsigned p = 0; p < nr; p++)
            for (unsigned k = fn->body + 1; params[p].is_pointer && k < fn->to; k++) {
                unsigned open = k + 1;

                if (toks->tok[k].kind != TOK_NAME ||
                    strcmp(toks->tok[k].text, params[p].name) != 0 ||
                    !tok_is(&toks->tok[open], "[") || strcmp(params[p].name, name) == 0)
                    continue;
                for (unsigned j = open + 1; j < toks->tok[open].match; j++)
                    if (j == i || (local && toks->tok[j].kind == TOK_NAME &&
                                      strcmp(toks->tok[j].text, local) == 0))
                        return params[p].name;
            }
    }
    return NULL;
}

void params_roles(struct param *params, unsigned nr, const struct host *host, const struct decl *fn)
{
    for (unsigned p = 0; fn->body && p < nr; p++) {
        struct use use = {0};

        if (!params[p].is_pointer || !*params[p].name)
            continue;
        use_of_pointer(host, fn, params[p].name, &use);
        params[p].reads = use.reads;
        params[p].writes = use.writes && !params[p].is_const;
        params[p].atomics = use.atomics;
        params[p].indexed = indexed_by(host->decls, fn, params, nr, params[p].name);
    }
}
