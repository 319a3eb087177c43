/* Owns what the expressions of a contract are called at a place in host code. */
#include "intake/patch/patch_parts.h"

#include "base/mem.h"
#include "core/expr.h"
#include "intake/eval/interp.h"
#include "intake/syntax/spelling.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 512 };

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
    scope->plan = p->plan;
    scope->at = at;
    scope->nr_maps = 0;
    scope->contract = false;
}

void scope_names_add(
    struct scope_names *scope, const char *text, const char *source, const char *type)
{
    struct arena *arena = scope->p->arena;

    if (scope->nr_maps < SCOPE_NAMES_MAX)
        scope->maps[scope->nr_maps++] =
            (struct name_map){spelling_dense(arena, spelling_tidy(arena, text)), source, type};
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
                           ? spelling_dense(arena, spelling_tidy(arena, str_text(&out)))
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

static const char *source_of(const struct scope_names *scope, unsigned from, unsigned to)
{
    const struct toks *toks = &scope->p->set->toks;

    return arena_strndup(scope->p->arena, toks->source + toks->tok[from].at,
        toks->tok[to - 1].end - toks->tok[from].at);
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
        const char *source = source_of(scope, i, end);

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
    const struct name_map *map = scope_names_find(scope, size);
    const char *source = NULL;

    if (scope->contract)
        return size;
    if (map)
        return map->source;
    source = local_name(scope, size, true);
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

/* The number of an expression that has only numbers and tuning parameters; else NULL. */
static const char *folded(struct scope_names *scope, const char *text)
{
    struct arena *arena = scope->p->arena;
    struct shape none = {0};
    struct env env = plan_env(arena, scope->plan, &none);
    struct err ignored = {0};
    const struct expr *e = expr_parse(arena, text, strlen(text), &ignored);
    int64_t value;

    if (!e || !expr_eval(e, &env, &value, &ignored))
        return NULL;
    return arena_printf(
        arena, "%" PRId64 "%s", value, value > INT32_MAX || value < INT32_MIN ? "LL" : "");
}

static const char *range_expr(struct scope_names *scope, struct tok_range r, bool alone);

/* The C++ text as one operand: in parentheses where it needs them. */
static const char *operand(struct arena *arena, const char *text)
{
    for (const char *p = text; *p; p++)
        if (!str_word_char(*p) && *p != '.')
            return arena_printf(arena, "(%s)", text);
    return text;
}

/* The C++ text as an operand of `+`: in parentheses where it needs them. */
static const char *summand(struct arena *arena, const char *text)
{
    int depth = 0;

    for (const char *p = text; *p; p++) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0 && strchr("+-?<>&|^=!,", *p))
            return operand(arena, text);
    }
    return text;
}

/* The C++ for ceil_div, min and max. */
static const char *call_expr(struct scope_names *scope, const char *name, struct tok_range args)
{
    struct arena *arena = scope->p->arena;
    struct tok_range parts[3];
    const char *a, *b;
    char *end;

    if (tok_range_split(args, parts, 3) != 2 || !(a = range_expr(scope, parts[0], true)) ||
        !(b = range_expr(scope, parts[1], true)))
        return NULL;
    if (scope->contract)
        return arena_printf(arena, "%s(%s,%s)", name, a, b);
    if (strcmp(name, "ceil_div") == 0) {
        long long by = strtoll(b, &end, 10);

        if (*end == 0 && by > 1)
            return arena_printf(arena, "(%s + %lld) / %lld", summand(arena, a), by - 1, by);
        return *end == 0 && by == 1 ? a
                                    : arena_printf(arena, "(%s + %s - 1) / %s", summand(arena, a),
                                          summand(arena, b), operand(arena, b));
    }
    a = operand(arena, a);
    b = operand(arena, b);
    return arena_printf(
        arena, "%s %c %s ? %s : %s", a, strcmp(name, "min") == 0 ? '<' : '>', b, a, b);
}

/* The C++ for one operand of a range: a number, a name, a call, a parenthesis. *i moves to the last
 * token of the operand. */
static const char *term(struct scope_names *scope, struct tok_range r, unsigned *i, bool alone)
{
    const struct toks *toks = r.toks;
    const struct tok *t = &toks->tok[*i];
    struct arena *arena = scope->p->arena;
    struct tok_range inner = {toks, *i + 1, t->match};
    const char *text;

    if (tok_is(t, "(") && t->match) {
        *i = t->match;
        text = range_expr(scope, inner, true);
        return text && !alone ? operand(arena, text) : text;
    }
    if (*i + 1 < r.to && tok_is(t + 1, "(") && (t + 1)->match) {
        inner = (struct tok_range){toks, *i + 2, (t + 1)->match};
        *i = (t + 1)->match;
        text = call_expr(scope, t->text, inner);
        return text && !alone && !scope->contract ? operand(arena, text) : text;
    }
    text = folded(scope, t->text);
    if (!text)
        text = t->kind == TOK_NAME ? size_source(scope, t->text) : t->text;
    return text && !alone ? operand(arena, text) : text;
}

static const char *range_expr(struct scope_names *scope, struct tok_range r, bool alone)
{
    struct arena *arena = scope->p->arena;
    const char *text = toks_text(r.toks, arena, r.from, r.to), *number = folded(scope, text);
    const struct name_map *map =
        scope_names_find(scope, spelling_dense(arena, spelling_tidy(arena, text)));
    struct str out = {0};
    bool ok = r.from < r.to;

    if (number)
        return number;
    if (map)
        return alone ? map->source : operand(arena, map->source);
    for (unsigned i = r.from; ok && i < r.to; i++) {
        const struct tok *t = &r.toks->tok[i];
        const struct tok *open = tok_is(t, "(") ? t : t + 1;
        bool first = i == r.from,
             whole = i + 1 == r.to || (tok_is(open, "(") && open->match + 1 == r.to);
        bool is_operator = t->kind == TOK_PUNCT && !tok_is(t, "(");
        const char *one = is_operator ? t->text : term(scope, r, &i, first && whole);

        ok = one != NULL;
        if (ok && is_operator && !first && !scope->contract)
            str_addf(&out, " %s ", one);
        else if (ok)
            str_add(&out, one);
    }
    text = ok ? arena_strdup(arena, str_text(&out)) : NULL;
    str_finish(&out);
    return text;
}

const char *scope_names_expr(struct scope_names *scope, const char *text)
{
    struct arena *arena = scope->p->arena;
    const char *plain = spelling_tidy(arena, text);
    struct toks toks;

    if (!toks_lex(&toks, arena, plain, strlen(plain)))
        return NULL;
    return range_expr(scope, (struct tok_range){&toks, 0, toks.nr}, true);
}
