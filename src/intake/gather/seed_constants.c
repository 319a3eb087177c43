/* Owns the numbers that a program starts from: finds them in its text, and puts others in their
 * place. */
#include "intake/gather/source_set.h"

#include "base/str.h"
#include "intake/eval/interp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SEEDS = 16 };

/* The tokens are numbers and operators, without a name: no other value depends on theirs. */
static bool is_plain(struct tok_range r)
{
    static const char *const operators[] = {"+", "-", "*", "/", "(", ")", "<<", NULL};
    bool any = false;

    for (unsigned t = r.from; t < r.to; t++) {
        const bool number = r.toks->tok[t].kind == TOK_NUMBER;

        if (!number && !tok_among(&r.toks->tok[t], operators))
            return false;
        any |= number;
    }
    return any;
}

struct seed_asked { /* what device code uses, as it was asked last: programs assign a name often */
    const char *name;
    bool used;
};

static bool device_uses(struct seed_asked *asked, const struct resolver *resolver, const char *name)
{
    if (!asked->name || strcmp(asked->name, name) != 0)
        *asked = (struct seed_asked){name, resolver_device_uses(resolver, name)};
    return asked->used;
}

/* The text of the tokens begins at byte `base` of set->text. */
static void add(struct source_set *set, struct seed_asked *asked, const char *name,
    struct tok_range r, size_t base)
{
    const struct interp_value v = interp_in_scope(set->resolver.interp, NULL, r);
    const size_t from = base + r.toks->tok[r.from].at, to = base + r.toks->tok[r.to - 1].end;
    struct intake *in = &set->in;
    int64_t value;

    if (in->nr_seeds < MAX_SEEDS && to <= set->bytes && interp_whole(&v, &value) &&
        value >= INTAKE_LEAST_SEED && !device_uses(asked, &set->resolver, name))
        in->seeds[in->nr_seeds++] = (struct intake_seed){.name = name,
            .value = value,
            .at = from,
            .text = arena_strndup(set->arena, set->text + from, to - from)};
}

/* Adds the number of name = 1 << 20; or of name = argc > 1 ? atoi(argv[1]) : 1024; */
static void add_assigned(struct source_set *set, struct seed_asked *asked, unsigned at)
{
    static const char *const ends[] = {";", ",", ")", "}", NULL};
    const struct toks *toks = &set->toks;
    struct tok_range r = {toks, at + 2, at + 2};

    while (r.to < toks->nr && !tok_among(&toks->tok[r.to], ends))
        r.to = toks->tok[r.to].match > r.to ? toks->tok[r.to].match + 1 : r.to + 1;
    for (unsigned t = r.from; t < r.to; t++)
        if (toks_is(toks, t, ":"))
            r.from = t + 1;
    if (r.to < toks->nr && is_plain(r))
        add(set, asked, toks->tok[at].text, r, 0);
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

/* Adds the number of #define NAME (1 << 20), which is token `at`. */
static void add_macro(
    struct source_set *set, struct seed_asked *asked, const struct macro *m, unsigned at)
{
    const struct tok *t = &set->toks.tok[at];
    const struct tok_range r = {&m->toks, 0, m->toks.nr};
    const char *name =
        str_find_word(set->text + t->at, set->text + t->end, m->name, strlen(m->name));

    if (name && !m->is_function && is_plain(r) && !feeds_device(&set->resolver, m->name))
        add(set, asked, m->name, r, (size_t)(name - set->text) + strlen(m->name));
}

static bool is_devices(const struct decls *decls, unsigned at)
{
    const struct decl *d = decls_at(decls, at);

    return d && d->kind == DECL_FUNCTION && (d->is_kernel || (d->is_device && !d->is_host));
}

void seed_constants_find(struct source_set *set)
{
    const struct resolver *resolver = &set->resolver;
    const struct toks *toks = &set->toks;
    struct seed_asked asked = {NULL, false};

    set->in.seeds = arena_array(set->arena, MAX_SEEDS, sizeof(*set->in.seeds));
    set->in.nr_seeds = 0;
    for (unsigned t = 0, m = 0; t + 2 < toks->nr; t++) {
        if (toks->left_out && toks->left_out[t])
            continue;
        while (m < resolver->nr_macros && resolver->macros[m].line < toks->tok[t].line)
            m++;
        if (toks->tok[t].kind == TOK_DIRECTIVE && m < resolver->nr_macros &&
            resolver->macros[m].line == toks->tok[t].line)
            add_macro(set, &asked, &resolver->macros[m], t);
        else if (toks->tok[t].kind == TOK_NAME && toks_is(toks, t + 1, "=") &&
                 !is_devices(&set->decls, t))
            add_assigned(set, &asked, t);
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
