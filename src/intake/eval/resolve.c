/* Owns what host expressions come down to: integer expressions of the task language, over sizes. */
#include "intake/eval/resolver.h"

#include "base/mem.h"
#include "core/expr.h"
#include "core/task.h"
#include "intake/eval/interp.h"
#include "intake/syntax/spelling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 20000, MAX_DEPTH = 24 };

/* ---- types ---- */

static bool is_type_range(const struct toks *toks, unsigned from, unsigned to)
{
    static const char *const words[] = {
        "const", "unsigned", "signed", "long", "void", "struct", NULL};

    if (from >= to)
        return false;
    for (unsigned i = from; i < to; i++) {
        const struct tok *t = &toks->tok[i];
        bool known =
            tok_is(t, "*") || tok_is(t, "::") || tok_is(t, "std") || spelling_bytes(t->text) > 0;

        for (unsigned w = 0; words[w]; w++)
            known = known || tok_is(t, words[w]);
        if (!known)
            return false;
    }
    return true;
}

/* (IdxType)n: between a name in parentheses and an operand there is no operator, so it is a type.
 */
static bool is_cast(const struct toks *toks, unsigned open, unsigned to)
{
    const unsigned close = toks->tok[open].match, behind = close + 1;

    if (!close)
        return false;
    if (is_type_range(toks, open + 1, close))
        return true;
    return close == open + 2 && toks->tok[open + 1].kind == TOK_NAME && behind < to &&
           (toks->tok[behind].kind == TOK_NAME || toks->tok[behind].kind == TOK_NUMBER ||
               tok_is(&toks->tok[behind], "("));
}

/* ---- expressions ---- */

static bool resolve(
    struct resolver *resolver, struct tok_range r, unsigned at, unsigned depth, struct str *out);

static bool fail(struct resolver *resolver, const char *what, const char *name)
{
    resolver->why = arena_printf(resolver->arena, "%s%s%s", what, *name ? " " : "", name);
    return false;
}

bool resolver_evaluate(struct resolver *resolver, const char *text, int64_t *value)
{
    struct binding bindings[INTAKE_MAX_SIZES];
    struct env env = {bindings, 0};
    struct err err = {0};

    for (unsigned i = 0; i < resolver->nr_sizes; i++)
        if (resolver->sizes[i].known)
            bindings[env.nr++] =
                (struct binding){resolver->sizes[i].name, resolver->sizes[i].value};
    const struct expr *e = expr_parse(resolver->arena, text, strlen(text), &err);
    return e && expr_eval(e, &env, value, &err);
}

const struct size *resolver_size(const struct resolver *resolver, const char *name)
{
    for (unsigned i = 0; i < resolver->nr_sizes; i++)
        if (strcmp(resolver->sizes[i].name, name) == 0)
            return &resolver->sizes[i];
    return NULL;
}

/* The name of a size of that value: an old one, or a new one with a fresh spelling. */
static const char *size_named(
    struct resolver *resolver, const char *name, int64_t value, bool known, unsigned line)
{
    if (task_reserves(name))
        name = arena_printf(resolver->arena, "%s_", name);
    for (unsigned i = 0; i < resolver->nr_arrays; i++)
        if (strcmp(resolver->arrays[i], name) == 0) { /* shape[dim] beside the array shape */
            name = arena_printf(resolver->arena, "%s_value", name);
            break;
        }
    const char *spelling = name;

    for (unsigned n = 2; resolver_size(resolver, spelling); n++) {
        const struct size *old = resolver_size(resolver, spelling);

        if (old->value == value && old->known == known)
            return spelling;
        spelling = arena_printf(resolver->arena, "%s%u", name, n);
    }
    if (resolver->nr_sizes == INTAKE_MAX_SIZES)
        return NULL;
    resolver->sizes[resolver->nr_sizes++] = (struct size){spelling, value, known, line};
    return spelling;
}

static void cut_to(struct str *out, size_t mark)
{
    while (out->len > mark)
        out->text[--out->len] = 0;
}

static const char *clean_name(struct resolver *resolver, const char *name)
{
    struct str clean = {0};

    for (const char *p = name; *p; p++) /* cfg.n, sizes[0] */
        if (str_word_char(*p))
            str_add_char(&clean, *p);
        else if (clean.len && clean.text[clean.len - 1] != '_')
            str_add_char(&clean, '_');
    while (clean.len > 1 && clean.text[clean.len - 1] == '_')
        clean.text[--clean.len] = 0;
    name = arena_strdup(resolver->arena, clean.len ? str_text(&clean) : "size");
    str_finish(&clean);
    return name;
}

const char *resolver_unknown(struct resolver *resolver, const char *name, unsigned line)
{
    return resolver->strict ? NULL
                            : size_named(resolver, clean_name(resolver, name), 0, false, line);
}

/* Where nothing gives a number, the user does. */
static bool ask(
    struct resolver *resolver, const char *name, unsigned line, struct str *out, size_t mark)
{
    const char *size = resolver->strict ? NULL : resolver_unknown(resolver, name, line);

    if (!size)
        return false;
    cut_to(out, mark);
    str_add(out, size);
    return true;
}

/* The line that gives a variable its value; of its use where none is found. */
static unsigned line_defined(struct resolver *resolver, const char *name, unsigned at)
{
    struct tok_range value;
    unsigned where = at;

    resolver_definition(resolver, name, at, &value, &where);
    return resolver->toks->tok[where].line;
}

/* The number that the interpreter through the program saw in a variable, as a size of that name. */
static bool as_interpreted(struct resolver *resolver, const char *name, unsigned at,
    struct str *out, size_t mark, unsigned nr_sizes)
{
    double seen;
    int64_t value;

    if (!resolver->interp ||
        !interp_number(resolver->interp, resolver_function_at(resolver, at), name, &seen) ||
        seen != floor(seen) || fabs(seen) > 9e15)
        return false;
    if (out->len > mark && resolver_evaluate(resolver, out->text + mark, &value) &&
        value == (int64_t)seen)
        return true;
    if (out->len > mark && resolver->drop_sizeof &&
        resolver_bytes(resolver, name, at)) /* elements here */
        return true;
    value = (int64_t)seen;
    const bool fixed = resolver->fixed || resolver_template_param(resolver, name, at) >= 0;

    resolver->nr_sizes = nr_sizes; /* what the text came to by itself is wrong here */
    const char *size = value < 1 || fixed ? NULL
                                          : size_named(resolver, clean_name(resolver, name), value,
                                                true, line_defined(resolver, name, at));

    const struct size *old =
        resolver->fixed ? resolver_size(resolver, clean_name(resolver, name)) : NULL;

    if (old && old->known && old->value == value)
        size = old->name;
    cut_to(out, mark);
    if (size)
        str_add(out, size);
    else
        str_addf(out, value < 0 ? "(%lld)" : "%lld", (long long)value);
    return true;
}

static bool only_numbers(struct tok_range r)
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
            if (resolver->toks->tok[t].kind == TOK_NAME &&
                strcmp(resolver->toks->tok[t].text, name) == 0) {
                struct tok_range value;
                unsigned at;

                if (!resolver_definition_in(resolver->toks, name, d->from, d->to, &value, &at) &&
                    resolver_param(resolver, d, name, &value) < 0)
                    return true;
            }
    }
    return false;
}

/* A name whose value is written as a plain number becomes a size, unless it may not change. */
static bool resolve_constant(struct resolver *resolver, const char *name, struct tok_range value,
    unsigned line, bool in_device, struct str *out)
{
    struct str text = {0};
    int64_t number;
    bool ok = resolve(resolver, value, value.from, MAX_DEPTH - 2, &text) &&
              resolver_evaluate(resolver, str_text(&text), &number);

    if (!ok) {
        str_finish(&text);
        return fail(resolver, "the value of", name);
    }
    const char *size = number < 1 || resolver->fixed || in_device
                           ? NULL
                           : size_named(resolver, name, number, true, line);

    if (resolver->fixed && resolver_size(resolver, name) &&
        resolver_size(resolver, name)->value == number)
        size = name;
    if (size)
        str_add(out, size);
    else
        str_addf(out, "%lld", (long long)number);
    str_finish(&text);
    return true;
}

/* Something else that stays at the top level has the name: a table, a type, a macro. The values of
 * an enum go together. */
static bool kept_beside(const struct resolver *resolver, const struct decl *self, const char *name)
{
    for (unsigned i = 0; i < resolver->decls->nr; i++) {
        const struct decl *d = &resolver->decls->decl[i];

        if ((d == self && !tok_is(&resolver->toks->tok[d->from], "enum")) || !d->keep ||
            d->kind == DECL_FUNCTION || d->kind == DECL_DIRECTIVE)
            continue;
        for (unsigned t = d->from; t < d->to; t++)
            if (resolver->toks->tok[t].kind == TOK_NAME &&
                strcmp(resolver->toks->tok[t].text, name) == 0)
                return true;
    }
    for (unsigned m = 0; m < resolver->nr_macros; m++)
        if (toks_name(&resolver->macros[m].toks, name, 0) < resolver->macros[m].toks.nr)
            return true;
    return false;
}

/* At the top level, and the device code needs it: an enum, a constant. A parameter or a variable of
 * a kernel that has the same name keeps it too, and does not. */
static bool stands_kept(const struct resolver *resolver, const char *name, unsigned at)
{
    const struct decl *d = decls_at(resolver->decls, at);

    return d && d->kind != DECL_FUNCTION && d->keep &&
           (resolver_device_uses(resolver, name) || kept_beside(resolver, d, name));
}

/* int n = sizes[s]: the number found is a size by that name. */
static void name_number(
    struct resolver *resolver, const char *name, unsigned line, struct str *out, size_t mark)
{
    char *end;
    long long number = strtoll(out->text + mark + 1, &end, 10);
    const char *size =
        number > 0 && strcmp(end, ")") == 0 ? size_named(resolver, name, number, true, line) : NULL;

    if (!size)
        return;
    cut_to(out, mark);
    str_add(out, size);
}

/* int n = -1; ... n = atoi(optarg); or ... n *= x.size(i): what it starts with is not its number.
 */
static bool given_later(struct resolver *resolver, const char *name, unsigned where, unsigned at,
    struct tok_range value)
{
    const struct tok *tok = resolver->toks->tok, *first = &value.toks->tok[value.from];
    const struct decl *fn = resolver_function_at(resolver, where);
    const bool none =
        tok_is(first, "-") || (value.to == value.from + 1 && strcmp(first->text, "0") == 0);

    for (unsigned i = where + 1; (fn || none) && i + 2 < (fn ? fn->to : resolver->toks->nr); i++)
        if (tok[i].kind == TOK_NAME && strcmp(tok[i].text, name) == 0 &&
            ((none && (tok_is(&tok[i - 1], "&") || tok_is(&tok[i + 1], "=") ||
                          (tok_is(&tok[i - 1], ">") && tok_is(&tok[i - 2], ">")))) ||
                ((i < at || !fn) && (tok_is(&tok[i + 1], "*=") || tok_is(&tok[i + 1], "+=")))))
            return true;
    return false;
}

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
        return fail(resolver, "an expression too deep, at", name);
    if (resolver_template_argument(resolver, name, at, &value, &where)) {
        const bool fixed = resolver->fixed;

        resolver->fixed = true; /* a part of the kernel's id */
        str_add_char(out, '(');
        const bool ok = resolve(resolver, value, where, depth - 1, out);

        str_add_char(out, ')');
        resolver->fixed = fixed;
        return ok;
    }
    if (resolver_definition(resolver, name, at, &value, &where)) {
        unsigned question = toks_find(value.toks, value.from, value.to, "?");

        if (resolver_from_outside(value)) {
            const char *size =
                resolver->fixed || resolver->strict
                    ? NULL
                    : size_named(resolver, name, 0, false, value.toks->tok[value.from].line);

            if (resolver->fixed && resolver_size(resolver, name))
                size = name;
            str_add(out, size ? size : "");
            return size || fail(resolver, "only the command line gives", name);
        }
        if (question < value.to) /* argc > 1 ? atoi(argv[1]) : 1024 */
            for (unsigned i = value.from; i < question; i++)
                if (tok_is(&value.toks->tok[i], "argc"))
                    value.from = toks_find(value.toks, question, value.to, ":") + 1;
        size_t mark = out->len;
        unsigned line = resolver->toks->tok[where].line;

        if (only_numbers(value) && given_later(resolver, name, where, at, value))
            return ask(resolver, name, line, out, mark) ||
                   fail(resolver, "only the command line gives", name);
        if (only_numbers(value))
            return resolve_constant(
                resolver, name, value, line, stands_kept(resolver, name, where), out);
        bool element = value.from + 1 < value.to && value.toks->tok[value.from].kind == TOK_NAME &&
                       tok_is(&value.toks->tok[value.from + 1], "[");

        str_add_char(out, '(');
        bool ok = resolve(resolver, value, where, depth - 1, out);
        str_add_char(out, ')');
        if (ok && element)
            name_number(resolver, name, line, out, mark);
        return ok || ask(resolver, name, line, out, mark);
    }
    if (macro && !macro->is_function) {
        struct tok_range body = {&macro->toks, 0, macro->toks.nr};

        if (only_numbers(body))
            return resolve_constant(
                resolver, name, body, macro->line, resolver_device_uses(resolver, name), out);
        str_add_char(out, '(');
        bool ok = resolve(resolver, body, at, depth - 1, out);
        str_add_char(out, ')');
        return ok;
    }
    return ask(resolver, name, resolver->toks->tok[at].line, out, out->len) ||
           fail(resolver, "nothing in this file gives", name);
}

/* A name: as the file's text says, where that agrees with what the interpreter saw. */
static bool resolve_name(
    struct resolver *resolver, const char *name, unsigned at, unsigned depth, struct str *out)
{
    double seen;
    size_t mark = out->len;

    if (!resolver->interp ||
        !interp_number(resolver->interp, resolver_function_at(resolver, at), name, &seen))
        return static_name(resolver, name, at, depth, out);
    unsigned nr_sizes = resolver->nr_sizes;
    bool strict = resolver->strict;

    resolver->strict = true;
    bool ok = static_name(resolver, name, at, depth, out);

    resolver->strict = strict;
    if (ok && resolver_set_again(resolver, name, at)) /* seen is what it was at the first launch */
        return true;
    if (!ok)
        cut_to(out, mark);
    return as_interpreted(resolver, name, at, out, mark, nr_sizes) || ok ||
           fail(resolver, "a number that is not whole,", name);
}

/* A call of a function-like macro or of a function of one return statement: its body with the
 * arguments in place of the parameters. */
static bool inline_call(struct resolver *resolver, const char *name, struct tok_range args,
    unsigned at, unsigned depth, struct str *out)
{
    const struct macro *macro = resolver_macro(resolver, name);
    const struct decl *fn = decls_function(resolver->decls, name);
    struct tok_range parts[8], body;
    const char *params[8];
    unsigned nr = tok_range_split(args, parts, ARRAY_SIZE(parts)), nr_params = 0;

    if (depth == 0)
        return fail(resolver, "an expression too deep, at", name);
    if (macro && macro->is_function) {
        body = (struct tok_range){&macro->toks, 0, macro->toks.nr};
        for (; nr_params < macro->nr_params; nr_params++)
            params[nr_params] = macro->params[nr_params];
    } else if (fn && fn->body) {
        struct tok_range heads[8];
        unsigned ret = fn->body + 1,
                 nr_heads = tok_range_split((struct tok_range){resolver->toks, fn->open + 1,
                                                resolver->toks->tok[fn->open].match},
                     heads, ARRAY_SIZE(heads));

        if (!tok_is(&resolver->toks->tok[ret], "return"))
            return fail(resolver, "a call of", name);
        body = (struct tok_range){
            resolver->toks, ret + 1, toks_find(resolver->toks, ret, fn->to, ";")};
        for (; nr_params < nr_heads; nr_params++)
            params[nr_params] = resolver->toks->tok[heads[nr_params].to - 1].text;
    } else {
        return fail(resolver, "a call of", name);
    }
    if (nr != nr_params)
        return fail(resolver, "a call of", name);
    str_add_char(out, '(');
    for (unsigned i = body.from; i < body.to; i++) {
        const struct tok *t = &body.toks->tok[i];
        unsigned p = 0;

        while (p < nr_params && !(t->kind == TOK_NAME && strcmp(t->text, params[p]) == 0))
            p++;
        if (p < nr_params) {
            str_add_char(out, '(');
            if (!resolve(resolver, parts[p], at, depth - 1, out))
                return false;
            str_add_char(out, ')');
        } else if (!resolve(
                       resolver, (struct tok_range){body.toks, i, i + 1}, at, depth - 1, out)) {
            return false;
        }
    }
    str_add_char(out, ')');
    return true;
}

/* ceil((float)n / 256): the quotient rounded up. */
static bool resolve_ceil(
    struct resolver *resolver, struct tok_range args, unsigned at, unsigned depth, struct str *out)
{
    unsigned slash = toks_find(args.toks, args.from, args.to, "/");

    if (slash == args.to)
        return resolve(resolver, args, at, depth, out);
    str_add(out, "ceil_div(");
    if (!resolve(resolver, (struct tok_range){args.toks, args.from, slash}, at, depth, out))
        return false;
    str_add(out, ", ");
    bool ok = resolve(resolver, (struct tok_range){args.toks, slash + 1, args.to}, at, depth, out);
    str_add_char(out, ')');
    return ok;
}

static bool resolve_number(struct resolver *resolver, const char *text, struct str *out)
{
    char digits[64];
    size_t nr = 0;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

    for (const char *p = text; *p && nr + 1 < sizeof(digits); p++)
        if (*p != '\'')
            digits[nr++] = *p;
    while (nr > 0 && strchr(hex ? "uUlL" : "uUlLfF", digits[nr - 1]))
        nr--;
    digits[nr] = 0;
    char *end;
    double value = strtod(digits, &end);

    if (*end || !(fabs(value) < 9e18) || value != (double)(int64_t)value)
        return fail(resolver, "a number that is not whole,", text);
    str_addf(out, "%lld", hex ? (long long)strtoull(digits, NULL, 16) : (long long)value);
    return true;
}

/* x.size(0), x.numel() of a tensor: a size that only the caller knows; v.size() of a vector. */
static bool static_member(struct resolver *resolver, struct tok_range r, unsigned *i, unsigned at,
    unsigned depth, struct str *out)
{
    const struct toks *toks = r.toks;
    const char *object = toks->tok[*i].text, *member = toks->tok[*i + 2].text;
    unsigned open = *i + 3;
    struct tok_range value;
    unsigned where;

    if (tok_is(&toks->tok[open], "<") && toks_angle(toks, open, toks->nr)) /* options.get<int>() */
        open = toks_angle(toks, open, toks->nr) + 1;

    if (strlen(member) == 1 && strchr("xyz", member[0]) &&
        resolver_definition(resolver, object, at, &value, &where)) {
        struct tok_range dims[3];
        unsigned nr;

        for (unsigned up = 0;
             up < 4 && value.to == value.from + 1 && value.toks == resolver->toks &&
             value.toks->tok[value.from].kind == TOK_NAME;
             up++)
            if (!resolver_definition(
                    resolver, value.toks->tok[value.from].text, where, &value, &where))
                break;
        if (tok_is(&value.toks->tok[value.from], "dim3"))
            value = (struct tok_range){value.toks, value.from + 2, value.to - 1};
        nr = tok_range_split(value, dims, 3);
        *i += 2;
        if ((unsigned)(member[0] - 'x') >= nr) {
            str_add_char(out, '1');
            return true;
        }
        str_add_char(out, '(');
        bool ok = resolve(resolver, dims[member[0] - 'x'], where, depth - 1, out);
        str_add_char(out, ')');
        return ok;
    }
    if (!tok_is(&toks->tok[open], "(") || !toks->tok[open].match) {
        unsigned past = *i + 2;

        if (resolver_member(resolver, object, member, at, &value, &where)) {
            size_t mark = out->len;

            *i = past;
            if (only_numbers(value) &&
                resolve_constant(resolver, arena_printf(resolver->arena, "%s_%s", object, member),
                    value, resolver->toks->tok[where].line, false, out))
                return true;
            str_add_char(out, '(');
            if (resolve(resolver, value, where, depth - 1, out)) {
                str_add_char(out, ')');
                return true;
            }
            cut_to(out, mark);
        }
        while (past + 2 < r.to &&
               (tok_is(&toks->tok[past + 1], ".") || tok_is(&toks->tok[past + 1], "->")))
            past += 2;
        const char *whole = toks_text(toks, resolver->arena, *i, past + 1);

        *i = past;
        if (past + 1 < r.to && tok_is(&toks->tok[past + 1], "(") && toks->tok[past + 1].match)
            *i = toks->tok[past + 1].match; /* a.rows.size() */
        return ask(resolver, whole, resolver->toks->tok[at].line, out, out->len) ||
               fail(resolver, "a member of", object);
    }
    if (strcmp(member, "numel") == 0 || strcmp(member, "size") == 0) {
        bool argument = toks->tok[open].match > open + 1;
        const char *name =
            argument ? arena_printf(resolver->arena, "%s_size%s", object, toks->tok[open + 1].text)
                     : arena_printf(resolver->arena, "%s_%s", object, member);

        if (!argument && strcmp(member, "size") == 0 &&
            resolver_definition(resolver, object, at, &value, &where)) {
            struct tok_range parts[2];

            tok_range_split(value, parts, 2); /* std::vector<float> v(n, 1.0f) */
            *i = toks->tok[open].match;
            return resolve(resolver, parts[0], where, depth - 1, out);
        }
        name = size_named(resolver, name, 0, false, toks->tok[*i].line);
        *i = toks->tok[open].match;
        if (name)
            str_add(out, name);
        return name != NULL || fail(resolver, "too many sizes, at", object);
    }
    const char *whole = arena_printf(resolver->arena, "%s_%s", object, member);

    *i = toks->tok[open].match;
    return ask(resolver, whole, resolver->toks->tok[at].line, out, out->len) ||
           fail(resolver, "a member of", object);
}

static bool resolve_member(struct resolver *resolver, struct tok_range r, unsigned *i, unsigned at,
    unsigned depth, struct str *out)
{
    const char *name = toks_text(r.toks, resolver->arena, *i, *i + 3);
    unsigned nr_sizes = resolver->nr_sizes, first = *i;
    size_t mark = out->len;
    double seen;

    if (!resolver->interp ||
        !interp_number(resolver->interp, resolver_function_at(resolver, at), name, &seen))
        return static_member(resolver, r, i, at, depth, out);
    bool strict = resolver->strict;

    resolver->strict = true;
    bool ok = static_member(resolver, r, i, at, depth, out);

    resolver->strict = strict;
    if (!ok) {
        *i = first + 2;
        cut_to(out, mark);
    }
    return as_interpreted(resolver, name, at, out, mark, nr_sizes) || ok;
}

/* int sizes[] = {32, 64}: the braces. */
static bool list_definition(struct resolver *resolver, const char *name, unsigned at,
    struct tok_range *value, unsigned *where)
{
    return resolver_definition(resolver, name, at, value, where) && value->from < value->to &&
           tok_is(&value->toks->tok[value->from], "{") && value->toks->tok[value->from].match;
}

static bool resolve_word(struct resolver *resolver, struct tok_range r, unsigned *i, unsigned at,
    unsigned depth, struct str *out)
{
    static const char *const casts[] = {"static_cast", "reinterpret_cast", NULL};
    const struct toks *toks = r.toks;
    const struct tok *t = &toks->tok[*i], *next = &toks->tok[*i + 1];

    if (*i + 1 < r.to && tok_is(next, "::")) /* of a namespace, of a type: the name behind it */
        return true;
    if (*i + 1 < r.to && tok_is(next, "<")) { /* traits<T>::value */
        const unsigned close = toks_angle(toks, *i + 1, r.to);

        if (close && close + 1 < r.to && tok_is(&toks->tok[close + 1], "::"))
            return fail(
                resolver, "a part of the type", toks_text(toks, resolver->arena, *i, close + 1));
    }
    for (unsigned c = 0; casts[c]; c++)
        if (tok_is(t, casts[c])) { /* to the parenthesis, which follows */
            while (*i + 1 < r.to && !tok_is(&toks->tok[*i + 1], "("))
                ++*i;
            return true;
        }
    if (tok_is(t, "sizeof")) {
        unsigned close = next->match ? next->match : *i + 1;
        const char *type = toks_text(toks, resolver->arena, *i + 2, close);
        unsigned bytes = spelling_bytes(type) ? spelling_bytes(type)
                                              : spelling_bytes(resolver_type(resolver, type, at));

        *i = close;
        if (!resolver->drop_sizeof && bytes == 0)
            return fail(resolver, "the size of a type", "");
        str_addf(out, "%u", resolver->drop_sizeof ? 1 : bytes);
        return true;
    }
    bool call = *i + 1 < r.to && tok_is(next, "(") && next->match && next->match < r.to;

    if (call &&
        (spelling_bytes(t->text) || (!decls_function(resolver->decls, t->text) &&
                                        spelling_bytes(resolver_type(resolver, t->text, at)))))
        return true; /* int(x) */
    if (call && (tok_is(t, "min") || tok_is(t, "max"))) {
        struct tok_range parts[2];

        if (tok_range_split((struct tok_range){toks, *i + 2, next->match}, parts, 2) != 2)
            return fail(resolver, "a call of", t->text);
        str_addf(out, "%s(", t->text);
        if (!resolve(resolver, parts[0], at, depth, out))
            return false;
        str_add(out, ", ");
        bool ok = resolve(resolver, parts[1], at, depth, out);
        str_add_char(out, ')');
        *i = next->match;
        return ok;
    }
    if (call) {
        struct tok_range args = {toks, *i + 2, next->match};
        bool ok;

        const bool own =
            decls_function(resolver->decls, t->text) || resolver_macro(resolver, t->text);

        if (!own && (tok_is(t, "ceil") || tok_is(t, "ceilf")))
            ok = resolve_ceil(resolver, args, at, depth, out);
        else if (!own && tok_is(t, "ceil_div"))
            ok = fail(resolver, "a call of", t->text);
        else
            ok = inline_call(resolver, t->text, args, at, depth, out);
        *i = next->match;
        return ok;
    }
    if (*i + 1 < r.to && tok_is(next, "[") &&
        next->match) { /* the first of a list to choose from */
        struct tok_range value, parts[1];
        unsigned where;
        bool list = list_definition(resolver, t->text, at, &value, &where);

        *i = next->match;
        if (!list || tok_range_split((struct tok_range){value.toks, value.from + 1,
                                         value.toks->tok[value.from].match},
                         parts, 1) == 0)
            return ask(resolver, t->text, t->line, out, out->len) ||
                   fail(resolver, "an element of", t->text);
        return resolve(resolver, parts[0], where, depth - 1, out);
    }
    if (*i + 2 < r.to && (tok_is(next, ".") || tok_is(next, "->")) &&
        toks->tok[*i + 2].kind == TOK_NAME)
        return resolve_member(resolver, r, i, at, depth, out);
    return resolve_name(resolver, t->text, at, depth, out);
}

/* *p and &n with nothing before them: a number is handed on by its address, and both stand for it.
 */
static bool is_indirection(struct tok_range r, unsigned i)
{
    const struct tok *before = i > r.from ? &r.toks->tok[i - 1] : NULL;

    return (tok_is(&r.toks->tok[i], "*") || tok_is(&r.toks->tok[i], "&")) && i + 1 < r.to &&
           (!before || (before->kind == TOK_PUNCT && !tok_is(before, ")") && !tok_is(before, "]")));
}

static bool resolve(
    struct resolver *resolver, struct tok_range r, unsigned at, unsigned depth, struct str *out)
{
    static const char *const operators[] = {"+", "-", "*", "/", "%", "(", ")", "<", ">", "<<",
        "<=", ">=", "==", "!=", "&&", "||", "?", ":", "&", "|", "^", "~", "!", "::", NULL};

    if (depth == 0 || ++resolver->nr_steps > MAX_STEPS)
        return fail(resolver, "an expression too deep", "");
    if (r.from >= r.to)
        return fail(resolver, "an empty expression", "");
    for (unsigned i = r.from; i < r.to; i++) {
        const struct tok *t = &r.toks->tok[i];
        bool known = false;

        if (t->kind == TOK_NUMBER) {
            if (!resolve_number(resolver, t->text, out))
                return false;
        } else if (t->kind == TOK_NAME) {
            if (!resolve_word(resolver, r, &i, at, depth, out))
                return false;
        } else if (is_indirection(r, i)) {
            continue;
        } else if (tok_is(t, "(") && is_cast(r.toks, i, r.to)) {
            i = t->match; /* a cast */
        } else {
            for (unsigned o = 0; operators[o] && !known; o++)
                known = tok_is(t, operators[o]);
            if (!known)
                return fail(resolver, "not an integer expression:", t->text);
            if (!tok_is(t, "::"))
                str_add(out, t->text);
        }
    }
    return true;
}

bool resolver_known_integer(
    struct resolver *resolver, struct tok_range range, unsigned at, struct str *out)
{
    const bool fixed = resolver->fixed, strict = resolver->strict;

    resolver->fixed = resolver->strict = true;
    const bool ok = resolver_integer(resolver, range, at, out);

    resolver->fixed = fixed;
    resolver->strict = strict;
    return ok;
}

bool resolver_constant(
    struct resolver *resolver, struct tok_range range, unsigned at, int64_t *value)
{
    struct str text = {0};
    const bool known = resolver_known_integer(resolver, range, at, &text) &&
                       resolver_evaluate(resolver, str_text(&text), value);

    str_finish(&text);
    return known;
}

bool resolver_integer(
    struct resolver *resolver, struct tok_range range, unsigned at, struct str *out)
{
    resolver->why = "";
    resolver->nr_steps = 0;
    return resolve(resolver, range, at, MAX_DEPTH, out);
}
