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
            tok_is(t, "*") || tok_is(t, "::") || tok_is(t, "std") || type_bytes(t->text) > 0;

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
    struct host *host, struct range r, unsigned at, unsigned depth, struct str *out);

static bool fail(struct host *host, const char *what, const char *name)
{
    host->why = arena_printf(host->arena, "%s%s%s", what, *name ? " " : "", name);
    return false;
}

bool hostcode_evaluate(struct host *host, const char *text, int64_t *value)
{
    struct binding bindings[INTAKE_MAX_SIZES];
    struct env env = {bindings, 0};
    struct err err = {0};

    for (unsigned i = 0; i < host->nr_sizes; i++)
        if (host->sizes[i].known)
            bindings[env.nr++] = (struct binding){host->sizes[i].name, host->sizes[i].value};
    const struct expr *e = expr_parse(host->arena, text, strlen(text), &err);
    return e && expr_eval(e, &env, value, &err);
}

const struct size *hostcode_size(const struct host *host, const char *name)
{
    for (unsigned i = 0; i < host->nr_sizes; i++)
        if (strcmp(host->sizes[i].name, name) == 0)
            return &host->sizes[i];
    return NULL;
}

/* The name of a size of that value: an old one, or a new one with a fresh spelling. */
static const char *size_named(
    struct host *host, const char *name, int64_t value, bool known, unsigned line)
{
    if (task_reserves(name))
        name = arena_printf(host->arena, "%s_", name);
    for (unsigned i = 0; i < host->nr_arrays; i++)
        if (strcmp(host->arrays[i], name) == 0) { /* shape[dim] beside the array shape */
            name = arena_printf(host->arena, "%s_value", name);
            break;
        }
    const char *spelling = name;

    for (unsigned n = 2; hostcode_size(host, spelling); n++) {
        const struct size *old = hostcode_size(host, spelling);

        if (old->value == value && old->known == known)
            return spelling;
        spelling = arena_printf(host->arena, "%s%u", name, n);
    }
    if (host->nr_sizes == INTAKE_MAX_SIZES)
        return NULL;
    host->sizes[host->nr_sizes++] = (struct size){spelling, value, known, line};
    return spelling;
}

static void cut_to(struct str *out, size_t mark)
{
    while (out->len > mark)
        out->text[--out->len] = 0;
}

static const char *clean_name(struct host *host, const char *name)
{
    struct str clean = {0};

    for (const char *p = name; *p; p++) /* cfg.n, sizes[0] */
        if (str_word_char(*p))
            str_add_char(&clean, *p);
        else if (clean.len && clean.text[clean.len - 1] != '_')
            str_add_char(&clean, '_');
    while (clean.len > 1 && clean.text[clean.len - 1] == '_')
        clean.text[--clean.len] = 0;
    name = arena_strdup(host->arena, clean.len ? str_text(&clean) : "size");
    str_finish(&clean);
    return name;
}

const char *hostcode_unknown(struct host *host, const char *name, unsigned line)
{
    return host->strict ? NULL : size_named(host, clean_name(host, name), 0, false, line);
}

/* Where nothing gives a number, the user does. */
static bool ask(struct host *host, const char *name, unsigned line, struct str *out, size_t mark)
{
    const char *size = host->strict ? NULL : hostcode_unknown(host, name, line);

    if (!size)
        return false;
    cut_to(out, mark);
    str_add(out, size);
    return true;
}

/* The line that gives a variable its value; of its use where none is found. */
static unsigned line_defined(struct host *host, const char *name, unsigned at)
{
    struct range value;
    unsigned where = at;

    hostcode_definition(host, name, at, &value, &where);
    return host->toks->tok[where].line;
}

/* The number that the walk through the program saw in a variable, as a size of that name. */
static bool walked(struct host *host, const char *name, unsigned at, struct str *out, size_t mark,
    unsigned nr_sizes)
{
    double seen;
    int64_t value;

    if (!host->walk || !walk_number(host->walk, hostcode_function_at(host, at), name, &seen) ||
        seen != floor(seen) || fabs(seen) > 9e15)
        return false;
    if (out->len > mark && hostcode_evaluate(host, out->text + mark, &value) &&
        value == (int64_t)seen)
        return true;
    if (out->len > mark && host->drop_sizeof && hostcode_bytes(host, name, at)) /* elements here */
        return true;
    value = (int64_t)seen;
    const bool fixed = host->fixed || hostcode_template_param(host, name, at) >= 0;

    host->nr_sizes = nr_sizes; /* what the text came to by itself is wrong here */
    const char *size = value < 1 || fixed ? NULL
                                          : size_named(host, clean_name(host, name), value, true,
                                                line_defined(host, name, at));

    const struct size *old = host->fixed ? hostcode_size(host, clean_name(host, name)) : NULL;

    if (old && old->known && old->value == value)
        size = old->name;
    cut_to(out, mark);
    if (size)
        str_add(out, size);
    else
        str_addf(out, value < 0 ? "(%lld)" : "%lld", (long long)value);
    return true;
}

static bool only_numbers(struct range r)
{
    for (unsigned i = r.from; i < r.to; i++) {
        const struct tok *t = &r.toks->tok[i];

        if (t->kind == TOK_NUMBER || (t->kind == TOK_PUNCT && !tok_is(t, "{")))
            continue;
        if (t->kind == TOK_NAME && type_bytes(t->text) > 0)
            continue;
        return false;
    }
    return r.from < r.to;
}

bool hostcode_device_uses(const struct host *host, const char *name)
{
    for (unsigned i = 0; i < host->decls->nr; i++) {
        const struct decl *d = &host->decls->decl[i];

        if (d->kind != DECL_FUNCTION || !d->keep)
            continue;
        for (unsigned t = d->from; t < d->to; t++)
            if (host->toks->tok[t].kind == TOK_NAME && strcmp(host->toks->tok[t].text, name) == 0) {
                struct range value;
                unsigned at;

                if (!hostcode_definition_in(host->toks, name, d->from, d->to, &value, &at) &&
                    hostcode_param(host, d, name, &value) < 0)
                    return true;
            }
    }
    return false;
}

/* A name whose value is written as a plain number becomes a size, unless it may not change. */
static bool resolve_constant(struct host *host, const char *name, struct range value, unsigned line,
    bool in_device, struct str *out)
{
    struct str text = {0};
    int64_t number;
    bool ok = resolve(host, value, value.from, MAX_DEPTH - 2, &text) &&
              hostcode_evaluate(host, str_text(&text), &number);

    if (!ok) {
        str_finish(&text);
        return fail(host, "the value of", name);
    }
    const char *size =
        number < 1 || host->fixed || in_device ? NULL : size_named(host, name, number, true, line);

    if (host->fixed && hostcode_size(host, name) && hostcode_size(host, name)->value == number)
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
static bool kept_beside(const struct host *host, const struct decl *self, const char *name)
{
    for (unsigned i = 0; i < host->decls->nr; i++) {
        const struct decl *d = &host->decls->decl[i];

        if ((d == self && !tok_is(&host->toks->tok[d->from], "enum")) || !d->keep ||
            d->kind == DECL_FUNCTION || d->kind == DECL_DIRECTIVE)
            continue;
        for (unsigned t = d->from; t < d->to; t++)
            if (host->toks->tok[t].kind == TOK_NAME && strcmp(host->toks->tok[t].text, name) == 0)
                return true;
    }
    for (unsigned m = 0; m < host->nr_macros; m++)
        if (toks_name(&host->macros[m].toks, name, 0) < host->macros[m].toks.nr)
            return true;
    return false;
}

/* At the top level, and the device code needs it: an enum, a constant. A parameter or a variable of
 * a kernel that has the same name keeps it too, and does not. */
static bool stands_kept(const struct host *host, const char *name, unsigned at)
{
    const struct decl *d = decls_at(host->decls, at);

    return d && d->kind != DECL_FUNCTION && d->keep &&
           (hostcode_device_uses(host, name) || kept_beside(host, d, name));
}

/* int n = sizes[s]: the number found is a size by that name. */
static void name_number(
    struct host *host, const char *name, unsigned line, struct str *out, size_t mark)
{
    char *end;
    long long number = strtoll(out->text + mark + 1, &end, 10);
    const char *size =
        number > 0 && strcmp(end, ")") == 0 ? size_named(host, name, number, true, line) : NULL;

    if (!size)
        return;
    cut_to(out, mark);
    str_add(out, size);
}

/* int n = -1; ... n = atoi(optarg); or ... n *= x.size(i): what it starts with is not its number.
 */
static bool given_later(
    struct host *host, const char *name, unsigned where, unsigned at, struct range value)
{
    const struct tok *tok = host->toks->tok, *first = &value.toks->tok[value.from];
    const struct decl *fn = hostcode_function_at(host, where);
    const bool none =
        tok_is(first, "-") || (value.to == value.from + 1 && strcmp(first->text, "0") == 0);

    for (unsigned i = where + 1; (fn || none) && i + 2 < (fn ? fn->to : host->toks->nr); i++)
        if (tok[i].kind == TOK_NAME && strcmp(tok[i].text, name) == 0 &&
            ((none && (tok_is(&tok[i - 1], "&") || tok_is(&tok[i + 1], "=") ||
                          (tok_is(&tok[i - 1], ">") && tok_is(&tok[i - 2], ">")))) ||
                ((i < at || !fn) && (tok_is(&tok[i + 1], "*=") || tok_is(&tok[i + 1], "+=")))))
            return true;
    return false;
}

static bool static_name(
    struct host *host, const char *name, unsigned at, unsigned depth, struct str *out)
{
    struct range value;
    unsigned where = at;
    const struct macro *macro = hostcode_macro(host, name);

    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
        str_add(out, *name == 't' ? "1" : "0");
        return true;
    }
    if (depth == 0)
        return fail(host, "an expression too deep, at", name);
    if (hostcode_template_argument(host, name, at, &value, &where)) {
        const bool fixed = host->fixed;

        host->fixed = true; /* a part of the kernel's id */
        str_add_char(out, '(');
        const bool ok = resolve(host, value, where, depth - 1, out);

        str_add_char(out, ')');
        host->fixed = fixed;
        return ok;
    }
    if (hostcode_definition(host, name, at, &value, &where)) {
        unsigned question = toks_find(value.toks, value.from, value.to, "?");

        if (hostcode_from_outside(value)) {
            const char *size = host->fixed || host->strict ? NULL
                                                           : size_named(host, name, 0, false,
                                                                 value.toks->tok[value.from].line);

            if (host->fixed && hostcode_size(host, name))
                size = name;
            str_add(out, size ? size : "");
            return size || fail(host, "only the command line gives", name);
        }
        if (question < value.to) /* argc > 1 ? atoi(argv[1]) : 1024 */
            for (unsigned i = value.from; i < question; i++)
                if (tok_is(&value.toks->tok[i], "argc"))
                    value.from = toks_find(value.toks, question, value.to, ":") + 1;
        size_t mark = out->len;
        unsigned line = host->toks->tok[where].line;

        if (only_numbers(value) && given_later(host, name, where, at, value))
            return ask(host, name, line, out, mark) ||
                   fail(host, "only the command line gives", name);
        if (only_numbers(value))
            return resolve_constant(host, name, value, line, stands_kept(host, name, where), out);
        bool element = value.from + 1 < value.to && value.toks->tok[value.from].kind == TOK_NAME &&
                       tok_is(&value.toks->tok[value.from + 1], "[");

        str_add_char(out, '(');
        bool ok = resolve(host, value, where, depth - 1, out);
        str_add_char(out, ')');
        if (ok && element)
            name_number(host, name, line, out, mark);
        return ok || ask(host, name, line, out, mark);
    }
    if (macro && !macro->is_function) {
        struct range body = {&macro->toks, 0, macro->toks.nr};

        if (only_numbers(body))
            return resolve_constant(
                host, name, body, macro->line, hostcode_device_uses(host, name), out);
        str_add_char(out, '(');
        bool ok = resolve(host, body, at, depth - 1, out);
        str_add_char(out, ')');
        return ok;
    }
    return ask(host, name, host->toks->tok[at].line, out, out->len) ||
           fail(host, "nothing in this file gives", name);
}

/* A name: as the file's text says, where that agrees with what the walk saw. */
static bool resolve_name(
    struct host *host, const char *name, unsigned at, unsigned depth, struct str *out)
{
    double seen;
    size_t mark = out->len;

    if (!host->walk || !walk_number(host->walk, hostcode_function_at(host, at), name, &seen))
        return static_name(host, name, at, depth, out);
    unsigned nr_sizes = host->nr_sizes;
    bool strict = host->strict;

    host->strict = true;
    bool ok = static_name(host, name, at, depth, out);

    host->strict = strict;
    if (ok && hostcode_set_again(host, name, at)) /* seen is what it was at the first launch */
        return true;
    if (!ok)
        cut_to(out, mark);
    return walked(host, name, at, out, mark, nr_sizes) || ok ||
           fail(host, "a number that is not whole,", name);
}

/* A call of a function-like macro or of a function of one return statement: its body with the
 * arguments in place of the parameters. */
static bool inline_call(struct host *host, const char *name, struct range args, unsigned at,
    unsigned depth, struct str *out)
{
    const struct macro *macro = hostcode_macro(host, name);
    const struct decl *fn = decls_function(host->decls, name);
    struct range parts[8], body;
    const char *params[8];
    unsigned nr = range_split(args, parts, ARRAY_SIZE(parts)), nr_params = 0;

    if (depth == 0)
        return fail(host, "an expression too deep, at", name);
    if (macro && macro->is_function) {
        body = (struct range){&macro->toks, 0, macro->toks.nr};
        for (; nr_params < macro->nr_params; nr_params++)
            params[nr_params] = macro->params[nr_params];
    } else if (fn && fn->body) {
        struct range heads[8];
        unsigned ret = fn->body + 1, nr_heads = range_split((struct range){host->toks, fn->open + 1,
                                                                host->toks->tok[fn->open].match},
                                         heads, ARRAY_SIZE(heads));

        if (!tok_is(&host->toks->tok[ret], "return"))
            return fail(host, "a call of", name);
        body = (struct range){host->toks, ret + 1, toks_find(host->toks, ret, fn->to, ";")};
        for (; nr_params < nr_heads; nr_params++)
            params[nr_params] = host->toks->tok[heads[nr_params].to - 1].text;
    } else {
        return fail(host, "a call of", name);
    }
    if (nr != nr_params)
        return fail(host, "a call of", name);
    str_add_char(out, '(');
    for (unsigned i = body.from; i < body.to; i++) {
        const struct tok *t = &body.toks->tok[i];
        unsigned p = 0;

        while (p < nr_params && !(t->kind == TOK_NAME && strcmp(t->text, params[p]) == 0))
            p++;
        if (p < nr_params) {
            str_add_char(out, '(');
            if (!resolve(host, parts[p], at, depth - 1, out))
                return false;
            str_add_char(out, ')');
        } else if (!resolve(host, (struct range){body.toks, i, i + 1}, at, depth - 1, out)) {
            return false;
        }
    }
    str_add_char(out, ')');
    return true;
}

/* ceil((float)n / 256): the quotient rounded up. */
static bool resolve_ceil(
    struct host *host, struct range args, unsigned at, unsigned depth, struct str *out)
{
    unsigned slash = toks_find(args.toks, args.from, args.to, "/");

    if (slash == args.to)
        return resolve(host, args, at, depth, out);
    str_add(out, "ceil_div(");
    if (!resolve(host, (struct range){args.toks, args.from, slash}, at, depth, out))
        return false;
    str_add(out, ", ");
    bool ok = resolve(host, (struct range){args.toks, slash + 1, args.to}, at, depth, out);
    str_add_char(out, ')');
    return ok;
}

static bool resolve_number(struct host *host, const char *text, struct str *out)
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
        return fail(host, "a number that is not whole,", text);
    str_addf(out, "%lld", hex ? (long long)strtoull(digits, NULL, 16) : (long long)value);
    return true;
}

/* x.size(0), x.numel() of a tensor: a size that only the caller knows; v.size() of a vector. */
static bool static_member(
    struct host *host, struct range r, unsigned *i, unsigned at, unsigned depth, struct str *out)
{
    const struct toks *toks = r.toks;
    const char *object = toks->tok[*i].text, *member = toks->tok[*i + 2].text;
    unsigned open = *i + 3;
    struct range value;
    unsigned where;

    if (tok_is(&toks->tok[open], "<") && toks_angle(toks, open, toks->nr)) /* options.get<int>() */
        open = toks_angle(toks, open, toks->nr) + 1;

    if (strlen(member) == 1 && strchr("xyz", member[0]) &&
        hostcode_definition(host, object, at, &value, &where)) {
        struct range dims[3];
        unsigned nr;

        for (unsigned up = 0; up < 4 && value.to == value.from + 1 && value.toks == host->toks &&
                              value.toks->tok[value.from].kind == TOK_NAME;
             up++)
            if (!hostcode_definition(host, value.toks->tok[value.from].text, where, &value, &where))
                break;
        if (tok_is(&value.toks->tok[value.from], "dim3"))
            value = (struct range){value.toks, value.from + 2, value.to - 1};
        nr = range_split(value, dims, 3);
        *i += 2;
        if ((unsigned)(member[0] - 'x') >= nr) {
            str_add_char(out, '1');
            return true;
        }
        str_add_char(out, '(');
        bool ok = resolve(host, dims[member[0] - 'x'], where, depth - 1, out);
        str_add_char(out, ')');
        return ok;
    }
    if (!tok_is(&toks->tok[open], "(") || !toks->tok[open].match) {
        unsigned past = *i + 2;

        if (hostcode_member(host, object, member, at, &value, &where)) {
            size_t mark = out->len;

            *i = past;
            if (only_numbers(value) &&
                resolve_constant(host, arena_printf(host->arena, "%s_%s", object, member), value,
                    host->toks->tok[where].line, false, out))
                return true;
            str_add_char(out, '(');
            if (resolve(host, value, where, depth - 1, out)) {
                str_add_char(out, ')');
                return true;
            }
            cut_to(out, mark);
        }
        while (past + 2 < r.to &&
               (tok_is(&toks->tok[past + 1], ".") || tok_is(&toks->tok[past + 1], "->")))
            past += 2;
        const char *whole = toks_text(toks, host->arena, *i, past + 1);

        *i = past;
        if (past + 1 < r.to && tok_is(&toks->tok[past + 1], "(") && toks->tok[past + 1].match)
            *i = toks->tok[past + 1].match; /* a.rows.size() */
        return ask(host, whole, host->toks->tok[at].line, out, out->len) ||
               fail(host, "a member of", object);
    }
    if (strcmp(member, "numel") == 0 || strcmp(member, "size") == 0) {
        bool argument = toks->tok[open].match > open + 1;
        const char *name =
            argument ? arena_printf(host->arena, "%s_size%s", object, toks->tok[open + 1].text)
                     : arena_printf(host->arena, "%s_%s", object, member);

        if (!argument && strcmp(member, "size") == 0 &&
            hostcode_definition(host, object, at, &value, &where)) {
            struct range parts[2];

            range_split(value, parts, 2); /* std::vector<float> v(n, 1.0f) */
            *i = toks->tok[open].match;
            return resolve(host, parts[0], where, depth - 1, out);
        }
        name = size_named(host, name, 0, false, toks->tok[*i].line);
        *i = toks->tok[open].match;
        if (name)
            str_add(out, name);
        return name != NULL || fail(host, "too many sizes, at", object);
    }
    const char *whole = arena_printf(host->arena, "%s_%s", object, member);

    *i = toks->tok[open].match;
    return ask(host, whole, host->toks->tok[at].line, out, out->len) ||
           fail(host, "a member of", object);
}

static bool resolve_member(
    struct host *host, struct range r, unsigned *i, unsigned at, unsigned depth, struct str *out)
{
    const char *name = toks_text(r.toks, host->arena, *i, *i + 3);
    unsigned nr_sizes = host->nr_sizes, first = *i;
    size_t mark = out->len;
    double seen;

    if (!host->walk || !walk_number(host->walk, hostcode_function_at(host, at), name, &seen))
        return static_member(host, r, i, at, depth, out);
    bool strict = host->strict;

    host->strict = true;
    bool ok = static_member(host, r, i, at, depth, out);

    host->strict = strict;
    if (!ok) {
        *i = first + 2;
        cut_to(out, mark);
    }
    return walked(host, name, at, out, mark, nr_sizes) || ok;
}

/* int sizes[] = {32, 64}: the braces. */
static bool list_definition(
    struct host *host, const char *name, unsigned at, struct range *value, unsigned *where)
{
    return hostcode_definition(host, name, at, value, where) && value->from < value->to &&
           tok_is(&value->toks->tok[value->from], "{") && value->toks->tok[value->from].match;
}

static bool resolve_word(
    struct host *host, struct range r, unsigned *i, unsigned at, unsigned depth, struct str *out)
{
    static const char *const casts[] = {"static_cast", "reinterpret_cast", NULL};
    const struct toks *toks = r.toks;
    const struct tok *t = &toks->tok[*i], *next = &toks->tok[*i + 1];

    if (*i + 1 < r.to && tok_is(next, "::")) /* of a namespace, of a type: the name behind it */
        return true;
    if (*i + 1 < r.to && tok_is(next, "<")) { /* traits<T>::value */
        const unsigned close = toks_angle(toks, *i + 1, r.to);

        if (close && close + 1 < r.to && tok_is(&toks->tok[close + 1], "::"))
            return fail(host, "a part of the type", toks_text(toks, host->arena, *i, close + 1));
    }
    for (unsigned c = 0; casts[c]; c++)
        if (tok_is(t, casts[c])) { /* to the parenthesis, which follows */
            while (*i + 1 < r.to && !tok_is(&toks->tok[*i + 1], "("))
                ++*i;
            return true;
        }
    if (tok_is(t, "sizeof")) {
        unsigned close = next->match ? next->match : *i + 1;
        const char *type = toks_text(toks, host->arena, *i + 2, close);
        unsigned bytes =
            type_bytes(type) ? type_bytes(type) : type_bytes(hostcode_type(host, type, at));

        *i = close;
        if (!host->drop_sizeof && bytes == 0)
            return fail(host, "the size of a type", "");
        str_addf(out, "%u", host->drop_sizeof ? 1 : bytes);
        return true;
    }
    bool call = *i + 1 < r.to && tok_is(next, "(") && next->match && next->match < r.to;

    if (call && (type_bytes(t->text) || (!decls_function(host->decls, t->text) &&
                                            type_bytes(hostcode_type(host, t->text, at)))))
        return true; /* int(x) */
    if (call && (tok_is(t, "min") || tok_is(t, "max"))) {
        struct range parts[2];

        if (range_split((struct range){toks, *i + 2, next->match}, parts, 2) != 2)
            return fail(host, "a call of", t->text);
        str_addf(out, "%s(", t->text);
        if (!resolve(host, parts[0], at, depth, out))
            return false;
        str_add(out, ", ");
        bool ok = resolve(host, parts[1], at, depth, out);
        str_add_char(out, ')');
        *i = next->match;
        return ok;
    }
    if (call) {
        struct range args = {toks, *i + 2, next->match};
        bool ok;

        const bool own = decls_function(host->decls, t->text) || hostcode_macro(host, t->text);

        if (!own && (tok_is(t, "ceil") || tok_is(t, "ceilf")))
            ok = resolve_ceil(host, args, at, depth, out);
        else if (!own && tok_is(t, "ceil_div"))
            ok = fail(host, "a call of", t->text);
        else
            ok = inline_call(host, t->text, args, at, depth, out);
        *i = next->match;
        return ok;
    }
    if (*i + 1 < r.to && tok_is(next, "[") &&
        next->match) { /* the first of a list to choose from */
        struct range value, parts[1];
        unsigned where;
        bool list = list_definition(host, t->text, at, &value, &where);

        *i = next->match;
        if (!list || range_split((struct range){value.toks, value.from + 1,
                                     value.toks->tok[value.from].match},
                         parts, 1) == 0)
            return ask(host, t->text, t->line, out, out->len) ||
                   fail(host, "an element of", t->text);
        return resolve(host, parts[0], where, depth - 1, out);
    }
    if (*i + 2 < r.to && (tok_is(next, ".") || tok_is(next, "->")) &&
        toks->tok[*i + 2].kind == TOK_NAME)
        return resolve_member(host, r, i, at, depth, out);
    return resolve_name(host, t->text, at, depth, out);
}

/* *p and &n with nothing before them: a number is handed on by its address, and both stand for it.
 */
static bool is_indirection(struct range r, unsigned i)
{
    const struct tok *before = i > r.from ? &r.toks->tok[i - 1] : NULL;

    return (tok_is(&r.toks->tok[i], "*") || tok_is(&r.toks->tok[i], "&")) && i + 1 < r.to &&
           (!before || (before->kind == TOK_PUNCT && !tok_is(before, ")") && !tok_is(before, "]")));
}

static bool resolve(struct host *host, struct range r, unsigned at, unsigned depth, struct str *out)
{
    static const char *const operators[] = {"+", "-", "*", "/", "%", "(", ")", "<", ">", "<<",
        "<=", ">=", "==", "!=", "&&", "||", "?", ":", "&", "|", "^", "~", "!", "::", NULL};

    if (depth == 0 || ++host->nr_steps > MAX_STEPS)
        return fail(host, "an expression too deep", "");
    if (r.from >= r.to)
        return fail(host, "an empty expression", "");
    for (unsigned i = r.from; i < r.to; i++) {
        const struct tok *t = &r.toks->tok[i];
        bool known = false;

        if (t->kind == TOK_NUMBER) {
            if (!resolve_number(host, t->text, out))
                return false;
        } else if (t->kind == TOK_NAME) {
            if (!resolve_word(host, r, &i, at, depth, out))
                return false;
        } else if (is_indirection(r, i)) {
            continue;
        } else if (tok_is(t, "(") && is_cast(r.toks, i, r.to)) {
            i = t->match; /* a cast */
        } else {
            for (unsigned o = 0; operators[o] && !known; o++)
                known = tok_is(t, operators[o]);
            if (!known)
                return fail(host, "not an integer expression:", t->text);
            if (!tok_is(t, "::"))
                str_add(out, t->text);
        }
    }
    return true;
}

bool hostcode_given(struct host *host, struct range range, unsigned at, struct str *out)
{
    const bool fixed = host->fixed, strict = host->strict;

    host->fixed = host->strict = true;
    const bool ok = hostcode_resolve(host, range, at, out);

    host->fixed = fixed;
    host->strict = strict;
    return ok;
}

bool hostcode_constant(struct host *host, struct range range, unsigned at, int64_t *value)
{
    struct str text = {0};
    const bool known =
        hostcode_given(host, range, at, &text) && hostcode_evaluate(host, str_text(&text), value);

    str_finish(&text);
    return known;
}

bool hostcode_resolve(struct host *host, struct range range, unsigned at, struct str *out)
{
    host->why = "";
    host->nr_steps = 0;
    return resolve(host, range, at, MAX_DEPTH, out);
}
