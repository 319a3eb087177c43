/* Owns the launches of a contract: the kernel's id, grid and block, arguments. */
#include "intake/contract/contract_builder.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/task.h"
#include "intake/syntax/spelling.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEMPLATE_DEPTH = 8 }; /* of functions that hand their parameters on */

/* A parameter's type with the template arguments of the launch in it. */
static const char *bound_type(struct builder *b, const struct site *site,
    const struct walk_launch *seen, const struct decl *kernel, const char *type)
{
    const char *names[MAX_TEMPLATE_ARGS], *word;
    unsigned nr = template_params(b->host->toks, kernel, names, ARRAY_SIZE(names));

    for (unsigned i = 0; i < nr && i < site->nr_template_args; i++) {
        const struct range *arg = &site->template_args[i];
        const size_t len = strlen(names[i]);
        const char *text = seen && seen->template_args[i]
                               ? seen->template_args[i]
                               : toks_text(arg->toks, b->arena, arg->from, arg->to);

        if ((word = str_find_word(type, type + strlen(type), names[i], len)) != NULL)
            type = arena_printf(b->arena, "%.*s%s%s", (int)(word - type), type, text, word + len);
    }
    return type;
}

/* traits<word>: with what `word` stands for where it is a name for a number's type. */
static const char *spelled_out(struct builder *b, struct range r, unsigned at)
{
    struct str text = {0};

    for (unsigned i = r.from; i < r.to; i++) {
        const struct tok *t = &r.toks->tok[i];
        const char *type = t->kind == TOK_NAME && (i == r.from || !tok_is(t - 1, "::"))
                               ? hostcode_type(b->host, t->text, at)
                               : NULL;
        const bool apart = i > r.from && t->kind == TOK_NAME && t[-1].kind == TOK_NAME;

        str_addf(&text, "%s%s", apart ? " " : "", type && type_bytes(type) ? type : t->text);
    }
    const char *spelled = arena_strdup(b->arena, str_text(&text));

    str_finish(&text);
    return spelled;
}

/* A template argument: a type of C as it is; a number or a constant; a parameter of the function
 * around, by a call that gives it. */
static const char *template_argument(struct builder *b, struct range r, unsigned at, unsigned depth)
{
    struct str number = {0};
    int64_t value;
    unsigned where;

    while (tok_is(&r.toks->tok[r.from], "(") && r.toks->tok[r.from].match == r.to - 1)
        r = (struct range){r.toks, r.from + 1, r.to - 1};
    const char *text = toks_text(r.toks, b->arena, r.from, r.to);

    if (type_bytes(hostcode_type(b->host, text, at)))
        return hostcode_type(b->host, text, at);
    if (r.to != r.from + 1 || r.toks->tok[r.from].kind != TOK_NAME)
        return spelled_out(b, r, at);
    if (depth > 0 && hostcode_template_argument(b->host, text, at, &r, &where))
        return template_argument(b, r, where, depth - 1);
    if (hostcode_given(b->host, r, at, &number))
        text = hostcode_evaluate(b->host, str_text(&number), &value)
                   ? arena_printf(b->arena, "%lld", (long long)value)
                   : tidy(b->arena, str_text(&number));
    str_finish(&number);
    return text;
}

/* A number for a parameter of an enum's type is of that type: C++ does not convert it. */
static const char *of_enum(
    struct builder *b, const struct decl *kernel, const char *name, const char *arg)
{
    const struct toks *toks = b->host->toks;
    unsigned i = kernel->from;

    while (i < kernel->open && strcmp(toks->tok[i].text, name) != 0)
        i++;
    for (unsigned d = 0; *arg >= '0' && *arg <= '9' && d < b->host->decls->nr; d++) {
        const struct decl *e = &b->host->decls->decl[d];

        if (e->kind == DECL_TYPE && tok_is(&toks->tok[e->from], "enum") && *e->name &&
            tok_is(&toks->tok[i - 1], e->name))
            return arena_printf(b->arena, "(%s)%s", e->name, arg);
    }
    return arg;
}

/* The kernel's id with its namespaces and with all template arguments spelled out. */
static const char *kernel_id(struct launching *l)
{
    struct builder *b = l->b;
    const struct site *site = l->site;
    const struct decl *kernel = l->kernel;
    const struct walk_launch *seen = l->seen;
    const struct decls *decls = b->host->decls;
    const char *names[MAX_TEMPLATE_ARGS], *id = site->kernel;
    unsigned nr_names = template_params(b->host->toks, kernel, names, ARRAY_SIZE(names));
    struct str text = {0};
    unsigned nr_given = 0;

    for (unsigned c = kernel->container; c; c = decls->container[c].parent) {
        const struct container *in = &decls->container[c];

        if (!tok_is(&decls->toks->tok[in->from], "extern") &&
            tok_is(&decls->toks->tok[in->open - 1], "namespace") == false)
            id = arena_printf(
                b->arena, "%s::%s", toks_text(decls->toks, b->arena, in->from + 1, in->open), id);
    }
    str_add(&text, id);
    for (unsigned t = 0; t < nr_names; t++) {
        const char *arg = NULL;

        if (seen && seen->template_args[t])
            arg = hostcode_type(b->host, seen->template_args[t], site->at);
        else if (t < site->nr_template_args)
            arg = template_argument(b, site->template_args[t], site->at, MAX_TEMPLATE_DEPTH);
        for (unsigned p = 0; p < l->nr && p < site->nr_args && !arg; p++)
            if (strcmp(l->declared[p], names[t]) == 0)
                arg = l->arrays[p]                                     ? l->arrays[p]->type
                      : strcmp(l->declared[p], l->params[p].type) != 0 ? l->params[p].type
                                                                       : NULL;
        if (!arg)
            break;
        str_addf(&text, "%s%s", nr_given++ ? ", " : "<", of_enum(b, kernel, names[t], arg));
    }
    if (nr_given) /* of the rest, the template has defaults or deduces them */
        str_add_char(&text, '>');
    id = arena_strdup(b->arena, str_text(&text));
    str_finish(&text);
    return id;
}

static bool name_taken(struct builder *b, const char *name)
{
    return hostcode_size(b->host, name) || builder_array_named(b, name);
}

/* A real number, shortest first; single: it is of type float. */
static const char *real_text(struct builder *b, double value, bool single)
{
    double back;
    char *text = NULL;

    for (int digits = 1; digits <= 17; digits++) {
        text = arena_printf(b->arena, "%.*g", digits, value);
        back = strtod(text, NULL);
        if (single ? (float)back == (float)value : back == value)
            break;
    }
    return strpbrk(text, ".en") ? text : arena_printf(b->arena, "%s.0", text);
}

const char *builder_scalar(struct launching *l, const char *param, const char *type,
    struct range arg, const struct value *v)
{
    struct builder *b = l->b;
    const char *name = param, *value = NULL;
    const char *why = arena_printf(b->arena, "the value of %s, %s, is not a number in this file",
        param, arg.toks ? toks_text(arg.toks, b->arena, arg.from, arg.to) : "");
    double number = 0;
    unsigned lanes;

    if (v && walk_number_of(v, &number))
        value =
            real_text(b, number, strcmp(type, "float") == 0 || (v->type && v->type->bytes == 4));
    else if (arg.from < arg.to && hostcode_real(b->host, arg, l->site->at, &number))
        value = real_text(b, number, false);
    for (unsigned i = 0; i < b->nr_scalars; i++)
        if (strcmp(b->scalars[i].param, param) == 0 && !value == !b->scalars[i].value &&
            (value ? strcmp(b->scalars[i].value, value) : strcmp(b->scalars[i].why, why)) == 0)
            return b->scalars[i].name;
    while (name_taken(b, name) || task_reserves(name))
        name = arena_printf(b->arena, "%s_", name);
    for (unsigned i = 0; i < b->nr_scalars; i++)
        if (strcmp(b->scalars[i].name, name) == 0)
            name = arena_printf(b->arena, "%s%u", name, b->nr_scalars);
    if (b->nr_scalars < MAX_SCALARS)
        b->scalars[b->nr_scalars++] = (struct scalar_arg){param, name,
            elem_of(hostcode_type(b->host, type, l->site->at), &lanes), value, why, l->site->line};
    else
        builder_note(l, "more than 64 real numbers are passed");
    return name;
}

/* An integer expression without a number that the file does not give. */
static bool strictly(struct builder *b, struct range arg, unsigned at, struct str *out)
{
    const bool strict = b->host->strict;

    b->host->strict = true;
    bool ok = hostcode_resolve(b->host, arg, at, out);

    b->host->strict = strict;
    return ok;
}

/* The type of a number as it stands there; NULL: none is there. */
static const char *literal_type(struct range arg)
{
    const struct tok *t = arg.toks ? &arg.toks->tok[arg.from] : NULL;

    if (arg.from + 1 != arg.to || t->kind != TOK_NUMBER)
        return NULL;
    const bool hex = str_starts(t->text, "0x") || str_starts(t->text, "0X");
    const bool is_long = strpbrk(t->text, "lL") != NULL;

    if (!hex && strpbrk(t->text, ".eE"))
        return strpbrk(t->text, "fF") ? "float" : "double";
    if (strpbrk(t->text, "uU"))
        return is_long ? "unsigned long long" : "unsigned int";
    return is_long ? "long long" : "int";
}

/* T of a parameter passed by value: of the struct that is passed, where an array of T is an
 * argument too, or of the number. */
static const char *deduced_type(struct builder *b, const struct site *site,
    const struct decl *kernel, const struct param *params, unsigned nr, const char *type,
    const struct walk_launch *seen, const struct value *v)
{
    const char *names[MAX_TEMPLATE_ARGS];
    unsigned nr_names = template_params(b->host->toks, kernel, names, ARRAY_SIZE(names));
    bool is_open = false;

    for (unsigned n = 0; n < nr_names; n++)
        is_open = is_open || strcmp(names[n], type) == 0;
    if (!is_open)
        return type;
    if (v && v->kind == VALUE_OBJECT && v->object->type)
        return v->object->type->text;
    for (unsigned n = 0; n < nr_names; n++)
        for (unsigned k = 0; strcmp(names[n], type) == 0 && k < nr && k < site->nr_args; k++)
            if (params[k].is_pointer && strcmp(params[k].type, type) == 0) {
                const struct array *a = builder_array(
                    b, &params[k], site->args[k], site->at, seen ? &seen->args[k] : NULL);

                return a ? a->type : type;
            }
    if (v && v->type && (v->kind == VALUE_INT || v->kind == VALUE_REAL))
        return v->type->text;
    for (unsigned k = 0; k < nr && k < site->nr_args; k++) {
        const bool same = strcmp(params[k].type, type) == 0 && !params[k].is_pointer;
        const char *number = same ? literal_type(site->args[k]) : NULL;

        if (same && !number)
            number = hostcode_type_of(b->host, site->args[k], site->at);
        if (number)
            return number;
    }
    return type;
}

void builder_note(struct launching *l, const char *why)
{
    l->why = l->why ? l->why : why;
}

/* nullptr, also as a caller passes it. */
static bool is_null(struct host *host, struct range arg, unsigned at)
{
    static const char *const nulls[] = {"nullptr", "NULL", "0", NULL};

    for (unsigned up = 0; up < MAX_TEMPLATE_DEPTH && arg.to == arg.from + 1; up++) {
        const char *name = arg.toks->tok[arg.from].text;
        const struct decl *fn = hostcode_function_at(host, at);
        struct range whole;

        if (str_among(name, nulls))
            return true;
        if (!fn || hostcode_param(host, fn, name, &whole) < 0 ||
            !hostcode_definition(host, name, at, &arg, &at))
            break;
    }
    return false;
}

static void pointer_arg(struct launching *l, unsigned i, const struct value *v, struct str *args)
{
    struct builder *b = l->b;
    const struct param *p = &l->params[i];
    bool null =
        v ? v->kind == VALUE_INT && v->i == 0 : is_null(b->host, l->site->args[i], l->site->at);
    struct array *a = null ? NULL : builder_array(b, p, l->site->args[i], l->site->at, v);

    l->arrays[i] = a;
    if (null && p->may_be_null) {
        str_add_char(args, '0');
        return;
    }
    if (a) {
        builder_tensor_extent(b, a, l->site->args[i]);
        builder_use_array(a, p, b->nr_launches);
        str_add(args, a->id);
        return;
    }
    builder_note(
        l, arena_printf(b->arena,
               null ? "parameter %s is a null pointer" : "the memory of parameter %s", p->name));
    str_add(args, p->name);
}

void builder_integer(struct launching *l, const char *name, struct range arg, const struct value *v,
    const char *text, struct str *out)
{
    struct builder *b = l->b;
    struct str one = {0};
    int64_t value;
    int64_t number = 0;
    bool seen = v && walk_whole(v, &number), strict = b->host->strict;
    unsigned nr_sizes = b->host->nr_sizes;

    b->host->strict = strict || seen;
    bool ok = text || (arg.from < arg.to && hostcode_resolve(b->host, arg, l->site->at, &one));

    b->host->strict = strict;
    text = text ? text : tidy(b->arena, str_text(&one));
    str_finish(&one);
    if (seen && !(ok && hostcode_evaluate(b->host, text, &value) && value == number)) {
        b->host->nr_sizes = ok ? b->host->nr_sizes : nr_sizes;
        str_addf(out, "%lld", (long long)number);
        return;
    }
    const char *size =
        ok ? text
           : hostcode_unknown(b->host, arena_printf(b->arena, "%s_value", name), l->site->line);

    if (!size)
        builder_note(l, arena_printf(b->arena, "parameter %s: %s", name, b->host->why));
    str_add(out, size ? size : name);
}

static void texture_arg(struct launching *l, unsigned i, struct str *args)
{
    const char *name = l->params[i].name, *why = builder_texture(l, i, args);

    if (!why)
        return;
    builder_note(l, arena_printf(l->b->arena, "parameter %s is a texture: %s", name, why));
    str_add(args, name);
}

static void one_arg(struct launching *l, unsigned i, struct str *args)
{
    struct builder *b = l->b;
    const struct param *p = &l->params[i];
    const struct range arg = l->site->args[i];
    const struct value *v = l->seen ? &l->seen->args[i] : NULL;
    const char *type = hostcode_type(b->host, p->type, l->site->at);
    const char *why = NULL;
    struct str one = {0};

    str_add(args, i ? ", " : "");
    if (strcmp(type, "cudaTextureObject_t") == 0)
        texture_arg(l, i, args);
    else if (p->is_pointer || (v && v->kind == VALUE_MEMORY && !is_real(type) && !is_integer(type)))
        pointer_arg(l, i, v, args);
    else if (is_real(type))
        str_add(args, builder_scalar(l, p->name, p->type, arg, v));
    else if (is_integer(type))
        builder_integer(l, p->name, arg, v, NULL, args);
    else if ((why = builder_struct(l, i, type, v, args)) == NULL)
        ;
    else if (strictly(b, arg, l->site->at, &one)) /* an enum of a header */
        builder_integer(l, p->name, arg, v, tidy(b->arena, str_text(&one)), args);
    else {
        builder_note(l, arena_printf(b->arena,
                            "parameter %s has type %s, which is passed by value: %s; pass its "
                            "fields in braces, as in {n : i32, x}",
                            p->name, p->type, why));
        str_add(args, p->name);
    }
    str_finish(&one);
}

/* Which arrays hold the indices of others. */
static void note_indices(struct launching *l)
{
    for (unsigned i = 0; i < l->nr && i < l->site->nr_args; i++)
        for (unsigned k = 0; l->arrays[i] && l->params[i].indexed && k < l->nr; k++)
            if (l->arrays[k] && strcmp(l->params[k].name, l->params[i].indexed) == 0 &&
                l->arrays[k] != l->arrays[i])
                l->arrays[i]->indexed = l->arrays[k]->name;
}

/* The launch with the kernel's own default arguments where it gives none. */
static const struct site *with_defaults(struct builder *b, const struct site *given,
    const struct decl *kernel, const struct param *params, unsigned nr)
{
    struct site *site = arena_alloc(b->arena, sizeof(*site));

    *site = *given;
    while (site->nr_args < nr && site->nr_args < LAUNCH_MAX_ARGS) {
        struct range whole;

        if (hostcode_param(b->host, kernel, params[site->nr_args].name, &whole) < 0)
            break;
        const unsigned equals = toks_find(whole.toks, whole.from, whole.to, "=");

        if (equals >= whole.to)
            break;
        site->args[site->nr_args++] = (struct range){whole.toks, equals + 1, whole.to};
    }
    return site;
}

/* A launch line names a kernel, not its parameters; overloads that are not launched go. */
static bool is_overloaded(const struct builder *b, const struct decl *kernel)
{
    for (unsigned l = 0; l < b->nr_launches; l++) {
        const struct decl *other = b->host->kernels[l];

        if (other != kernel && other->container == kernel->container &&
            strcmp(other->name, kernel->name) == 0)
            return true;
    }
    return false;
}

void builder_launch(struct builder *b, const struct site *site, const struct decl *kernel,
    const struct walk_launch *seen)
{
    struct launching *l = arena_alloc(b->arena, sizeof(*l));
    struct str args = {0};

    *l = (struct launching){.b = b, .site = site, .seen = seen, .kernel = kernel};
    l->nr = params_read(l->params, b->arena, b->host->decls, kernel);
    params_roles(l->params, l->nr, b->host, kernel);
    l->site = site = with_defaults(b, site, kernel, l->params, l->nr);
    for (unsigned i = 0; i < l->nr && i < site->nr_args; i++) {
        struct param *p = &l->params[i];

        l->declared[i] = p->type;
        p->type = bound_type(b, site, seen, kernel, p->type);
        if (!p->is_pointer)
            p->type = deduced_type(
                b, site, kernel, l->params, l->nr, p->type, seen, seen ? &seen->args[i] : NULL);
        one_arg(l, i, &args);
    }
    note_indices(l);
    if (is_overloaded(b, kernel))
        builder_note(
            l, arena_printf(b->arena, "there are several kernels called %s", kernel->name));
    if (l->nr != site->nr_args)
        builder_note(l, arena_printf(b->arena, "%s takes %u arguments, %u are given", site->kernel,
                            l->nr, site->nr_args));
    const char *config = builder_config(b, site, seen, &l->why), *id = kernel_id(l);

    b->launches[b->nr_launches++] = (struct launch_text){
        arena_printf(b->arena, "#pragma keet launch %s<<<%s>>>(%s)", id, config, str_text(&args)),
        l->why, site->line, seen ? seen->assumed : 0, site->kernel, builder_is_empty(b, config)};
    str_finish(&args);
}
