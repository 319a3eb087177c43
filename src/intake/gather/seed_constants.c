/* Owns the numbers that a program starts from: where they stand in its text, and others in their
 * place. */
#include "intake/gather/seed_constants.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STARTS = 16 };

struct starts {
    struct arena *arena;
    struct host *host;
    const struct reading *reading;
    struct intake *in;
};

static bool is_punct_of_number(const struct tok *t)
{
    static const char *const words[] = {"+", "-", "*", "/", "(", ")", "<<"};

    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (tok_is(t, words[i]))
            return true;
    return false;
}

/* Numbers and what joins them, no names: its value is nobody else's. */
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

static void add(
    struct starts *s, const char *name, struct range range, unsigned at, size_t from, size_t to)
{
    struct intake *in = s->in;
    int64_t value;

    if (in->nr_starts == MAX_STARTS || to > s->reading->bytes ||
        hostcode_device_uses(s->host, name) || !hostcode_constant(s->host, range, at, &value) ||
        value < INTAKE_LEAST_START)
        return;
    in->starts[in->nr_starts++] = (struct intake_start){.name = name,
        .value = value,
        .at = from,
        .text = arena_strndup(s->arena, s->reading->text + from, to - from)};
}

/* name = 1 << 20; name = argc > 1 ? atoi(argv[1]) : 1024; */
static void add_assigned(struct starts *s, unsigned at)
{
    const struct toks *toks = s->host->toks;
    unsigned from = at + 2, to = from;

    while (to < toks->nr && !tok_is(&toks->tok[to], ";") && !tok_is(&toks->tok[to], ",") &&
           !tok_is(&toks->tok[to], ")") && !tok_is(&toks->tok[to], "}"))
        to = toks->tok[to].match > to ? toks->tok[to].match + 1 : to + 1;
    for (unsigned t = from; t < to; t++)
        if (tok_is(&toks->tok[t], ":"))
            from = t + 1;
    if (to > from && to < toks->nr && is_plain(toks, from, to))
        add(s, toks->tok[at].text, (struct range){toks, from, to}, at, toks->tok[from].at,
            toks->tok[to - 1].end);
}

/* Another macro that the device uses is made of it. */
static bool feeds_device(const struct host *host, const char *name)
{
    for (unsigned m = 0; m < host->nr_macros; m++)
        if (toks_name(&host->macros[m].toks, name, 0) < host->macros[m].toks.nr &&
            hostcode_device_uses(host, host->macros[m].name))
            return true;
    return false;
}

/* #define NAME (1 << 20) */
static void add_macro(struct starts *s, const struct macro *m, unsigned at)
{
    const struct tok *t = &s->host->toks->tok[at];
    const char *text = s->reading->text, *end = text + t->end;
    const char *p = str_find_word(text + t->at, end, m->name, strlen(m->name));

    if (!p || m->is_function || !is_plain(&m->toks, 0, m->toks.nr) ||
        feeds_device(s->host, m->name))
        return;
    p += strlen(m->name);
    const char *from = p + m->toks.tok[0].at, *to = p + m->toks.tok[m->toks.nr - 1].end;

    if (to <= end && str_starts(from, m->toks.tok[0].text))
        add(s, m->name, (struct range){&m->toks, 0, m->toks.nr}, at, (size_t)(from - text),
            (size_t)(to - text));
}

static bool is_devices(const struct host *host, unsigned at)
{
    const struct decl *d = decls_at(host->decls, at);

    return d && d->kind == DECL_FUNCTION && (d->is_kernel || (d->is_device && !d->is_host));
}

void starts_find(struct reading *r)
{
    struct starts s = {r->arena, &r->host, r, &r->in};
    const struct toks *toks = r->host.toks;
    unsigned m = 0;

    r->in.starts = arena_array(r->arena, MAX_STARTS, sizeof(*r->in.starts));
    r->in.nr_starts = 0;
    for (unsigned t = 0; t + 2 < toks->nr; t++) {
        if (toks->left_out && toks->left_out[t])
            continue;
        while (m < r->host.nr_macros && r->host.macros[m].line < toks->tok[t].line)
            m++;
        if (toks->tok[t].kind == TOK_DIRECTIVE && m < r->host.nr_macros &&
            r->host.macros[m].line == toks->tok[t].line)
            add_macro(&s, &r->host.macros[m], t);
        else if (toks->tok[t].kind == TOK_NAME && tok_is(&toks->tok[t + 1], "=") &&
                 !is_devices(&r->host, t))
            add_assigned(&s, t);
    }
}

void starts_put(struct reading *r, const struct intake_args *args)
{
    char *text = args->nr_instead ? arena_strndup(r->arena, r->text, r->bytes) : NULL;

    for (unsigned i = 0; i < args->nr_instead; i++) {
        const struct intake_start *s = &args->instead[i];
        const size_t bytes = strlen(s->text);
        char number[24];
        const int digits = snprintf(number, sizeof(number), "%" PRId64, s->value);

        if (s->at + bytes > r->bytes || memcmp(text + s->at, s->text, bytes) != 0 ||
            (size_t)digits > bytes)
            continue;
        memset(text + s->at, ' ', bytes);
        memcpy(text + s->at, number, (size_t)digits);
        r->text = text;
    }
}
