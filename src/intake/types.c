/* Owns what the names of types stand for: typedefs, using, macros, template parameters. */
#include "intake/host.h"

#include "base/mem.h"
#include "intake/roles.h"
#include "intake/spelling.h"

#include <string.h>

enum { MAX_TYPE_STEPS = 8 };

/* using NAME = ...; typedef ... NAME; anywhere, the one before `at` first. NULL: there is none. */
static const char *alias_of(struct host *host, const char *name, unsigned at)
{
    const struct toks *toks = host->toks;
    const char *found = NULL;

    for (unsigned i = toks_name(toks, name, 1), again; i + 2 < toks->nr;
         i = again ? again : toks->nr) {
        again = toks->tok[i].again;
        if (found && i > at)
            break;
        if (tok_is(&toks->tok[i - 1], "using") && tok_is(&toks->tok[i + 1], "=")) {
            found = toks_text(toks, host->arena, i + 2, toks_find(toks, i + 2, toks->nr, ";"));
        } else if (tok_is(&toks->tok[i + 1], ";")) {
            unsigned start = i;

            while (start > 0 && i - start < 12 && !tok_is(&toks->tok[start], "typedef") &&
                   !tok_is(&toks->tok[start], ";") && !tok_is(&toks->tok[start], "}"))
                start--;
            if (tok_is(&toks->tok[start], "typedef") && start + 1 < i)
                found = toks_text(toks, host->arena, start + 1, i);
        }
    }
    return found;
}

/* The element type behind an argument: the declaration of the pointer that it names. */
static const char *argument_type(struct host *host, struct range arg, unsigned at)
{
    const char *name, *type = "";
    unsigned where, line;
    struct str ignored = {0};
    struct host quiet = *host; /* sizes made on the way are not wanted */

    if (!hostcode_pointer(&quiet, arg, at, &name, &where))
        return NULL;
    hostcode_extent(&quiet, name, where, &ignored, &type, &line);
    str_finish(&ignored);
    return *type ? type : NULL;
}

/* What a template parameter of the function around is where the function is called. */
static const char *instance_of(struct host *host, const char *name, unsigned at, unsigned *call)
{
    const struct decl *fn = hostcode_function_at(host, at);
    const struct toks *toks = host->toks;
    const char *names[MAX_TEMPLATE_ARGS];
    unsigned nr = fn ? template_params(toks, fn, names, ARRAY_SIZE(names)) : 0, n = 0;

    while (n < nr && strcmp(names[n], name) != 0)
        n++;
    for (unsigned i = 0; n < nr && i + 1 < toks->nr; i++) {
        struct range args[MAX_PARAMS];
        unsigned open = i + 1;

        if (toks->tok[i].kind != TOK_NAME || strcmp(toks->tok[i].text, fn->name) != 0 ||
            (i >= fn->from && i < fn->to) || !hostcode_function_at(host, i))
            continue;
        *call = i;
        if (tok_is(&toks->tok[open], "<")) {
            const unsigned close = toks_angle(toks, open, toks->nr);
            const unsigned given =
                close ? range_split((struct range){toks, open + 1, close}, args, MAX_PARAMS) : 0;

            if (!close)
                continue;
            if (n < given)
                return toks_text(toks, host->arena, args[n].from, args[n].to);
            open = close + 1;
        }
        if (!tok_is(&toks->tok[open], "(") || !toks->tok[open].match)
            continue;
        struct param params[MAX_PARAMS];
        unsigned nr_params = params_read(params, host->arena, host->decls, fn);
        unsigned nr_args =
            range_split((struct range){toks, open + 1, toks->tok[open].match}, args, MAX_PARAMS);

        for (unsigned p = 0; p < nr_params && p < nr_args; p++)
            if (params[p].is_pointer && strcmp(params[p].type, name) == 0)
                return argument_type(host, args[p], i);
    }
    return NULL;
}

/* `unsigned long int` and its like in one spelling. */
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

const char *hostcode_type(struct host *host, const char *type, unsigned at)
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
        if (elem_of(type, &lanes))
            return type;
        next = instance_of(host, type, at, &call);
        if (next) {
            at = call;
        } else {
            const struct macro *macro = hostcode_macro(host, type);

            next = alias_of(host, type, at);
            if (!next && macro && !macro->is_function)
                next = toks_text(&macro->toks, host->arena, 0, macro->toks.nr);
        }
        if (!next || strcmp(next, type) == 0)
            return type;
        type = next;
    }
    return type;
}
