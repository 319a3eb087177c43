/* Owns what the names of types stand for, through typedefs, using, macros and template
 * parameters. */
#include "intake/eval/resolver.h"

#include "base/mem.h"
#include "intake/eval/interp_type.h"
#include "intake/syntax/spelling.h"

#include <string.h>

enum { MAX_TYPE_STEPS = 8 };

/* What using NAME = ...; or typedef ... NAME; says, before token `at` where it can be. *where: the
 * token of NAME there. NULL: there is no such line. */
static const char *alias_of(
    struct resolver *resolver, const char *name, unsigned at, unsigned *where)
{
    const struct toks *toks = resolver->toks;
    const char *found = NULL;

    for (unsigned i = toks_name(toks, name, 1), again; i + 2 < toks->nr;
         i = again ? again : toks->nr) {
        again = toks->tok[i].again;
        if (found && i > at)
            break;
        if (toks->left_out && toks->left_out[i])
            continue;
        if (toks_is(toks, i - 1, "using") && toks_is(toks, i + 1, "=")) {
            found = toks_text(toks, resolver->arena, i + 2, toks_find(toks, i + 2, toks->nr, ";"));
            *where = i;
        } else if (toks_is(toks, i + 1, ";")) {
            unsigned start = i;

            while (start > 0 && i - start < 12 && !toks_is(toks, start, "typedef") &&
                   !toks_is(toks, start, ";") && !toks_is(toks, start, "}"))
                start--;
            if (toks_is(toks, start, "typedef") && start + 1 < i) {
                found = toks_text(toks, resolver->arena, start + 1, i);
                *where = i;
            }
        }
    }
    return found;
}

/* What parameter n of a template stands for in template class solver<float>; NULL: there is no such
 * line. */
static const char *explicit_instance(
    struct resolver *resolver, const struct decl *fn, unsigned n, unsigned *where)
{
    const struct toks *toks = resolver->toks;
    const unsigned colons = toks_find(toks, fn->from, fn->open, "::");
    const unsigned before = toks_before_angles(toks, colons, fn->from);
    const char *class = colons < fn->open && before ? toks->tok[before - 1].text : fn->name;

    for (unsigned i = toks_name(toks, class, 1); i + 1 < toks->nr;
         i = toks_again(toks, i, toks->nr)) {
        const struct decl *d = decls_at(resolver->decls, i);
        struct tok_range args[MAX_TEMPLATE_ARGS];

        if (!d || !toks_is(toks, d->from, "template") || toks_is(toks, d->from + 1, "<"))
            continue;
        *where = i;
        if (toks_is(toks, i + 1, "<") && toks_list(toks, i + 1, args, ARRAY_SIZE(args)) > n)
            return toks_text(toks, resolver->arena, args[n].from, args[n].to);
    }
    return NULL;
}

/* What a template parameter of the function around token `at` stands for: where the launch stands,
 * where the function is called, or where an explicit instantiation names it. NULL: neither is
 * found. */
static const char *instance_of(
    struct resolver *resolver, const char *name, unsigned at, unsigned *call)
{
    const struct decl *fn = resolver_function_at(resolver, at);
    const struct toks *toks = resolver->toks;
    const char *names[MAX_TEMPLATE_ARGS];
    const unsigned nr = fn ? params_of_template(toks, fn, names, ARRAY_SIZE(names)) : 0;
    unsigned n = 0;

    for (const struct bound *b = resolver->bound; b; b = b->next)
        if (strcmp(b->name, name) == 0 && b->type && strcmp(b->type->text, name) != 0) {
            *call = 0;
            return b->type->text;
        }
    while (n < nr && strcmp(names[n], name) != 0)
        n++;
    if (n == nr)
        return NULL;
    for (unsigned i = toks_name(toks, fn->name, 0); i + 1 < toks->nr;
         i = toks_again(toks, i, toks->nr)) {
        struct tok_range args[MAX_TEMPLATE_ARGS];

        if (!toks_is(toks, i + 1, "<") || (i >= fn->from && i < fn->to) ||
            !resolver_function_at(resolver, i) || (toks->left_out && toks->left_out[i]) ||
            toks_list(toks, i + 1, args, ARRAY_SIZE(args)) <= n)
            continue;
        *call = i;
        return toks_text(toks, resolver->arena, args[n].from, args[n].to);
    }
    return explicit_instance(resolver, fn, n, call);
}

/* One spelling for `unsigned long int` and its like. */
static const char *plain_type(const char *type)
{
    enum { UNSIGNED = 1, CHAR = 2, SHORT = 4, LONG = 8, INT = 16 };
    static const struct {
        const char *word;
        unsigned is;
    } words[] = {{"const", 0}, {"unsigned", UNSIGNED | INT}, {"signed", INT}, {"int", INT},
        {"short", SHORT}, {"char", CHAR}, {"long", LONG}};
    static const char *const plain[][2] = {{"char", "unsigned char"}, {"short", "unsigned short"},
        {"long long", "unsigned long long"}, {"int", "unsigned int"}};
    unsigned is = 0;

    for (const char *p = type; *p; p += strspn(p, " ")) {
        const size_t nr = strcspn(p, " ");
        size_t w = 0;

        while (w < ARRAY_SIZE(words) &&
               !(strlen(words[w].word) == nr && strncmp(p, words[w].word, nr) == 0))
            w++;
        if (w == ARRAY_SIZE(words))
            return type;
        is |= words[w].is;
        p += nr;
    }
    return !is ? type : plain[is & CHAR ? 0 : is & SHORT ? 1 : is & LONG ? 2 : 3][is & UNSIGNED];
}

/* The name is an alias of the function around token `at`, which kernels do not know. */
static bool is_local_alias(struct resolver *resolver, const char *name, unsigned at)
{
    const struct decl *fn = resolver_function_at(resolver, at);
    unsigned where;

    return fn && alias_of(resolver, name, at, &where) &&
           resolver_function_at(resolver, where) == fn;
}

/* option<T> with what T stands for in place of T. */
static const char *with_instances(struct resolver *resolver, const char *type, unsigned at)
{
    const char *angle = strchr(type, '<');
    struct str out = {0};
    unsigned call;

    if (!angle)
        return type;
    str_add_n(&out, type, (size_t)(angle - type));
    for (const char *p = angle; *p;) {
        size_t nr = 0;

        while (str_word_char(p[nr]))
            nr++;
        const char *word = arena_strndup(resolver->arena, p, nr ? nr : 1);

        const bool local =
            nr && (instance_of(resolver, word, at, &call) || is_local_alias(resolver, word, at));

        str_add(&out, local ? resolver_type(resolver, word, at) : word);
        p += nr ? nr : 1;
    }
    return str_move(&out, resolver->arena);
}

const char *resolver_type(struct resolver *resolver, const char *type, unsigned at)
{
    for (unsigned step = 0, lanes; step < MAX_TYPE_STEPS; step++) {
        const char *next;
        unsigned call = at;

        for (const char *p; (p = strstr(type, "::")) != NULL && strncmp(type, "std", 3) == 0;)
            type = p + 2;
        while (strncmp(type, "const ", 6) == 0 || strncmp(type, "struct ", 7) == 0 ||
               strncmp(type, "static ", 7) == 0)
            type = strchr(type, ' ') + 1;
        type = plain_type(type);
        if (spelling_elem(type, &lanes))
            return type;
        next = instance_of(resolver, type, at, &call);
        const bool called = next && call != at; /* a caller may have a T too */

        if (next) {
            at = call;
        } else {
            const struct macro *macro = resolver_macro(resolver, type);
            unsigned where;

            next = alias_of(resolver, type, at, &where);
            at = next ? where : at; /* the alias is read where it stands */
            if (!next && macro && !macro->is_function)
                next = toks_text(&macro->toks, resolver->arena, 0, macro->toks.nr);
        }
        if (!next || (!called && strcmp(next, type) == 0))
            return with_instances(resolver, type, at);
        type = next;
    }
    return type;
}
