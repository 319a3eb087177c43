/* Owns the numbers that a program starts from: finds them in its text, and puts others in their
 * place. */
#include "intake/gather/source_set.h"

#include "base/str.h"
#include "intake/eval/interp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SEEDS = 16 };

struct seed_finder {
    struct arena *arena;
    struct resolver *resolver;
    const struct source_set *set;
    struct intake *in;
    const char
        *asked; /* the name of which `used` was asked last: a program assigns it many times */
    bool used;
};

static bool is_punct_of_number(const struct tok *t)
{
    static const char *const words[] = {"+", "-", "*", "/", "(", ")", "<<"};

    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (tok_is(t, words[i]))
            return true;
    return false;
}

/* The tokens are numbers and operators, without a name: no other value depends on theirs. */
static bool is_plain(const struct toks *toks, unsigned from, unsigned to)
{
    bool any = false;

    for (unsigned t = from; t < to; t++) {
        any |= toks->tok[t].kind == TOK_NUMBER;
        if (toks->tok[t].kind != TOK_NUMBER && !is_punct_of_number(&toks->tok[t]))
            return false;
    }
    return any;
}

static bool device_uses(struct seed_finder *s, const char *name)
{
    if (!s->asked || strcmp(s->asked, name) != 0)
        s->used = resolver_device_uses(s->resolver, name);
    s->asked = name;
    return s->used;
}

static void add(
    struct seed_finder *s, const char *name, struct tok_range range, size_t from, size_t to)
{
    const struct interp_value v = interp_in_scope(s->resolver->interp, NULL, range);
    struct intake *in = s->in;
    int64_t value;

    if (in->nr_seeds == MAX_SEEDS || to > s->set->bytes || !interp_whole(&v, &value) ||
        value < INTAKE_LEAST_SEED || device_uses(s, name))
        return;
    in->seeds[in->nr_seeds++] = (struct intake_seed){.name = name,
        .value = value,
        .at = from,
        .text = arena_strndup(s->arena, s->set->text + from, to - from)};
}

/* Adds the number of name = 1 << 20; or of name = argc > 1 ? atoi(argv[1]) : 1024; */
static void add_assigned(struct seed_finder *s, unsigned at)
{
    const struct toks *toks = s->resolver->toks;
    unsigned from = at + 2, to = from;

    while (to < toks->nr && !tok_is(&toks->tok[to], ";") && !tok_is(&toks->tok[to], ",") &&
           !tok_is(&toks->tok[to], ")") && !tok_is(&toks->tok[to], "}"))
        to = toks->tok[to].match > to ? toks->tok[to].match + 1 : to + 1;
    for (unsigned t = from; t < to; t++)
        if (tok_is(&toks->tok[t], ":"))
            from = t + 1;
    if (to > from && to < toks->nr && is_plain(toks, from, to))
        add(s, toks->tok[at].text, (struct tok_range){toks, from, to}, toks->tok[from].at,
            toks->tok[to - 1].end);
}

/* A macro that the device uses has the name in its body. */
static bool feeds_device(const struct resolver *resolver, const char *name)
{
    for (unsigned m = 0; m < resolver->nr_macros; m++)
        if (toks_name(&resolver->macros[m].toks, name, 0) < resolver->macros[m].toks.nr &&
            resolver_device_uses(resolver, resolver->macros[m].name))
            return true;
    return false;
}

/* Adds the number of #define NAME (1 << 20). */
static void add_macro(struct seed_finder *s, const struct macro *m, unsigned at)
{
    const struct tok *t = &s->resolver->toks->tok[at];
    const char *text = s->set->text, *end = text + t->end;
    const char *p = str_find_word(text + t->at, end, m->name, strlen(m->name));

    if (!p || m->is_function || !is_plain(&m->toks, 0, m->toks.nr) ||
        feeds_device(s->resolver, m->name))
        return;
    p += strlen(m->name);
    const char *from = p + m->toks.tok[0].at, *to = p + m->toks.tok[m->toks.nr - 1].end;

    if (to <= end && str_starts(from, m->toks.tok[0].text))
        add(s, m->name, (struct tok_range){&m->toks, 0, m->toks.nr}, (size_t)(from - text),
            (size_t)(to - text));
}

static bool is_devices(const struct resolver *resolver, unsigned at)
{
    const struct decl *d = decls_at(resolver->decls, at);

    return d && d->kind == DECL_FUNCTION && (d->is_kernel || (d->is_device && !d->is_host));
}

void seed_constants_find(struct source_set *set)
{
    struct seed_finder s = {set->arena, &set->resolver, set, &set->in, NULL, false};
    const struct toks *toks = set->resolver.toks;
    unsigned m = 0;

    set->in.seeds = arena_array(set->arena, MAX_SEEDS, sizeof(*set->in.seeds));
    set->in.nr_seeds = 0;
    for (unsigned t = 0; t + 2 < toks->nr; t++) {
        if (toks->left_out && toks->left_out[t])
            continue;
        while (m < set->resolver.nr_macros && set->resolver.macros[m].line < toks->tok[t].line)
            m++;
        if (toks->tok[t].kind == TOK_DIRECTIVE && m < set->resolver.nr_macros &&
            set->resolver.macros[m].line == toks->tok[t].line)
            add_macro(&s, &set->resolver.macros[m], t);
        else if (toks->tok[t].kind == TOK_NAME && tok_is(&toks->tok[t + 1], "=") &&
                 !is_devices(&set->resolver, t))
            add_assigned(&s, t);
    }
}

void seed_constants_put(struct source_set *set, const struct intake_args *args)
{
    char *text = args->nr_instead ? arena_strndup(set->arena, set->text, set->bytes) : NULL;

    for (unsigned i = 0; i < args->nr_instead; i++) {
        const struct intake_seed *s = &args->instead[i];
        const size_t bytes = strlen(s->text);
        char number[24];
        const int digits = snprintf(number, sizeof(number), "%" PRId64, s->value);

        if (s->at + bytes > set->bytes || memcmp(text + s->at, s->text, bytes) != 0 ||
            (size_t)digits > bytes)
            continue;
        memset(text + s->at, ' ', bytes);
        memcpy(text + s->at, number, (size_t)digits);
        set->text = text;
    }
}
