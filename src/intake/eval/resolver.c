/* Owns what the text of host code says: macros, conditional compilation, launches, definitions of
 * names. */
#include "intake/eval/resolver.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* ---- macros ---- */

static void read_macro(struct resolver *resolver, const struct tok *t, size_t *cap)
{
    const char *text = decls_defined(t->text);
    struct macro m = {.line = t->line};
    struct toks all;

    if (!text || !toks_lex(&all, resolver->arena, text, strlen(text)) || all.nr == 0)
        return;
    m.name = all.tok[0].text;
    m.is_function = toks_is(&all, 1, "(") && all.tok[1].at == all.tok[0].end;
    const unsigned close = m.is_function ? all.tok[1].match : 0;

    for (unsigned i = 2; i < close && m.nr_params < ARRAY_SIZE(m.params); i++)
        if (!toks_is(&all, i, ","))
            m.params[m.nr_params++] = all.tok[i].text;
    text += all.tok[close].end;
    if (!toks_lex(&m.toks, resolver->arena, text, strlen(text)))
        return;
    resolver->macros = grow(resolver->macros, cap, resolver->nr_macros + 1, sizeof(m));
    resolver->macros[resolver->nr_macros++] = m;
}

/* ---- conditional compilation ---- */

/* The word behind the # of a directive, and in *rest what follows the word. */
static const char *directive_word(const struct tok *t, const char **rest)
{
    const char *p = t->text + 1 + strspn(t->text + 1, " \t");

    *rest = p + strcspn(p, " \t(!");
    return p;
}

/* Of #if, #ifdef or #elif: whether the lines under it count. *sure: the answer is certain, because
 * the condition is one number, or asks for one macro that no compiler defines. */
static bool holds(const struct resolver *resolver, const struct tok *t, bool *sure)
{
    const char *rest, *word = directive_word(t, &rest);
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
    bool taken, passed, unsure;
    unsigned at; /* the directive's token */
};

static void enter_branch(struct branch *b, const struct resolver *resolver, unsigned at)
{
    const struct tok *t = &resolver->toks->tok[at];
    const char *rest, *word = directive_word(t, &rest);
    bool sure = true;
    const bool counts = str_starts(word, "else") ? !b->taken : holds(resolver, t, &sure);

    b->unsure |= !sure;
    b->passed = b->taken || !counts;
    b->taken |= counts;
    b->at = at;
}

/* Marks the tokens that do not count, and reads the macros that do. Both in one pass, because a
 * condition asks for the macros before it. */
static void read_directives(struct resolver *resolver, struct toks *toks)
{
    enum { MAX_DEPTH = 32 };
    struct branch branches[MAX_DEPTH] = {{0}};
    bool *out = arena_array(resolver->arena, toks->nr + 1, sizeof(*out));
    unsigned *passed = arena_array(resolver->arena, toks->nr + 1, sizeof(*passed));
    unsigned depth = 0;
    size_t cap = 0;

    for (unsigned i = 0; i < toks->nr; i++) {
        const bool directive = toks->tok[i].kind == TOK_DIRECTIVE;
        const char *rest, *word = directive ? directive_word(&toks->tok[i], &rest) : "";

        if (str_starts(word, "if")) {
            if (depth < MAX_DEPTH)
                branches[depth] = (struct branch){0};
            depth++;
        } else if (str_starts(word, "endif") && depth > 0) {
            depth--;
        }
        if (depth > 0 && depth <= MAX_DEPTH && (str_starts(word, "if") || str_starts(word, "el")))
            enter_branch(&branches[depth - 1], resolver, i);
        for (unsigned d = 0; d < depth && d < MAX_DEPTH; d++) {
            passed[i] = branches[d].passed ? branches[d].at : passed[i];
            out[i] |= branches[d].passed && !branches[d].unsure;
        }
        if (directive && !out[i])
            read_macro(resolver, &toks->tok[i], &cap);
    }
    toks->left_out = out;
    toks->passed = passed;
}

void resolver_init(
    struct resolver *resolver, struct arena *arena, const struct decls *decls, struct toks *toks)
{
    *resolver = (struct resolver){.arena = arena, .toks = decls->toks, .decls = decls};
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

unsigned resolver_site(const struct resolver *resolver, const struct toks *toks, unsigned at,
    unsigned to, struct site *site)
{
    enum { MOST_BACK = 512 }; /* tokens of template arguments */
    const unsigned close = toks_find(toks, at + 1, to, ">>>"),
                   end = toks_before_angles(toks, at, at > MOST_BACK ? at - MOST_BACK : 0);
    unsigned i = end - 1;

    if (close >= to || end == 0 || toks->tok[i].kind != TOK_NAME ||
        !toks_is(toks, close + 1, "(") || !toks->tok[close + 1].match)
        return 0;
    *site = (struct site){.at = at, .line = toks->tok[at].line, .kernel = toks->tok[i].text};
    while (i > 1 && toks_is(toks, i - 1, "::") && toks->tok[i - 2].kind == TOK_NAME)
        i -= 2;
    site->from = i;
    site->id = toks_text(toks, resolver->arena, i, at);
    if (end < at)
        site->nr_template_args =
            toks_list(toks, end, site->template_args, ARRAY_SIZE(site->template_args));
    site->nr_config = tok_range_split(
        (struct tok_range){toks, at + 1, close}, site->config, ARRAY_SIZE(site->config));
    site->nr_args = toks_list(toks, close + 1, site->args, ARRAY_SIZE(site->args));
    return toks->tok[close + 1].match + 1;
}

struct site *resolver_launches(const struct resolver *resolver, unsigned *nr)
{
    const struct toks *toks = resolver->toks;
    struct site *sites = NULL, site;
    size_t cap = 0;

    *nr = 0;
    for (unsigned i = 0; i < toks->nr; i++)
        if (toks_is(toks, i, "<<<") && resolver_site(resolver, toks, i, toks->nr, &site)) {
            sites = grow(sites, &cap, *nr + 1, sizeof(site));
            sites[(*nr)++] = site;
        }
    return sites;
}

const struct decl *resolver_function_at(const struct resolver *resolver, unsigned at)
{
    const struct decl *d = decls_at(resolver->decls, at);

    return d && d->kind == DECL_FUNCTION && d->body && at >= d->body ? d : NULL;
}
