/* Owns what a kernel does with its parameters: memory read, written, updated; by tokens, following
 * local pointers and calls of the file's own device functions. */
#include "intake/roles.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/host.h"

#include <string.h>

enum { MAX_ALIASES = 16, MAX_CALL_DEPTH = 6 };

struct use {
    bool reads, writes, atomics;
};

static void follow(const struct decls *decls, const struct decl *fn, const char *name,
    unsigned depth, struct use *use);

unsigned template_params(
    const struct toks *toks, const struct decl *fn, const char **names, unsigned max)
{
    unsigned nr = 0;
    int depth = 0;

    if (!tok_is(&toks->tok[fn->from], "template"))
        return 0;
    for (unsigned i = fn->from + 1; i < fn->to; i++) {
        const struct tok *t = &toks->tok[i], *next = &toks->tok[i + 1];

        depth += tok_is(t, "<") - tok_is(t, ">");
        if (depth == 0)
            break;
        if (t->kind == TOK_NAME && depth == 1 &&
            (tok_is(next, ",") || tok_is(next, ">") || tok_is(next, "=")) && nr < max)
            names[nr++] = t->text;
    }
    return nr;
}

/* Past what may follow a pointer in an access: )[...], .x, ->x. */
static unsigned after_access(const struct toks *toks, unsigned i, bool *subscripted)
{
    for (;;) {
        const struct tok *t = &toks->tok[i];

        if (tok_is(t, "[") && t->match) {
            *subscripted = true;
            i = t->match + 1;
        } else if ((tok_is(t, ".") || tok_is(t, "->")) && toks->tok[i + 1].kind == TOK_NAME) {
            *subscripted = *subscripted || tok_is(t, "->");
            i += 2;
        } else if (tok_is(t, ")") && tok_is(&toks->tok[i + 1], "[")) {
            i++;
        } else {
            return i;
        }
    }
}

static bool assigns(const struct tok *t, bool *reads_too)
{
    static const char *const updates[] = {
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", NULL};

    *reads_too = false;
    if (tok_is(t, "="))
        return true;
    for (unsigned i = 0; updates[i]; i++)
        if (tok_is(t, updates[i]))
            return *reads_too = true;
    return false;
}

/* The call that token i is an argument of: the token of its name, and which argument; 0: none. */
static unsigned call_around(const struct toks *toks, unsigned i, unsigned first, unsigned *argument)
{
    *argument = 0;
    while (i > first) {
        i--;
        const struct tok *t = &toks->tok[i];

        if (t->match && t->match < i)
            i = t->match;
        else if (tok_is(t, ","))
            ++*argument;
        else if (tok_is(t, "(") && toks->tok[i - 1].kind == TOK_NAME)
            return i - 1;
        else if (tok_is(t, "(") && tok_is(&toks->tok[i - 1], ">"))
            return 0;
        else if (tok_is(t, ";") || tok_is(t, "{") || tok_is(t, "}") || tok_is(t, "[") ||
                 tok_is(t, "="))
            return 0;
    }
    return 0;
}

/* `T *q = p + 4;`, `float4 *v = (float4 *)p;`: q, whose memory is p's. NULL: the statement is none.
 */
static const char *alias_made(const struct toks *toks, unsigned i, unsigned first)
{
    while (i > first && !tok_is(&toks->tok[i], ";") && !tok_is(&toks->tok[i], "{") &&
           !tok_is(&toks->tok[i], "}")) {
        if (tok_is(&toks->tok[i], "=") && toks->tok[i - 1].kind == TOK_NAME &&
            (tok_is(&toks->tok[i - 2], "*") || tok_is(&toks->tok[i - 2], "__restrict__") ||
                tok_is(&toks->tok[i - 2], "auto")))
            return toks->tok[i - 1].text;
        i--;
    }
    return NULL;
}

/* `T &name = p[i]`, where p is at token first; NULL: it is none. */
static const char *reference_made(const struct toks *toks, unsigned first)
{
    const struct tok *t = &toks->tok[first];

    return tok_is(t - 1, "=") && t[-2].kind == TOK_NAME && tok_is(t - 3, "&") ? t[-2].text : NULL;
}

/* What token k does with a variable, where it is that one. */
static void note_variable(
    const struct toks *toks, unsigned k, const char *name, bool *reads, bool *writes)
{
    bool subscripted = false, reads_too;

    if (!tok_is(&toks->tok[k], name) || tok_is(&toks->tok[k - 1], ".") ||
        tok_is(&toks->tok[k - 1], "->"))
        return;
    const bool assigned = assigns(&toks->tok[after_access(toks, k + 1, &subscripted)], &reads_too);

    *writes = *writes || assigned;
    *reads = *reads || !assigned || reads_too;
}

/* The pointer at token i; what names it begins at token `first`: p of p.x. */
static void use_at(const struct decls *decls, const struct decl *fn, unsigned first, unsigned i,
    unsigned depth, const char **aliases, unsigned *nr_aliases, struct use *use)
{
    const struct toks *toks = decls->toks;
    bool subscripted = false, reads_too, star = tok_is(&toks->tok[first - 1], "*");
    unsigned argument, past = after_access(toks, i + 1, &subscripted);
    unsigned call = call_around(toks, i, fn->body, &argument);
    const char *callee = call ? toks->tok[call].text : "";

    if (str_starts(callee, "atomic") && argument == 0) {
        use->reads = use->writes = use->atomics = true;
        return;
    }
    if (str_starts(callee, "curand")) { /* a generator steps on */
        use->writes = true;
        use->reads = use->reads || strcmp(callee, "curand_init") != 0;
        return;
    }
    if (star) { /* *p = x; *(float4 *)p = x */
        const struct tok *before = &toks->tok[first - 2];
        bool deref = before->kind == TOK_PUNCT && !tok_is(before, ")") && !tok_is(before, "]");

        subscripted = subscripted || deref;
    }
    if (assigns(&toks->tok[past], &reads_too) && (subscripted || star)) {
        use->writes = true;
        use->reads = use->reads || reads_too;
        return;
    }
    if (subscripted && !tok_is(&toks->tok[first - 1], "&")) {
        bool pre = tok_is(&toks->tok[first - 1], "++") || tok_is(&toks->tok[first - 1], "--");

        const char *name = reference_made(toks, first);
        bool reads = false, writes = false;

        for (unsigned k = past; name && k < fn->to; k++)
            note_variable(toks, k, name, &reads, &writes);
        use->reads = use->reads || !name || reads || !writes;
        use->writes = use->writes || pre || writes;
        return;
    }
    /* the pointer itself goes somewhere */
    const char *alias = alias_made(toks, i, fn->body);

    if (alias && *nr_aliases < MAX_ALIASES) {
        bool known = false;

        for (unsigned a = 0; a < *nr_aliases; a++)
            known = known || strcmp(aliases[a], alias) == 0;
        if (!known)
            aliases[(*nr_aliases)++] = alias;
    }
    /* *reinterpret_cast<float4 *>(&p[4]) = v, ((float4 *)p)[i] = v */
    unsigned at = past;

    while (tok_is(&toks->tok[at], ")"))
        at++;
    bool further = false;
    unsigned end = after_access(toks, at, &further);

    if (at > past && assigns(&toks->tok[end], &reads_too)) {
        use->writes = true;
        use->reads = use->reads || reads_too;
        return;
    }
    const struct decl *inner = *callee ? decls_function(decls, callee) : NULL;

    if (inner && inner->body && depth > 0 && inner != fn) {
        struct param params[MAX_PARAMS];
        unsigned nr = params_read(params, NULL, decls, inner);

        if (argument < nr && params[argument].is_pointer) {
            follow(decls, inner, params[argument].name, depth - 1, use);
            return;
        }
    }
    if (*callee && (strstr(callee, "store") || strstr(callee, "Store") || strstr(callee, "__st")))
        use->writes = true;
    else if (!alias)
        use->reads = true;
}

static void follow(const struct decls *decls, const struct decl *fn, const char *name,
    unsigned depth, struct use *use)
{
    const struct toks *toks = decls->toks;
    const char *aliases[MAX_ALIASES] = {name};
    unsigned nr_aliases = 1;

    for (unsigned a = 0; a < nr_aliases; a++)
        for (unsigned i = fn->body + 1; i < fn->to; i++)
            if (toks->tok[i].kind == TOK_NAME && strcmp(toks->tok[i].text, aliases[a]) == 0 &&
                !tok_is(&toks->tok[i - 1], ".") && !tok_is(&toks->tok[i - 1], "->") &&
                !(a > 0 && tok_is(&toks->tok[i + 1], "=")))
                use_at(decls, fn, i, i, depth, aliases, &nr_aliases, use);
}

/* Which parameter of which function of the file token i is an argument of; NULL: of none. */
static const struct decl *handed_to(
    const struct decls *decls, const struct decl *fn, unsigned i, const char **param)
{
    struct param params[MAX_PARAMS];
    unsigned argument;
    const unsigned call = call_around(decls->toks, i, fn->body, &argument);
    const struct decl *inner = call ? decls_function(decls, decls->toks->tok[call].text) : NULL;

    if (!inner || !inner->body || inner == fn ||
        argument >= params_read(params, NULL, decls, inner))
        return NULL;
    *param = params[argument].name;
    return inner;
}

/* object.member and object.part.member, wherever fn or what it hands the object or a part to names
 * it. */
static void follow_member(const struct decls *decls, const struct decl *fn, const char *object,
    const char *member, unsigned depth, struct use *use)
{
    const struct toks *toks = decls->toks;
    const char *aliases[MAX_ALIASES], *param;
    unsigned nr_aliases = 0;

    for (unsigned i = fn->body + 1; i < fn->to; i++) {
        const struct tok *t = &toks->tok[i];
        const struct decl *inner;
        unsigned first = i;

        while (tok_is(&toks->tok[first - 1], ".") || tok_is(&toks->tok[first - 1], "->"))
            first -= 2;
        if (t->kind != TOK_NAME || !tok_is(&toks->tok[first], object))
            continue;
        if (first < i && strcmp(t->text, member) == 0)
            use_at(decls, fn, first, i, depth, aliases, &nr_aliases, use);
        else if (tok_is(t + 1, ".") || tok_is(t + 1, "->") || depth == 0)
            ;
        else if ((inner = handed_to(decls, fn, i, &param)) != NULL)
            follow_member(decls, inner, param, member, depth - 1, use);
        else if (tok_is(&toks->tok[first - 1], "=") && toks->tok[first - 2].kind == TOK_NAME)
            follow_member(decls, fn, toks->tok[first - 2].text, member, depth - 1, use);
    }
    for (unsigned a = 0; a < nr_aliases && depth > 0; a++)
        follow(decls, fn, aliases[a], depth - 1, use);
}

void param_member(struct param *p, const struct decls *decls, const struct decl *fn,
    const char *object, const char *member, const struct decl *type)
{
    const struct toks *toks = decls->toks;
    const unsigned open = type ? toks_find(toks, type->from, type->to, "{") : 0;
    struct use use = {0};

    follow_member(decls, fn, object, member, MAX_CALL_DEPTH, &use);
    for (unsigned i = open + 1; type && open < type->to && i < toks->tok[open].match; i++) {
        const struct decl method = {.body = i, .to = toks->tok[i].match, .open = i};

        if (!tok_is(&toks->tok[i], "{") || !toks->tok[i].match)
            continue;
        follow(decls, &method, member, MAX_CALL_DEPTH, &use);
        follow_member(decls, &method, "this", member, MAX_CALL_DEPTH, &use);
        i = toks->tok[i].match;
    }
    p->reads = use.reads || !use.writes;
    p->writes = use.writes || !use.reads;
    p->atomics = use.atomics;
}

static void read_param(
    struct param *p, struct arena *arena, const struct toks *toks, struct range r)
{
    static const char *const words[] = {"const", "__restrict__", "__restrict", "restrict",
        "volatile", "struct", "__grid_constant__", NULL};
    unsigned end = toks_find(toks, r.from, r.to, "="), name = end;
    struct str type = {0};

    for (unsigned i = r.from; i < end; i++) {
        if (tok_is(&toks->tok[i], "*") || tok_is(&toks->tok[i], "["))
            p->is_pointer = true;
        if (tok_is(&toks->tok[i], "["))
            break;
        if (toks->tok[i].kind == TOK_NAME)
            name = i;
    }
    for (unsigned i = r.from; i < name && i < end; i++) {
        bool skip = toks->tok[i].kind == TOK_DIRECTIVE ||
                    (toks->tok[i].kind == TOK_PUNCT && !tok_is(&toks->tok[i], "::") &&
                        !tok_is(&toks->tok[i], "<") && !tok_is(&toks->tok[i], ">") &&
                        !tok_is(&toks->tok[i], ","));

        p->is_const =
            p->is_const || (tok_is(&toks->tok[i], "const") && !tok_is(&toks->tok[i - 1], "*"));
        for (unsigned w = 0; words[w]; w++)
            skip = skip || tok_is(&toks->tok[i], words[w]);
        if (!skip) {
            if (type.len && toks->tok[i].kind == TOK_NAME &&
                !strchr(":<,", type.text[type.len - 1]))
                str_add_char(&type, ' ');
            str_add(&type, toks->tok[i].text);
        }
    }
    p->name = name < end ? toks->tok[name].text : "";
    p->type = arena ? arena_strdup(arena, str_text(&type)) : "";
    str_finish(&type);
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

/* Parts that a comma between < and > has split. */
static unsigned join_angles(struct range *parts, unsigned nr)
{
    unsigned out = 0;

    for (unsigned p = 0; p < nr; out++) {
        int depth = 0;

        parts[out] = parts[p++];
        for (unsigned i = parts[out].from;; i++) {
            if (i == parts[out].to && depth > 0 && p < nr)
                parts[out].to = parts[p++].to;
            if (i == parts[out].to || tok_is(&parts[out].toks->tok[i], "="))
                break;
            const struct tok *t = &parts[out].toks->tok[i];

            depth += tok_is(t, "<") - tok_is(t, ">") - 2 * tok_is(t, ">>") - 3 * tok_is(t, ">>>");
        }
    }
    return out;
}

unsigned params_read(
    struct param *params, struct arena *arena, const struct decls *decls, const struct decl *fn)
{
    const struct toks *toks = decls->toks;
    struct range parts[MAX_PARAMS];
    unsigned nr = join_angles(
        parts, range_split((struct range){toks, fn->open + 1, toks->tok[fn->open].match}, parts,
                   MAX_PARAMS));

    for (unsigned p = 0; p < nr; p++) {
        params[p] = (struct param){.name = ""};
        read_param(&params[p], arena, toks, parts[p]);
    }
    if (!arena || !fn->body)
        return nr; /* a caller that wants names only */
    for (unsigned p = 0; p < nr; p++) {
        struct use use = {0};

        if (!params[p].is_pointer || !*params[p].name)
            continue;
        follow(decls, fn, params[p].name, MAX_CALL_DEPTH, &use);
        params[p].reads = use.reads;
        params[p].writes = use.writes && !params[p].is_const;
        params[p].atomics = use.atomics;
        params[p].indexed = indexed_by(decls, fn, params, nr, params[p].name);
    }
    return nr;
}
