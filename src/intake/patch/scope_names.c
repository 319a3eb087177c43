/* Owns what the expressions of a contract are called at a place in host code. */
#include "intake/patch/patch_parts.h"

#include "base/mem.h"
#include "core/expr.h"
#include "intake/eval/interp.h"
#include "intake/syntax/spelling.h"

#include <string.h>

enum {
    MAX_NAMES = 512,
    MAX_EXPR_BYTES = 1 << 10 /* what each part of an expression is called is looked up */
};

const char *spelling_dense(struct arena *arena, const char *text)
{
    char *out = arena_strdup(arena, text), *to = out;

    for (const char *p = out; *p; p++)
        if (*p != ' ' && *p != '\t' && *p != '\n')
            *to++ = *p;
    *to = 0;
    return out;
}

void scope_names_init(struct scope_names *scope, struct patcher *p, unsigned at)
{
    scope->p = p;
    scope->at = at;
    scope->nr_maps = 0;
}

void scope_names_add(
    struct scope_names *scope, const char *text, const char *source, const char *type)
{
    if (scope->nr_maps < SCOPE_NAMES_MAX)
        scope->maps[scope->nr_maps++] = (struct name_map){text, source, type};
}

const struct name_map *scope_names_find(const struct scope_names *scope, const char *text)
{
    for (unsigned i = 0; i < scope->nr_maps; i++)
        if (strcmp(scope->maps[i].text, text) == 0)
            return &scope->maps[i];
    return NULL;
}

/* ---- names in scope ---- */

/* The text of the contract for one word or member of host code; NULL: that comes down to something
 * else. */
static const char *meaning(struct scope_names *scope, const char *source)
{
    struct resolver *resolver = &scope->p->set->resolver;
    struct arena *arena = scope->p->arena;
    const struct interp_launch *launch = NULL;
    struct str out = {0};
    struct toks toks;

    for (unsigned i = 0; i < INTAKE_MAX_LAUNCHES && resolver->seen[i]; i++)
        if (resolver->launched[i] == scope->at)
            launch = resolver->seen[i];
    if (!toks_lex(&toks, arena, source, strlen(source)))
        return NULL;
    const struct interp_value v =
        interp_in_scope(resolver->interp, launch, (struct tok_range){&toks, 0, toks.nr});
    const struct said *said = interp_said(resolver->interp, &v);
    const char *text = said && resolver_write(resolver, said, true, &out)
                           ? scope_names_plain(arena, scope->p->plan, str_text(&out))
                           : NULL;

    str_finish(&out);
    return text;
}

/* The name at token i can be used at token `at` of the same function. */
static bool in_scope(const struct toks *toks, const struct decl *fn, unsigned i, unsigned at)
{
    if (i > fn->open && i < toks->tok[fn->open].match)
        return true;
    if (i <= fn->body || i >= at)
        return false;
    for (unsigned k = i; k > fn->body; k--) {
        const struct tok *t = &toks->tok[k];

        if (t->match && t->match < k)
            k = t->match; /* skips a block that has ended */
        else if (tok_is(t, "(") && t->match > i && tok_is(&toks->tok[k - 1], "for"))
            return false;
        else if (tok_is(t, "{") && t->match > i)
            return t->match > at;
    }
    return true;
}

/* The token behind the word or member at token i: n, cfg.n, x.size(0). */
static unsigned word_end(const struct toks *toks, unsigned i)
{
    unsigned end = i + 1;

    while ((tok_is(&toks->tok[end], ".") || tok_is(&toks->tok[end], "->")) &&
           toks->tok[end + 1].kind == TOK_NAME)
        end += 2;
    if (end > i + 1 && tok_is(&toks->tok[end], "(") && toks->tok[end].match)
        end = toks->tok[end].match + 1;
    return end;
}

/* A name in the function around that means the size. The size's own name is looked at first. */
static const char *local_name(struct scope_names *scope, const char *size, bool own)
{
    const struct source_set *set = scope->p->set;
    const struct decl *fn = resolver_function_at(&set->resolver, scope->at);
    const char *seen[MAX_NAMES];
    unsigned nr_seen = 0;

    for (unsigned i = fn ? fn->open : scope->at; i < scope->at; i++) {
        const struct tok *t = &set->toks.tok[i];
        unsigned end = word_end(&set->toks, i), k = 0;

        if (t->kind != TOK_NAME || tok_is(t - 1, ".") || tok_is(t - 1, "->") ||
            tok_is(t - 1, "::") || spelling_bytes(t->text) || task_reserves(t->text) ||
            (end == i + 1 && tok_is(t + 1, "(") && !tok_is(&set->toks.tok[i - 1], "int")) ||
            own != (end == i + 1 && strcmp(t->text, size) == 0) ||
            !in_scope(&set->toks, fn, i, scope->at))
            continue;
        const char *source = patcher_source(scope->p, (struct tok_range){&set->toks, i, end});

        while (k < nr_seen && strcmp(seen[k], source) != 0)
            k++;
        if (k < nr_seen || nr_seen == MAX_NAMES)
            continue;
        seen[nr_seen++] = source;
        const char *is = meaning(scope, source);

        if (is && strcmp(is, size) == 0)
            return source;
    }
    return NULL;
}

/* A constant or macro of the file that means the size. */
static const char *file_name_of(struct scope_names *scope, const char *size)
{
    const struct source_set *set = scope->p->set;
    const char *found = NULL;

    for (unsigned i = 0; i < set->decls.nr && !found; i++) {
        const struct decl *d = &set->decls.decl[i];

        for (unsigned t = d->from;
             d->kind != DECL_FUNCTION && d->kind != DECL_DIRECTIVE && !found && t < d->to; t++)
            if (d->from < scope->at && tok_is(&set->toks.tok[t], size))
                found = size;
    }
    for (unsigned i = 0; i < set->resolver.nr_macros && !found; i++)
        if (!set->resolver.macros[i].is_function && strcmp(set->resolver.macros[i].name, size) == 0)
            found = size;
    if (!found)
        return NULL;
    const char *is = meaning(scope, found);

    return is && strcmp(is, size) == 0 ? found : NULL;
}

static const char *size_source(struct scope_names *scope, const char *size)
{
    const char *source = local_name(scope, size, true);

    source = source ? source : file_name_of(scope, size);
    source = source ? source : local_name(scope, size, false);
    if (source)
        scope_names_add(scope, size, source, NULL);
    else
        patcher_refuse(scope->p, "the launch needs %s, and nothing at %s is called that", size,
            patcher_where(scope->p, scope->p->set->toks.tok[scope->at].line));
    return source;
}

/* ---- expressions ---- */

/* False: the text is no expression, or too long, or a name of it has no source. context: the
 * scope. */
static bool write_text(struct str *out, struct arena *arena, const struct plan *plan,
    const char *text, const char *(*stands_for)(void *, const char *, bool), void *context)
{
    const struct shape none = {0};
    const struct expr_style style = {.numbers = plan_env(arena, plan, &none),
        .cxx = stands_for != NULL,
        .stands_for = stands_for,
        .context = context};
    struct err ignored;
    const size_t bytes = strlen(text);
    const struct expr *e = bytes < MAX_EXPR_BYTES ? expr_parse(arena, text, bytes, &ignored) : NULL;

    return e && expr_write(e, &style, out);
}

const char *scope_names_plain(struct arena *arena, const struct plan *plan, const char *text)
{
    struct str out = {0};
    const bool ok = write_text(&out, arena, plan, text, NULL, NULL);
    const char *plain = str_move(&out, arena);

    return ok ? plain : spelling_dense(arena, text);
}

static const char *stands_for(void *context, const char *text, bool is_name)
{
    struct scope_names *scope = context;
    const struct name_map *map = scope_names_find(scope, text);

    return map       ? map->source
           : is_name ? size_source(scope, arena_strdup(scope->p->arena, text))
                     : NULL;
}

const char *scope_names_expr(struct scope_names *scope, const char *text)
{
    struct patcher *p = scope->p;
    struct str out = {0};
    const bool ok = write_text(&out, p->arena, p->plan, text, stands_for, scope);
    const char *source = str_move(&out, p->arena);

    if (!ok)
        patcher_refuse(p, "the winner passes %s, which the launches there do not pass", text);
    return ok ? source : NULL;
}
