/* Owns the sizes of a contract: the names that numbers get, and expressions over them. */
#include "intake/eval/interp_parts.h"

#include "core/expr.h"
#include "core/task.h"

#include <string.h>

bool resolver_evaluate(struct resolver *resolver, const char *text, int64_t *value)
{
    struct binding bindings[INTAKE_MAX_SIZES];
    struct env env = {bindings, 0};
    struct err err = {0};

    for (unsigned i = 0; i < resolver->nr_sizes; i++)
        if (resolver->sizes[i].known)
            bindings[env.nr++] =
                (struct binding){resolver->sizes[i].name, resolver->sizes[i].value};
    const struct expr *e = expr_parse(resolver->arena, text, strlen(text), &err);
    return e && expr_eval(e, &env, value, &err);
}

const struct size *resolver_size(const struct resolver *resolver, const char *name)
{
    for (unsigned i = 0; i < resolver->nr_sizes; i++)
        if (strcmp(resolver->sizes[i].name, name) == 0)
            return &resolver->sizes[i];
    return NULL;
}

/* Whether the size is of that value. A variable that got another number that nothing gives is
 * another size. */
static bool is_same(const struct size *old, const struct said_name *n)
{
    return old->value == n->value && old->known == n->known &&
           (n->known || !n->slot || old->slot != n->slot || old->at == n->at);
}

/* The size of what a number is called, with a fresh spelling where another one has the name. make
 * false: only one that is there. NULL: there is none, or there are too many. */
static const char *as_size(
    struct resolver *resolver, const char *name, const struct said_name *n, bool make)
{
    if (task_reserves(name))
        name = arena_printf(resolver->arena, "%s_", name);
    for (unsigned i = 0; i < resolver->nr_arrays; i++)
        if (strcmp(resolver->arrays[i], name) == 0) { /* shape[dim] beside the array shape */
            name = arena_printf(resolver->arena, "%s_value", name);
            break;
        }
    const char *spelling = name;

    for (unsigned i = 2; resolver_size(resolver, spelling); i++) {
        if (is_same(resolver_size(resolver, spelling), n))
            return spelling;
        spelling = arena_printf(resolver->arena, "%s%u", name, i);
    }
    if (!make || resolver->nr_sizes == INTAKE_MAX_SIZES)
        return NULL;
    resolver->sizes[resolver->nr_sizes++] = (struct size){.name = spelling,
        .value = n->value,
        .known = n->known,
        .line = n->line,
        .slot = n->slot,
        .at = n->at};
    return spelling;
}

/* A name without what a size's name may not have: cfg.n is cfg_n, sizes[0] is sizes_0. */
static const char *clean_name(struct resolver *resolver, const char *name)
{
    struct str clean = {0};

    for (const char *p = name; *p; p++) /* cfg.n, sizes[0] */
        if (str_word_char(*p))
            str_add_char(&clean, *p);
        else if (clean.len && clean.text[clean.len - 1] != '_')
            str_add_char(&clean, '_');
    while (clean.len > 1 && clean.text[clean.len - 1] == '_')
        clean.text[--clean.len] = 0;
    name = arena_strdup(resolver->arena, clean.len ? str_text(&clean) : "size");
    str_finish(&clean);
    return name;
}

const char *resolver_unknown(struct resolver *resolver, const char *name, unsigned line)
{
    return as_size(resolver, clean_name(resolver, name), &(struct said_name){.line = line}, true);
}

/* ---- what device code needs ---- */

/* The function has a parameter or a variable of that name. */
static bool is_own(const struct resolver *resolver, const struct decl *fn, const char *name)
{
    const struct toks *toks = resolver->toks;
    struct param params[MAX_PARAMS];

    for (unsigned i = toks_name(toks, name, fn->from); i < fn->to; i = toks_again(toks, i, fn->to))
        if ((toks->tok[i - 1].kind == TOK_NAME || toks_is(toks, i - 1, "*")) &&
            (toks_is(toks, i + 1, "=") || toks_is(toks, i + 1, "[")) &&
            !toks_is(toks, i - 1, "return"))
            return true;
    for (unsigned p = params_read(params, NULL, resolver->decls, fn); p-- > 0;)
        if (strcmp(params[p].name, name) == 0)
            return true;
    return false;
}

/* The name stands in what is kept for the device: in a function that has none of its own of that
 * name; with `self`, a declaration at the top level, also beside it, in a table, a type, or a
 * macro. The values of an enum are kept together. */
static bool device_names(const struct resolver *resolver, const char *name, const struct decl *self)
{
    const struct toks *toks = resolver->toks;

    for (unsigned i = toks_name(toks, name, 0); i < toks->nr; i = toks_again(toks, i, toks->nr)) {
        const struct decl *d = decls_at(resolver->decls, i);

        if (!d || !d->keep || d->kind == DECL_DIRECTIVE)
            continue;
        if (d->kind == DECL_FUNCTION ? !is_own(resolver, d, name)
                                     : self && (d != self || toks_is(toks, d->from, "enum")))
            return true;
    }
    for (unsigned m = 0; self && m < resolver->nr_macros; m++)
        if (toks_name(&resolver->macros[m].toks, name, 0) < resolver->macros[m].toks.nr)
            return true;
    return false;
}

bool resolver_device_uses(const struct resolver *resolver, const char *name)
{
    return device_names(resolver, name, NULL);
}

/* The name is a constant or a value of an enum that stands at the top level and that device code
 * needs. Where a kernel only has a parameter or a variable of that name, the constant is kept too,
 * but not needed. */
static bool stands_kept(const struct resolver *resolver, const char *name, unsigned at)
{
    const struct decl *d = decls_at(resolver->decls, at);

    return d && d->kind != DECL_FUNCTION && d->keep && device_names(resolver, name, d);
}

/* ---- expressions ---- */

static bool is_fixed(const struct resolver *resolver, const struct said_name *n)
{
    for (unsigned i = 0; i < resolver->nr_fixed; i++)
        if (resolver->fixed[i]->value == n->value && strcmp(resolver->fixed[i]->text, n->text) == 0)
            return true;
    return false;
}

void resolver_fix(struct resolver *resolver, const struct said *s)
{
    enum { MOST_THREADS = 1024 };

    if (s && s->name && s->name->known && s->name->value <= MOST_THREADS &&
        resolver->nr_fixed < INTAKE_MAX_SIZES && !is_fixed(resolver, s->name))
        resolver->fixed[resolver->nr_fixed++] = s->name;
    for (unsigned k = 0; s && k < 3; k++)
        resolver_fix(resolver, s->of[k]);
}

/* An expression while it is written. */
struct sizes_writer {
    struct resolver *resolver;
    struct str *out;
    bool fixed, ok;
};

static void write_name(struct sizes_writer *w, const struct said_name *n)
{
    struct resolver *resolver = w->resolver;
    const bool number =
        !n->text || (n->known && (is_fixed(resolver, n) ||
                                     (n->is_macro ? resolver_device_uses(resolver, n->text)
                                                  : stands_kept(resolver, n->text, n->at))));
    const char *size =
        number ? NULL : as_size(resolver, clean_name(resolver, n->text), n, !w->fixed || !n->known);

    if (size)
        str_add(w->out, size);
    else
        str_addf(w->out, "%lld", (long long)n->value);
    w->ok = w->ok && (size || n->known || !n->text);
}

static void write_said(struct sizes_writer *w, const struct said *s, int least)
{
    const int level = s->op ? interp_level(s->op) : 0;
    const bool call = s->op && str_word_char(s->op[0]), choice = s->op && s->op[0] == '?';
    const bool inner = s->op && !call && level < least;

    if (s->name) {
        write_name(w, s->name);
    } else if (!s->op) {
        str_addf(w->out, s->number < 0 ? "(%lld)" : "%lld", (long long)s->number);
    } else if (call) {
        str_addf(w->out, "%s(", s->op);
        write_said(w, s->of[0], 0);
        str_add(w->out, ", ");
        write_said(w, s->of[1], 0);
        str_add_char(w->out, ')');
    } else {
        str_add(w->out, inner ? "(" : "");
        write_said(w, s->of[0], level + choice);
        str_add(w->out, choice ? "?" : s->op);
        /* a sum in a sum and a product in a product need no parentheses */
        write_said(w, s->of[1],
            level + !(s->of[1]->op && strcmp(s->of[1]->op, s->op) == 0 && strchr("+*", s->op[0])));
        if (choice) {
            str_add_char(w->out, ':');
            write_said(w, s->of[2], level);
        }
        str_add(w->out, inner ? ")" : "");
    }
}

bool resolver_write(struct resolver *resolver, const struct said *said, bool fixed, struct str *out)
{
    struct sizes_writer w = {resolver, out, fixed, true};

    write_said(&w, said, 0);
    return w.ok;
}
