/* Owns how macros that make functions are written out, with parameters, # and ##. */
#include "intake/eval/resolver.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WRITTEN = 64, MAX_WRITTEN_BYTES = 1 << 20, MAX_ARGUMENTS = 8 };

/* The macro is to be written out: it makes a function that launches a kernel, or device code. */
static bool makes_code(const struct macro *m)
{
    static const char *const marks[] = {"<<<", "__device__", "__global__", NULL};
    bool code = false, made = false;

    for (unsigned i = 0; m->is_function && i < m->toks.nr; i++) {
        code = code || tok_among(&m->toks.tok[i], marks);
        made = made || toks_is(&m->toks, i, "{");
    }
    return code && made;
}

/* Adds what stands for one argument, on one line and without comments. */
static void add_argument(struct str *out, struct tok_range arg)
{
    const struct tok *tok = arg.toks->tok;

    for (unsigned i = arg.from; i < arg.to; i++) {
        if (i > arg.from && tok[i - 1].end < tok[i].at)
            str_add_char(out, ' ');
        str_add(out, tok[i].kind == TOK_DIRECTIVE ? "" : tok[i].text);
    }
}

/* Adds a word of the body: an argument in place of a parameter or of __VA_ARGS__. */
static void add_word(struct str *out, const struct macro *m, const struct tok_range *args,
    unsigned nr, const struct tok *word)
{
    const bool rest = tok_is(word, "__VA_ARGS__");
    unsigned p = 0;

    while (word->kind == TOK_NAME && p < m->nr_params &&
           strcmp(m->params[p], rest ? "..." : word->text) != 0)
        p++;
    if (word->kind != TOK_NAME || p == m->nr_params || (p >= nr && !rest)) {
        str_add(out, word->text);
        return;
    }
    for (unsigned a = p; a < (rest ? nr : p + 1); a++) {
        str_add(out, a > p ? ", " : "");
        add_argument(out, args[a]);
    }
}

void expand_body(struct str *out, const struct macro *m, const struct tok_range *args, unsigned nr)
{
    const struct toks *body = &m->toks;

    for (unsigned i = 0; i < body->nr; i++) {
        const struct tok *t = &body->tok[i];
        const bool paste = tok_is(t, "#") && tok_is(&body->tok[i + 1], "#");
        const bool quote = tok_is(t, "#") && !paste;

        if (tok_is(t, "\\"))
            continue;
        if (paste) {
            while (out->len > 0 && out->text[out->len - 1] == ' ')
                out->text[--out->len] = 0;
            i++;
            continue;
        }
        if (quote && i + 1 < body->nr)
            t = &body->tok[++i];
        str_add(out, quote ? "\"" : "");
        add_word(out, m, args, nr, t);
        str_add(out, quote ? "\"" : "");
        if (!(tok_is(&body->tok[i + 1], "#") && tok_is(&body->tok[i + 2], "#")))
            str_add_char(out, ' ');
    }
}

struct expand_writer {
    struct resolver resolver;
    struct str out;
    size_t copied;
    unsigned nr, nr_lines;
    bool *line;
};

static void write_call(struct expand_writer *w, const struct toks *toks, unsigned at)
{
    const unsigned close = toks->tok[at + 1].match;
    const struct macro *m = resolver_macro(&w->resolver, toks->tok[at].text);
    const size_t from = toks->tok[at].at, to = toks->tok[close].end;
    struct tok_range args[MAX_ARGUMENTS];

    if (!m || !makes_code(m) || w->nr == MAX_WRITTEN || w->out.len > MAX_WRITTEN_BYTES)
        return;
    const unsigned nr_args = toks_list(toks, at + 1, args, MAX_ARGUMENTS);

    str_add_n(&w->out, toks->source + w->copied, from - w->copied);
    expand_body(&w->out, m, args, nr_args);
    for (size_t i = from; i < to; i++) /* line breaks stay */
        if (toks->source[i] == '\n')
            str_add_char(&w->out, '\n');
    for (unsigned l = toks->tok[at].line; l <= toks->tok[close].line && l <= w->nr_lines; l++)
        w->line[l - 1] = true;
    w->copied = to;
    w->nr++;
}

static bool any_code(const struct toks *toks)
{
    for (unsigned i = 0; i < toks->nr; i++)
        if (toks->tok[i].kind == TOK_DIRECTIVE &&
            (strstr(toks->tok[i].text, "<<<") ||
                (strchr(toks->tok[i].text, '{') && strstr(toks->tok[i].text, "__"))))
            return true;
    return false;
}

struct expanded expand_macros(
    struct arena *arena, const char *text, size_t bytes, unsigned nr_lines)
{
    struct expanded done = {0};
    struct expand_writer w = {.nr_lines = nr_lines};
    struct toks toks;
    struct decls decls;

    if (!toks_lex(&toks, arena, text, bytes) || !any_code(&toks))
        return done;
    decls_read(&decls, arena, &toks);
    resolver_init(&w.resolver, arena, &decls, &toks);
    done.line = w.line = arena_array(arena, nr_lines + 1, sizeof(*w.line));
    for (unsigned d = 0; d < decls.nr; d++)
        for (unsigned i = decls.decl[d].from; i < decls.decl[d].to; i++) {
            if (toks.tok[i].kind == TOK_NAME && tok_is(&toks.tok[i + 1], "(") &&
                toks.tok[i + 1].match)
                write_call(&w, &toks, i);
            if (toks.tok[i].match > i)
                i = toks.tok[i].match;
        }
    if (w.nr) {
        str_add_n(&w.out, text + w.copied, bytes - w.copied);
        done.bytes = w.out.len;
        done.text = arena_strndup(arena, str_text(&w.out), w.out.len);
    }
    str_finish(&w.out);
    return done;
}
