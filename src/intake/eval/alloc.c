/* Owns how much memory a pointer has: finds its allocation in host code, also through the
 * parameters of functions. */
#include "intake/eval/resolver.h"

#include "base/mem.h"
#include "intake/syntax/spelling.h"

#include <string.h>

enum { MAX_CALLS_UP = 8 };

/* The last word of a name: d_x of cfg.d_x. */
static const char *member_of(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

/* The range names the variable; of a member, the range names its object too. */
static bool range_names(struct tok_range r, const char *name)
{
    const char *member = member_of(name);
    const size_t nr = strcspn(name, ".");
    bool object = member == name;

    for (unsigned i = r.from; i < r.to; i++) {
        const struct tok *t = &r.toks->tok[i];

        if (t->kind != TOK_NAME)
            continue;
        if (object && strcmp(t->text, member) == 0)
            return true;
        object |= strncmp(t->text, name, nr) == 0 && t->text[nr] == 0;
    }
    return false;
}

/* Finds the bytes of cudaMalloc(&p, bytes) and its kin in tokens [from, to). */
static bool allocation_in(const struct resolver *resolver, const char *name, unsigned from,
    unsigned to, struct tok_range *bytes)
{
    static const char *const calls[] = {"cudaMalloc", "cudaMallocManaged", "cudaMallocAsync",
        "cudaMallocHost", "cudaHostAlloc", NULL};
    const struct toks *toks = resolver->toks;

    for (unsigned i = from; i + 1 < to; i++)
        for (unsigned c = 0; calls[c]; c++) {
            struct tok_range args[4];

            if (!tok_is(&toks->tok[i], calls[c]))
                continue;
            unsigned open = i + 1;

            while (open < to && !tok_is(&toks->tok[open], "("))
                open++; /* cudaMalloc<float>( */
            unsigned nr =
                open < to ? tok_range_split(
                                (struct tok_range){toks, open + 1, toks->tok[open].match}, args, 4)
                          : 0;

            if (nr >= 2 && range_names(args[0], name)) {
                *bytes = args[1];
                return true;
            }
        }
    return false;
}

/* thrust::device_vector<float> v(n), std::vector<int> v(n): finds the number of elements and their
 * type. */
static bool vector_in(struct resolver *resolver, const char *name, unsigned from, unsigned to,
    struct tok_range *count, const char **type)
{
    const struct toks *toks = resolver->toks;

    for (unsigned i = from + 2; i + 1 < to; i++) {
        struct tok_range parts[2];

        unsigned close = i - 1;

        if (!tok_is(&toks->tok[i], name) ||
            !(tok_is(&toks->tok[i + 1], "(") || tok_is(&toks->tok[i + 1], "{")) ||
            !toks->tok[i + 1].match)
            continue;
        while (close > from + 2 && tok_is(&toks->tok[close], ",")) { /* vector<T> a(n), b(n) */
            close--;
            if (toks->tok[close].match && toks->tok[close].match < close)
                close = toks->tok[close].match - 1;
            if (close <= from + 2)
                break;
            close--;
        }
        if (!tok_is(&toks->tok[close], ">"))
            continue;
        unsigned open = close - 1;

        for (int depth = 1; open > from; open--) { /* vector<complex<float>> */
            depth += tok_is(&toks->tok[open], ">") - tok_is(&toks->tok[open], "<");
            if (depth == 0)
                break;
        }
        if (tok_range_split((struct tok_range){toks, i + 2, toks->tok[i + 1].match}, parts, 2) == 0)
            continue;
        *count = parts[0];
        *type = toks_text(toks, resolver->arena, open + 1, close);
        return true;
    }
    return false;
}

/* The element type in the declaration of a pointer, `float *d_a, *d_b;`. "": the declaration is not
 * there. */
static const char *declared_type(
    struct resolver *resolver, const char *path, unsigned from, unsigned to)
{
    const struct toks *toks = resolver->toks;
    const char *name = member_of(path);

    for (unsigned i = from + 1; i + 1 < to; i++) {
        unsigned start = i;

        if (!tok_is(&toks->tok[i], name) || !tok_is(&toks->tok[i - 1], "*"))
            continue;
        while (start > from && !tok_is(&toks->tok[start - 1], ";") &&
               !tok_is(&toks->tok[start - 1], "{") && !tok_is(&toks->tok[start - 1], "}") &&
               !tok_is(&toks->tok[start - 1], "(") && toks->tok[start - 1].kind != TOK_DIRECTIVE &&
               i - start < 64)
            start--;
        unsigned star = start;

        while (star < i && !tok_is(&toks->tok[star], "*"))
            star++;
        for (unsigned k = start; k < star; k++) /* f(int n, float *p: the last parameter */
            if (tok_is(&toks->tok[k], ","))
                start = k + 1;
        bool is_type = true;

        for (unsigned k = start; k < star; k++)
            is_type = is_type && (toks->tok[k].kind == TOK_NAME || tok_is(&toks->tok[k], "::") ||
                                     tok_is(&toks->tok[k], "<") || tok_is(&toks->tok[k], ">"));
        if (!is_type || tok_is(&toks->tok[start], "return"))
            continue;
        const char *type = toks_text(toks, resolver->arena, start, star);

        while (strncmp(type, "const ", 6) == 0 || strncmp(type, "static ", 7) == 0)
            type = strchr(type, ' ') + 1;
        if (*type)
            return type;
    }
    return "";
}

/* The type of the sizeof(...) that is a factor of a product; without that factor the product counts
 * elements. "": there is none. */
static const char *size_type(struct resolver *resolver, struct tok_range bytes)
{
    for (unsigned i = bytes.from; i + 2 < bytes.to; i++)
        if (tok_is(&bytes.toks->tok[i], "sizeof") && bytes.toks->tok[i + 1].match)
            return toks_text(bytes.toks, resolver->arena, i + 2, bytes.toks->tok[i + 1].match);
    return "";
}

/* The same where a name stands for such a product: bytes = n * sizeof(float). */
static const char *type_behind(
    struct resolver *resolver, struct tok_range bytes, unsigned at, unsigned depth)
{
    const char *type = size_type(resolver, bytes);

    for (unsigned i = bytes.from; !*type && depth > 0 && i < bytes.to; i++) {
        struct tok_range value;
        unsigned where;

        if (bytes.toks->tok[i].kind == TOK_NAME &&
            resolver_definition(resolver, bytes.toks->tok[i].text, at, &value, &where))
            type = type_behind(resolver, value, where, depth - 1);
    }
    return type;
}

bool resolver_bytes(struct resolver *resolver, const char *name, unsigned at)
{
    struct tok_range value;
    unsigned where;

    return resolver_definition(resolver, name, at, &value, &where) &&
           *type_behind(resolver, value, where, 4);
}

/* The token of the member that is meant of the variable at token i, also of an element of it; i:
 * the variable itself is meant. */
static unsigned member_behind(struct tok_range r, unsigned i)
{
    const struct toks *toks = r.toks;

    for (unsigned end = i + 1; end + 1 < r.to;) {
        if (tok_is(&toks->tok[end], "[") && toks->tok[end].match) {
            end = toks->tok[end].match + 1;
            continue;
        }
        const bool member = (tok_is(&toks->tok[end], ".") || tok_is(&toks->tok[end], "->")) &&
                            toks->tok[end + 1].kind == TOK_NAME;

        if (!member || (end + 2 < r.to &&
                           (tok_is(&toks->tok[end + 2], "(") || tok_is(&toks->tok[end + 2], "<"))))
            break;
        i = end + 1;
        end += 2;
    }
    return i;
}

/* The variable that an expression begins with, without casts such as (T *)x or reinterpret_cast<T
 * *>(x). "s.x" for a member. */
static const char *first_name(struct resolver *resolver, struct tok_range r)
{
    static const char *const skipped[] = {"thrust", "raw_pointer_cast", "reinterpret_cast",
        "static_cast", "const_cast", "const", "void", "struct", "unsigned", "std", NULL};
    const struct toks *toks = r.toks;

    for (unsigned i = r.from; i < r.to; i++) {
        const struct tok *t = &toks->tok[i];

        if (t->kind == TOK_NAME && spelling_bytes(t->text) == 0 && !str_among(t->text, skipped)) {
            const unsigned member = member_behind(r, i);
            const char *last = toks->tok[member].text;

            return member == i || tok_is(t, "this")
                       ? last
                       : arena_printf(resolver->arena, "%s.%s", t->text, last);
        }
        if (tok_is(t, "(") && t->match > i && t->match < r.to &&
            tok_is(&toks->tok[t->match - 1], "*"))
            i = t->match;
        else if (i + 1 < r.to && t->kind == TOK_NAME && tok_is(&toks->tok[i + 1], "<") &&
                 toks_angle(toks, i + 1, r.to))
            i = toks_angle(toks, i + 1, r.to);
    }
    return NULL;
}

bool resolver_pointer(struct resolver *resolver, struct tok_range arg, unsigned at,
    const char **name, unsigned *where)
{
    const char *found = first_name(resolver, arg);

    if (!found)
        return false;
    *name = found;
    *where = at;
    for (unsigned up = 0; up < MAX_CALLS_UP; up++) { /* a parameter: what the caller passes */
        const struct decl *fn = resolver_function_at(resolver, *where);
        const char *object = arena_strndup(resolver->arena, *name, strcspn(*name, "."));
        struct tok_range value;
        unsigned call;

        if (!fn || allocation_in(resolver, *name, fn->body, fn->to, &value) ||
            !resolver_definition(resolver, object, *where, &value, &call) ||
            resolver_function_at(resolver, call) == fn)
            break;
        const char *outer = first_name(resolver, value);

        if (!outer || spelling_is_null(outer))
            break;
        *name = strchr(*name, '.') ? arena_printf(resolver->arena, "%s.%s", outer, member_of(*name))
                                   : outer;
        *where = call;
    }
    return true;
}

/* float *x = alloc(n), alloc(&x, n): a function of the file allocates the memory. The bytes are in
 * the words of that function, and resolver->bound says for which call. */
static bool helper_allocation(struct resolver *resolver, const char *name, unsigned from,
    unsigned to, struct tok_range *bytes)
{
    const struct toks *toks = resolver->toks;

    for (unsigned i = from + 1; i + 1 < to; i++) {
        unsigned open = i + 1;
        struct tok_range args[LAUNCH_MAX_ARGS];

        if (toks->tok[i].kind != TOK_NAME ||
            (!tok_is(&toks->tok[open], "(") && !tok_is(&toks->tok[open], "<")))
            continue;
        if (tok_is(&toks->tok[open], "<")) { /* alloc<float>(n) */
            while (open < to && open < i + 12 && !tok_is(&toks->tok[open], ">"))
                open++;
            open++;
        }
        const struct decl *fn = decls_function(resolver->decls, toks->tok[i].text);

        if (!fn || !fn->body || fn->is_kernel || (i >= fn->from && i < fn->to) || open >= to ||
            !tok_is(&toks->tok[open], "(") || !toks->tok[open].match)
            continue;
        bool assigned = tok_is(&toks->tok[i - 1], "=") && i > from + 1 &&
                        strcmp(toks->tok[i - 2].text, name) == 0;
        unsigned nr = tok_range_split(
            (struct tok_range){toks, open + 1, toks->tok[open].match}, args, LAUNCH_MAX_ARGS);
        const char *inner = NULL;

        for (unsigned k = fn->body; assigned && k + 2 < fn->to && !inner; k++)
            if (tok_is(&toks->tok[k], "return") && toks->tok[k + 1].kind == TOK_NAME &&
                tok_is(&toks->tok[k + 2], ";"))
                inner = toks->tok[k + 1].text;
        for (unsigned a = 0; a < nr && !inner; a++) {
            struct tok_range heads[LAUNCH_MAX_ARGS];
            unsigned nr_heads =
                tok_range_split((struct tok_range){toks, fn->open + 1, toks->tok[fn->open].match},
                    heads, LAUNCH_MAX_ARGS);

            if (range_names(args[a], name) && a < nr_heads)
                inner = toks->tok[heads[a].to - 1].text;
        }
        if (inner && allocation_in(resolver, inner, fn->body, fn->to, bytes)) {
            resolver->bound = fn;
            resolver->bound_at = i;
            return true;
        }
    }
    return false;
}

bool resolver_extent(struct resolver *resolver, const char *name, unsigned at, struct str *elems,
    const char **elem_type, unsigned *line)
{
    const struct decl *fn = resolver_function_at(resolver, at);
    struct tok_range bytes;
    unsigned from = fn ? fn->from : 0, to = fn ? fn->to : resolver->toks->nr;
    bool ok;

    *elem_type = declared_type(resolver, name, from, to);
    if (!**elem_type)
        *elem_type = declared_type(resolver, name, 0, resolver->toks->nr);
    const char *vector_type;

    if (vector_in(resolver, name, from, to, &bytes, &vector_type)) {
        *elem_type = vector_type;
        *line = resolver->toks->tok[bytes.from].line;
        return resolver_integer(resolver, bytes, bytes.from, elems);
    }
    bool helped = false;

    if (!allocation_in(resolver, name, from, to, &bytes)) {
        helped = helper_allocation(resolver, name, from, to, &bytes);
        if (!helped && !allocation_in(resolver, name, 0, resolver->toks->nr, &bytes)) {
            const char *size = resolver_unknown(resolver,
                arena_printf(resolver->arena, "%s_elems", name), resolver->toks->tok[at].line);

            resolver->why =
                arena_printf(resolver->arena, "no allocation of %s is in this file", name);
            *line = resolver->toks->tok[at].line;
            str_add(elems, size ? size : "");
            return size != NULL;
        }
        at = bytes.from;
    } else {
        at = bytes.from;
    }
    *line = resolver->toks->tok[bytes.from].line;
    const char *type = type_behind(resolver, bytes, at, 4);
    struct str text = {0};

    if (!**elem_type)
        *elem_type = type;
    resolver->drop_sizeof = *type != 0;
    ok = resolver_integer(resolver, bytes, at, &text);
    resolver->drop_sizeof = false;
    resolver->bound = NULL;
    unsigned unit = spelling_bytes(*elem_type), of = *type ? spelling_bytes(type) : 1;

    if (ok && *type && of && unit && of != unit)
        str_addf(elems, "(%s)*%u/%u", str_text(&text), of, unit);
    else if (ok && !*type && unit > 1)
        str_addf(elems, "(%s)/%u", str_text(&text), unit);
    else if (ok)
        str_add(elems, str_text(&text));
    str_finish(&text);
    if (!ok) {
        const char *size = resolver_unknown(resolver,
            arena_printf(resolver->arena, "%s_elems", name), resolver->toks->tok[bytes.from].line);

        str_add(elems, size ? size : "");
        ok = size != NULL;
    }
    return ok;
}
