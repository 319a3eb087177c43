/* Owns what the text of host code says: macros, conditional compilation, launches, definitions of
 * names. */
#include "intake/eval/resolver.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/eval/params.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- macros ---- */

static void read_macro(struct resolver *resolver, const struct tok *t, size_t *cap)
{
    const char *p = t->text + 1 + strspn(t->text + 1, " \t");
    struct macro m = {.line = t->line};

    if (strncmp(p, "define", 6) != 0 || !isspace((unsigned char)p[6]))
        return;
    p += 6 + strspn(p + 6, " \t");
    size_t nr = strcspn(p, " \t(\\\n\r");
    m.name = arena_strndup(resolver->arena, p, nr);
    p += nr;
    if (*p == '(') {
        m.is_function = true;
        for (p++; *p && *p != ')' && m.nr_params < ARRAY_SIZE(m.params);) {
            p += strspn(p, " \t,\\\n\r");
            nr = strcspn(p, " \t,)\\\n\r");
            if (nr == 0)
                break;
            m.params[m.nr_params++] = arena_strndup(resolver->arena, p, nr);
            p += nr;
        }
        p += strcspn(p, ")");
        p += *p == ')';
    }
    if (!toks_lex(&m.toks, resolver->arena, p, strlen(p)))
        return;
    resolver->macros = grow(resolver->macros, cap, resolver->nr_macros + 1, sizeof(m));
    resolver->macros[resolver->nr_macros++] = m;
}

/* ---- conditional compilation ---- */

const char *resolver_directive(const struct tok *t, const char **rest)
{
    const char *p = t->text + 1 + strspn(t->text + 1, " \t");

    *rest = p + strcspn(p, " \t(!");
    return p;
}

bool resolver_holds(const struct resolver *resolver, const struct tok *t, bool *sure)
{
    const char *rest, *word = resolver_directive(t, &rest);
    bool asks = str_starts(word, "ifdef") || str_starts(word, "ifndef"), defined = false;
    char name[64];

    *sure = false;
    rest += strspn(rest, " \t(");
    bool negated = *rest == '!' || str_starts(word, "ifndef");

    rest += strspn(rest, "! \t(");
    if (str_starts(rest, "defined")) {
        rest += 7 + strspn(rest + 7, " \t(");
        asks = true;
    }
    size_t nr = strcspn(rest, " \t)\r\n/");
    const char *end = rest + nr + strspn(rest + nr, " \t)\r\n");
    const bool alone = *end == 0 || *end == '/';

    if (nr == 1 && (*rest == '0' || *rest == '1')) {
        *sure = alone;
        return (*rest == '1') != negated;
    }
    if (nr >= sizeof(name))
        return false;
    memcpy(name, rest, nr);
    name[nr] = 0;
    for (unsigned m = 0; m < resolver->nr_macros && resolver->macros[m].line < t->line; m++)
        defined = defined || strcmp(resolver->macros[m].name, name) == 0;
    *sure = asks && alone && name[0] != '_' && !str_starts(name, "CUD");
    return defined != negated;
}

/* One #if with its #elif and #else, while the tokens are read. */
struct branch {
    bool taken, left_out, unsure;
};

static void enter_branch(struct branch *b, const struct resolver *resolver, const struct tok *t)
{
    const char *rest, *word = resolver_directive(t, &rest);
    const bool other = str_starts(word, "else");
    bool sure = true;
    const bool holds = other ? !b->taken : resolver_holds(resolver, t, &sure);

    b->unsure |= !sure;
    b->left_out = !b->unsure && (b->taken || !holds);
    b->taken |= holds;
}

/* Marks the tokens that do not count, and reads the macros that do. Both in one pass, because a
 * condition asks for the macros before it. */
static void read_directives(struct resolver *resolver, struct toks *toks)
{
    enum { MAX_DEPTH = 32 };
    struct branch branches[MAX_DEPTH] = {{0}};
    bool *out = arena_array(resolver->arena, toks->nr + 1, sizeof(*out));
    unsigned depth = 0;
    size_t cap = 0;

    for (unsigned i = 0; i < toks->nr; i++) {
        const bool directive = toks->tok[i].kind == TOK_DIRECTIVE;
        const char *rest, *word = directive ? resolver_directive(&toks->tok[i], &rest) : "";

        if (str_starts(word, "if")) {
            if (depth < MAX_DEPTH)
                branches[depth] = (struct branch){0};
            depth++;
        } else if (str_starts(word, "endif") && depth > 0) {
            depth--;
        }
        if (depth > 0 && depth <= MAX_DEPTH && (str_starts(word, "if") || str_starts(word, "el")))
            enter_branch(&branches[depth - 1], resolver, &toks->tok[i]);
        for (unsigned d = 0; d < depth && d < MAX_DEPTH; d++)
            out[i] |= branches[d].left_out;
        if (directive && !out[i])
            read_macro(resolver, &toks->tok[i], &cap);
    }
    toks->left_out = out;
}

void resolver_init(
    struct resolver *resolver, struct arena *arena, const struct decls *decls, struct toks *toks)
{
    *resolver = (struct resolver){.arena = arena, .toks = decls->toks, .decls = decls, .why = ""};
    read_directives(resolver, toks);
    struct macro *heap = resolver->macros;
    resolver->macros = arena_array(arena, resolver->nr_macros + 1, sizeof(*resolver->macros));
    if (resolver->nr_macros)
        memcpy(resolver->macros, heap, resolver->nr_macros * sizeof(*heap));
    free(heap);
}

const struct macro *resolver_macro(const struct resolver *resolver, const char *name)
{
    for (unsigned i = 0; i < resolver->nr_macros; i++)
        if (strcmp(resolver->macros[i].name, name) == 0 && resolver->macros[i].toks.nr > 0)
            return &resolver->macros[i];
    return NULL;
}

/* ---- launches ---- */

/* Reads the kernel's id that ends before the <<< at token `at`. False: there is none. */
static bool read_kernel_id(struct resolver *resolver, struct site *site, unsigned at)
{
    const struct toks *toks = resolver->toks;
    unsigned end = at, i = at;

    if (i > 0 && tok_is(&toks->tok[i - 1], ">")) {
        int depth = 0;

        while (i > 0) {
            i--;
            depth += tok_is(&toks->tok[i], ">") - tok_is(&toks->tok[i], "<");
            if (toks->tok[i].match && toks->tok[i].match < i)
                i = toks->tok[i].match;
            if (depth == 0)
                break;
        }
        site->nr_template_args = tok_range_split((struct tok_range){toks, i + 1, at - 1},
            site->template_args, ARRAY_SIZE(site->template_args));
    }
    if (i == 0 || toks->tok[i - 1].kind != TOK_NAME)
        return false;
    i--;
    site->kernel = toks->tok[i].text;
    while (i > 1 && tok_is(&toks->tok[i - 1], "::") && toks->tok[i - 2].kind == TOK_NAME)
        i -= 2;
    site->from = i;
    site->id = toks_text(toks, resolver->arena, i, end);
    return true;
}

struct site *resolver_launches(struct resolver *resolver, unsigned *nr)
{
    const struct toks *toks = resolver->toks;
    struct site *sites = NULL;
    size_t cap = 0;

    *nr = 0;
    for (unsigned i = 0; i < toks->nr; i++) {
        struct site s = {.at = i, .line = toks->tok[i].line};

        if (!tok_is(&toks->tok[i], "<<<"))
            continue;
        unsigned close = toks_find(toks, i + 1, toks->nr, ">>>");

        if (close == toks->nr || !read_kernel_id(resolver, &s, i) ||
            !tok_is(&toks->tok[close + 1], "(") || !toks->tok[close + 1].match)
            continue;
        s.nr_config =
            tok_range_split((struct tok_range){toks, i + 1, close}, s.config, ARRAY_SIZE(s.config));
        s.nr_args = tok_range_split((struct tok_range){toks, close + 2, toks->tok[close + 1].match},
            s.args, ARRAY_SIZE(s.args));
        sites = grow(sites, &cap, *nr + 1, sizeof(s));
        sites[(*nr)++] = s;
    }
    return sites;
}

const struct decl *resolver_function_at(const struct resolver *resolver, unsigned at)
{
    const struct decl *d = decls_at(resolver->decls, at);

    return d && d->kind == DECL_FUNCTION && d->body && at >= d->body ? d : NULL;
}

/* ---- definitions ---- */

/* The end of an initialiser: its `;`, or its outermost `,`. */
static unsigned value_end(const struct toks *toks, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        const struct tok *t = &toks->tok[i];

        if (tok_is(t, ";") || tok_is(t, ",") || tok_is(t, ")") || tok_is(t, "}"))
            return i;
        if (t->match > i)
            i = t->match;
    }
    return to;
}

/* The token may stand before a declared name: the last word of a type, `*`, `&`, `>`, or the comma
 * of a list. */
static bool may_declare(const struct tok *before)
{
    static const char *const never[] = {
        "return", "else", "case", "new", "delete", "goto", "sizeof", NULL};

    for (unsigned i = 0; never[i]; i++)
        if (tok_is(before, never[i]))
            return false;
    return before->kind == TOK_NAME || tok_is(before, "*") || tok_is(before, "&") ||
           tok_is(before, ">") || tok_is(before, ",");
}

/* The comma before token i separates two variables of one declaration: dim3 grid(4), block(32). */
static bool in_list_of_declarators(const struct toks *toks, unsigned i)
{
    while (i-- > 0) {
        const struct tok *t = &toks->tok[i];

        if (t->match && t->match < i)
            i = t->match;
        else if (tok_is(t, ";") || tok_is(t, "{") || tok_is(t, "}") || t->kind == TOK_DIRECTIVE)
            return toks->tok[i + 1].kind == TOK_NAME && toks->tok[i + 2].kind == TOK_NAME;
        else if (t->match > i || tok_is(t, "="))
            return false;
    }
    return false;
}

bool resolver_definition_in(const struct toks *toks, const char *name, unsigned from, unsigned to,
    struct tok_range *value, unsigned *at)
{
    bool found = false;

    for (unsigned i = toks_name(toks, name, from), again; i + 1 < to; i = again ? again : to) {
        const struct tok *next = &toks->tok[i + 1];
        bool declares = i > 0 && may_declare(&toks->tok[i - 1]);

        again = toks->tok[i].again;
        if (toks->left_out && toks->left_out[i])
            continue;
        if (declares && tok_is(next, "[") && next->match &&
            tok_is(&toks->tok[next->match + 1], "=")) {
            *value =
                (struct tok_range){toks, next->match + 2, value_end(toks, next->match + 2, to)};
            *at = i;
            return true;
        }
        if (tok_is(next, "=") && (declares || !found)) {
            *value = (struct tok_range){toks, i + 2, value_end(toks, i + 2, to)};
            *at = i;
            found = true;
            if (declares)
                return true;
        } else if (declares &&
                   (!tok_is(&toks->tok[i - 1], ",") || in_list_of_declarators(toks, i - 1)) &&
                   (tok_is(next, "(") || tok_is(next, "{")) && next->match) {
            *value = (struct tok_range){toks, i + 2, next->match};
            *at = i;
            return true;
        }
    }
    return found;
}

int resolver_param(const struct resolver *resolver, const struct decl *fn, const char *name,
    struct tok_range *whole)
{
    const struct toks *toks = resolver->toks;
    struct tok_range params[LAUNCH_MAX_ARGS];
    unsigned nr = tok_range_split(
        (struct tok_range){toks, fn->open + 1, toks->tok[fn->open].match}, params, LAUNCH_MAX_ARGS);

    for (unsigned p = 0; p < nr; p++) {
        unsigned end = toks_find(toks, params[p].from, params[p].to, "=");

        for (unsigned i = params[p].from; i < end; i++)
            if (tok_is(&toks->tok[i], name) && (i + 1 == end || tok_is(&toks->tok[i + 1], "["))) {
                *whole = params[p];
                return (int)p;
            }
    }
    return -1;
}

/* Finds the argument number `param` of a call of fn outside of fn. */
static bool call_argument(const struct resolver *resolver, const struct decl *fn, unsigned param,
    struct tok_range *value, unsigned *at)
{
    const struct toks *toks = resolver->toks;

    for (unsigned i = toks_name(toks, fn->name, 0), again; i + 1 < toks->nr;
         i = again ? again : toks->nr) {
        struct tok_range args[LAUNCH_MAX_ARGS];
        unsigned open = i + 1;

        again = toks->tok[i].again;
        if (resolver->bound == fn && i != resolver->bound_at)
            continue;
        if ((i >= fn->from && i < fn->to) || !tok_is(&toks->tok[i], fn->name) ||
            !resolver_function_at(resolver, i))
            continue;
        if (tok_is(&toks->tok[open], "<")) { /* f<4>(...) */
            open = toks_angle(toks, open, toks->nr) + 1;
        }
        if (open >= toks->nr || !tok_is(&toks->tok[open], "(") || !toks->tok[open].match)
            continue;
        unsigned nr = tok_range_split(
            (struct tok_range){toks, open + 1, toks->tok[open].match}, args, LAUNCH_MAX_ARGS);

        if (param < nr) {
            *value = args[param];
            *at = i;
            return true;
        }
    }
    return false;
}

bool resolver_from_outside(struct tok_range r)
{
    static const char *const readers[] = {"atoi", "atol", "atoll", "stoi", "stol", "stoul",
        "stoull", "strtol", "strtoul", "strtoull", "argv", "getCmdLineArgumentInt", NULL};

    if (toks_find(r.toks, r.from, r.to, "?") < r.to)
        return false;
    for (unsigned i = r.from; i < r.to; i++)
        for (unsigned k = 0; readers[k]; k++)
            if (tok_is(&r.toks->tok[i], readers[k]))
                return true;
    return false;
}

int resolver_template_param(const struct resolver *resolver, const char *name, unsigned at)
{
    const struct decl *fn = resolver_function_at(resolver, at);
    const char *names[MAX_TEMPLATE_ARGS];
    const unsigned nr = fn ? params_of_template(resolver->toks, fn, names, ARRAY_SIZE(names)) : 0;
    unsigned n = 0;

    while (n < nr && strcmp(names[n], name) != 0)
        n++;
    return n < nr ? (int)n : -1;
}

bool resolver_template_argument(const struct resolver *resolver, const char *name, unsigned at,
    struct tok_range *value, unsigned *where)
{
    const struct decl *fn = resolver_function_at(resolver, at);
    const struct toks *toks = resolver->toks;
    const int n = resolver_template_param(resolver, name, at);

    if (n < 0)
        return false;
    for (unsigned i = toks_name(toks, fn->name, 0); i + 1 < toks->nr;
         i = toks_again(toks, i, toks->nr)) {
        struct tok_range args[MAX_TEMPLATE_ARGS];
        const unsigned close =
            tok_is(&toks->tok[i + 1], "<") ? toks_angle(toks, i + 1, toks->nr) : 0;

        if (!close || (i >= fn->from && i < fn->to) || !resolver_function_at(resolver, i) ||
            (toks->left_out && toks->left_out[i]) ||
            tok_range_split((struct tok_range){toks, i + 2, close}, args, ARRAY_SIZE(args)) <=
                (unsigned)n)
            continue;
        *value = args[n];
        *where = i;
        return true;
    }
    return false;
}

/* The name stands in its own value: n = n / 2, constexpr int N = config::N. */
static bool names_itself(struct tok_range value, const char *name)
{
    for (unsigned i = value.from; i < value.to; i++)
        if (tok_is(&value.toks->tok[i], name) && !tok_is(&value.toks->tok[i - 1], ".") &&
            !tok_is(&value.toks->tok[i - 1], "->"))
            return true;
    return false;
}

/* The statement at token i has run wherever token `to` is reached: it stands in no block that ends
 * before. */
static bool stands_before(const struct toks *toks, unsigned i, unsigned to)
{
    for (; i < to; i++) {
        if (tok_is(&toks->tok[i], "}"))
            return false;
        if (tok_is(&toks->tok[i], "{") && toks->tok[i].match > i && toks->tok[i].match < to)
            i = toks->tok[i].match;
    }
    return true;
}

/* Finds the last blocks = (n + 255) / 256; before the use, where the name begins the statement. */
static bool last_assigned(const struct toks *toks, const char *name, unsigned before,
    struct tok_range *value, unsigned *at)
{
    bool found = false;

    for (unsigned i = toks_name(toks, name, *at + 1); i && i + 2 < before;
         i = toks_again(toks, i, before)) {
        struct tok_range assigned = {toks, i + 2, before};
        const struct tok *head = &toks->tok[i - 1];

        if (!tok_is(&toks->tok[i + 1], "=") || (toks->left_out && toks->left_out[i]) ||
            !(tok_is(head, ";") || tok_is(head, "{") || tok_is(head, "}")))
            continue;
        assigned.to = value_end(toks, i + 2, before);
        if (assigned.to < before && stands_before(toks, i, before) &&
            !names_itself(assigned, name)) {
            *value = assigned;
            *at = i;
            found = true;
        }
    }
    return found;
}

bool resolver_set_again(const struct resolver *resolver, const char *name, unsigned before)
{
    const struct decl *fn = resolver_function_at(resolver, before);
    struct tok_range value;
    unsigned at;

    return fn && resolver_definition_in(resolver->toks, name, fn->body, fn->to, &value, &at) &&
           last_assigned(resolver->toks, name, before, &value, &at);
}

bool resolver_definition(struct resolver *resolver, const char *name, unsigned before,
    struct tok_range *value, unsigned *at)
{
    const struct decl *fn = resolver_function_at(resolver, before);

    if (fn) {
        struct tok_range whole;
        int p = resolver_param(resolver, fn, name, &whole);

        if (resolver_definition_in(resolver->toks, name, fn->body, fn->to, value, at) && p < 0 &&
            !names_itself(*value, name)) {
            last_assigned(resolver->toks, name, before, value, at);
            return true;
        }
        if (p >= 0 && call_argument(resolver, fn, (unsigned)p, value, at))
            return true;
        if (p >= 0) { /* void f(int n = 1024) */
            unsigned eq = toks_find(resolver->toks, whole.from, whole.to, "=");

            *value = (struct tok_range){resolver->toks, eq + 1, whole.to};
            *at = whole.from;
            return eq + 1 < whole.to;
        }
    }
    for (unsigned i = toks_name(resolver->toks, name, 0), nr = resolver->toks->nr; i < nr;
         i = toks_again(resolver->toks, i, nr)) {
        const struct decl *d = decls_at(resolver->decls, i);

        if (!d || d->kind == DECL_FUNCTION || d->kind == DECL_DIRECTIVE || d->kind == DECL_USING)
            continue;
        if (resolver_definition_in(resolver->toks, name, d->from, d->to, value, at) ||
            (tok_is(&resolver->toks->tok[d->from], "enum") &&
                resolver_definition_in(resolver->toks, name, d->from + 1, d->to, value, at)))
            return true;
    }
    return false;
}

bool resolver_member(struct resolver *resolver, const char *object, const char *member, unsigned at,
    struct tok_range *value, unsigned *where)
{
    const struct toks *toks = resolver->toks;
    struct tok_range init, parts[16];

    for (unsigned i = 0; i + 3 < toks->nr; i++)
        if (tok_is(&toks->tok[i], object) &&
            (tok_is(&toks->tok[i + 1], ".") || tok_is(&toks->tok[i + 1], "->")) &&
            tok_is(&toks->tok[i + 2], member) && tok_is(&toks->tok[i + 3], "=")) {
            *value = (struct tok_range){toks, i + 4, toks_find(toks, i + 4, toks->nr, ";")};
            *where = i;
            return !resolver_from_outside(*value);
        }
    if (!resolver_definition(resolver, object, at, &init, where) || init.from >= init.to)
        return false;
    if (tok_is(&init.toks->tok[init.from], "{"))
        init = (struct tok_range){init.toks, init.from + 1, init.to - 1};
    unsigned nr = tok_range_split(init, parts, ARRAY_SIZE(parts));

    for (unsigned i = 0; i < nr; i++)
        if (tok_is(&init.toks->tok[parts[i].from], ".") &&
            tok_is(&init.toks->tok[parts[i].from + 1], member)) {
            *value = (struct tok_range){init.toks, parts[i].from + 3, parts[i].to};
            return value->from < value->to;
        }
    /* {1024, 32} by the order of the fields, for a struct without a constructor: the type stands
     * before the object's name */
    if (init.toks != toks || tok_is(&toks->tok[init.from - 1], "(") || *where == 0 ||
        toks->tok[*where - 1].kind != TOK_NAME)
        return false;
    const char *type = toks->tok[*where - 1].text;

    for (unsigned d = 0; d < resolver->decls->nr; d++) {
        const struct decl *s = &resolver->decls->decl[d];
        unsigned open = toks_find(toks, s->from, s->to, "{"), field = 0;

        if (s->kind == DECL_FUNCTION || strcmp(s->name, type) != 0 || open >= s->to)
            continue;
        for (unsigned i = open + 1; i < toks->tok[open].match; i++) {
            bool ends = tok_is(&toks->tok[i], ";") || tok_is(&toks->tok[i], ",") ||
                        tok_is(&toks->tok[i], "=");

            if (ends && tok_is(&toks->tok[i - 1], member) && field < nr) {
                *value = parts[field];
                return true;
            }
            field += tok_is(&toks->tok[i], ";") || tok_is(&toks->tok[i], ",");
        }
    }
    return false;
}

bool resolver_dim3_members(
    const struct resolver *resolver, const char *name, unsigned at, struct tok_range members[3])
{
    const struct decl *fn = resolver_function_at(resolver, at);
    const struct toks *toks = resolver->toks;
    bool found = false;

    memset(members, 0, 3 * sizeof(*members));
    for (unsigned i = fn ? fn->body : at; i + 3 < at; i++) {
        const char *member = toks->tok[i + 2].text;

        if (!tok_is(&toks->tok[i], name) || !tok_is(&toks->tok[i + 1], ".") ||
            !tok_is(&toks->tok[i + 3], "=") || member[1] || !strchr("xyz", member[0]))
            continue;
        members[member[0] - 'x'] = (struct tok_range){toks, i + 4, toks_find(toks, i + 4, at, ";")};
        found = true;
    }
    return found;
}
