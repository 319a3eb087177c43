/* Owns the text of a file in which all that the device does not reach is blank. */
#include "intake/syntax/decls.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

static void copy(char *out, const char *source, unsigned from, unsigned to)
{
    memcpy(out + from, source + from, to - from);
}

/* Keeps an #if, #else or #endif in a dropped declaration where the rest of that condition stands
 * elsewhere. */
static void keep_conditionals(char *out, const struct toks *toks, unsigned from, unsigned to)
{
    unsigned open[32], nr = 0;

    for (unsigned t = from; t < to; t++) {
        const struct tok *tok = &toks->tok[t];
        const char *word = tok->kind == TOK_DIRECTIVE ? tok->text + 1 : "";

        word += strspn(word, " \t");
        bool opens = str_starts(word, "if"), closes = str_starts(word, "endif");

        if (opens && nr < ARRAY_SIZE(open))
            open[nr++] = t;
        else if (closes && nr > 0)
            nr--;
        else if (nr == 0 && (closes || str_starts(word, "el")))
            copy(out, toks->source, tok->at, tok->end);
    }
    while (nr-- > 0)
        copy(out, toks->source, toks->tok[open[nr]].at, toks->tok[open[nr]].end);
}

static void blank_host_members(char *out, const struct decls *decls, const struct decl *d)
{
    const struct toks *toks = decls->toks;

    for (unsigned t = d->from, end; t < d->to; t = end) {
        for (end = t + 1; end < d->to && decls->host[t] && decls->host[end]; end++)
            ;
        if (!decls->host[t])
            continue;
        for (unsigned i = toks->tok[t].at; i < toks->tok[end - 1].end; i++)
            out[i] = toks->source[i] == '\n' ? '\n' : 0;
        keep_conditionals(out, toks, t, end);
    }
}

/* Drops `register`: C++17 gives the word no meaning, and NVRTC, unlike nvcc, reports it as an
 * error. */
static void drop_register(char *out, const struct toks *toks, const struct decl *d)
{
    for (unsigned t = d->from; t < d->to; t++)
        if (toks_is(toks, t, "register"))
            memset(out + toks->tok[t].at, 0, toks->tok[t].end - toks->tok[t].at);
}

/* (float4){a, b} -> float4{a, b}: NVRTC, unlike nvcc, has no compound literals. `out` is what
 * stands for the text of the tokens. macro: they are a #define's, from its name on. */
static void drop_literal_parens(char *out, struct arena *arena, const struct toks *toks, bool macro)
{
    static const char *const before[] = {",", "(", "+", "-", "*", "?", "&", "|", "!", "~", "return",
        "&&", "||", "==", "!=", "<=", ">=", NULL};
    struct toks body;

    for (unsigned i = 0; i < toks->nr; i++) {
        const struct tok *t = &toks->tok[i], *last = i ? t - 1 : &toks->tok[toks->nr];
        const char *text = t->kind == TOK_DIRECTIVE && !macro ? decls_defined(t->text) : NULL;

        if (text && toks_lex(&body, arena, text, strlen(text)))
            drop_literal_parens(out + t->at + (text - t->text), arena, &body, true);
        const bool value =
            tok_among(last, before) || tok_assigns(last) || (macro && i == 1 && last->end < t->at);

        if (value && out[t->at] == '(' && t->match == i + 2 && t[1].kind == TOK_NAME &&
            tok_is(t + 3, "{") && !(i > 1 && toks_is(toks, i - 2, "operator")))
            out[t->at] = out[t[2].at] = ' ';
    }
}

/* const float a = 1; of the file: the byte where the word const ends; 0: the declaration is another
 * one. */
static unsigned real_constant(const struct toks *toks, const struct decl *d, bool *computed)
{
    unsigned i = d->from;

    while (toks_is(toks, i, "static") || toks_is(toks, i, "inline"))
        i++;
    if (d->kind != DECL_VARIABLE || d->is_device || i + 4 > d->to || !toks_is(toks, i, "const") ||
        toks->tok[i + 2].kind != TOK_NAME || !toks_is(toks, i + 3, "=") ||
        (!toks_is(toks, i + 1, "float") && !toks_is(toks, i + 1, "double")))
        return 0;
    for (unsigned t = i + 4; t < d->to; t++)
        *computed |= toks->tok[t].kind == TOK_NAME;
    return toks->tok[i].end;
}

/* NVRTC, unlike nvcc, does not take a computed constant such as const float b = -a; so all
 * constants become constexpr. By byte: the rest of that word is added behind it. */
static bool *real_constants(const struct decls *decls, struct arena *arena, size_t bytes)
{
    bool *ends = arena_array(arena, bytes + 1, sizeof(*ends)), computed = false;

    for (unsigned i = 0; i < decls->nr_own; i++)
        if (decls->decl[i].keep)
            ends[real_constant(decls->toks, &decls->decl[i], &computed)] = true;
    ends[0] = false;
    return computed ? ends : NULL;
}

struct device_text decls_device_text(const struct decls *decls, struct arena *arena, size_t bytes)
{
    struct device_text device = {0};
    const struct toks *toks = decls->toks;
    char *out = arena_alloc(arena, bytes + 1);
    const bool *constants = real_constants(decls, arena, bytes);
    struct str packed = {0};
    const char *headers = headers_brought(decls, arena);
    unsigned line = 0;

    for (size_t i = 0; i < bytes; i++)
        out[i] = toks->source[i] == '\n' ? '\n' : 0;
    for (unsigned i = 0; i < decls->nr_own; i++) {
        const struct decl *d = &decls->decl[i];
        /* the comment above belongs to what follows the comment */
        unsigned before = d->from ? toks->tok[d->from - 1].end : 0;

        if (d->keep)
            copy(out, toks->source, d->kind == DECL_DIRECTIVE ? toks->tok[d->from].at : before,
                toks->tok[d->to - 1].end);
        else if (d->kind != DECL_DIRECTIVE)
            keep_conditionals(out, toks, d->from, d->to);
        if (d->keep && d->kind != DECL_DIRECTIVE)
            drop_register(out, toks, d);
        if (d->keep && (d->kind == DECL_TYPE || d->kind == DECL_USING))
            blank_host_members(out, decls, d);
    }
    for (unsigned c = 1; c < decls->nr_containers; c++)
        if (decls->container[c].keep) {
            copy(out, toks->source, toks->tok[decls->container[c].from].at,
                toks->tok[decls->container[c].open].end);
            copy(out, toks->source, toks->tok[decls->container[c].close].at,
                toks->tok[decls->container[c].close].end);
        }
    drop_literal_parens(out, arena, toks, false);
    /* An added header takes the place of an empty line at the top, as long as there are any. */
    for (size_t i = 0; i < bytes; i++) {
        bool empty = out[i] == '\n' && (packed.len == 0 || packed.text[packed.len - 1] == '\n');

        if (*headers && (empty || (out[i] && out[i] != '\n'))) {
            size_t nr = strcspn(headers, "\n");

            if (!empty) { /* there is no room left: the other lines move down */
                str_addf(&packed, "%s\n", headers);
                for (const char *p = headers; *p; p++)
                    device.nr_added += *p == '\n';
                device.nr_added++;
                device.added_at = line;
                headers = "";
            } else {
                str_add_n(&packed, headers, nr);
                headers += nr + (headers[nr] == '\n');
                device.nr_in_place++;
            }
        }
        if (constants && constants[i])
            str_add(&packed, "expr");
        if (out[i])
            str_add_char(&packed, out[i]);
        line += out[i] == '\n';
    }
    device.text = str_move(&packed, arena);
    return device;
}
