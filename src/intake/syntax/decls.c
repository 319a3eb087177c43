/* Owns the top level of a file: its declarations, and which of them device code reaches. */
#include "intake/syntax/decls.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTED_TYPES = 4 };

/* Which side a declaration is for, in CUDA's own words or by a macro that stands for some of
 * them. */
struct decl_side {
    const char *name;
    bool kernel, device, host;
};

struct decls_reader {
    const struct toks *toks;
    struct decls *out;
    struct arena *arena;
    size_t cap_decls, cap_containers, cap_bodies;
    struct decl_side macros[32];
    unsigned nr_macros;
};

/* The token behind an attribute-like word and its parentheses. */
static unsigned skip_attribute(const struct toks *toks, unsigned i)
{
    static const char *const words[] = {"__launch_bounds__", "__attribute__", "__align__",
        "alignas", "decltype", "__declspec", "__maxnreg__", "__cluster_dims__", "noexcept",
        "static_assert", NULL};

    if (tok_among(&toks->tok[i], words) && toks_is(toks, i + 1, "(") && toks->tok[i + 1].match)
        return toks->tok[i + 1].match + 1;
    if (toks_is(toks, i, "[") && toks_is(toks, i + 1, "[") && toks->tok[i].match)
        return toks->tok[i].match + 1;
    return i;
}

/* The token behind `template <...>`; there may be several such lists. */
static unsigned skip_template_head(const struct toks *toks, unsigned i, unsigned to)
{
    while (i < to && toks_is(toks, i, "template") && toks_is(toks, i + 1, "<")) {
        int depth = 0;

        for (i++; i < to; i++) {
            const struct tok *t = &toks->tok[i];

            depth += tok_is(t, "<") - tok_is(t, ">") - 3 * tok_is(t, ">>>");
            if (t->match > i)
                i = t->match;
            if (depth <= 0)
                break;
        }
        i++;
    }
    return i < to ? i : to;
}

/* The end of the declaration that begins at `from`: the token behind its `;` or its body. */
static unsigned decl_end(const struct toks *toks, unsigned from, unsigned to)
{
    static const char *const aggregates[] = {"struct", "class", "union", "enum", NULL};
    bool parens = false, aggregate = false, assigned = false;

    for (unsigned i = skip_template_head(toks, from, to); i < to; i++) {
        const struct tok *t = &toks->tok[i];
        unsigned past = skip_attribute(toks, i);

        if (t->kind == TOK_DIRECTIVE && i > from)
            continue;
        if (past > i) {
            i = past - 1;
        } else if (tok_is(t, ";")) {
            return i + 1;
        } else if (tok_is(t, "{")) {
            if (!t->match)
                return to;
            i = t->match;
            if (parens && !assigned && !aggregate)
                return toks_is(toks, i + 1, ";") ? i + 2 : i + 1;
        } else if (tok_is(t, "}")) {
            return i; /* closes what the declaration stands in */
        } else {
            aggregate = aggregate || (!parens && tok_among(t, aggregates));
            assigned =
                assigned || (tok_is(t, "=") && !(i > from && toks_is(toks, i - 1, "operator")));
            if (tok_is(t, "(") && !assigned) {
                parens = true;
                aggregate = false; /* struct S f(...) is a function */
            }
            if (t->match > i)
                i = t->match;
        }
    }
    return to;
}

static void describe_function(const struct toks *toks, struct decl *d, unsigned open)
{
    unsigned close = toks->tok[open].match;

    const struct tok *name = &toks->tok[toks_before_angles(toks, open, d->from) - (open > d->from)];

    d->kind = DECL_FUNCTION;
    d->open = open;
    d->name = open > d->from && name->kind == TOK_NAME ? name->text : "";
    if (open > d->from + 2 && toks_is(toks, open - 3, "operator") && name->match == open - 2)
        d->name = tok_is(name, ")") ? "operator" : "operator[]";
    if (close)
        for (unsigned i = close; i < d->to; i++) {
            if (toks_is(toks, i, "{")) {
                d->body = i;
                break;
            }
            if (toks->tok[i].match > i)
                i = toks->tok[i].match;
        }
}

static void add_side(struct decl_side *side, const char *word)
{
    side->kernel = side->kernel || strcmp(word, "__global__") == 0;
    side->host = side->host || strcmp(word, "__host__") == 0;
    side->device = side->device || strcmp(word, "__device__") == 0 ||
                   strcmp(word, "__constant__") == 0 || strcmp(word, "__shared__") == 0 ||
                   strcmp(word, "__managed__") == 0;
}

/* #define HOST_DEVICE __host__ __device__ */
static void note_side_macro(struct decls_reader *r, const char *directive)
{
    const char *text = decls_defined(directive);
    struct toks body;
    struct decl_side side = {0};

    if (!text || r->nr_macros == ARRAY_SIZE(r->macros) || !strstr(text, "__") ||
        !toks_lex(&body, r->arena, text, strlen(text)) || body.nr < 2 ||
        body.tok[0].kind != TOK_NAME ||
        (toks_is(&body, 1, "(") && body.tok[1].at == body.tok[0].end))
        return;
    side.name = body.tok[0].text;
    for (unsigned i = 1; i < body.nr; i++)
        add_side(&side, body.tok[i].text);
    if (side.kernel || side.host || side.device)
        r->macros[r->nr_macros++] = side;
}

/* using name = ...; using std::name; typedef ... name; namespace name = ...; */
static void describe_alias(const struct toks *toks, struct decl *d, unsigned i)
{
    const bool alias = !toks_is(toks, i, "typedef");
    const bool member = alias && i + 2 < d->to && toks_is(toks, i + 2, "::");

    d->kind = DECL_USING;
    if (alias && !member && i + 1 < d->to && toks->tok[i + 1].kind == TOK_NAME)
        d->name = toks->tok[i + 1].text;
    else if ((!alias || member) && d->to > d->from + 1 && toks->tok[d->to - 2].kind == TOK_NAME)
        d->name = toks->tok[d->to - 2].text;
}

/* Adds to d the side that token t says. */
static void describe_side(const struct decls_reader *r, struct decl *d, const struct tok *t)
{
    struct decl_side side = {0};

    if (t->kind == TOK_NAME)
        add_side(&side, t->text);
    for (unsigned m = 0; m < r->nr_macros; m++)
        if (tok_is(t, r->macros[m].name))
            side = r->macros[m];
    d->is_kernel = d->is_kernel || side.kernel;
    d->is_device = d->is_device || side.device;
    d->is_host = d->is_host || side.host;
}

/* A declaration with struct, class, union or enum, whose head ends at token i: what it declares.
 * Returns the token of its name; 0: it has none. */
static unsigned describe_aggregate(
    const struct toks *toks, struct decl *d, unsigned i, unsigned name)
{
    const unsigned open = toks_find(toks, i, d->to, "{");

    if (d->kind == DECL_VARIABLE && toks_is(toks, d->to - 1, ";") && name == d->to - 2)
        d->kind = DECL_TYPE;             /* a forward declaration */
    for (unsigned k = i; k < d->to; k++) /* struct S : B { ... } */
        if (toks_is(toks, k, "{"))
            d->kind = DECL_TYPE;
    if (name)
        return name;
    name = open < d->to && toks->tok[open].match ? toks->tok[open].match + 1 : 0;
    return name < d->to && toks->tok[name].kind == TOK_NAME ? name
                                                            : 0; /* struct { ... } table[4]; */
}

static void describe(const struct decls_reader *r, struct decl *d)
{
    const struct toks *toks = r->toks;
    static const char *const aliases[] = {"using", "typedef", "namespace", NULL};
    static const char *const aggregates[] = {"struct", "class", "union", "enum", NULL};
    static const char *const storage[] = {"static", "const", "extern", "inline", "constexpr",
        "volatile", "__device__", "__constant__", "__host__", "__managed__", NULL};
    static const char *const ends[] = {"{", "=", "[", ";", NULL};
    unsigned i = skip_template_head(toks, d->from, d->to), name = 0;
    bool typed = false;

    d->name = "";
    if (tok_among(&toks->tok[i], aliases)) {
        describe_alias(toks, d, i);
        return;
    }
    d->kind = DECL_VARIABLE;
    for (; i < d->to; i++) {
        const struct tok *t = &toks->tok[i];
        const unsigned past = skip_attribute(toks, i);

        describe_side(r, d, t);
        if (past > i) {
            i = past - 1;
            continue;
        }
        if (tok_among(t, aggregates)) {
            typed = true;
            continue;
        }
        if (tok_is(t, "operator") && t[1].match == i + 2) { /* operator(), operator[] */
            i += 2;
            continue;
        }
        if (tok_is(t, "(") && i > d->from && !toks_is(toks, i - 1, "=")) {
            describe_function(toks, d, i);
            return;
        }
        if (t->kind == TOK_NAME && !(typed && name) && !tok_among(t, storage))
            name = i;
        if (tok_among(t, ends) || (typed && tok_is(t, ":")))
            break;
    }
    if (typed)
        name = describe_aggregate(toks, d, i, name);
    d->name = name ? toks->tok[name].text : "";
}

/* A member function that only the host can call: it may name what only the host has. Fields of
 * function types stay, and so do virtual functions, which shape the type, and what a macro
 * makes. */
static bool is_host_member(const struct toks *toks, const struct decl *m, const char *type)
{
    static const char *const stay[] = {"constexpr", "consteval", "virtual", "override", "using",
        "typedef", "default", "delete", "final", "static_assert", NULL};
    static const char *const after[] = {"{", ";", ":", "const", "noexcept", "&", "->", NULL};
    const unsigned close = m->kind == DECL_FUNCTION ? toks->tok[m->open].match : 0;
    unsigned next = close + 1;

    while (close && next < m->to && toks->tok[next].kind == TOK_DIRECTIVE)
        next++;
    if (!close || m->is_device || m->is_kernel || m->open <= m->from ||
        !tok_among(&toks->tok[next], after))
        return false;
    for (unsigned i = m->from; i < (m->body ? m->body : m->to); i++)
        if (tok_among(&toks->tok[i], stay))
            return false;
    if (strcmp(m->name, type) != 0 && m->open - 1 == m->from)
        return m->body > 0; /* NAME(...); of a macro */
    return *m->name || toks_find(toks, m->from, m->open, "operator") < m->open;
}

static void add_body(struct decls_reader *r, const struct decl *d)
{
    if (d->kind != DECL_FUNCTION || !d->body)
        return;
    r->out->bodies = grow(r->out->bodies, &r->cap_bodies, r->out->nr_bodies + 1, sizeof(*d));
    r->out->bodies[r->out->nr_bodies++] = *d;
}

static bool next_member(
    const struct decls_reader *r, unsigned *i, unsigned close, struct decl *member)
{
    const struct toks *toks = r->toks;

    while (*i < close && (toks->tok[*i].kind == TOK_DIRECTIVE || toks_is(toks, *i, ";") ||
                             toks_is(toks, *i, ":") || toks_is(toks, *i + 1, ":")))
        ++*i; /* public: */
    if (*i >= close)
        return false;
    *member = (struct decl){.from = *i, .to = decl_end(toks, *i, close), .name = ""};
    if (member->to <= *i)
        member->to = *i + 1;
    *i = member->to;
    describe(r, member);
    return true;
}

bool decls_member(const struct toks *toks, unsigned *i, unsigned close, struct decl *member)
{
    return next_member(&(struct decls_reader){.toks = toks}, i, close, member);
}

static void read_members(struct decls_reader *r, const struct decl *type, unsigned depth)
{
    const struct toks *toks = r->toks;
    const unsigned open = toks_find(toks, type->from, type->to, "{");
    const unsigned close = open < type->to ? toks->tok[open].match : 0;
    struct decl m;

    if ((type->kind != DECL_TYPE && type->kind != DECL_USING) || !depth ||
        toks_is(toks, type->from, "enum"))
        return;
    for (unsigned i = open + 1; next_member(r, &i, close, &m);) {
        add_body(r, &m);
        if (is_host_member(toks, &m, type->name))
            memset(r->out->host + m.from, 1, (m.to - m.from) * sizeof(*r->out->host));
        else
            read_members(r, &m, depth - 1);
    }
}

static void add(struct decls_reader *r, struct decl d)
{
    r->out->decl = grow(r->out->decl, &r->cap_decls, r->out->nr + 1, sizeof(d));
    r->out->decl[r->out->nr++] = d;
}

/* namespace a::b { or extern "C" {: the token of the brace; 0: token i begins neither. */
static unsigned container_open(const struct toks *toks, unsigned i)
{
    unsigned at = i + toks_is(toks, i, "inline");

    if (toks_is(toks, at, "extern") && toks->tok[at + 1].kind == TOK_STRING)
        return toks_is(toks, at + 2, "{") && toks->tok[at + 2].match ? at + 2 : 0;
    if (!toks_is(toks, at, "namespace"))
        return 0;
    for (at++; toks->tok[at].kind == TOK_NAME || toks_is(toks, at, "::"); at++)
        ;
    return toks_is(toks, at, "{") && toks->tok[at].match ? at : 0;
}

/* Memory of the arena in place of memory of the heap. */
static void *settled(struct arena *arena, void *heap, size_t nr, size_t size)
{
    void *rows = arena_array(arena, nr + 1, size);

    if (nr)
        memcpy(rows, heap, nr * size);
    free(heap);
    return rows;
}

void decls_read(struct decls *decls, struct arena *arena, const struct toks *toks)
{
    struct decls_reader r = {.toks = toks, .out = decls, .arena = arena};
    unsigned inside = 0;

    for (unsigned i = 0; i < toks->nr; i++)
        if (toks->tok[i].kind == TOK_DIRECTIVE)
            note_side_macro(&r, toks->tok[i].text);

    *decls = (struct decls){
        .toks = toks, .host = arena_array(arena, toks->nr + 1, sizeof(*decls->host))};
    decls->container = grow(NULL, &r.cap_containers, 1, sizeof(*decls->container));
    decls->container[decls->nr_containers++] = (struct container){.close = toks->nr, .keep = true};
    for (unsigned i = 0; i < toks->nr;) {
        unsigned open = container_open(toks, i);

        while (inside && i >= decls->container[inside].close) {
            i = i == decls->container[inside].close ? i + 1 : i;
            inside = decls->container[inside].parent;
        }
        if (i >= toks->nr)
            break;
        open = container_open(toks, i);
        if (open) {
            decls->container = grow(decls->container, &r.cap_containers, decls->nr_containers + 1,
                sizeof(*decls->container));
            decls->container[decls->nr_containers] = (struct container){
                .from = i, .open = open, .close = toks->tok[open].match, .parent = inside};
            inside = decls->nr_containers++;
            i = open + 1;
            continue;
        }
        struct decl d = {.from = i, .to = i + 1, .container = inside, .name = ""};

        if (toks->tok[i].kind == TOK_DIRECTIVE) {
            d.kind = DECL_DIRECTIVE;
            add(&r, d);
        } else if (!toks_is(toks, i, ";") && !toks_is(toks, i, "}")) {
            d.to = decl_end(toks, i, decls->container[inside].close);
            d.to = d.to > i ? d.to : i + 1;
            describe(&r, &d);
            add_body(&r, &d);
            read_members(&r, &d, MAX_NESTED_TYPES);
            add(&r, d);
        }
        i = d.to;
    }
    decls->decl = settled(arena, decls->decl, decls->nr, sizeof(*decls->decl));
    decls->bodies = settled(arena, decls->bodies, decls->nr_bodies, sizeof(*decls->bodies));
    decls->container =
        settled(arena, decls->container, decls->nr_containers, sizeof(*decls->container));
}

/* ---- what the device reaches ---- */

/* A growing set of words whose declarations are wanted. */
struct wanted {
    const char **word;
    size_t nr, cap;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void want(struct wanted *w, const char *name)
{
    w->word = grow(w->word, &w->cap, w->nr + 1, sizeof(*w->word));
    w->word[w->nr++] = name;
}

/* The names in a directive are wanted too, because directives stay. */
static void want_words_of(struct wanted *w, struct arena *arena, const char *text)
{
    struct toks toks;

    text += *text == '#';
    if (toks_lex(&toks, arena, text, strlen(text)))
        for (unsigned i = 0; i < toks.nr; i++)
            if (toks.tok[i].kind == TOK_NAME)
                want(w, toks.tok[i].text);
}

/* x.name, p->name: the name belongs to a type, and is none of the file's. */
static bool is_member(const struct toks *toks, unsigned i)
{
    return (toks_is(toks, i - 1, ".") || toks_is(toks, i - 1, "->")) && !toks_is(toks, i + 1, "::");
}

static void want_tokens(
    struct wanted *w, struct arena *arena, const struct decls *decls, unsigned from, unsigned to)
{
    const struct toks *toks = decls->toks;

    for (unsigned i = from; i < to; i++)
        if (toks->tok[i].kind == TOK_DIRECTIVE && i > from) { /* a macro inside of one function */
            want_words_of(w, arena, toks->tok[i].text);
        } else if (toks->tok[i].kind == TOK_NAME && !decls->host[i]) {
            const char *name = toks->tok[i].text;

            want(w, i > from && is_member(toks, i) ? arena_printf(arena, ".%s", name) : name);
        }
}

static bool directive_stays(struct decl *d, const struct toks *toks, struct arena *arena)
{
    const char *text = toks->tok[d->from].text;
    bool quoted;
    const char *name = headers_include_name(arena, text, &quoted);

    if (name)
        return headers_is_device(name);
    return strncmp(text, "#pragma once", 12) != 0;
}

static bool is_wanted(const struct wanted *w, const char *name)
{
    return w->nr > 0 && *name && bsearch(&name, w->word, w->nr, sizeof(*w->word), by_text) != NULL;
}

static bool is_member_wanted(const struct wanted *w, const char *name)
{
    char dotted[256];

    return snprintf(dotted, sizeof(dotted), ".%s", name) >= (int)sizeof(dotted) ||
           is_wanted(w, dotted);
}

/* An enum's values, and the further variables of one line, are names too. */
static bool any_name_wanted(const struct wanted *w, const struct decl *d, const struct toks *toks)
{
    if (is_wanted(w, d->name))
        return true;
    if (d->kind == DECL_FUNCTION && d->is_device && d->open > d->from + 1 &&
        (!*d->name || str_starts(d->name, "operator"))) {
        unsigned close = toks->tok[d->open].match; /* operator+(vec a, vec b): by its operands */

        for (unsigned i = d->open + 1; i < close; i++)
            if (toks->tok[i].kind == TOK_NAME && is_wanted(w, toks->tok[i].text))
                return true;
    }
    if (d->kind == DECL_FUNCTION || (d->kind == DECL_TYPE && !toks_is(toks, d->from, "enum")))
        return false;
    const bool values = toks_find(toks, d->from, d->to, "enum") < d->to;

    for (unsigned i = d->from; i + 1 < d->to; i++) {
        if (toks_is(toks, i, "{") && toks->tok[i].match && !values)
            i = toks->tok[i].match; /* names of fields are none of the file's */
        const struct tok *t = &toks->tok[i], *next = &toks->tok[i + 1];

        if (t->kind == TOK_NAME &&
            (tok_is(next, "=") || tok_is(next, ",") || tok_is(next, "}") || tok_is(next, ";") ||
                tok_is(next, "[")) &&
            is_wanted(w, t->text))
            return true;
        if (tok_is(t, "=")) /* past the value */
            i = toks_find(toks, i, d->to, ",");
    }
    return false;
}

static bool always_stays(const struct decl *d, const struct toks *toks, size_t own_bytes)
{
    if (d->is_kernel)
        return toks->tok[d->from].at < own_bytes;
    /* using namespace nvcuda; namespace cg = cooperative_groups */
    if (d->kind != DECL_USING)
        return false;
    for (unsigned i = d->from; i < d->to; i++)
        if (toks_is(toks, i, "nvcuda") || toks_is(toks, i, "cooperative_groups") ||
            toks_is(toks, i, "cub") || toks_is(toks, i, "cute"))
            return true;
    return false;
}

const char *decls_defined(const char *directive)
{
    const char *p = directive + 1 + strspn(directive + 1, " \t");

    return str_starts(p, "define") && isspace((unsigned char)p[6]) ? p + 6 + strspn(p + 6, " \t")
                                                                   : NULL;
}

const char *decls_defined_name(struct arena *arena, const char *directive)
{
    const char *text = decls_defined(directive);
    size_t nr = 0;

    while (text && str_word_char(text[nr]))
        nr++;
    return text ? arena_strndup(arena, text, nr) : NULL;
}

/* Something is kept of a namespace of that name, which may be opened in several places. */
static bool namespace_kept(const struct decls *decls, const char *name)
{
    for (unsigned c = 1; c < decls->nr_containers; c++)
        for (unsigned i = decls->container[c].from;
             decls->container[c].keep && i < decls->container[c].open; i++)
            if (toks_is(decls->toks, i, name))
                return true;
    return false;
}

static void keep(struct decls *decls, struct decl *d)
{
    d->keep = true;
    for (unsigned c = d->container; c; c = decls->container[c].parent)
        decls->container[c].keep = true;
}

/* Wants what kernels name, and what stays in any case. All directives stay but headers of the host.
 * The names in a macro's body are wanted only where the macro is. */
static void want_first(struct decls *decls, struct wanted *w, struct arena *arena, size_t own_bytes,
    const char **macros)
{
    const struct toks *toks = decls->toks;

    for (unsigned i = 0; i < decls->nr_own; i++) {
        struct decl *d = &decls->decl[i];
        const char *text = toks->tok[d->from].text;

        if (d->kind != DECL_DIRECTIVE) {
            if (always_stays(d, toks, own_bytes))
                keep(decls, d);
            if (d->keep)
                want_tokens(w, arena, decls, d->from, d->to);
            continue;
        }
        d->keep = directive_stays(d, toks, arena);
        macros[i] = d->keep ? decls_defined_name(arena, text) : NULL;
        if (d->keep && !macros[i])
            want_words_of(w, arena, text);
    }
}

/* Keeps `using namespace x;` where something of x is kept. */
static void keep_using(struct decls *decls)
{
    const struct toks *toks = decls->toks;

    for (unsigned i = 0; i < decls->nr_own; i++) {
        struct decl *d = &decls->decl[i];

        if (d->kind == DECL_USING && d->to > d->from + 3 && toks_is(toks, d->from, "using") &&
            toks_is(toks, d->from + 1, "namespace") &&
            (!d->container || decls->container[d->container].keep) &&
            namespace_kept(decls, toks->tok[d->to - 2].text))
            d->keep = true;
    }
}

void decls_reach(struct decls *decls, struct arena *arena, size_t own_bytes, size_t device_bytes,
    const char *also)
{
    const struct toks *toks = decls->toks;
    const char **macros = arena_array(arena, decls->nr + 1, sizeof(*macros));
    struct wanted w = {0};
    bool grew = true;
    unsigned nr = decls->nr;

    while (nr > 0 && toks->tok[decls->decl[nr - 1].from].at >= device_bytes)
        nr--;
    decls->nr_own = nr;
    want_words_of(&w, arena, also);
    want_first(decls, &w, arena, own_bytes, macros);
    while (grew) {
        grew = false;
        if (w.nr)
            qsort(w.word, w.nr, sizeof(*w.word), by_text);
        size_t sorted = w.nr;

        for (unsigned i = 0; i < nr; i++) {
            struct decl *d = &decls->decl[i];
            struct wanted now = {w.word, sorted, 0};
            bool host_only = d->kind == DECL_FUNCTION && !d->is_device && !d->is_kernel &&
                             toks_find(toks, d->from, d->open, "constexpr") == d->open;

            if (macros[i] && (is_wanted(&now, macros[i]) || is_member_wanted(&now, macros[i]))) {
                want_words_of(&w, arena, toks->tok[d->from].text);
                macros[i] = NULL;
                grew = true;
            }
            if (d->keep || d->is_twin || host_only || d->kind == DECL_DIRECTIVE ||
                !any_name_wanted(&now, d, toks))
                continue;
            keep(decls, d);
            grew = true;
            want_tokens(&w, arena, decls, d->from, d->to);
        }
    }
    keep_using(decls);
    free(w.word);
}

const struct decl *decls_function(const struct decls *decls, const char *name)
{
    const struct decl *first = NULL;

    for (unsigned i = 0; i < decls->nr; i++) {
        const struct decl *d = &decls->decl[i];

        if (d->kind != DECL_FUNCTION || strcmp(d->name, name) != 0)
            continue;
        if (d->body)
            return d;
        first = first ? first : d;
    }
    return first;
}

const struct decl *decls_at(const struct decls *decls, unsigned at)
{
    unsigned low = 0, high = decls->nr;

    while (low < high) { /* the last one that begins at or before it */
        unsigned mid = low + (high - low) / 2;

        if (decls->decl[mid].from <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 && at < decls->decl[low - 1].to ? &decls->decl[low - 1] : NULL;
}
