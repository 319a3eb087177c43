/* Owns what the names of types stand for, through typedefs, using, macros and template
 * parameters. */
#include "intake/eval/resolver.h"

#include "base/mem.h"
#include "intake/eval/params.h"
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
        if (tok_is(&toks->tok[i - 1], "using") && tok_is(&toks->tok[i + 1], "=")) {
            found = toks_text(toks, resolver->arena, i + 2, toks_find(toks, i + 2, toks->nr, ";"));
            *where = i;
        } else if (tok_is(&toks->tok[i + 1], ";")) {
            unsigned start = i;

            while (start > 0 && i - start < 12 && !tok_is(&toks->tok[start], "typedef") &&
                   !tok_is(&toks->tok[start], ";") && !tok_is(&toks->tok[start], "}"))
                start--;
            if (tok_is(&toks->tok[start], "typedef") && start + 1 < i) {
                found = toks_text(toks, resolver->arena, start + 1, i);
                *where = i;
            }
        }
    }
    return found;
}

/* The element type behind an argument: the declaration of the pointer that it names. */
static const char *argument_type(struct resolver *resolver, struct tok_range arg, unsigned at)
{
    const char *name, *type = "";
    unsigned where, line;
    struct str ignored = {0};
    struct resolver quiet = *resolver; /* a copy: sizes that it makes are dropped */

    if (!resolver_pointer(&quiet, arg, at, &name, &where))
        return NULL;
    resolver_extent(&quiet, name, where, &ignored, &type, &line);
    str_finish(&ignored);
    return *type ? type : NULL;
}

/* What stands for T where `vector<T> &v` and `const vector<float> &x` have the same words else;
 * NULL: they differ. */
static const char *stands_for(
    struct resolver *resolver, struct tok_range a, struct tok_range b, const char *name)
{
    static const char *const passed[] = {"const", "&", "typename", "struct", "class", NULL};
    const struct toks *toks = resolver->toks;
    unsigned i = a.from, k = b.from;

    while (i < a.to && k < b.to) {
        const struct tok *x = &toks->tok[i], *y = &toks->tok[k];

        if (str_among(x->text, passed)) {
            i++;
        } else if (str_among(y->text, passed)) {
            k++;
        } else if (tok_is(x, name)) {
            const unsigned end =
                i + 1 < a.to ? toks_find(toks, k, b.to, toks->tok[i + 1].text) : b.to;

            return k < end ? toks_text(toks, resolver->arena, k, end) : NULL;
        } else if (strcmp(x->text, y->text) == 0) {
            i++;
            k++;
        } else {
            return NULL;
        }
    }
    return NULL;
}

/* Finds the declaration, up to the name, of the variable that is an argument. False: there is
 * none. */
static bool declared(struct resolver *resolver, struct tok_range arg, struct tok_range *whole)
{
    const struct toks *toks = resolver->toks;
    const struct decl *fn = resolver_function_at(resolver, arg.from);
    const char *name = toks->tok[arg.from].text;

    if (!fn || arg.to != arg.from + 1 || toks->tok[arg.from].kind != TOK_NAME)
        return false;
    if (resolver_param(resolver, fn, name, whole) >= 0)
        return true;
    for (unsigned i = toks_name(toks, name, fn->body); i && i < arg.from;
         i = toks_again(toks, i, arg.from))
        if (toks->tok[i - 1].kind == TOK_NAME || tok_is(&toks->tok[i - 1], ">")) {
            unsigned start = i;

            while (start > fn->body + 1 && !tok_is(&toks->tok[start - 1], ";") &&
                   !tok_is(&toks->tok[start - 1], "{") && !tok_is(&toks->tok[start - 1], "}"))
                start--;
            *whole = (struct tok_range){toks, start, i};
            return start < i;
        }
    return false;
}

/* What parameter n of a template stands for in template class solver<float>; or template void
 * solve(vector<float> &x). NULL: there is no such line. */
static const char *explicit_instance(
    struct resolver *resolver, const struct decl *fn, unsigned n, const char *name, unsigned *where)
{
    const struct toks *toks = resolver->toks;
    const unsigned colons = toks_find(toks, fn->from, fn->open, "::");
    const unsigned before = toks_before_angles(toks, colons, fn->from);
    const char *class = colons < fn->open && before ? toks->tok[before - 1].text : fn->name;
    unsigned head = fn->from + 1;

    for (int depth = 0; head < fn->open; head++) { /* past template <...> */
        depth += tok_is(&toks->tok[head], "<") - tok_is(&toks->tok[head], ">");
        if (depth == 0)
            break;
    }
    for (unsigned i = toks_name(toks, class, 1); i + 1 < toks->nr;
         i = toks_again(toks, i, toks->nr)) {
        const struct decl *d = decls_at(resolver->decls, i);
        struct tok_range args[MAX_TEMPLATE_ARGS];
        const unsigned close =
            tok_is(&toks->tok[i + 1], "<") ? toks_angle(toks, i + 1, toks->nr) : 0;

        if (!d || !tok_is(&toks->tok[d->from], "template") || tok_is(&toks->tok[d->from + 1], "<"))
            continue;
        *where = i;
        if (close &&
            tok_range_split((struct tok_range){toks, i + 2, close}, args, ARRAY_SIZE(args)) > n)
            return toks_text(toks, resolver->arena, args[n].from, args[n].to);
        return stands_for(resolver, (struct tok_range){toks, head + 1, toks->tok[fn->open].match},
            (struct tok_range){toks, d->from + 1, d->to}, name);
    }
    return NULL;
}

/* What a template parameter of the function around token `at` stands for: where the function is
 * called, or where an explicit instantiation names it. NULL: neither is found. */
static const char *instance_of(
    struct resolver *resolver, const char *name, unsigned at, unsigned *call)
{
    const struct decl *fn = resolver_function_at(resolver, at);
    const struct toks *toks = resolver->toks;
    const int n = resolver_template_param(resolver, name, at);
    struct tok_range given;

    if (resolver_template_argument(resolver, name, at, &given, call))
        return toks_text(toks, resolver->arena, given.from, given.to);
    for (unsigned i = 0; n >= 0 && i + 1 < toks->nr; i++) {
        struct tok_range args[MAX_PARAMS];
        unsigned open = i + 1;

        if (!tok_is(&toks->tok[i], fn->name) || (i >= fn->from && i < fn->to) ||
            !resolver_function_at(resolver, i))
            continue;
        *call = i;
        if (tok_is(&toks->tok[open], "<"))
            open = toks_angle(toks, open, toks->nr) + 1;
        if (!tok_is(&toks->tok[open], "(") || !toks->tok[open].match)
            continue;
        struct param params[MAX_PARAMS];
        unsigned nr_params = params_read(params, resolver->arena, resolver->decls, fn);
        unsigned nr_args = tok_range_split(
            (struct tok_range){toks, open + 1, toks->tok[open].match}, args, MAX_PARAMS);

        for (unsigned p = 0; p < nr_params && p < nr_args; p++)
            if (params[p].is_pointer && strcmp(params[p].type, name) == 0)
                return argument_type(resolver, args[p], i);
        struct tok_range heads[MAX_PARAMS], whole;
        const unsigned nr_heads = tok_range_split(
            (struct tok_range){toks, fn->open + 1, toks->tok[fn->open].match}, heads, MAX_PARAMS);

        for (unsigned p = 0; p < nr_heads && p < nr_args; p++) {
            const char *type = declared(resolver, args[p], &whole)
                                   ? stands_for(resolver, heads[p], whole, name)
                                   : NULL;

            if (type)
                return type;
        }
    }
    return n >= 0 ? explicit_instance(resolver, fn, (unsigned)n, name, call) : NULL;
}

/* One spelling for `unsigned long int` and its like. */
static const char *plain_type(const char *type)
{
    unsigned nr_long = 0, nr_other = 0;
    bool is_unsigned = false, is_signed = false, is_short = false, is_char = false, is_int = false;

    for (const char *p = type; *p;) {
        size_t nr = strcspn(p, " ");

        if (nr == 5 && strncmp(p, "const", nr) == 0)
            ;
        else if (nr == 8 && strncmp(p, "unsigned", nr) == 0)
            is_unsigned = true;
        else if (nr == 6 && strncmp(p, "signed", nr) == 0)
            is_signed = true;
        else if (nr == 5 && strncmp(p, "short", nr) == 0)
            is_short = true;
        else if (nr == 4 && strncmp(p, "char", nr) == 0)
            is_char = true;
        else if (nr == 3 && strncmp(p, "int", nr) == 0)
            is_int = true;
        else if (nr == 4 && strncmp(p, "long", nr) == 0)
            nr_long++;
        else
            nr_other++;
        p += nr;
        p += strspn(p, " ");
    }
    if (nr_other || !(is_unsigned || is_signed || is_short || is_char || is_int || nr_long))
        return type;
    if (is_char)
        return is_unsigned ? "unsigned char" : "char";
    if (is_short)
        return is_unsigned ? "unsigned short" : "short";
    if (nr_long)
        return is_unsigned ? "unsigned long long" : "long long";
    return is_unsigned ? "unsigned int" : "int";
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
    const char *text = arena_strdup(resolver->arena, str_text(&out));

    str_finish(&out);
    return text;
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

const char *resolver_type_of(struct resolver *resolver, struct tok_range arg, unsigned at)
{
    struct tok_range whole;
    struct str text = {0};
    const char *type = NULL;

    if (arg.from >= arg.to || !declared(resolver, arg, &whole))
        return NULL;
    for (unsigned i = whole.from; i < whole.to; i++) {
        const struct tok *t = &whole.toks->tok[i];

        if (tok_is(t, resolver->toks->tok[arg.from].text))
            break;
        if (t->kind == TOK_NAME && !tok_is(t, "const") && !tok_is(t, "static"))
            str_addf(&text, "%s%s", text.len ? " " : "", t->text);
        else if (tok_is(t, "*"))
            str_add(&text, "*");
    }
    if (text.len)
        type = resolver_type(resolver, arena_strdup(resolver->arena, str_text(&text)), at);
    str_finish(&text);
    return type && spelling_bytes(type) ? type : NULL;
}
