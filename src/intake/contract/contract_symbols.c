/* Owns the variables of the device that host code sets or reads: by cudaMemcpyToSymbol(taps, h,
 * bytes), by cudaMemcpyFromSymbol(h, total, bytes), or as __managed__ variables. */
#include "intake/contract/contract_builder.h"
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "intake/syntax/spelling.h"

#include <string.h>

/* What the host does with one variable of the device. */
struct symbol_access {
    const char *name;
    const struct interp_slot *slot; /* the variable, with the value that it begins with */
    unsigned at;                    /* the token where the host first uses it */
    bool set, taken;
    struct tok_range contents; /* of one that is set: what it is copied from */
};

enum { MAX_SYMBOLS = 64 };

struct symbol_accesses {
    struct symbol_access all[MAX_SYMBOLS];
    unsigned nr;
};

/* The kept variable that an argument names; NULL: none. */
static struct symbol_access *symbol_of(
    struct contract_builder *b, struct symbol_accesses *symbols, struct tok_range arg, unsigned at)
{
    for (unsigned i = arg.from; i < arg.to; i++) {
        const char *name = arg.toks->tok[i].text;
        const struct interp_slot *slot = interp_global(contract_types(b), name);
        const struct decl *d = slot ? decls_at(b->resolver->decls, slot->at) : NULL;

        if (!d || d->kind != DECL_VARIABLE || !d->keep || !d->is_device)
            continue;
        for (unsigned s = 0; s < symbols->nr; s++)
            if (symbols->all[s].slot == slot)
                return &symbols->all[s];
        if (symbols->nr == MAX_SYMBOLS)
            return NULL;
        symbols->all[symbols->nr] = (struct symbol_access){.name = name, .slot = slot, .at = at};
        return &symbols->all[symbols->nr++];
    }
    return NULL;
}

/* The number of elements; NULL: it is not known. */
static const char *symbol_extent(struct contract_builder *b, const struct symbol_access *s)
{
    const struct memory *m = s->slot->v.kind == VALUE_MEMORY ? s->slot->v.memory : NULL;
    const unsigned each = m ? interp_type_bytes(contract_types(b), s->slot->v.type->text) : 0;
    const struct interp_value v = each ? contract_elements(b, m, each) : interp_int(1);

    return m && !each ? NULL : contract_text(b, &v, true);
}

/* cudaMemcpyToSymbol(n_d, &n, sizeof(int)): constant(...) with the number that all elements get;
 * NULL: it is not known. */
static const char *symbol_contents(struct contract_builder *b, struct tok_range from)
{
    double real;

    if (from.to != from.from + 2 || !tok_is(&from.toks->tok[from.from], "&"))
        return NULL;
    from.from++;
    const struct interp_value v = interp_in_scope(b->interp, b->resolver->seen[0], from);
    const char *text = v.kind == VALUE_INT ? contract_text(b, &v, true) : NULL;

    if (text)
        return arena_printf(b->arena, "constant(%s)", text);
    return interp_number_of(&v, &real) ? arena_printf(b->arena, "constant(%.9g)", real) : NULL;
}

/* constant(...) with the number that all elements begin with; NULL: they differ, or it is not
 * known. */
static const char *symbol_beginning(struct contract_builder *b, const struct interp_value *v)
{
    const struct memory_contents *c = v->kind == VALUE_MEMORY ? &v->memory->contents : NULL;
    double number = 0;

    if (c ? c->unknown || c->low != 0 || c->high != 0
          : v->kind != VALUE_UNKNOWN && !interp_number_of(v, &number))
        return NULL;
    return arena_printf(b->arena, "constant(%.9g)", number);
}

static bool is_written(struct contract_builder *b, const char *name)
{
    for (unsigned l = 0; l < b->nr_launches; l++)
        if (param_access_writes_variable(contract_types(b), b->resolver->kernels[l], name))
            return true;
    return false;
}

static void symbol_line(struct contract_builder *b, const struct symbol_access *s)
{
    const struct toks *toks = b->resolver->toks;
    const struct type *in = s->slot->v.kind == VALUE_MEMORY ? s->slot->v.type : s->slot->type;
    const bool gives = s->taken && is_written(b, s->name);
    unsigned lanes = 1;

    if (!gives && !s->set)
        return;
    const char *from = contract_shown(b, toks->tok[s->at].line);
    const char *type = resolver_type(b->resolver, in ? in->text : "", s->slot->at),
               *elem = contract_elem(b, type, &lanes), *extent = symbol_extent(b, s);

    if (!elem)
        from = arena_printf(b->arena, "type %s of %s is no element type of the task language; %s",
            type, s->name, from);
    else if (!extent)
        from = arena_printf(b->arena, "the number of elements of %s is not known", s->name);
    contract_add_line(b, (struct intake_line){.kind = INTAKE_SYMBOL,
                             .name = s->name,
                             .role = gives ? "inout" : "in",
                             .text = arena_printf(b->arena, lanes > 1 ? "%s[%s][%u]" : "%s[%s]",
                                 elem ? elem : "f32", extent ? extent : "1024", lanes),
                             .contents = !elem    ? NULL
                                         : s->set ? symbol_contents(b, s->contents)
                                                  : symbol_beginning(b, &s->slot->v),
                             .from = from,
                             .missing = !elem || !extent});
}

/* Adds __managed__ variables, which the host sets and reads by name. */
static void add_managed(struct contract_builder *b, struct symbol_accesses *symbols)
{
    const struct toks *toks = b->resolver->toks;
    const struct decls *decls = b->resolver->decls;

    for (unsigned i = 0; i < decls->nr; i++) {
        const struct decl *d = &decls->decl[i];
        struct symbol_access *s = NULL;

        if (d->kind == DECL_VARIABLE && d->keep &&
            toks_find(toks, d->from, d->to, "__managed__") < d->to)
            s = symbol_of(b, symbols, (struct tok_range){toks, d->from, d->to},
                toks_name(toks, d->name, d->from));
        if (s)
            s->taken = true;
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
