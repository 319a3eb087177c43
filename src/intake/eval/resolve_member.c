/* Owns what members of objects in host expressions come down to. */
#include "intake/eval/resolve_parts.h"

#include <string.h>

/* object.member at token i of a range. */
struct member {
    struct tok_range r;
    const char *object, *name;
    unsigned i, at, depth;
    unsigned open; /* the token behind the name and its template arguments: options.get<int>( */
};

/* dim3 grid(x, y); grid.y: what was given for that dimension. False: the object is no such. */
static bool dimension(
    struct resolver *resolver, struct member *m, struct str *out, bool *is_dimension)
{
    struct tok_range value, dims[3];
    unsigned where;

    *is_dimension = strlen(m->name) == 1 && strchr("xyz", m->name[0]) &&
                    resolver_definition(resolver, m->object, m->at, &value, &where);
    if (!*is_dimension)
        return false;
    for (unsigned up = 0; up < 4 && value.to == value.from + 1 && value.toks == resolver->toks &&
                          value.toks->tok[value.from].kind == TOK_NAME;
         up++)
        if (!resolver_definition(resolver, value.toks->tok[value.from].text, where, &value, &where))
            break;
    if (tok_is(&value.toks->tok[value.from], "dim3"))
        value = (struct tok_range){value.toks, value.from + 2, value.to - 1};
    const unsigned nr = tok_range_split(value, dims, 3), d = (unsigned)(m->name[0] - 'x');

    m->i += 2;
    if (d < nr)
        return resolve_in_parentheses(resolver, dims[d], where, m->depth - 1, out);
    str_add_char(out, '1');
    return true;
}

/* cfg.n: the value that the file gives the field; else a size that the user gives a number. */
static bool field(struct resolver *resolver, struct member *m, struct str *out)
{
    const struct toks *toks = m->r.toks;
    const unsigned first = m->i;
    struct tok_range value;
    unsigned past = first + 2, where;

    if (resolver_member(resolver, m->object, m->name, m->at, &value, &where)) {
        const size_t mark = out->len;

        m->i = past;
        if (resolve_only_numbers(value) &&
            resolve_constant(resolver, arena_printf(resolver->arena, "%s_%s", m->object, m->name),
                value, resolver->toks->tok[where].line, false, out))
            return true;
        if (resolve_in_parentheses(resolver, value, where, m->depth - 1, out))
            return true;
        resolve_cut(out, mark);
    }
    while (past + 2 < m->r.to &&
           (tok_is(&toks->tok[past + 1], ".") || tok_is(&toks->tok[past + 1], "->")))
        past += 2;
    const char *whole = toks_text(toks, resolver->arena, m->i, past + 1);

    m->i = past;
    if (past + 1 < m->r.to && tok_is(&toks->tok[past + 1], "(") && toks->tok[past + 1].match)
        m->i = toks->tok[past + 1].match; /* a.rows.size() */
    return resolve_ask(resolver, whole, resolver->toks->tok[m->at].line, out, out->len) ||
           resolve_refuse(resolver, "a member of", m->object);
}

/* x.size(0), x.numel() of a tensor: a size that only the caller knows; v.size() of a vector. */
static bool size_call(struct resolver *resolver, struct member *m, struct str *out)
{
    const struct toks *toks = m->r.toks;
    const bool argument = toks->tok[m->open].match > m->open + 1;
    const unsigned line = toks->tok[m->i].line;
    const char *name = argument ? arena_printf(resolver->arena, "%s_size%s", m->object,
                                      toks->tok[m->open + 1].text)
                                : arena_printf(resolver->arena, "%s_%s", m->object, m->name);
    struct tok_range value, parts[2];
    unsigned where;

    m->i = toks->tok[m->open].match;
    if (!argument && strcmp(m->name, "size") == 0 &&
        resolver_definition(resolver, m->object, m->at, &value, &where)) {
        tok_range_split(value, parts, 2); /* std::vector<float> v(n, 1.0f) */
        return resolve_expression(resolver, parts[0], where, m->depth - 1, out);
    }
    name = resolve_as_size(resolver, name, 0, false, line);
    if (name)
        str_add(out, name);
    return name != NULL || resolve_refuse(resolver, "too many sizes, at", m->object);
}

/* What the member comes down to by the text of the file. */
static bool static_member(struct resolver *resolver, struct member *m, struct str *out)
{
    const struct toks *toks = m->r.toks;
    bool is_dimension;
    const bool ok = dimension(resolver, m, out, &is_dimension);

    if (is_dimension)
        return ok;
    if (!tok_is(&toks->tok[m->open], "(") || !toks->tok[m->open].match)
        return field(resolver, m, out);
    if (strcmp(m->name, "numel") == 0 || strcmp(m->name, "size") == 0)
        return size_call(resolver, m, out);
    m->i = toks->tok[m->open].match;
    return resolve_ask(resolver, arena_printf(resolver->arena, "%s_%s", m->object, m->name),
               resolver->toks->tok[m->at].line, out, out->len) ||
           resolve_refuse(resolver, "a member of", m->object);
}

bool resolve_member(struct resolver *resolver, struct tok_range r, unsigned *i, unsigned at,
    unsigned depth, struct str *out)
{
    const struct toks *toks = r.toks;
    const char *name = toks_text(toks, resolver->arena, *i, *i + 3);
    const unsigned nr_sizes = resolver->nr_sizes, first = *i;
    const unsigned angle =
        tok_is(&toks->tok[first + 3], "<") ? toks_angle(toks, first + 3, toks->nr) : 0;
    const size_t mark = out->len;
    struct member m = {.r = r,
        .object = toks->tok[first].text,
        .name = toks->tok[first + 2].text,
        .i = first,
        .at = at,
        .depth = depth,
        .open = angle ? angle + 1 : first + 3};
    double seen;

    if (!resolve_was_seen(resolver, name, at, &seen)) {
        const bool ok = static_member(resolver, &m, out);

        *i = m.i;
        return ok;
    }
    const struct resolver_mode before =
        resolver_restrict(resolver, (struct resolver_mode){.strict = true});
    const bool ok = static_member(resolver, &m, out);

    resolver->mode = before;
    *i = ok ? m.i : first + 2;
    if (!ok)
        resolve_cut(out, mark);
    return resolve_as_seen(resolver, name, at, out, mark, nr_sizes) || ok;
}
