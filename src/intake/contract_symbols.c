/* Owns the variables of the device that host code sets: cudaMemcpyToSymbol(taps, h, bytes). */
#include "intake/builder.h"

#include "base/mem.h"
#include "intake/spelling.h"

#include <string.h>

/* The variable that the first argument names, kept for the device; NULL: none. *name: its token. */
static const struct decl *symbol_decl(struct builder *b, struct range arg, unsigned *name)
{
    const struct decls *decls = b->host->decls;
    const struct toks *toks = b->host->toks;

    for (unsigned i = arg.from; i < arg.to; i++)
        for (unsigned d = 0; toks->tok[i].kind == TOK_NAME && d < decls->nr; d++) {
            const struct decl *decl = &decls->decl[d];

            if (decl->kind != DECL_VARIABLE || !decl->keep || !decl->is_device)
                continue;
            for (unsigned t = decl->from; t < decl->to; t++)
                if (tok_is(&toks->tok[t], toks->tok[i].text)) {
                    *name = t;
                    return decl;
                }
        }
    return NULL;
}

static const char *symbol_type(struct builder *b, const struct decl *d, unsigned name)
{
    static const char *const skipped[] = {
        "__constant__", "__device__", "__managed__", "static", "extern", "const", "volatile", NULL};
    const struct toks *toks = b->host->toks;
    unsigned from = d->from, to = toks_find(toks, d->from, name, ",");

    to = to < name && toks->tok[to].kind == TOK_PUNCT ? to - 1 : name; /* int a, b */
    for (bool skip = true; skip && from < to; from += skip) {
        skip = false;
        for (unsigned s = 0; skipped[s]; s++)
            skip = skip || tok_is(&toks->tok[from], skipped[s]);
    }
    if (from < to && tok_is(&toks->tok[from], "__align__") && toks->tok[from + 1].match)
        from = toks->tok[from + 1].match + 1;
    return hostcode_type(b->host, toks_text(toks, b->arena, from, to), d->from);
}

/* [3][4] after the name: their product. */
static bool symbol_extent(struct builder *b, unsigned name, struct str *out)
{
    const struct toks *toks = b->host->toks;
    unsigned open = name + 1;
    bool ok = true;

    for (; ok && tok_is(&toks->tok[open], "[") && toks->tok[open].match;
         open = toks->tok[open].match + 1) {
        str_add(out, out->len ? "*(" : "(");
        ok = hostcode_given(
            b->host, (struct range){toks, open + 1, toks->tok[open].match}, name, out);
        str_add_char(out, ')');
    }
    if (!out->len)
        str_add_char(out, '1');
    return ok;
}

/* cudaMemcpyToSymbol(n_d, &n, sizeof(int)): all elements are that number; "" when it is not known.
 */
static const char *symbol_contents(struct builder *b, struct range from, unsigned at)
{
    const char *text = "";
    struct str out = {0};
    double real;

    if (from.to != from.from + 2 || !tok_is(&from.toks->tok[from.from], "&"))
        return "";
    from.from++;
    if (hostcode_given(b->host, from, at, &out))
        text = arena_printf(b->arena, " = constant(%s)", tidy(b->arena, str_text(&out)));
    else if (hostcode_real(b->host, from, at, &real))
        text = arena_printf(b->arena, " = constant(%.9g)", real);
    str_finish(&out);
    return text;
}

static bool line_is_there(const struct builder *b, const char *name)
{
    const char *head = arena_printf(b->arena, "#pragma keet symbol %s ", name);

    for (unsigned i = 0; i < b->in->nr_lines; i++)
        if (str_starts(b->in->lines[i].pragma, head))
            return true;
    return false;
}

static void symbol_line(struct builder *b, const struct range *args, unsigned at)
{
    const struct toks *toks = b->host->toks;
    unsigned name, lanes = 1;
    const struct decl *d = symbol_decl(b, args[0], &name);
    const char *from = builder_shown(b, toks->tok[at].line);
    struct str extent = {0};

    if (!d || line_is_there(b, toks->tok[name].text))
        return;
    const char *type = symbol_type(b, d, name), *elem = builder_elem(b, type, &lanes);

    if (!elem) {
        elem = builder_record(b, type);
        lanes = 1;
    }

    const bool known = symbol_extent(b, name, &extent);
    const char *pragma =
        arena_printf(b->arena, "#pragma keet symbol %s : %s[%s]%s%s", toks->tok[name].text,
            elem ? elem : "f32", known ? tidy(b->arena, str_text(&extent)) : "1024",
            lanes > 1 ? arena_printf(b->arena, "[%u]", lanes) : "",
            elem ? symbol_contents(b, args[1], at) : "");

    if (!elem)
        from = arena_printf(b->arena, "type %s of %s is no element type of the task language; %s",
            type, toks->tok[name].text, from);
    else if (!known)
        from = arena_printf(
            b->arena, "the number of elements of %s: %s", toks->tok[name].text, b->host->why);
    builder_add_line(b, !elem || !known, from, pragma);
    str_finish(&extent);
}

void builder_symbols(struct builder *b)
{
    const struct toks *toks = b->host->toks;

    for (unsigned i = 0; i + 1 < toks->nr; i++) {
        struct range args[5];

        if ((tok_is(&toks->tok[i], "cudaMemcpyToSymbol") ||
                tok_is(&toks->tok[i], "cudaMemcpyToSymbolAsync")) &&
            tok_is(&toks->tok[i + 1], "(") && toks->tok[i + 1].match &&
            range_split(
                (struct range){toks, i + 2, toks->tok[i + 1].match}, args, ARRAY_SIZE(args)) >= 3)
            symbol_line(b, args, i);
    }
}
