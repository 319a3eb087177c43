/* Owns what code does with the memory behind a pointer. By tokens, it goes from the pointer's name
 * outward through the expression around it, and follows the pointer into calls, macros and other
 * names. Code that is not understood may read and write. */
#include "intake/eval/memory_effects.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/eval/params.h"

#include <string.h>

enum { MAX_NAMES = 16, MAX_CALL_DEPTH = 6, MAX_STEPS = 200000 };

/* What an expression stands for: a pointer into the memory, or an element of it. */
enum kind { ADDRESS, ELEMENT };

struct effect_code {
    const struct toks *toks;
    unsigned from, to;
    bool is_macro; /* the whole text is a value */
    bool returns_reference;
};

struct effect_name {
    const char *text;
    enum kind kind;
    bool is_const;
    unsigned made; /* the token where the name is declared, or becomes this pointer */
};

/* Following names through one piece of code. */
struct effect_look {
    const struct resolver *resolver;
    struct effect_code code;
    struct effect_name names[MAX_NAMES];
    unsigned nr_names, depth;
    unsigned *steps; /* of all looks */
    struct memory_effects *effects;
    bool gives[2]; /* by kind: the value of the code is one */
};

/* The expression [from, to) of a look's code. */
struct effect_part {
    unsigned from, to;
    enum kind kind;
};

static void climb(struct effect_look *l, struct effect_part p);
static void follow(struct effect_look *l);

static const struct tok *token(const struct effect_look *l, unsigned i)
{
    static const struct tok none = {.text = ""};

    return i >= l->code.from && i < l->code.to ? &l->code.toks->tok[i] : &none;
}

static void add(struct memory_effects *effects, bool reads, bool writes)
{
    effects->reads |= reads;
    effects->writes |= writes;
}

static void add_unknown(struct effect_look *l)
{
    add(l->effects, true, true);
}

/* ---- names and calls ---- */

/* The name at token i is declared as pointing to const: `const T *q`, `const auto &r`. */
static bool points_to_const(const struct effect_look *l, unsigned i)
{
    static const char *const ends[] = {";", "{", "}", "(", ")", ",", "=", "", NULL};
    bool inside = false; /* left of `*` or `&` */

    while (!str_among(token(l, --i)->text, ends)) {
        inside = inside || tok_is(token(l, i), "*") || tok_is(token(l, i), "&");
        if (inside && tok_is(token(l, i), "const"))
            return true;
    }
    return false;
}

static void add_name(struct effect_look *l, unsigned i, enum kind kind)
{
    const struct effect_name made = {token(l, i)->text, kind, points_to_const(l, i), i};

    for (unsigned n = 0; n < l->nr_names; n++)
        if (strcmp(l->names[n].text, made.text) == 0 && l->names[n].kind == kind)
            return;
    if (l->nr_names == MAX_NAMES)
        add_unknown(l);
    else
        l->names[l->nr_names++] = made;
}

/* Follows a name into other code. The value of that code may be an address in the memory again. */
static void enter(struct effect_look *l, struct effect_code code, const char *name, enum kind kind,
    bool is_const, struct effect_part call)
{
    struct memory_effects effects = {0};
    struct effect_look inner = {l->resolver, code, {{name, kind, false, 0}}, 1, l->depth - 1,
        l->steps, &effects, {false, false}};

    if (l->depth == 0) {
        add(l->effects, true, !is_const);
        return;
    }
    follow(&inner);
    add(l->effects, effects.reads, effects.writes && !is_const);
    l->effects->atomics |= effects.atomics && !is_const;
    for (enum kind k = ADDRESS; k <= ELEMENT; k++)
        if (inner.gives[k])
            climb(l, (struct effect_part){call.from, call.to, k});
}

/* Follows argument n into all macros of that name. False: there is none. */
static bool enter_macros(
    struct effect_look *l, const char *name, unsigned n, enum kind kind, struct effect_part call)
{
    bool found = false;

    for (unsigned i = 0; i < l->resolver->nr_macros; i++) {
        const struct macro *m = &l->resolver->macros[i];

        if (!m->is_function || !m->toks.nr || strcmp(m->name, name) != 0)
            continue;
        found = true;
        if (n < m->nr_params)
            enter(l, (struct effect_code){&m->toks, 0, m->toks.nr, true, false}, m->params[n], kind,
                false, call);
        else
            add_unknown(l);
    }
    return found;
}

/* Follows the argument into all functions of that name that have such a parameter. False: there is
 * none. */
static bool enter_functions(
    struct effect_look *l, const char *name, unsigned n, enum kind kind, struct effect_part call)
{
    const struct decls *decls = l->resolver->decls;
    const struct decl *first = decls_function(decls, name);
    bool found = false;

    for (unsigned i = 0; first && i < decls->nr_functions; i++) {
        const struct decl *fn = decls->functions[i];
        struct param params[MAX_PARAMS];

        if (strcmp(fn->name, name) != 0 || !fn->body)
            continue;
        if (n >= params_read(params, NULL, decls, fn))
            continue;
        found = true;
        if (kind == ELEMENT && !params[n].is_reference) {
            add(l->effects, true, false);
            continue;
        }
        const bool reference =
            fn->open >= fn->from + 2 && tok_is(&decls->toks->tok[fn->open - 2], "&");
        const struct effect_code code = {decls->toks, fn->body + 1, fn->to, false, reference};

        enter(l, code, params[n].name, kind, params[n].is_const, call);
    }
    return found;
}

/* What functions do that are not in the file. The first row whose word is in the name counts. */
static const struct {
    const char *word;
    bool anywhere;      /* the word is anywhere in the name; else the name begins with it */
    bool reads, writes; /* through the first argument */
    bool others_too;    /* through the other arguments too; else these are read */
} known[] = {{"__ld", false, true, false, true}, {"load", true, true, false, true},
    {"Load", true, true, false, true}, {"printf", true, false, false, true},
    {"assert", false, false, false, true}, {"prefetch", true, false, false, true},
    {"__st", false, false, true, true}, {"store", true, false, true, true},
    {"Store", true, false, true, true}, {"memcpy", false, false, true, false},
    {"memset", false, false, true, false}, {"__pipeline_memcpy", false, false, true, false}};

static void unknown_call(struct effect_look *l, const char *name, unsigned n, enum kind kind)
{
    if (kind == ELEMENT) { /* passed by value, with few exceptions */
        const bool both = strstr(name, "swap") || strstr(name, "atomic");

        add(l->effects, true, both);
        l->effects->atomics |= strstr(name, "atomic") != NULL;
        return;
    }
    if (str_starts(name, "curand")) { /* a random generator changes its state */
        add(l->effects, strcmp(name, "curand_init") != 0, true);
        return;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(known); i++)
        if (known[i].anywhere ? strstr(name, known[i].word) != NULL
                              : str_starts(name, known[i].word)) {
            const bool as_first = n == 0 || known[i].others_too;

            add(l->effects, as_first ? known[i].reads : true, as_first && known[i].writes);
            return;
        }
    add_unknown(l);
}

/* Which argument of the call whose `(` is token `open` has token i. */
static unsigned argument_of(const struct effect_look *l, unsigned open, unsigned i)
{
    unsigned n = 0;

    for (unsigned k = open + 1; k < i; k++) {
        const unsigned angle = tok_is(token(l, k), "<") ? toks_angle(l->code.toks, k, i) : 0;

        if (angle)
            k = angle;
        else if (token(l, k)->match > k)
            k = token(l, k)->match;
        n += tok_is(token(l, k), ",");
    }
    return n;
}

/* Follows a part that is an argument of the function whose name is token i and whose `(` is token
 * `open`. */
static void argument(struct effect_look *l, struct effect_part p, unsigned i, unsigned open)
{
    static const char *const unevaluated[] = {"sizeof", "decltype", "alignof", "alignas", NULL},
                             *const conditions[] = {"if", "while", "switch", "for", "return", NULL};
    const struct tok *t = token(l, i);
    const unsigned n = argument_of(l, open, p.from);
    const struct effect_part call = {i, token(l, open)->match + 1, p.kind};

    if (str_among(t->text, unevaluated))
        return;
    if (str_among(t->text, conditions)) {
        add(l->effects, p.kind == ELEMENT, false);
    } else if (str_starts(t->text, "atomic") && n == 0 && p.kind == ADDRESS) {
        add_unknown(l);
        l->effects->atomics = true;
    } else if (!enter_macros(l, t->text, n, p.kind, call) &&
               !enter_functions(l, t->text, n, p.kind, call)) {
        unknown_call(l, t->text, n, p.kind);
    }
}

/* ---- from a name outward ---- */

/* The opening bracket around token i; code.to: its statement has none. */
static unsigned opening(const struct effect_look *l, unsigned i)
{
    while (i > l->code.from) {
        const struct tok *t = token(l, --i);

        if (t->match && t->match < i)
            i = t->match;
        else if (t->match)
            return i;
        else if (tok_is(t, ";"))
            break;
    }
    return l->code.to;
}

/* Token i ends an expression; without choice, it also ends a sum in an expression. */
static bool ends_operand(const struct effect_look *l, unsigned i, bool choice)
{
    static const char *const always[] = {",", ";", "(", ")", "[", "]", "{", "}", "=", "return", "",
        NULL},
                             *const sums[] = {
                                 "?", ":", "==", "!=", "<=", ">=", "<", ">", "&&", "||", NULL};

    return str_among(token(l, i)->text, always) || (!choice && str_among(token(l, i)->text, sums));
}

/* The part, widened to the whole sum or choice in which the pointer is an operand. */
static struct effect_part widened(const struct effect_look *l, struct effect_part p, bool choice)
{
    for (unsigned match; (match = token(l, p.to)->match) > p.to || !ends_operand(l, p.to, choice);)
        p.to = match > p.to ? match + 1 : p.to + 1;
    for (unsigned i = p.from - 1; i >= l->code.from && i < l->code.to; i--) {
        const unsigned match = token(l, i)->match;
        const bool whole = match && match < i;

        if (!whole && ends_operand(l, i, choice))
            break;
        i = whole ? match : i;
        p.from = i;
    }
    return p;
}

/* Takes [..], .x, ->x and ++ behind the part into it. False: what is done with the part is
 * settled. */
static bool behind(struct effect_look *l, struct effect_part *p)
{
    for (;;) {
        const struct tok *t = token(l, p->to);
        const bool arrow = tok_is(t, "->");

        if (tok_is(t, "[") && t->match) {
            p->kind = ELEMENT;
            p->to = t->match + 1;
        } else if (arrow || tok_is(t, ".")) {
            const bool method = tok_is(token(l, p->to + 2), "(");

            if (method || (!arrow && p->kind == ADDRESS)) {
                add_unknown(l);
                return false;
            }
            if (arrow && p->kind == ELEMENT) { /* other memory */
                add(l->effects, true, false);
                return false;
            }
            p->kind = ELEMENT;
            p->to += 2;
        } else if (tok_is(t, "++") || tok_is(t, "--")) {
            if (p->kind == ELEMENT) {
                add_unknown(l);
                return false;
            }
            p->to++;
        } else {
            return true;
        }
    }
}

/* The `(` of a cast to a pointer or a reference whose `)` is token i; 0: token i ends no such
 * cast. */
static unsigned cast_before(const struct effect_look *l, unsigned i, enum kind kind)
{
    const unsigned open = token(l, i)->match;
    const struct tok *before = token(l, open - 1);

    if (!tok_is(token(l, i), ")") || open <= l->code.from || before->kind == TOK_NAME ||
        tok_is(before, ")") || tok_is(before, ">") || tok_is(before, "]"))
        return tok_is(before, "return") && tok_is(token(l, i - 1), "*") ? open : 0;
    for (unsigned k = open + 1; k < i; k++)
        if (tok_is(token(l, k), kind == ADDRESS ? "*" : "&"))
            return open;
    return 0;
}

/* The `&` at token i takes an address: it is no operator between two numbers. */
static bool takes_address(const struct effect_look *l, unsigned i)
{
    const struct tok *t = token(l, i - 1);

    return tok_is(t, "return") || cast_before(l, i - 1, ADDRESS) ||
           (t->kind == TOK_PUNCT && !tok_is(t, ")") && !tok_is(t, "]")) || t->kind == TOK_END;
}

/* Takes *, &, ++ and casts before the part into it. False: what is done with the part is
 * settled. */
static bool ahead(struct effect_look *l, struct effect_part *p)
{
    for (;;) {
        const unsigned i = p->from - 1;
        const struct tok *t = token(l, i);
        const unsigned cast = p->from > l->code.from ? cast_before(l, i, p->kind) : 0;

        if (p->kind == ADDRESS && tok_is(t, "*")) {
            const struct tok *type = token(l, i - 1);

            if ((type->kind == TOK_NAME && !tok_is(type, "return")) || tok_is(type, ">"))
                return false; /* T *p declares the name */
            p->kind = ELEMENT;
            p->from = i;
        } else if (p->kind == ELEMENT && tok_is(t, "&") && takes_address(l, i)) {
            p->kind = ADDRESS;
            p->from = i;
        } else if (tok_is(t, "++") || tok_is(t, "--")) {
            if (p->kind == ELEMENT) {
                add_unknown(l);
                return false;
            }
            p->from = i;
        } else if (cast) {
            p->from = cast;
        } else {
            return true;
        }
    }
}

/* `q = ` stands before the part: from there on, q is an address in the memory too. */
static void assigned(struct effect_look *l, struct effect_part *p)
{
    const unsigned i = p->from - 2;
    const struct tok *t = token(l, i), *before = token(l, i - 1);

    if (p->kind == ELEMENT) {
        if (t->kind == TOK_NAME && (tok_is(before, "&") || tok_is(before, "&&")))
            add_name(l, i, ELEMENT);
        else
            add(l->effects, true, false);
    } else if (t->kind == TOK_NAME && !tok_is(before, ".") && !tok_is(before, "->")) {
        add_name(l, i, ADDRESS);
    } else { /* assigned to a member or to an element of an array of pointers */
        add_unknown(l);
    }
}

/* An operand of asm: "=f"(p[i]), "l"(p). */
static void asm_operand(struct effect_look *l, struct effect_part p, unsigned open)
{
    const char *constraint = token(l, open - 1)->text;
    bool reads = false, writes = false;

    if (p.kind == ELEMENT) {
        const bool out = strchr(constraint, '=') || strchr(constraint, '+');

        add(l->effects, !out || strchr(constraint, '+'), out);
        return;
    }
    static const char *const loads[] = {"ld", "cp.async.c", "red.", "atom.", "bulk"};
    const unsigned whole = opening(l, open);

    for (unsigned i = whole + 1; i < open; i++) {
        const char *text = token(l, i)->kind == TOK_STRING ? token(l, i)->text : "";

        writes = writes || strstr(text, "st.");
        for (unsigned w = 0; w < ARRAY_SIZE(loads); w++) {
            reads = reads || strstr(text, loads[w]);
            writes = writes || (w > 1 && strstr(text, loads[w]));
        }
    }
    add(l->effects, reads || !writes, writes || !reads);
}

/* The part is all that stands between brackets, or between commas there. True: the part was
 * widened, and is to be followed on. */
static bool enclosed(struct effect_look *l, struct effect_part *p)
{
    const unsigned open = opening(l, p->from), close = token(l, open)->match;
    const bool alone = open == p->from - 1 && close == p->to;
    const struct tok *before = token(l, open - 1);
    unsigned name = open;

    if (tok_is(token(l, open), "[")) { /* an index, or the capture of a lambda: [p](...) {...} */
        const bool lambda = tok_is(token(l, close + 1), "(") || tok_is(token(l, close + 1), "{");

        if (!(lambda && p->kind == ADDRESS))
            add(l->effects, true, p->kind == ADDRESS);
        return false;
    }
    if (!tok_is(token(l, open), "(")) {
        add(l->effects, true, p->kind == ADDRESS);
        return false;
    }
    if (tok_is(before, ">"))
        name = toks_before_angles(l->code.toks, open, l->code.from);
    before = token(l, name - 1);
    if (before->kind == TOK_STRING) {
        asm_operand(l, *p, open);
    } else if (before->kind == TOK_NAME && name < open && str_ends(before->text, "_cast")) {
        const bool reference = tok_is(token(l, open - 2), "&");

        if (p->kind == ELEMENT && !reference) {
            add(l->effects, true, false);
            return false;
        }
        *p = (struct effect_part){name - 1, close + 1, p->kind};
        return true;
    } else if (before->kind == TOK_NAME && !tok_is(before, "return")) {
        argument(l, *p, name - 1, open);
    } else if (alone && !tok_is(before, "]") &&
               (!tok_is(before, ")") || cast_before(l, open - 1, p->kind))) {
        *p = (struct effect_part){open, close + 1, p->kind};
        return true;
    } else {
        add(l->effects, true, p->kind == ADDRESS);
    }
    return false;
}

/* Settles what is done with an element that nothing left or right of it belongs to. True: see
 * enclosed. */
static bool element_used(struct effect_look *l, struct effect_part *p)
{
    static const char *const updates[] = {
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};
    static const char *const ends[] = {")", ",", NULL}, *const begins[] = {"(", ",", NULL};
    const struct tok *left = token(l, p->from - 1), *right = token(l, p->to);

    if (tok_is(right, "=")) {
        add(l->effects, false, true);
    } else if (str_among(right->text, updates)) {
        add(l->effects, true, true);
    } else if (tok_is(left, "=")) {
        assigned(l, p);
    } else if (tok_is(left, "return") && l->code.returns_reference) {
        l->gives[ELEMENT] = true;
    } else if (str_among(left->text, begins) && str_among(right->text, ends)) {
        return enclosed(l, p);
    } else {
        add(l->effects, true, false);
    }
    return false;
}

/* The same for a pointer. */
static bool address_used(struct effect_look *l, struct effect_part *p)
{
    static const char *const compared[] = {"==", "!=", "<", ">", "<=", ">=", "&&", "||", "!", NULL},
                             *const moved[] = {"=", "+=", "-=", NULL},
                             *const sums[] = {"+", "-", NULL};
    const struct tok *left = token(l, p->from - 1), *right = token(l, p->to);

    if (str_among(right->text, moved) || tok_is(right, "?") || str_among(right->text, compared) ||
        str_among(left->text, compared))
        return false;
    if (str_among(right->text, sums) || str_among(left->text, sums)) {
        *p = widened(l, *p, false);
        return true;
    }
    if (tok_is(left, "=")) {
        assigned(l, p);
    } else if (tok_is(left, "?") || tok_is(left, ":") || tok_is(right, ":")) {
        const struct effect_part whole = widened(l, *p, true);

        if (whole.from < p->from || whole.to > p->to) {
            *p = whole;
            return true;
        }
        add_unknown(l);
    } else if (tok_is(left, "return")) {
        l->gives[ADDRESS] = true;
    } else if (!tok_is(left, ";") && !tok_is(right, ";")) { /* else the pointer only moves */
        return enclosed(l, p);
    }
    return false;
}

static void climb(struct effect_look *l, struct effect_part p)
{
    do {
        if (++*l->steps > MAX_STEPS) {
            add_unknown(l);
            return;
        }
        if (!behind(l, &p) || !ahead(l, &p))
            return;
        if (l->code.is_macro && p.from == l->code.from && p.to == l->code.to) {
            l->gives[p.kind] = true;
            return;
        }
    } while (p.kind == ELEMENT ? element_used(l, &p) : address_used(l, &p));
}

/* ---- a name's places ---- */

static bool is_member(const struct effect_look *l, unsigned i)
{
    return tok_is(token(l, i - 1), ".") || tok_is(token(l, i - 1), "->");
}

/* Follows the name in macros that have it in their text: #define u(i, j) u[(i) * n + (j)]. */
static void follow_in_macros(struct effect_look *l, const struct effect_name *name)
{
    for (unsigned k = 0; k < l->resolver->nr_macros && l->depth > 0; k++) {
        const struct macro *m = &l->resolver->macros[k];
        bool named = false;

        for (unsigned i = 0; i < m->toks.nr; i++)
            named = named || (tok_is(&m->toks.tok[i], name->text));
        for (unsigned p = 0; p < m->nr_params; p++)
            named = named && strcmp(m->params[p], name->text) != 0;
        for (unsigned i = l->code.from; named && i < l->code.to; i++) {
            const bool call = tok_is(token(l, i + 1), "(") && token(l, i + 1)->match;
            const struct effect_part whole = {
                i, m->is_function ? token(l, i + 1)->match + 1 : i + 1, name->kind};

            if (tok_is(token(l, i), m->name) && !is_member(l, i) && call >= m->is_function)
                enter(l, (struct effect_code){&m->toks, 0, m->toks.nr, true, false}, name->text,
                    name->kind, name->is_const, whole);
        }
    }
}

/* Token i is the name of a macro in a call of that macro. */
static bool calls_macro(const struct effect_look *l, unsigned i)
{
    const struct macro *m =
        tok_is(token(l, i + 1), "(") ? resolver_macro(l->resolver, token(l, i)->text) : NULL;

    return m && m->is_function && !l->code.is_macro;
}

static void follow_name(struct effect_look *l, const struct effect_name *name)
{
    const bool *left_out = l->code.toks->left_out;
    struct memory_effects effects = {0}, *outer = l->effects;

    l->effects = &effects;
    for (unsigned i = l->code.from; i < l->code.to; i++)
        if (tok_is(token(l, i), name->text) && !is_member(l, i) &&
            !(name->made && i == name->made) && !(left_out && left_out[i]) && !calls_macro(l, i))
            climb(l, (struct effect_part){i, i + 1, name->kind});
    follow_in_macros(l, name);
    l->effects = outer;
    add(outer, effects.reads, effects.writes && !name->is_const);
    outer->atomics |= effects.atomics && !name->is_const;
}

static void follow(struct effect_look *l)
{
    for (unsigned n = 0; n < l->nr_names; n++)
        follow_name(l, &l->names[n]);
}

static struct effect_look look_at(const struct resolver *resolver, const struct decl *fn,
    unsigned *steps, struct memory_effects *effects)
{
    return (struct effect_look){.resolver = resolver,
        .code = {resolver->decls->toks, fn->body + 1, fn->to, false, false},
        .depth = MAX_CALL_DEPTH,
        .steps = steps,
        .effects = effects};
}

void memory_effects_of_pointer(const struct resolver *resolver, const struct decl *fn,
    const char *name, struct memory_effects *effects)
{
    unsigned steps = 0;
    struct effect_look l = look_at(resolver, fn, &steps, effects);

    l.names[l.nr_names++] = (struct effect_name){.text = name};
    follow(&l);
}

/* ---- members ---- */

/* The function of the file that gets the object at token i as an argument, and as which parameter;
 * NULL: there is none. */
static const struct decl *handed_to(const struct effect_look *l, unsigned i, const char **param)
{
    struct param params[MAX_PARAMS];
    const unsigned open = opening(l, i);
    const struct decl *inner = tok_is(token(l, open), "(") && token(l, open - 1)->kind == TOK_NAME
                                   ? decls_function(l->resolver->decls, token(l, open - 1)->text)
                                   : NULL;
    const unsigned n = inner ? argument_of(l, open, i) : 0;

    if (!inner || !inner->body || n >= params_read(params, NULL, l->resolver->decls, inner))
        return NULL;
    *param = params[n].name;
    return inner;
}

static void follow_member(const struct resolver *resolver, const struct decl *fn,
    const char *object, const char *member, unsigned depth, unsigned *steps,
    struct memory_effects *effects)
{
    struct effect_look l = look_at(resolver, fn, steps, effects);

    for (unsigned i = l.code.from; i < l.code.to && ++*steps < MAX_STEPS; i++) {
        const struct tok *t = token(&l, i);
        const struct decl *inner;
        const char *param;
        unsigned first = i;

        while (is_member(&l, first))
            first -= 2;
        if (t->kind != TOK_NAME || !tok_is(token(&l, first), object))
            continue;
        if (first < i && strcmp(t->text, member) == 0)
            climb(&l, (struct effect_part){first, i + 1, ADDRESS});
        else if (tok_is(t + 1, ".") || tok_is(t + 1, "->") || depth == 0)
            ;
        else if ((inner = handed_to(&l, i, &param)) != NULL && inner != fn)
            follow_member(resolver, inner, param, member, depth - 1, steps, effects);
        else if (tok_is(token(&l, first - 1), "=") && token(&l, first - 2)->kind == TOK_NAME)
            follow_member(
                resolver, fn, token(&l, first - 2)->text, member, depth - 1, steps, effects);
    }
    follow(&l);
}

void memory_effects_of_member(const struct resolver *resolver, const struct decl *fn,
    const char *object, const char *member, struct memory_effects *effects)
{
    unsigned steps = 0;

    follow_member(resolver, fn, object, member, MAX_CALL_DEPTH, &steps, effects);
}
