/* Owns where the functions and methods of a file are, and which of them launch or allocate. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

enum { MAX_HOT_MACROS = 256, MAX_ROUNDS = 8 };

struct functions {
    const struct decl *fn;
    unsigned nr;
    bool *leads;                        /* by token: it launches or allocates, or names what does */
    unsigned *hot;                      /* hot[i]: how many of the first i tokens do */
    const char *macros[MAX_HOT_MACROS]; /* nr_macros names of macros with such a token */
    unsigned nr_macros;
};

static bool is_hot(const struct tok *t)
{
    return tok_is(t, "<<<") || (t->kind == TOK_NAME && (str_starts(t->text, "cudaMalloc") ||
                                                           str_starts(t->text, "cudaLaunch") ||
                                                           str_starts(t->text, "cudaHostAlloc")));
}

static bool is_hot_macro(const struct functions *f, const char *name)
{
    for (unsigned m = 0; m < f->nr_macros; m++)
        if (strcmp(f->macros[m], name) == 0)
            return true;
    return false;
}

/* The token launches or allocates, or names a function or a macro that does. */
static bool leads_there(const struct interp *ip, const struct tok *t)
{
    const struct toks *toks = ip->resolver->toks;
    const unsigned named = t->kind == TOK_NAME ? toks_name(toks, t->text, 0) : toks->nr;

    return is_hot(t) || (named < toks->nr && ip->functions->leads[named]) ||
           (t->kind == TOK_NAME && is_hot_macro(ip->functions, t->text));
}

/* All tokens of that name lead there. False: they did before. */
static bool mark(struct interp *ip, const char *name)
{
    const struct toks *toks = ip->resolver->toks;
    const unsigned first = toks_name(toks, name, 0);

    if (first == toks->nr || ip->functions->leads[first])
        return false;
    for (unsigned i = first; i < toks->nr; i = toks_again(toks, i, toks->nr))
        ip->functions->leads[i] = true;
    return true;
}

/* The macro leads there, by what it holds. False: it does not, or did before. */
static bool mark_macro(struct interp *ip, const struct macro *macro)
{
    struct functions *f = ip->functions;
    unsigned i = 0;

    if (f->nr_macros == MAX_HOT_MACROS || is_hot_macro(f, macro->name))
        return false;
    while (i < macro->toks.nr && !leads_there(ip, &macro->toks.tok[i]))
        i++;
    if (i == macro->toks.nr)
        return false;
    f->macros[f->nr_macros++] = macro->name;
    mark(ip, macro->name);
    return true;
}

/* Finds what launches or allocates, and what calls that, round by round. */
static void find_hot(struct interp *ip, struct functions *f)
{
    const struct toks *toks = ip->resolver->toks;
    bool more = true;

    f->hot = arena_array(ip->arena, toks->nr + 1, sizeof(*f->hot));
    f->leads = arena_array(ip->arena, toks->nr + 1, sizeof(*f->leads));
    for (unsigned i = 0; i < toks->nr; i++)
        f->leads[i] = is_hot(&toks->tok[i]);
    for (unsigned round = 0; more && round < MAX_ROUNDS; round++) {
        more = false;
        for (unsigned m = 0; m < ip->resolver->nr_macros; m++)
            more = mark_macro(ip, &ip->resolver->macros[m]) || more;
        for (unsigned i = 0; i < toks->nr; i++)
            f->hot[i + 1] = f->hot[i] + f->leads[i];
        for (unsigned i = 0; i < f->nr; i++) {
            const struct decl *fn = &f->fn[i],
                              *whole = resolver_function_at(ip->resolver, fn->body);

            if (!(whole && whole->is_kernel) && f->hot[fn->to] > f->hot[fn->body])
                more = mark(ip, fn->name) || more;
        }
    }
}

void interp_find_functions(struct interp *ip)
{
    ip->functions = arena_alloc(ip->arena, sizeof(*ip->functions));
    ip->functions->fn = ip->resolver->decls->bodies;
    ip->functions->nr = ip->resolver->decls->nr_bodies;
    find_hot(ip, ip->functions);
}

bool interp_launches_in(struct interp *ip, const struct toks *toks, unsigned from, unsigned to)
{
    const struct functions *f = ip->functions;

    if (toks == ip->resolver->toks)
        return f->hot[to < toks->nr ? to : toks->nr] > f->hot[from];
    for (unsigned i = from; i < to; i++)
        if (leads_there(ip, &toks->tok[i]))
            return true;
    return false;
}

bool interp_returns_reference(const struct interp *ip, const struct decl *fn)
{
    const unsigned name = fn->open - (str_starts(fn->name, "operator") ? 3 : 1);

    return !fn->toks && name > 0 && toks_is(ip->resolver->toks, name - 1, "&");
}

/* The function can be called with so many arguments. */
static bool takes(const struct toks *toks, const struct decl *fn, unsigned nr_args)
{
    struct tok_range params[MAX_PARAMS];
    const unsigned nr = params_split(toks, fn, params);
    unsigned needed = 0;

    for (unsigned p = 0; p < nr; p++)
        needed += toks_find(toks, params[p].from, params[p].to, "=") == params[p].to;
    return nr_args >= needed && nr_args <= nr;
}

const struct decl *interp_function(
    struct interp *ip, const char *name, unsigned nr_args, unsigned from, unsigned to)
{
    const struct functions *f = ip->functions;
    const struct toks *toks = ip->resolver->toks;

    ip->steps += f->nr / 8;
    for (unsigned i = 0; i < f->nr; i++) {
        const struct decl *fn = &f->fn[i];

        if (strcmp(fn->name, name) != 0 || (to && (fn->from < from || fn->to > to)) ||
            !takes(toks, fn, nr_args))
            continue;
        const struct decl *whole = resolver_function_at(ip->resolver, fn->body);

        if (!to && !whole) /* a method is called by its name alone only inside of its type */
            continue;
        return whole && strcmp(whole->name, name) == 0 ? whole : fn;
    }
    return NULL;
}

void interp_walk_overloads(
    struct interp *ip, const struct decl *fn, const struct interp_operand *args, unsigned nr_args)
{
    const struct functions *f = ip->functions;

    for (unsigned i = 0; ip->walk && i < f->nr; i++) {
        const struct decl *other = &f->fn[i];

        if (strcmp(other->name, fn->name) == 0 && other->body != fn->body &&
            takes(ip->resolver->toks, other, nr_args) &&
            resolver_function_at(ip->resolver, other->body) &&
            !interp_passes_const(ip, other, args, nr_args))
            interp_walk_call(ip, "", args, nr_args);
    }
}

/* The variables that a lambda sees: those of its frame, and p of [p = x], in tokens [from, to). */
static struct var *captured(struct interp_reader *r, unsigned from, unsigned to)
{
    struct interp *ip = r->ip;
    struct var *vars = ip->frame ? ip->frame->vars : NULL, *with = vars;
    struct tok_range list[LAUNCH_MAX_ARGS];
    const unsigned nr =
        ip->walk ? tok_range_split((struct tok_range){r->toks, from, to}, list, LAUNCH_MAX_ARGS)
                 : 0;

    for (unsigned i = 0; i < nr; i++) {
        const unsigned equals = toks_find(r->toks, list[i].from, list[i].to, "=");

        if (equals == list[i].from || equals >= list[i].to)
            continue;
        struct interp_operand o =
            interp_operand(ip, (struct tok_range){r->toks, equals + 1, list[i].to});
        struct interp_slot *slot = interp_declare(ip, r->toks->tok[equals - 1].text, NULL);

        if (toks_is(r->toks, list[i].from, "&"))
            slot->element = o.memory;
        interp_assign(ip, slot, slot->element ? o.v : interp_used(ip, &o));
        with = ip->frame->vars;
    }
    if (ip->frame)
        ip->frame->vars = vars;
    return with;
}

struct interp_operand interp_lambda(struct interp_reader *r)
{
    struct decl *fn = arena_alloc(r->ip->arena, sizeof(*fn));
    unsigned open = interp_now(r)->match + 1, body = open;

    if (open < r->to && toks_is(r->toks, open, "(") && r->toks->tok[open].match)
        body = r->toks->tok[open].match + 1;
    while (body < r->to && !toks_is(r->toks, body, "{"))
        body++;
    if (body >= r->to || !r->toks->tok[body].match) {
        r->i = r->to;
        return (struct interp_operand){0};
    }
    *fn = (struct decl){.kind = DECL_FUNCTION,
        .from = r->i,
        .open = open,
        .body = body,
        .to = r->toks->tok[body].match + 1,
        .toks = r->toks,
        .name = ""};
    const unsigned begin = r->i;

    r->i = fn->to;
    return interp_plain((struct interp_value){
        .kind = VALUE_CODE, .code = fn, .scope = captured(r, begin + 1, open - 1)});
}

/* The function launches by itself, by chevrons or by a call, or names a macro that launches or
 * allocates. */
static bool launches(struct interp *ip, const struct decl *fn)
{
    const struct toks *toks = ip->resolver->toks;

    for (unsigned i = fn->body; i < fn->to; i++)
        if (toks_is(toks, i, "<<<") ||
            (toks->tok[i].kind == TOK_NAME && (str_starts(toks->tok[i].text, "cudaLaunch") ||
                                                  is_hot_macro(ip->functions, toks->tok[i].text))))
            return !(toks->left_out && toks->left_out[i]);
    return false;
}

/* The first function that calls fn; NULL: there is none. */
static const struct decl *caller(struct interp *ip, const struct decl *fn)
{
    const struct toks *toks = ip->resolver->toks;
    const struct functions *f = ip->functions;

    for (unsigned i = 0; i < f->nr; i++)
        for (unsigned t = toks_name(toks, fn->name, f->fn[i].body); t < f->fn[i].to;
             t = toks_again(toks, t, toks->nr))
            if (&f->fn[i] != fn && strcmp(f->fn[i].name, fn->name) != 0 &&
                (toks_is(toks, t + 1, "(") || toks_is(toks, t + 1, "<")))
                return &f->fn[i];
    return NULL;
}

const struct decl *interp_launcher(struct interp *ip, unsigned n)
{
    enum { MAX_CALLS_UP = 8 };
    const struct functions *f = ip->functions;
    unsigned nr_seen = 0;

    for (unsigned i = 0; i < f->nr; i++) {
        const struct decl *fn = &f->fn[i], *up = fn;

        if (!launches(ip, fn) || nr_seen++ != n / 2)
            continue;
        if (n % 2) /* first from above, then by itself */
            return fn;
        for (unsigned k = 0; up && strcmp(up->name, "main") != 0 && k < MAX_CALLS_UP; k++) {
            fn = up;
            up = caller(ip, fn);
        }
        return fn;
    }
    return NULL;
}
