/* Owns which real numbers host code gives: constant arithmetic over literals and names. */
#include "intake/eval/resolver.h"

#include "base/mem.h"
#include "intake/syntax/cast.h"
#include "intake/syntax/literal.h"
#include "intake/syntax/spelling.h"

#include <math.h>
#include <string.h>

enum { MAX_VALUE_DEPTH = 32, MAX_VALUE_STEPS = 10000 };

struct reals {
    struct resolver *resolver;
    const struct toks *toks;
    unsigned i, to, at, depth;
    unsigned *nr_steps;
};

static bool sum(struct reals *v, double *value);

static bool range_real(struct resolver *resolver, struct tok_range r, unsigned at, unsigned depth,
    unsigned *nr_steps, double *value)
{
    struct reals v = {resolver, r.toks, r.from, r.to, at, depth, nr_steps};

    return depth > 0 && r.from < r.to && sum(&v, value) && v.i == v.to;
}

static bool name_real(struct reals *v, const char *name, double *value)
{
    static const struct {
        const char *name;
        double value;
    } known[] = {{"M_PI", 3.14159265358979323846}, {"FLT_MAX", 3.40282346638528859812e38},
        {"FLT_EPSILON", 1.1920928955078125e-7}, {"DBL_MAX", 1.79769313486231570815e308},
        {"M_SQRT2", 1.41421356237309504880}, {"M_E", 2.7182818284590452354}, {"true", 1},
        {"false", 0}};
    struct tok_range range;
    unsigned where;
    const struct macro *macro = resolver_macro(v->resolver, name);

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strcmp(known[i].name, name) == 0) {
            *value = known[i].value;
            return true;
        }
    if (resolver_definition(v->resolver, name, v->at, &range, &where))
        return range_real(v->resolver, range, where, v->depth - 1, v->nr_steps, value);
    return macro && !macro->is_function &&
           range_real(v->resolver, (struct tok_range){&macro->toks, 0, macro->toks.nr}, v->at,
               v->depth - 1, v->nr_steps, value);
}

static bool call_real(struct reals *v, const char *name, unsigned open, double *value)
{
    static const struct {
        const char *name;
        double (*f)(double);
    } known[] = {{"sqrt", sqrt}, {"sqrtf", sqrt}, {"exp", exp}, {"expf", exp}, {"log", log},
        {"logf", log}, {"fabs", fabs}, {"fabsf", fabs}, {"floor", floor}, {"ceil", ceil},
        {"cos", cos}, {"sin", sin}, {"log2", log2}, {"log2f", log2}};
    struct tok_range parts[2];
    double x, y;
    unsigned nr = tok_range_split(
        (struct tok_range){v->toks, open + 1, v->toks->tok[open].match}, parts, ARRAY_SIZE(parts));

    v->i = v->toks->tok[open].match + 1;
    if (nr == 0 || !range_real(v->resolver, parts[0], v->at, v->depth - 1, v->nr_steps, &x))
        return false;
    if (nr == 1 && spelling_bytes(name)) { /* float(x) */
        *value = x;
        return true;
    }
    for (size_t i = 0; nr == 1 && i < ARRAY_SIZE(known); i++)
        if (strcmp(known[i].name, name) == 0) {
            *value = known[i].f(x);
            return isfinite(*value);
        }
    if (nr != 2 || !range_real(v->resolver, parts[1], v->at, v->depth - 1, v->nr_steps, &y))
        return false;
    if (strcmp(name, "pow") == 0 || strcmp(name, "powf") == 0)
        *value = pow(x, y);
    else if (strcmp(name, "min") == 0 || strcmp(name, "fmin") == 0)
        *value = x < y ? x : y;
    else if (strcmp(name, "max") == 0 || strcmp(name, "fmax") == 0)
        *value = x > y ? x : y;
    else
        return false;
    return isfinite(*value);
}

static bool is_cast(const struct reals *v)
{
    const struct tok *t = &v->toks->tok[v->i];

    return tok_is(t, "(") && t->match + 1 < v->to && cast_is_type(v->toks, v->i + 1, t->match);
}

static bool factor(struct reals *v, double *value)
{
    if (v->i >= v->to || ++*v->nr_steps > MAX_VALUE_STEPS)
        return false;
    const struct tok *t = &v->toks->tok[v->i], *next = t + 1;

    if (tok_is(t, "-") || tok_is(t, "+")) {
        v->i++;
        if (!factor(v, value))
            return false;
        *value = tok_is(t, "-") ? -*value : *value;
        return true;
    }
    if (is_cast(v)) {
        v->i = t->match + 1;
        return factor(v, value);
    }
    if (tok_is(t, "(") && t->match && t->match < v->to) {
        struct tok_range inner = {v->toks, v->i + 1, t->match};

        v->i = t->match + 1;
        return range_real(v->resolver, inner, v->at, v->depth - 1, v->nr_steps, value);
    }
    if (t->kind == TOK_NUMBER) {
        struct number_literal literal;
        const bool known = literal_read(&literal, t->text);

        *value = literal.real;
        v->i++;
        return known;
    }
    if (t->kind != TOK_NAME)
        return false;
    if (tok_is(t, "std") && tok_is(next, "::")) {
        v->i += 2;
        return factor(v, value);
    }
    if (cast_is_named(t) && tok_is(next, "<")) {
        while (v->i < v->to && !tok_is(&v->toks->tok[v->i], "("))
            v->i++;
        return factor(v, value);
    }
    if (v->i + 1 < v->to && tok_is(next, "(") && next->match && next->match < v->to)
        return call_real(v, t->text, v->i + 1, value);
    v->i++;
    return name_real(v, t->text, value);
}

static bool product(struct reals *v, double *value)
{
    double right;

    if (!factor(v, value))
        return false;
    while (v->i < v->to && (tok_is(&v->toks->tok[v->i], "*") || tok_is(&v->toks->tok[v->i], "/"))) {
        bool divides = tok_is(&v->toks->tok[v->i++], "/");

        if (!factor(v, &right) || (divides && right == 0))
            return false;
        *value = divides ? *value / right : *value * right;
    }
    return true;
}

static bool sum(struct reals *v, double *value)
{
    double right;

    if (!product(v, value))
        return false;
    while (v->i < v->to && (tok_is(&v->toks->tok[v->i], "+") || tok_is(&v->toks->tok[v->i], "-"))) {
        bool minus = tok_is(&v->toks->tok[v->i++], "-");

        if (!product(v, &right))
            return false;
        *value = minus ? *value - right : *value + right;
    }
    return true;
}

bool resolver_real(struct resolver *resolver, struct tok_range range, unsigned at, double *value)
{
    unsigned nr_steps = 0;

    return range_real(resolver, range, at, MAX_VALUE_DEPTH, &nr_steps, value);
}
