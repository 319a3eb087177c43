/* Owns the top level of a file: declarations, what the device reaches of them, and the text that is
 * left when the rest is blanked. */
#include "intake/decls.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const struct toks *toks;
    struct decls *out;
    struct arena *arena;
    size_t cap_decls, cap_containers;
};

static bool is_any(const struct tok *t, const char *const *words)
{
    for (; *words; words++)
        if (tok_is(t, *words))
            return true;
    return false;
}

/* Past what an attribute-like word takes in parentheses. */
static unsigned skip_attribute(const struct toks *toks, unsigned i)
{
    static const char *const words[] = {"__launch_bounds__", "__attribute__", "__align__",
        "alignas", "decltype", "__declspec", "__maxnreg__", "__cluster_dims__", "noexcept",
        "static_assert", NULL};

    if (is_any(&toks->tok[i], words) && tok_is(&toks->tok[i + 1], "(") && toks->tok[i + 1].match)
        return toks->tok[i + 1].match + 1;
    if (tok_is(&toks->tok[i], "[") && tok_is(&toks->tok[i + 1], "[") && toks->tok[i].match)
        return toks->tok[i].match + 1;
    return i;
}

/* Past `template <...>`, heads of several lists included. */
static unsigned skip_template_head(const struct toks *toks, unsigned i, unsigned to)
{
    while (i < to && tok_is(&toks->tok[i], "template") && tok_is(&toks->tok[i + 1], "<")) {
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
    return i;
}

/* The end of the declaration that begins at `from`: past its `;`, or past its body. */
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
                return tok_is(&toks->tok[i + 1], ";") ? i + 2 : i + 1;
        } else if (tok_is(t, "}")) {
            return i; /* closes what we stand in */
        } else {
            aggregate = aggregate || (!parens && is_any(t, aggregates));
            assigned = assigned ||
                       (tok_is(t, "=") && !(i > from && tok_is(&toks->tok[i - 1], "operator")));
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

    d->kind = DECL_FUNCTION;
    d->open = open;
    d->name =
        open > d->from && toks->tok[open - 1].kind == TOK_NAME ? toks->tok[open - 1].text : "";
    if (close)
        for (unsigned i = close; i < d->to; i++) {
            if (tok_is(&toks->tok[i], "{")) {
                d->body = i;
                break;
            }
            if (toks->tok[i].match > i)
                i = toks->tok[i].match;
        }
}

static void describe(struct decl *d, const struct toks *toks)
{
    static const char *const aggregates[] = {"struct", "class", "union", "enum", NULL};
    unsigned i = skip_template_head(toks, d->from, d->to), name = 0;
    bool typed = false;

    if (tok_is(&toks->tok[i], "using") || tok_is(&toks->tok[i], "typedef") ||
        tok_is(&toks->tok[i], "namespace")) {
        d->kind = DECL_USING;
        bool alias = !tok_is(&toks->tok[i], "typedef");

        d->name = "";
        if (alias && i + 1 < d->to && toks->tok[i + 1].kind == TOK_NAME)
            d->name = toks->tok[i + 1].text;
        else if (!alias && d->to > d->from + 1 && toks->tok[d->to - 2].kind == TOK_NAME)
            d->name = toks->tok[d->to - 2].text;
        return;
    }
    d->kind = DECL_VARIABLE;
    d->name = "";
    for (; i < d->to; i++) {
        const struct tok *t = &toks->tok[i];
        unsigned past = skip_attribute(toks, i);

        d->is_kernel = d->is_kernel || tok_is(t, "__global__");
        d->is_device = d->is_device || tok_is(t, "__device__") || tok_is(t, "__constant__") ||
                       tok_is(t, "__shared__") || tok_is(t, "__managed__");
        d->is_host = d->is_host || tok_is(t, "__host__");
        if (past > i) {
            i = past - 1;
            continue;
        }
        if (is_any(t, aggregates)) {
            typed = true;
            continue;
        }
        if (tok_is(t, "(") && i > d->from && !tok_is(&toks->tok[i - 1], "=")) {
            describe_function(toks, d, i);
            return;
        }
        if (t->kind == TOK_NAME && !(typed && name))
            name = i;
        if (tok_is(t, "{") || tok_is(t, "=") || tok_is(t, "[") || tok_is(t, ";") ||
            (typed && tok_is(t, ":"))) {
            if (typed && tok_is(t, "{"))
                d->kind = DECL_TYPE;
            break;
        }
    }
    if (typed && d->kind == DECL_VARIABLE && tok_is(&toks->tok[d->to - 1], ";") &&
        name == d->to - 2)
        d->kind = DECL_TYPE; /* a forward declaration */
    if (typed)
        for (unsigned k = i; k < d->to; k++) /* struct S : B { ... } */
            if (tok_is(&toks->tok[k], "{"))
                d->kind = DECL_TYPE;
    d->name = name ? toks->tok[name].text : "";
}

static void add(struct reader *r, struct decl d)
{
    r->out->decl = grow(r->out->decl, &r->cap_decls, r->out->nr + 1, sizeof(d));
    r->out->decl[r->out->nr++] = d;
}

/* namespace a::b { and extern "C" {: the token of the brace, or 0. */
static unsigned container_open(const struct toks *toks, unsigned i)
{
    unsigned at = i + tok_is(&toks->tok[i], "inline");

    if (tok_is(&toks->tok[at], "extern") && toks->tok[at + 1].kind == TOK_STRING)
        return tok_is(&toks->tok[at + 2], "{") && toks->tok[at + 2].match ? at + 2 : 0;
    if (!tok_is(&toks->tok[at], "namespace"))
        return 0;
    for (at++; toks->tok[at].kind == TOK_NAME || tok_is(&toks->tok[at], "::"); at++)
        ;
    return tok_is(&toks->tok[at], "{") && toks->tok[at].match ? at : 0;
}

static int by_function(const void *a, const void *b)
{
    const struct decl *x = *(const struct decl *const *)a, *y = *(const struct decl *const *)b;
    int order = strcmp(x->name, y->name);

    if (order == 0)
        order = (x->body == 0) - (y->body == 0);
    return order ? order : (x->from > y->from) - (x->from < y->from);
}

static void sort_functions(struct decls *decls, struct arena *arena)
{
    decls->functions = arena_array(arena, decls->nr + 1, sizeof(*decls->functions));
    for (unsigned i = 0; i < decls->nr; i++)
        if (decls->decl[i].kind == DECL_FUNCTION)
            decls->functions[decls->nr_functions++] = &decls->decl[i];
    qsort(decls->functions, decls->nr_functions, sizeof(*decls->functions), by_function);
}

void decls_read(struct decls *decls, struct arena *arena, const struct toks *toks)
{
    struct reader r = {toks, decls, arena, 0, 0};
    unsigned inside = 0;

    *decls = (struct decls){.toks = toks};
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
        } else if (!tok_is(&toks->tok[i], ";") && !tok_is(&toks->tok[i], "}")) {
            d.to = decl_end(toks, i, decls->container[inside].close);
            d.to = d.to > i ? d.to : i + 1;
            describe(&d, toks);
            add(&r, d);
        }
        i = d.to;
    }
    struct decl *heap = decls->decl;
    struct container *heap_containers = decls->container;
    decls->decl = arena_array(arena, decls->nr + 1, sizeof(*decls->decl));
    decls->container = arena_array(arena, decls->nr_containers, sizeof(*decls->container));
    if (decls->nr)
        memcpy(decls->decl, heap, decls->nr * sizeof(*heap));
    memcpy(decls->container, heap_containers, decls->nr_containers * sizeof(*heap_containers));
    free(heap);
    free(heap_containers);
    sort_functions(decls, arena);
}

/* ---- what the device reaches ---- */

const char *include_name(struct arena *arena, const char *directive, bool *quoted)
{
    const char *p = directive + 1;

    while (*p == ' ' || *p == '\t')
        p++;
    if (strncmp(p, "include", 7) != 0)
        return NULL;
    p += strcspn(p, "<\"\n");
    if (*p != '<' && *p != '"')
        return NULL;
    *quoted = *p == '"';
    size_t nr = strcspn(p + 1, ">\"\n");
    return arena_strndup(arena, p + 1, nr);
}

bool include_is_device(const char *name)
{
    static const char *const known[] = {"cuda_fp16.h", "cuda_fp8.h", "cuda_bf16.h", "cuda_fp4.h",
        "mma.h", "cooperative_groups.h", "cuda_pipeline.h", "cuda_pipeline_primitives.h",
        "cuda_awbarrier.h", "curand_kernel.h", "math_constants.h", "cmath", "math.h", "cstdint",
        "stdint.h", "cfloat", "float.h", "climits", "limits.h", "limits", "type_traits", "cstddef",
        "stddef.h", "cassert", "assert.h", NULL};
    static const char *const prefixes[] = {
        "cub/", "cuda/", "cooperative_groups/", "cute/", "cutlass/", NULL};

    /* all of cub has host code: what is used of it comes by name */
    if (strcmp(name, "cub/cub.cuh") == 0)
        return false;
    for (unsigned i = 0; known[i]; i++)
        if (strcmp(name, known[i]) == 0)
            return true;
    for (unsigned i = 0; prefixes[i]; i++)
        if (str_starts(name, prefixes[i]))
            return true;
    return false;
}

/* A growing set of words whose declarations are wanted. */
struct wanted {
    const char **word;
    size_t nr, cap;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a macro's definition or in any other directive are wanted too: it stays. */
static void want_words_of(struct wanted *w, struct arena *arena, const char *text)
{
    for (const char *p = text; *p;) {
        if (isalpha((unsigned char)*p) || *p == '_') {
            size_t nr =
                strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

            w->word = grow(w->word, &w->cap, w->nr + 1, sizeof(*w->word));
            w->word[w->nr++] = arena_strndup(arena, p, nr);
            p += nr;
        } else {
            p++;
        }
    }
}

static void want_tokens(struct wanted *w, const struct toks *toks, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (toks->tok[i].kind == TOK_NAME) {
            w->word = grow(w->word, &w->cap, w->nr + 1, sizeof(*w->word));
            w->word[w->nr++] = toks->tok[i].text;
        }
}

static bool directive_stays(struct decl *d, const struct toks *toks, struct arena *arena)
{
    const char *text = toks->tok[d->from].text;
    bool quoted;
    const char *name = include_name(arena, text, &quoted);

    if (name)
        return include_is_device(name);
    return strncmp(text, "#pragma once", 12) != 0;
}

static bool is_wanted(const struct wanted *w, const char *name)
{
    return w->nr > 0 && *name && bsearch(&name, w->word, w->nr, sizeof(*w->word), by_text) != NULL;
}

/* Words that say nothing about whose operator it is. */
static bool is_operand(const struct tok *t)
{
    static const char *const common[] = {"const", "int", "float", "double", "unsigned", "long",
        "char", "bool", "volatile", "a", "b", "s", "x", "y", "lhs", "rhs", "v", NULL};

    return !is_any(t, common);
}

/* An enum's values, and the further variables of one line, are names too. */
static bool any_name_wanted(const struct wanted *w, const struct decl *d, const struct toks *toks)
{
    if (is_wanted(w, d->name))
        return true;
    if (d->kind == DECL_FUNCTION && d->is_device && d->open > d->from + 1 && !*d->name) {
        unsigned close = toks->tok[d->open].match; /* operator+(vec a, vec b): by its operands */

        for (unsigned i = d->open + 1; i < close; i++)
            if (toks->tok[i].kind == TOK_NAME && is_operand(&toks->tok[i]) &&
                is_wanted(w, toks->tok[i].text))
                return true;
    }
    if (d->kind == DECL_FUNCTION || (d->kind == DECL_TYPE && !tok_is(&toks->tok[d->from], "enum")))
        return false;
    for (unsigned i = d->from; i + 1 < d->to; i++) {
        const struct tok *t = &toks->tok[i], *next = &toks->tok[i + 1];

        if (t->kind == TOK_NAME &&
            (tok_is(next, "=") || tok_is(next, ",") || tok_is(next, "}") || tok_is(next, ";") ||
                tok_is(next, "[")) &&
            is_wanted(w, t->text))
            return true;
    }
    return false;
}

static bool always_stays(const struct decl *d, const struct toks *toks)
{
    if (d->is_kernel)
        return true;
    /* using namespace nvcuda; namespace cg = cooperative_groups */
    if (d->kind != DECL_USING)
        return false;
    for (unsigned i = d->from; i < d->to; i++)
        if (tok_is(&toks->tok[i], "nvcuda") || tok_is(&toks->tok[i], "cooperative_groups") ||
            tok_is(&toks->tok[i], "cub") || tok_is(&toks->tok[i], "cute"))
            return true;
    return false;
}

void decls_reach(struct decls *decls, struct arena *arena, size_t own_bytes)
{
    const struct toks *toks = decls->toks;
    struct wanted w = {0};
    bool grew = true;
    unsigned nr = decls->nr;

    while (nr > 0 && toks->tok[decls->decl[nr - 1].from].at >= own_bytes)
        nr--;

    for (unsigned i = 0; i < nr; i++) {
        struct decl *d = &decls->decl[i];

        d->keep =
            d->kind == DECL_DIRECTIVE ? directive_stays(d, toks, arena) : always_stays(d, toks);
        if (d->keep && d->kind == DECL_DIRECTIVE)
            want_words_of(&w, arena, toks->tok[d->from].text);
        else if (d->keep)
            want_tokens(&w, toks, d->from, d->to);
    }
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

            if (d->keep || host_only || d->kind == DECL_DIRECTIVE ||
                !any_name_wanted(&now, d, toks))
                continue;
            d->keep = grew = true;
            want_tokens(&w, toks, d->from, d->to);
        }
    }
    free(w.word);
    for (unsigned i = 0; i < decls->nr; i++)
        for (unsigned c = decls->decl[i].keep ? decls->decl[i].container : 0; c;
             c = decls->container[c].parent)
            decls->container[c].keep = true;
}

static void copy(char *out, const char *source, unsigned from, unsigned to)
{
    memcpy(out + from, source + from, to - from);
}

/* Token t is that word; of "std::x", x with its namespace before it. */
static bool is_word(const struct toks *toks, unsigned t, const char *word)
{
    if (!str_starts(word, "std::"))
        return tok_is(&toks->tok[t], word);
    return t > 1 && tok_is(&toks->tok[t], word + 5) && tok_is(&toks->tok[t - 1], "::") &&
           tok_is(&toks->tok[t - 2], "std");
}

/* Headers that the host's own brought along, cuBLAS's for one, and that the device code needs. */
static const char *brought(const struct decls *decls, struct arena *arena)
{
    static const struct {
        const char *header, *words[14];
    } known[] = {
        {"cuda_bf16.h", {"__nv_bfloat16", "nv_bfloat16", "__nv_bfloat162", "nv_bfloat162"}},
        {"cuda_fp16.h", {"__half", "half", "half2", "__half2"}},
        {"curand_kernel.h", {"curandState", "curand_init", "curandStatePhilox4_32_10_t"}},
        {"cub/block/block_reduce.cuh", {"BlockReduce"}},
        {"cub/block/block_scan.cuh", {"BlockScan"}}, {"cub/block/block_load.cuh", {"BlockLoad"}},
        {"cub/block/block_store.cuh", {"BlockStore"}},
        {"cub/block/block_radix_sort.cuh", {"BlockRadixSort"}},
        {"cub/block/block_exchange.cuh", {"BlockExchange"}},
        {"cub/block/block_discontinuity.cuh", {"BlockDiscontinuity"}},
        {"cub/block/block_histogram.cuh", {"BlockHistogram"}},
        {"cub/warp/warp_reduce.cuh", {"WarpReduce"}}, {"cub/warp/warp_scan.cuh", {"WarpScan"}},
        {"cub/thread/thread_operators.cuh", {"Sum", "Max", "Min"}},
        {"cooperative_groups.h", {"cooperative_groups"}},
        {"cfloat", {"FLT_MAX", "FLT_MIN", "DBL_MAX", "FLT_EPSILON", "DBL_EPSILON", "DBL_MIN"}},
        {"climits", {"INT_MAX", "INT_MIN", "UINT_MAX", "LLONG_MAX", "CHAR_BIT", "LONG_MAX"}},
        {"limits", {"numeric_limits"}}, {"cstddef", {"std::size_t", "std::ptrdiff_t"}},
        {"array", {"std::array"}}, {"algorithm", {"std::min", "std::max", "std::clamp"}},
        {"utility", {"std::pair", "std::swap", "std::declval", "std::index_sequence"}},
        {"functional", {"std::plus", "std::multiplies", "std::less", "std::greater"}},
        {"type_traits", {"std::is_same", "std::is_same_v", "std::conditional_t", "std::enable_if_t",
                            "std::enable_if", "std::common_type", "std::common_type_t",
                            "std::integral_constant"}},
        {"sys/types.h", {"uint", "ushort", "ulong"}},
        {"cstdint", {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t", "int16_t", "int32_t",
                        "int64_t", "uintptr_t", "intptr_t"}},
        {"cassert", {"assert"}}};
    const struct toks *toks = decls->toks;
    bool wanted[ARRAY_SIZE(known)] = {false}, have[ARRAY_SIZE(known)] = {false};
    struct str text = {0};

    for (unsigned i = 0; i < decls->nr; i++) {
        const struct decl *d = &decls->decl[i];

        for (unsigned t = d->from; d->keep && t < d->to; t++)
            for (size_t k = 0; k < ARRAY_SIZE(known); k++) {
                bool quoted;
                const char *name = toks->tok[t].kind == TOK_DIRECTIVE
                                       ? include_name(arena, toks->tok[t].text, &quoted)
                                       : NULL;

                if (name && strcmp(name, known[k].header) == 0)
                    have[k] = true;
                for (unsigned w = 0; w < ARRAY_SIZE(known[k].words) && known[k].words[w]; w++)
                    wanted[k] = wanted[k] || is_word(toks, t, known[k].words[w]);
            }
    }
    for (size_t k = 0; k < ARRAY_SIZE(known); k++)
        if (wanted[k] && !have[k])
            str_addf(&text, "%s#include <%s>", text.len ? "\n" : "", known[k].header);
    const char *lines = arena_strdup(arena, str_text(&text));
    str_finish(&text);
    return lines;
}

/* #if, #else and #endif that a dropped declaration has only a part of stay: the rest is elsewhere.
 */
static void keep_conditionals(char *out, const struct toks *toks, const struct decl *d)
{
    unsigned open[32], nr = 0;

    for (unsigned t = d->from; t < d->to; t++) {
        const struct tok *tok = &toks->tok[t];
        const char *word = tok->kind == TOK_DIRECTIVE ? tok->text + 1 : "";

        word += strspn(word, " \t");
        bool opens = str_starts(word, "if"), closes = str_starts(word, "endif");

        if (opens && nr < ARRAY_SIZE(open))
            open[nr++] = t;
        else if (closes && nr > 0)
            nr--;
        else if (nr == 0 && (closes || str_starts(word, "el")))
            copy(out, toks->source, tok->at, tok->end);
    }
    while (nr-- > 0)
        copy(out, toks->source, toks->tok[open[nr]].at, toks->tok[open[nr]].end);
}

struct device_text decls_device_text(const struct decls *decls, struct arena *arena, size_t bytes)
{
    struct device_text device = {0};
    const struct toks *toks = decls->toks;
    char *out = arena_alloc(arena, bytes + 1);
    struct str packed = {0};
    const char *headers = brought(decls, arena);
    unsigned line = 0;

    for (size_t i = 0; i < bytes; i++)
        out[i] = toks->source[i] == '\n' ? '\n' : 0;
    for (unsigned i = 0; i < decls->nr; i++) {
        const struct decl *d = &decls->decl[i];
        /* the comment above belongs to what follows it */
        unsigned before = d->from ? toks->tok[d->from - 1].end : 0;

        if (d->keep)
            copy(out, toks->source, d->kind == DECL_DIRECTIVE ? toks->tok[d->from].at : before,
                toks->tok[d->to - 1].end);
        else if (d->kind != DECL_DIRECTIVE)
            keep_conditionals(out, toks, d);
    }
    for (unsigned c = 1; c < decls->nr_containers; c++)
        if (decls->container[c].keep) {
            copy(out, toks->source, toks->tok[decls->container[c].from].at,
                toks->tok[decls->container[c].open].end);
            copy(out, toks->source, toks->tok[decls->container[c].close].at,
                toks->tok[decls->container[c].close].end);
        }
    /* An added header takes the place of an empty line, as long as there are some at the top. */
    for (size_t i = 0; i < bytes; i++) {
        bool empty = out[i] == '\n' && (packed.len == 0 || packed.text[packed.len - 1] == '\n');

        if (*headers && (empty || (out[i] && out[i] != '\n'))) {
            size_t nr = strcspn(headers, "\n");

            if (!empty) { /* no room left: the rest moves down */
                str_addf(&packed, "%s\n", headers);
                for (const char *p = headers; *p; p++)
                    device.nr_added += *p == '\n';
                device.nr_added++;
                device.added_at = line;
                headers = "";
            } else {
                str_add_n(&packed, headers, nr);
                headers += nr + (headers[nr] == '\n');
                device.nr_in_place++;
            }
        }
        if (out[i])
            str_add_char(&packed, out[i]);
        line += out[i] == '\n';
    }
    device.text = arena_strdup(arena, str_text(&packed));
    str_finish(&packed);
    return device;
}

const struct decl *decls_function(const struct decls *decls, const char *name)
{
    unsigned low = 0, high = decls->nr_functions;

    while (low < high) { /* the first that is not before it */
        unsigned mid = low + (high - low) / 2;

        if (strcmp(decls->functions[mid]->name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < decls->nr_functions && strcmp(decls->functions[low]->name, name) == 0
               ? decls->functions[low]
               : NULL;
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
