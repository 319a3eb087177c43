/* Owns how the parameters of functions and templates are declared. */
#include "intake/eval/resolver.h"

#include "base/str.h"

#include <string.h>

unsigned params_of_template(
    const struct toks *toks, const struct decl *fn, const char **names, unsigned max)
{
    unsigned nr = 0;
    int depth = 0;

    if (!toks_is(toks, fn->from, "template"))
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

static void add_token(struct str *out, const struct tok *t)
{
    if (out->len && t->kind == TOK_NAME && str_word_char(out->text[out->len - 1]))
        str_add_char(out, ' ');
    str_add(out, t->text);
}

static void read_param(
    struct param *p, struct arena *arena, const struct toks *toks, struct tok_range r)
{
    static const char *const words[] = {"const", "__restrict__", "__restrict", "restrict",
        "volatile", "struct", "__grid_constant__", NULL};
    unsigned end = toks_find(toks, r.from, r.to, "="), name = end;
    struct str type = {0}, written = {0};

    for (unsigned i = r.from; i < end; i++) {
        if (toks_is(toks, i, "*") || toks_is(toks, i, "["))
            p->is_pointer = true;
        p->is_reference = p->is_reference || toks_is(toks, i, "&");
        if (toks_is(toks, i, "["))
            break;
        if (toks->tok[i].kind == TOK_NAME)
            name = i;
    }
    for (unsigned i = r.from; i < name && i < end; i++) {
        const bool skip =
            toks->tok[i].kind == TOK_DIRECTIVE || tok_among(&toks->tok[i], words) ||
            (toks->tok[i].kind == TOK_PUNCT && !toks_is(toks, i, "::") && !toks_is(toks, i, "<") &&
                !toks_is(toks, i, ">") && !toks_is(toks, i, ","));

        p->is_const = p->is_const || (toks_is(toks, i, "const") && !toks_is(toks, i - 1, "*"));
        if (!skip)
            add_token(&type, &toks->tok[i]);
    }
    for (unsigned i = r.from; i < end && !toks_is(toks, i, "["); i++)
        if (i != name && !str_starts(toks->tok[i].text, "__restrict"))
            add_token(&written, &toks->tok[i]);
    str_add(&written, toks_find(toks, r.from, end, "[") < end ? "*" : "");
    p->name = name < end ? toks->tok[name].text : "";
    p->type = arena ? arena_strdup(arena, str_text(&type)) : "";
    p->written = arena ? arena_strdup(arena, str_text(&written)) : "";
    str_finish(&type);
    str_finish(&written);
}

/* Joins parts that a comma between < and > has split. Returns how many parts there are. */
static unsigned join_angles(struct tok_range *parts, unsigned nr)
{
    unsigned out = 0;

    for (unsigned p = 0; p < nr; out++) {
        int depth = 0;

        parts[out] = parts[p++];
        for (unsigned i = parts[out].from;; i++) {
            if (i == parts[out].to && depth > 0 && p < nr)
                parts[out].to = parts[p++].to;
            if (i == parts[out].to || toks_is(parts[out].toks, i, "="))
                break;
            const struct tok *t = &parts[out].toks->tok[i];

            depth += tok_is(t, "<") - tok_is(t, ">") - 2 * tok_is(t, ">>") - 3 * tok_is(t, ">>>");
        }
    }
    return out;
}

unsigned params_split(const struct toks *toks, const struct decl *fn, struct tok_range *params)
{
    const unsigned close = toks->tok[fn->open].match;

    if (fn->open == fn->body || /* a lambda without parentheses */
        (close == fn->open + 2 && toks_is(toks, fn->open + 1, "void")))
        return 0;
    return join_angles(params, toks_list(toks, fn->open, params, MAX_PARAMS));
}

unsigned params_read(
    struct param *params, struct arena *arena, const struct decls *decls, const struct decl *fn)
{
    const struct toks *toks = decls->toks;
    struct tok_range parts[MAX_PARAMS];
    const unsigned nr = params_split(toks, fn, parts);

    for (unsigned p = 0; p < nr; p++) {
        params[p] = (struct param){.name = ""};
        read_param(&params[p], arena, toks, parts[p]);
    }
    return nr;
}
