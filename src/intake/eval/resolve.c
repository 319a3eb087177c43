/* Owns what host expressions come down to: integer expressions of the task language over sizes. */
#include "intake/eval/resolve_parts.h"

#include "base/mem.h"
#include "intake/syntax/cast.h"
#include "intake/syntax/literal.h"
#include "intake/syntax/spelling.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 20000 };

/* The parentheses at token `open` are a cast. In (IdxType)n no operator stands between the name and
 * the operand, so the name is a type. */
static bool is_cast(const struct toks *toks, unsigned open, unsigned to)
{
    const unsigned close = toks->tok[open].match, behind = close + 1;

    if (!close)
        return false;
    if (cast_is_type(toks, open + 1, close))
        return true;
    return close == open + 2 && toks->tok[open + 1].kind == TOK_NAME && behind < to &&
           (toks->tok[behind].kind == TOK_NAME || toks->tok[behind].kind == TOK_NUMBER ||
               tok_is(&toks->tok[behind], "("));
}

/* What stands for a call: the body of a function-like macro, or what the one statement of a
 * function returns. */
struct inlined {
    struct tok_range body;
    const char *params[8];
    unsigned nr_params;
};

static bool find_inlined(struct resolver *resolver, const char *name, struct inlined *f)
{
    const struct macro *macro = resolver_macro(resolver, name);
    const struct decl *fn = decls_function(resolver->decls, name);
    const struct toks *toks = resolver->toks;

    *f = (struct inlined){0};
    if (macro && macro->is_function) {
        f->body = (struct tok_range){&macro->toks, 0, macro->toks.nr};
        for (; f->nr_params < macro->nr_params; f->nr_params++)
            f->params[f->nr_params] = macro->params[f->nr_params];
        return true;
    }
    if (!fn || !fn->body || !tok_is(&toks->tok[fn->body + 1], "return"))
        return false;
    struct tok_range heads[ARRAY_SIZE(f->params)];
    const unsigned ret = fn->body + 1, nr = tok_range_split((struct tok_range){toks, fn->open + 1,
                                                                toks->tok[fn->open].match},
                                           heads, ARRAY_SIZE(heads));

    f->body = (struct tok_range){toks, ret + 1, toks_find(toks, ret, fn->to, ";")};
    for (; f->nr_params < nr; f->nr_params++)
        f->params[f->nr_params] = toks->tok[heads[f->nr_params].to - 1].text;
    return true;
}

/* The body, with the arguments in place of the parameters. */
static bool inline_call(struct resolver *resolver, const char *name, struct tok_range args,
    unsigned at, unsigned depth, struct str *out)
{
    struct inlined f;
    struct tok_range parts[ARRAY_SIZE(f.params)];
    const unsigned nr = tok_range_split(args, parts, ARRAY_SIZE(parts));

    if (depth == 0)
        return resolve_refuse(resolver, "an expression too deep, at", name);
    if (!find_inlined(resolver, name, &f) || nr != f.nr_params)
        return resolve_refuse(resolver, "a call of", name);
    str_add_char(out, '(');
    for (unsigned i = f.body.from; i < f.body.to; i++) {
        const struct tok *t = &f.body.toks->tok[i];
        const struct tok_range one = {f.body.toks, i, i + 1};
        unsigned p = 0;

        while (p < nr && !(tok_is(t, f.params[p])))
            p++;
        if (!(p < nr ? resolve_in_parentheses(resolver, parts[p], at, depth - 1, out)
                     : resolve_expression(resolver, one, at, depth - 1, out)))
            return false;
    }
    str_add_char(out, ')');
    return true;
}

/* head(a, b) of the task language. */
static bool resolve_pair(struct resolver *resolver, const char *head, struct tok_range a,
    struct tok_range b, unsigned at, unsigned depth, struct str *out)
{
    str_addf(out, "%s(", head);
    if (!resolve_expression(resolver, a, at, depth, out))
        return false;
    str_add(out, ", ");
    const bool ok = resolve_expression(resolver, b, at, depth, out);

    str_add_char(out, ')');
    return ok;
}

/* ceil((float)n / 256): the quotient rounded up. */
static bool resolve_ceil(
    struct resolver *resolver, struct tok_range args, unsigned at, unsigned depth, struct str *out)
{
    const unsigned slash = toks_find(args.toks, args.from, args.to, "/");

    return slash == args.to
               ? resolve_expression(resolver, args, at, depth, out)
               : resolve_pair(resolver, "ceil_div", (struct tok_range){args.toks, args.from, slash},
                     (struct tok_range){args.toks, slash + 1, args.to}, at, depth, out);
}

static bool resolve_number(struct resolver *resolver, const char *text, struct str *out)
{
    struct number_literal n;
    const bool known = literal_read(&n, text);

    if (!known || !(n.real < 9e18) || n.real != floor(n.real))
        return resolve_refuse(resolver, "a number that is not whole,", text);
    str_addf(out, "%lld", n.is_real ? (long long)n.real : (long long)n.integer);
    return true;
}

/* sizeof(type) at token *i. */
static bool resolve_sizeof(
    struct resolver *resolver, struct tok_range r, unsigned *i, unsigned at, struct str *out)
{
    const struct toks *toks = r.toks;
    const struct tok *next = &toks->tok[*i + 1];
    const unsigned close = next->match ? next->match : *i + 1;
    const char *type = toks_text(toks, resolver->arena, *i + 2, close);
    const unsigned plain = spelling_bytes(type),
                   bytes = plain ? plain : spelling_bytes(resolver_type(resolver, type, at));

    *i = close;
    if (!resolver->drop_sizeof && bytes == 0)
        return resolve_refuse(resolver, "the size of a type", "");
    str_addf(out, "%u", resolver->drop_sizeof ? 1 : bytes);
    return true;
}

/* name(args) */
static bool resolve_call(struct resolver *resolver, const char *name, struct tok_range args,
    unsigned at, unsigned depth, struct str *out)
{
    const bool own = decls_function(resolver->decls, name) || resolver_macro(resolver, name);

    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0) {
        struct tok_range parts[2];

        return tok_range_split(args, parts, 2) == 2
                   ? resolve_pair(resolver, name, parts[0], parts[1], at, depth, out)
                   : resolve_refuse(resolver, "a call of", name);
    }
    if (!own && (strcmp(name, "ceil") == 0 || strcmp(name, "ceilf") == 0))
        return resolve_ceil(resolver, args, at, depth, out);
    if (!own && strcmp(name, "ceil_div") == 0)
        return resolve_refuse(resolver, "a call of", name);
    return inline_call(resolver, name, args, at, depth, out);
}

/* sizes[s]: the first of a list to choose from. */
static bool resolve_element(
    struct resolver *resolver, const struct tok *name, unsigned at, unsigned depth, struct str *out)
{
    struct tok_range value, first;
    unsigned where;

    if (resolver_definition(resolver, name->text, at, &value, &where) && value.from < value.to &&
        tok_is(&value.toks->tok[value.from], "{") && value.toks->tok[value.from].match &&
        tok_range_split(
            (struct tok_range){value.toks, value.from + 1, value.toks->tok[value.from].match},
            &first, 1) > 0)
        return resolve_expression(resolver, first, where, depth - 1, out);
    return resolve_ask(resolver, name->text, name->line, out, out->len) ||
           resolve_refuse(resolver, "an element of", name->text);
}

/* The name of a type that stands as a function: int(x). */
static bool is_type_call(struct resolver *resolver, const char *name, unsigned at)
{
    return spelling_bytes(name) || (!decls_function(resolver->decls, name) &&
                                       spelling_bytes(resolver_type(resolver, name, at)));
}

/* What begins with the name at token *i, which becomes the last token of it. What only says how to
 * read on adds nothing: a namespace, a cast. */
static bool resolve_word(struct resolver *resolver, struct tok_range r, unsigned *i, unsigned at,
    unsigned depth, struct str *out)
{
    static const struct tok none = {.text = ""};
    const struct toks *toks = r.toks;
    const struct tok *t = &toks->tok[*i], *next = *i + 1 < r.to ? t + 1 : &none;
    const unsigned angle = tok_is(next, "<") ? toks_angle(toks, *i + 1, r.to) : 0;

    if (tok_is(next, "::"))
        return true;
    if (angle && angle + 1 < r.to && tok_is(&toks->tok[angle + 1], "::")) /* traits<T>::value */
        return resolve_refuse(
            resolver, "a part of the type", toks_text(toks, resolver->arena, *i, angle + 1));
    if (cast_is_named(t)) { /* to the parenthesis, which follows */
        while (*i + 1 < r.to && !tok_is(&toks->tok[*i + 1], "("))
            ++*i;
        return true;
    }
    if (tok_is(t, "sizeof"))
        return resolve_sizeof(resolver, r, i, at, out);
    if (tok_is(next, "(") && next->match && next->match < r.to) {
        if (is_type_call(resolver, t->text, at))
            return true;
        const struct tok_range args = {toks, *i + 2, next->match};

        *i = next->match;
        return resolve_call(resolver, t->text, args, at, depth, out);
    }
    if (tok_is(next, "[") && next->match) {
        *i = next->match;
        return resolve_element(resolver, t, at, depth, out);
    }
    if (*i + 2 < r.to && (tok_is(next, ".") || tok_is(next, "->")) &&
        toks->tok[*i + 2].kind == TOK_NAME)
        return resolve_member(resolver, r, i, at, depth, out);
    return resolve_name(resolver, t->text, at, depth, out);
}

/* The * or & at token i has no operand before it: *p and &n hand a number on by its address, and
 * both stand for the number. */
static bool is_indirection(struct tok_range r, unsigned i)
{
    const struct tok *before = i > r.from ? &r.toks->tok[i - 1] : NULL;

    return (tok_is(&r.toks->tok[i], "*") || tok_is(&r.toks->tok[i], "&")) && i + 1 < r.to &&
           (!before || (before->kind == TOK_PUNCT && !tok_is(before, ")") && !tok_is(before, "]")));
}

bool resolve_in_parentheses(
    struct resolver *resolver, struct tok_range r, unsigned at, unsigned depth, struct str *out)
{
    str_add_char(out, '(');
    const bool ok = resolve_expression(resolver, r, at, depth, out);

    str_add_char(out, ')');
    return ok;
}

bool resolve_expression(
    struct resolver *resolver, struct tok_range r, unsigned at, unsigned depth, struct str *out)
{
    static const char *const operators[] = {"+", "-", "*", "/", "%", "(", ")", "<", ">", "<<",
        "<=", ">=", "==", "!=", "&&", "||", "?", ":", "&", "|", "^", "~", "!", "::", NULL};

    if (depth == 0 || ++resolver->nr_steps > MAX_STEPS)
        return resolve_refuse(resolver, "an expression too deep", "");
    if (r.from >= r.to)
        return resolve_refuse(resolver, "an empty expression", "");
    for (unsigned i = r.from; i < r.to; i++) {
        const struct tok *t = &r.toks->tok[i];

        if (t->kind == TOK_NUMBER) {
            if (!resolve_number(resolver, t->text, out))
                return false;
        } else if (t->kind == TOK_NAME) {
            if (!resolve_word(resolver, r, &i, at, depth, out))
                return false;
        } else if (is_indirection(r, i)) {
            continue;
        } else if (tok_is(t, "(") && is_cast(r.toks, i, r.to)) {
            i = t->match; /* skips the cast */
        } else {
            if (!tok_among(t, operators))
                return resolve_refuse(resolver, "not an integer expression:", t->text);
            if (!tok_is(t, "::"))
                str_add(out, t->text);
        }
    }
    return true;
}

struct resolver_mode resolver_restrict(struct resolver *resolver, struct resolver_mode more)
{
    const struct resolver_mode before = resolver->mode;

    resolver->mode.fixed |= more.fixed;
    resolver->mode.strict |= more.strict;
    return before;
}

bool resolver_known_integer(
    struct resolver *resolver, struct tok_range range, unsigned at, struct str *out)
{
    const struct resolver_mode before =
        resolver_restrict(resolver, (struct resolver_mode){.fixed = true, .strict = true});
    const bool ok = resolver_integer(resolver, range, at, out);

    resolver->mode = before;
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
    return resolve_expression(resolver, range, at, RESOLVE_MAX_DEPTH, out);
}
