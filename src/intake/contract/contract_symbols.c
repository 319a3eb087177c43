/* Owns the variables of the device that host code sets or reads: by cudaMemcpyToSymbol(taps, h,
 * bytes), by cudaMemcpyFromSymbol(h, total, bytes), or as __managed__ variables. */
#include "intake/contract/contract_builder.h"

#include "base/mem.h"
#include "intake/syntax/spelling.h"

#include <string.h>

/* The kept variable that the first argument names, and the token of its name in *name; NULL:
 * none. */
static const struct decl *symbol_decl(
    struct contract_builder *b, struct tok_range arg, unsigned *name)
{
    const struct decls *decls = b->resolver->decls;
    const struct toks *toks = b->resolver->toks;

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

static const char *symbol_type(struct contract_builder *b, const struct decl *d, unsigned name)
{
    static const char *const skipped[] = {
        "__constant__", "__device__", "__managed__", "static", "extern", "const", "volatile", NULL};
    const struct toks *toks = b->resolver->toks;
    unsigned from = d->from, to = toks_find(toks, d->from, name, ",");

    if (to < name && toks->tok[to].kind == TOK_PUNCT) { /* int a, b, float c[3], d = 1 */
        to = toks_find(toks, d->from, to, "[");
        to = toks_find(toks, d->from, to, "=") - 1;
    } else {
        to = name;
    }
    while (from < to && tok_among(&toks->tok[from], skipped))
        from++;
    if (from < to && tok_is(&toks->tok[from], "__align__") && toks->tok[from + 1].match)
        from = toks->tok[from + 1].match + 1;
    return resolver_type(b->resolver, toks_text(toks, b->arena, from, to), d->from);
}

/* Adds the product of the extents behind the name: [3][4]. */
static bool symbol_extent(struct contract_builder *b, unsigned name, struct str *out)
{
    const struct toks *toks = b->resolver->toks;
    unsigned open = name + 1;
    bool ok = true;

    for (; ok && tok_is(&toks->tok[open], "[") && toks->tok[open].match;
         open = toks->tok[open].match + 1) {
        str_add(out, out->len ? "*(" : "(");
        const struct interp_value v = interp_in_scope(
            b->interp, NULL, (struct tok_range){toks, open + 1, toks->tok[open].match});
        const char *text = contract_text(b, &v, true);

        ok = text != NULL;
        str_addf(out, "%s)", text ? text : "");
    }
    if (!out->len)
        str_add_char(out, '1');
    return ok;
}

/* cudaMemcpyToSymbol(n_d, &n, sizeof(int)): " = constant(...)" with the number that all elements
 * get; "": it is not known. */
static const char *symbol_contents(struct contract_builder *b, struct tok_range from)
{
    double real;

    if (from.to != from.from + 2 || !tok_is(&from.toks->tok[from.from], "&"))
        return "";
    from.from++;
    const struct interp_value v = interp_in_scope(b->interp, b->resolver->seen[0], from);
    const char *text = v.kind == VALUE_INT ? contract_text(b, &v, true) : NULL;

    if (text)
        return arena_printf(b->arena, " = constant(%s)", text);
    return interp_number_of(&v, &real) ? arena_printf(b->arena, " = constant(%.9g)", real) : "";
}

/* = 3, = {0}, or nothing, which is 0: " = constant(...)" with the number that all elements begin
 * with; "": they differ, or it is not known. */
static const char *symbol_beginning(struct contract_builder *b, unsigned name)
{
    const struct toks *toks = b->resolver->toks;
    const char *text = " = constant(0)";
    unsigned i = name + 1;

    while (tok_is(&toks->tok[i], "[") && toks->tok[i].match)
        i = toks->tok[i].match + 1;
    if (!tok_is(&toks->tok[i], "="))
        return text;
    const bool list = tok_is(&toks->tok[++i], "{");
    const unsigned end = list ? toks->tok[i].match : toks_find(toks, i, toks->nr, ";");
    struct tok_range value = {toks, i + list, toks_find(toks, i, end, ",")};
    double number = 0;

    const struct interp_value v = value.from < value.to ? interp_in_scope(b->interp, NULL, value)
                                                        : (struct interp_value){.kind = VALUE_INT};

    if (!interp_number_of(&v, &number))
        return "";
    if (list && number != 0)
        return ""; /* the elements behind it are 0 */
    return number != 0 ? arena_printf(b->arena, " = constant(%.9g)", number) : text;
}

static bool is_written(struct contract_builder *b, const char *name)
{
    const struct resolver *resolver = b->resolver;

    for (unsigned i = 0; i < resolver->decls->nr; i++) {
        const struct decl *d = &resolver->decls->decl[i];
        bool launched = !d->is_kernel;

        for (unsigned l = 0; l < b->nr_launches; l++)
            launched |= resolver->kernels[l] == d;
        if (d->kind == DECL_FUNCTION && d->keep && d->body && launched &&
            param_access_writes_variable(contract_types(b), d, name))
            return true;
    }
    return false;
}

/* What the host does with one variable of the device. */
struct symbol_access {
    const struct decl *decl;
    unsigned name, at; /* tokens: its name in the declaration; where the host first uses it */
    bool set, taken;
    struct tok_range contents; /* of one that is set: what it is copied from */
};

enum { MAX_SYMBOLS = 64 };

struct symbol_accesses {
    struct symbol_access all[MAX_SYMBOLS];
    unsigned nr;
};

static struct symbol_access *symbol_of(
    struct contract_builder *b, struct symbol_accesses *symbols, struct tok_range arg, unsigned at)
{
    unsigned name;
    const struct decl *d = symbol_decl(b, arg, &name);

    for (unsigned i = 0; d && i < symbols->nr; i++)
        if (symbols->all[i].name == name)
            return &symbols->all[i];
    if (!d || symbols->nr == MAX_SYMBOLS)
        return NULL;
    symbols->all[symbols->nr] = (struct symbol_access){.decl = d, .name = name, .at = at};
    return &symbols->all[symbols->nr++];
}

static void symbol_line(struct contract_builder *b, const struct symbol_access *s)
{
    const struct toks *toks = b->resolver->toks;
    const char *name = toks->tok[s->name].text;
    const bool gives = s->taken && is_written(b, name);
    unsigned lanes = 1;
    struct str extent = {0};

    if (!gives && !s->set)
        return;
    const char *from = contract_shown(b, toks->tok[s->at].line);
    const char *type = symbol_type(b, s->decl, s->name), *elem = contract_elem(b, type, &lanes);

    if (!elem) {
        elem = contract_record(b, type);
        lanes = 1;
    }
    const bool known = symbol_extent(b, s->name, &extent);
    const char *contents = !elem    ? ""
                           : s->set ? symbol_contents(b, s->contents)
                                    : symbol_beginning(b, s->name);
    const char *pragma =
        arena_printf(b->arena, "#pragma keet symbol %s%s : %s[%s]%s%s", gives ? "inout " : "", name,
            elem ? elem : "f32", known ? spelling_tidy(b->arena, str_text(&extent)) : "1024",
            lanes > 1 ? arena_printf(b->arena, "[%u]", lanes) : "", contents);

    if (!elem)
        from = arena_printf(b->arena, "type %s of %s is no element type of the task language; %s",
            type, name, from);
    else if (!known)
        from = arena_printf(b->arena, "the number of elements of %s is not known", name);
    contract_add_line(b, !elem || !known, from, pragma);
    str_finish(&extent);
}

/* Adds __managed__ variables, which the host sets and reads by name. */
static void add_managed(struct contract_builder *b, struct symbol_accesses *symbols)
{
    const struct toks *toks = b->resolver->toks;
    const struct decls *decls = b->resolver->decls;

    for (unsigned i = 0; i < decls->nr; i++) {
        const struct decl *d = &decls->decl[i];

        if (d->kind != DECL_VARIABLE || !d->keep ||
            toks_find(toks, d->from, d->to, "__managed__") == d->to)
            continue;
        for (unsigned t = d->from; t < d->to; t++)
            if (tok_is(&toks->tok[t], d->name)) {
                struct symbol_access *s =
                    symbol_of(b, symbols, (struct tok_range){toks, t, t + 1}, t);

                if (s)
                    s->taken = true;
                break;
            }
    }
}

void contract_symbols(struct contract_builder *b)
{
    const struct toks *toks = b->resolver->toks;
    struct symbol_accesses *symbols = arena_alloc(b->arena, sizeof(*symbols));

    for (unsigned i = 0; i + 1 < toks->nr; i++) {
        const struct tok *t = &toks->tok[i];
        const bool sets = tok_is(t, "cudaMemcpyToSymbol") || tok_is(t, "cudaMemcpyToSymbolAsync");
        const bool points = tok_is(t, "cudaGetSymbolAddress");
        const bool takes =
            points || tok_is(t, "cudaMemcpyFromSymbol") || tok_is(t, "cudaMemcpyFromSymbolAsync");
        struct tok_range args[5];
        struct symbol_access *s;

        if (!(sets || takes) || !tok_is(t + 1, "(") || !t[1].match ||
            tok_range_split((struct tok_range){toks, i + 2, t[1].match}, args, ARRAY_SIZE(args)) <
                3U - points ||
            (s = symbol_of(b, symbols, args[takes], i)) == NULL)
            continue;
        if (sets && !s->set)
            s->contents = args[1];
        s->set |= sets;
        s->taken |= takes;
    }
    add_managed(b, symbols);
    for (unsigned i = 0; i < symbols->nr; i++)
        symbol_line(b, &symbols->all[i]);
}
