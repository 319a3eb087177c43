/* Owns what names in host expressions come down to: by the text of the file, and by the numbers
 * that the interpreter saw. */
#include "intake/eval/resolve_parts.h"

#include "intake/eval/interp.h"
#include "intake/syntax/spelling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The line that gives a variable its value; where none is found, the line of its use. */
static unsigned line_defined(struct resolver *resolver, const char *name, unsigned at)
{
    struct tok_range value;
    unsigned where = at;

    resolver_definition(resolver, name, at, &value, &where);
    return resolver->toks->tok[where].line;
}

bool resolve_was_seen(const struct resolver *resolver, const char *name, unsigned at, double *seen)
{
    return resolver->interp &&
           interp_number(resolver->interp, resolver_function_at(resolver, at), name, seen);
}

bool resolve_as_seen(struct resolver *resolver, const char *name, unsigned at, struct str *out,
    size_t mark, unsigned nr_sizes)
{
    double seen;
    int64_t value;

    if (!resolve_was_seen(resolver, name, at, &seen) || seen != floor(seen) || fabs(seen) > 9e15)
        return false;
    if (out->len > mark && resolver_evaluate(resolver, out->text + mark, &value) &&
        value == (int64_t)seen)
        return true;
    if (out->len > mark && resolver->drop_sizeof &&
        resolver_bytes(resolver, name, at)) /* without its sizeof, the text counts elements */
        return true;
    value = (int64_t)seen;
    const bool fixed = resolver->mode.fixed || resolver_template_param(resolver, name, at) >= 0;
    const char *clean = resolve_clean_name(resolver, name), *size = NULL;

    resolver->nr_sizes = nr_sizes; /* drops the sizes of the text, which came to another number */
    if (value >= 1 && !fixed)
        size = resolve_as_size(resolver, clean, value, true, line_defined(resolver, name, at));
    const struct size *old = resolver->mode.fixed ? resolver_size(resolver, clean) : NULL;

    if (old && old->known && old->value == value)
        size = old->name;
    resolve_cut(out, mark);
    if (size)
        str_add(out, size);
    else
        str_addf(out, value < 0 ? "(%lld)" : "%lld", (long long)value);
    return true;
}

bool resolve_only_numbers(struct tok_range r)
{
    for (unsigned i = r.from; i < r.to; i++) {
        const struct tok *t = &r.toks->tok[i];

        if (t->kind == TOK_NUMBER || (t->kind == TOK_PUNCT && !tok_is(t, "{")))
            continue;
        if (t->kind == TOK_NAME && spelling_bytes(t->text) > 0)
            continue;
        return false;
    }
    return r.from < r.to;
}

bool resolver_device_uses(const struct resolver *resolver, const char *name)
{
    for (unsigned i = 0; i < resolver->decls->nr; i++) {
        const struct decl *d = &resolver->decls->decl[i];

        if (d->kind != DECL_FUNCTION || !d->keep)
            continue;
        for (unsigned t = d->from; t < d->to; t++)
            if (tok_is(&resolver->toks->tok[t], name)) {
                struct tok_range value;
                unsigned at;

                if (!resolver_definition_in(resolver->toks, name, d->from, d->to, &value, &at) &&
                    resolver_param(resolver, d, name, &value) < 0)
                    return true;
            }
    }
    return false;
}

bool resolve_constant(struct resolver *resolver, const char *name, struct tok_range value,
    unsigned line, bool in_device, struct str *out)
{
    struct str text = {0};
    int64_t number;
    bool ok = resolve_expression(resolver, value, value.from, RESOLVE_MAX_DEPTH - 2, &text) &&
              resolver_evaluate(resolver, str_text(&text), &number);

    if (!ok) {
        str_finish(&text);
        return resolve_refuse(resolver, "the value of", name);
    }
    const char *size = number < 1 || resolver->mode.fixed || in_device
                           ? NULL
                           : resolve_as_size(resolver, name, number, true, line);

    if (resolver->mode.fixed && resolver_size(resolver, name) &&
        resolver_size(resolver, name)->value == number)
        size = name;
    if (size)
        str_add(out, size);
    else
        str_addf(out, "%lld", (long long)number);
    str_finish(&text);
    return true;
}

/* Something else that is kept at the top level has the name: a table, a type, a macro. The values
 * of an enum are kept together. */
static bool kept_beside(const struct resolver *resolver, const struct decl *self, const char *name)
{
    for (unsigned i = 0; i < resolver->decls->nr; i++) {
        const struct decl *d = &resolver->decls->decl[i];

        if ((d == self && !tok_is(&resolver->toks->tok[d->from], "enum")) || !d->keep ||
            d->kind == DECL_FUNCTION || d->kind == DECL_DIRECTIVE)
            continue;
        for (unsigned t = d->from; t < d->to; t++)
            if (tok_is(&resolver->toks->tok[t], name))
                return true;
    }
    for (unsigned m = 0; m < resolver->nr_macros; m++)
        if (toks_name(&resolver->macros[m].toks, name, 0) < resolver->macros[m].toks.nr)
            return true;
    return false;
}

/* The name is a constant or a value of an enum that stands at the top level and that device code
 * needs. Where a kernel only has a parameter or a variable of that name, the constant is kept too,
 * but not needed. */
static bool stands_kept(const struct resolver *resolver, const char *name, unsigned at)
{
    const struct decl *d = decls_at(resolver->decls, at);

    return d && d->kind != DECL_FUNCTION && d->keep &&
           (resolver_device_uses(resolver, name) || kept_beside(resolver, d, name));
}

/* int n = sizes[s]: puts a size of that name in place of the number "(number)" that was found. */
static void name_number(
    struct resolver *resolver, const char *name, unsigned line, struct str *out, size_t mark)
{
    char *end;
    long long number = strtoll(out->text + mark + 1, &end, 10);
    const char *size = number > 0 && strcmp(end, ")") == 0
                           ? resolve_as_size(resolver, name, number, true, line)
                           : NULL;

    if (!size)
        return;
    resolve_cut(out, mark);
    str_add(out, size);
}

/* The number that a variable starts with is not its number: int n = -1; ... n = atoi(optarg); or
 * ... n *= x.size(i). */
static bool given_later(struct resolver *resolver, const char *name, unsigned where, unsigned at,
    struct tok_range value)
{
    const struct tok *tok = resolver->toks->tok, *first = &value.toks->tok[value.from];
    const struct decl *fn = resolver_function_at(resolver, where);
    const bool none =
        tok_is(first, "-") || (value.to == value.from + 1 && strcmp(first->text, "0") == 0);

    for (unsigned i = where + 1; (fn || none) && i + 2 < (fn ? fn->to : resolver->toks->nr); i++)
        if (tok_is(&tok[i], name) &&
            ((none && (tok_is(&tok[i - 1], "&") || tok_is(&tok[i + 1], "=") ||
                          (tok_is(&tok[i - 1], ">") && tok_is(&tok[i - 2], ">")))) ||
                ((i < at || !fn) && (tok_is(&tok[i + 1], "*=") || tok_is(&tok[i + 1], "+=")))))
            return true;
    return false;
}

/* A template parameter: what the call gives for it, a part of the kernel's id. */
static bool template_name(
    struct resolver *resolver, struct tok_range value, unsigned at, unsigned depth, struct str *out)
{
    const struct resolver_mode before =
        resolver_restrict(resolver, (struct resolver_mode){.fixed = true});
    const bool ok = resolve_in_parentheses(resolver, value, at, depth - 1, out);

    resolver->mode = before;
    return ok;
}

/* int n = atoi(argv[1]): a size that the user gives a number. */
static bool outside_name(
    struct resolver *resolver, const char *name, unsigned line, struct str *out)
{
    const char *size = resolver->mode.fixed || resolver->mode.strict
                           ? NULL
                           : resolve_as_size(resolver, name, 0, false, line);

    if (resolver->mode.fixed && resolver_size(resolver, name))
        size = name;
    str_add(out, size ? size : "");
    return size || resolve_refuse(resolver, "only the command line gives", name);
}

/* argc > 1 ? atoi(argv[1]) : 1024 is what it is without arguments. */
static struct tok_range without_arguments(struct tok_range value)
{
    const unsigned question = toks_find(value.toks, value.from, value.to, "?");

    for (unsigned i = value.from; question < value.to && i < question; i++)
        if (tok_is(&value.toks->tok[i], "argc"))
            value.from = toks_find(value.toks, question, value.to, ":") + 1;
    return value;
}

/* A variable whose value stands at token `where`. */
static bool defined_name(struct resolver *resolver, const char *name, struct tok_range value,
    unsigned where, unsigned at, unsigned depth, struct str *out)
{
    const size_t mark = out->len;
    const unsigned line = resolver->toks->tok[where].line;

    if (resolver_from_outside(value))
        return outside_name(resolver, name, value.toks->tok[value.from].line, out);
    value = without_arguments(value);
    if (resolve_only_numbers(value) && given_later(resolver, name, where, at, value))
        return resolve_ask(resolver, name, line, out, mark) ||
               resolve_refuse(resolver, "only the command line gives", name);
    if (resolve_only_numbers(value))
        return resolve_constant(
            resolver, name, value, line, stands_kept(resolver, name, where), out);
    const bool element = value.from + 1 < value.to &&
                         value.toks->tok[value.from].kind == TOK_NAME &&
                         tok_is(&value.toks->tok[value.from + 1], "[");
    const bool ok = resolve_in_parentheses(resolver, value, where, depth - 1, out);

    if (ok && element)
        name_number(resolver, name, line, out, mark);
    return ok || resolve_ask(resolver, name, line, out, mark);
}

static bool macro_name(struct resolver *resolver, const struct macro *macro, unsigned at,
    unsigned depth, struct str *out)
{
    const struct tok_range body = {&macro->toks, 0, macro->toks.nr};

    return resolve_only_numbers(body) ? resolve_constant(resolver, macro->name, body, macro->line,
                                            resolver_device_uses(resolver, macro->name), out)
                                      : resolve_in_parentheses(resolver, body, at, depth - 1, out);
}

/* What the name comes down to by the text of the file. */
static bool static_name(
    struct resolver *resolver, const char *name, unsigned at, unsigned depth, struct str *out)
{
    struct tok_range value;
    unsigned where = at;
    const struct macro *macro = resolver_macro(resolver, name);

    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
        str_add(out, *name == 't' ? "1" : "0");
        return true;
    }
    if (depth == 0)
        return resolve_refuse(resolver, "an expression too deep, at", name);
    if (resolver_template_argument(resolver, name, at, &value, &where))
        return template_name(resolver, value, where, depth, out);
    if (resolver_definition(resolver, name, at, &value, &where))
        return defined_name(resolver, name, value, where, at, depth, out);
    if (macro && !macro->is_function)
        return macro_name(resolver, macro, at, depth, out);
    return resolve_ask(resolver, name, resolver->toks->tok[at].line, out, out->len) ||
           resolve_refuse(resolver, "nothing in this file gives", name);
}

/* By the text of the file where that agrees with what the interpreter saw; else the number that it
 * saw. */
bool resolve_name(
    struct resolver *resolver, const char *name, unsigned at, unsigned depth, struct str *out)
{
    const size_t mark = out->len;
    const unsigned nr_sizes = resolver->nr_sizes;
    double seen;

    if (!resolve_was_seen(resolver, name, at, &seen))
        return static_name(resolver, name, at, depth, out);
    const struct resolver_mode before =
        resolver_restrict(resolver, (struct resolver_mode){.strict = true});
    const bool ok = static_name(resolver, name, at, depth, out);

    resolver->mode = before;
    if (ok && resolver_set_again(resolver, name, at)) /* seen is what it was at the first launch */
        return true;
    if (!ok)
        resolve_cut(out, mark);
    return resolve_as_seen(resolver, name, at, out, mark, nr_sizes) || ok ||
           resolve_refuse(resolver, "a number that is not whole,", name);
}
