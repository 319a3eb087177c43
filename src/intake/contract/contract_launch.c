/* Owns the launches of a contract: the kernel's id, grid and block, arguments. */
#include "intake/contract/contract_builder.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/task.h"
#include "intake/syntax/literal.h"
#include "intake/syntax/spelling.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEMPLATE_DEPTH = 8 }; /* how many functions may hand a parameter on */

/* The type of a parameter, with the template arguments of the launch put in. */
static const char *bound_type(struct contract_builder *b, const struct site *site,
    const struct interp_launch *seen, const struct decl *kernel, const char *type)
{
    const char *names[MAX_TEMPLATE_ARGS], *word;
    unsigned nr = params_of_template(b->resolver->toks, kernel, names, ARRAY_SIZE(names));

    for (unsigned i = 0; i < nr && i < site->nr_template_args; i++) {
        const struct tok_range *arg = &site->template_args[i];
        const size_t len = strlen(names[i]);
        const char *text = seen && seen->template_args[i]
                               ? seen->template_args[i]
                               : toks_text(arg->toks, b->arena, arg->from, arg->to);

        if ((word = str_find_word(type, type + strlen(type), names[i], len)) != NULL)
            type = arena_printf(b->arena, "%.*s%s%s", (int)(word - type), type, text, word + len);
    }
    return type;
}

/* traits<word>: the text with what `word` stands for, where that is a type of numbers. */
static const char *spelled_out(struct contract_builder *b, struct tok_range r, unsigned at)
{
    struct str text = {0};

    for (unsigned i = r.from; i < r.to; i++) {
        const struct tok *t = &r.toks->tok[i];
        const char *type = t->kind == TOK_NAME && (i == r.from || !tok_is(t - 1, "::"))
                               ? resolver_type(b->resolver, t->text, at)
                               : NULL;
        const bool apart = i > r.from && t->kind == TOK_NAME && t[-1].kind == TOK_NAME;

        str_addf(&text, "%s%s", apart ? " " : "", type && spelling_bytes(type) ? type : t->text);
    }
    const char *spelled = arena_strdup(b->arena, str_text(&text));

    str_finish(&text);
    return spelled;
}

/* The text of a template argument: a type of C, a number or a constant. A parameter of the function
 * around stands for what a call gives it. */
static const char *template_argument(
    struct contract_builder *b, struct tok_range r, unsigned at, unsigned depth)
{
    struct str number = {0};
    int64_t value;
    unsigned where;

    while (tok_is(&r.toks->tok[r.from], "(") && r.toks->tok[r.from].match == r.to - 1)
        r = (struct tok_range){r.toks, r.from + 1, r.to - 1};
    const char *text = toks_text(r.toks, b->arena, r.from, r.to);

    if (spelling_bytes(resolver_type(b->resolver, text, at)))
        return resolver_type(b->resolver, text, at);
    if (r.to != r.from + 1 || r.toks->tok[r.from].kind != TOK_NAME)
        return spelled_out(b, r, at);
    if (depth > 0 && resolver_template_argument(b->resolver, text, at, &r, &where))
        return template_argument(b, r, where, depth - 1);
    if (resolver_known_integer(b->resolver, r, at, &number))
        text = resolver_evaluate(b->resolver, str_text(&number), &value)
                   ? arena_printf(b->arena, "%lld", (long long)value)
                   : spelling_tidy(b->arena, str_text(&number));
    str_finish(&number);
    return text;
}

/* A number for a parameter of an enum's type gets a cast to that type: C++ does not convert it. */
static const char *of_enum(
    struct contract_builder *b, const struct decl *kernel, const char *name, const char *arg)
{
    const struct toks *toks = b->resolver->toks;
    unsigned i = kernel->from;

    while (i < kernel->open && strcmp(toks->tok[i].text, name) != 0)
        i++;
    for (unsigned d = 0; *arg >= '0' && *arg <= '9' && d < b->resolver->decls->nr; d++) {
        const struct decl *e = &b->resolver->decls->decl[d];

        if (e->kind == DECL_TYPE && tok_is(&toks->tok[e->from], "enum") && *e->name &&
            tok_is(&toks->tok[i - 1], e->name))
            return arena_printf(b->arena, "(%s)%s", e->name, arg);
    }
    return arg;
}

/* The kernel's id, with its namespaces and all template arguments. */
static const char *kernel_id(struct launching *l)
{
    struct contract_builder *b = l->b;
    const struct site *site = l->site;
    const struct decl *kernel = l->kernel;
    const struct interp_launch *seen = l->seen;
    const struct decls *decls = b->resolver->decls;
    const char *names[MAX_TEMPLATE_ARGS], *id = site->kernel;
    unsigned nr_names = params_of_template(b->resolver->toks, kernel, names, ARRAY_SIZE(names));
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
            arg = resolver_type(b->resolver, seen->template_args[t], site->at);
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
    if (nr_given) /* the template has defaults for the others, or deduces them */
        str_add_char(&text, '>');
    id = arena_strdup(b->arena, str_text(&text));
    str_finish(&text);
    return id;
}

static bool name_taken(struct contract_builder *b, const char *name)
{
    return resolver_size(b->resolver, name) || contract_array_named(b, name);
}

/* The shortest text of a real number that reads back as the same. single: as a float. */
static const char *real_text(struct contract_builder *b, double value, bool single)
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

const char *contract_scalar(struct launching *l, const char *param, const char *type,
    struct tok_range arg, const struct interp_value *v)
{
    struct contract_builder *b = l->b;
    const char *name = param, *value = NULL;
    const char *why = arena_printf(b->arena, "the value of %s, %s, is not a number in this file",
        param, arg.toks ? toks_text(arg.toks, b->arena, arg.from, arg.to) : "");
    double number = 0;
    unsigned lanes;

    struct interp_value said = {0};

    if (arg.from < arg.to && !(v && interp_number_of(v, &number))) {
        said = interp_said(contract_types(b), arg, l->site->at);
        v = &said;
    }
    if (v && interp_number_of(v, &number))
        value =
            real_text(b, number, strcmp(type, "float") == 0 || (v->type && v->type->bytes == 4));
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
            spelling_elem(resolver_type(b->resolver, type, l->site->at), &lanes), value, why,
            l->site->line};
    else
        contract_note(l, "more than 64 real numbers are passed");
    return name;
}

/* Adds an integer expression. False: the file does not give all its numbers. */
static bool strictly(struct contract_builder *b, struct tok_range arg, unsigned at, struct str *out)
{
    const struct resolver_mode before =
        resolver_restrict(b->resolver, (struct resolver_mode){.strict = true});
    bool ok = resolver_integer(b->resolver, arg, at, out);

    b->resolver->mode = before;
    return ok;
}

/* The type of a number literal; NULL: arg is no number literal. */
static const char *type_of_literal(struct tok_range arg)
{
    const struct tok *t = arg.toks ? &arg.toks->tok[arg.from] : NULL;

    if (arg.from + 1 != arg.to || t->kind != TOK_NUMBER)
        return NULL;
    struct number_literal literal;

    literal_read(&literal, t->text);
    return literal_type(&literal);
}

/* What T of a parameter by value stands for: the struct that is passed, where an array of T is an
 * argument too; else the type of the number. */
static const char *deduced_type(struct contract_builder *b, const struct site *site,
    const struct decl *kernel, const struct param *params, unsigned nr, const char *type,
    const struct interp_launch *seen, const struct interp_value *v)
{
    const char *names[MAX_TEMPLATE_ARGS];
    unsigned nr_names = params_of_template(b->resolver->toks, kernel, names, ARRAY_SIZE(names));
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
                const struct array *a = contract_array(
                    b, &params[k], site->args[k], site->at, seen ? &seen->args[k] : NULL);

                return a ? a->type : type;
            }
    if (v && v->type && (v->kind == VALUE_INT || v->kind == VALUE_REAL))
        return v->type->text;
    for (unsigned k = 0; k < nr && k < site->nr_args; k++) {
        const bool same = strcmp(params[k].type, type) == 0 && !params[k].is_pointer;
        const char *number = same ? type_of_literal(site->args[k]) : NULL;

        if (same && !number)
            number = resolver_type_of(b->resolver, site->args[k], site->at);
        if (number)
            return number;
    }
    return type;
}

void contract_note(struct launching *l, const char *why)
{
    l->why = l->why ? l->why : why;
}

/* The argument is a null pointer, also where a caller passes it. */
static bool is_null(struct resolver *resolver, struct tok_range arg, unsigned at)
{
    for (unsigned up = 0; up < MAX_TEMPLATE_DEPTH && arg.to == arg.from + 1; up++) {
        const char *name = arg.toks->tok[arg.from].text;
        const struct decl *fn = resolver_function_at(resolver, at);
        struct tok_range whole;

        if (spelling_is_null(name))
            return true;
        if (!fn || resolver_param(resolver, fn, name, &whole) < 0 ||
            !resolver_definition(resolver, name, at, &arg, &at))
            break;
    }
    return false;
}

static void pointer_arg(
    struct launching *l, unsigned i, const struct interp_value *v, struct str *args)
{
    struct contract_builder *b = l->b;
    const struct param *p = &l->params[i];
    bool null =
        v ? v->kind == VALUE_INT && v->i == 0 : is_null(b->resolver, l->site->args[i], l->site->at);
    struct array *a = null ? NULL : contract_array(b, p, l->site->args[i], l->site->at, v);

    l->arrays[i] = a;
    if (null && p->may_be_null) {
        str_add_char(args, '0');
        return;
    }
    if (a) {
        contract_tensor_extent(b, a, l->site->args[i]);
        contract_use_array(a, p, b->nr_launches);
        str_add(args, a->id);
        return;
    }
    contract_note(
        l, arena_printf(b->arena,
               null ? "parameter %s is a null pointer" : "the memory of parameter %s", p->name));
    str_add(args, p->name);
}

void contract_integer(struct launching *l, const char *name, struct tok_range arg,
    const struct interp_value *v, const char *text, struct str *out)
{
    struct contract_builder *b = l->b;
    struct str one = {0};
    int64_t value;
    int64_t number = 0;
    const bool seen = v && interp_whole(v, &number);
    unsigned nr_sizes = b->resolver->nr_sizes;

    const struct resolver_mode before =
        resolver_restrict(b->resolver, (struct resolver_mode){.strict = seen});
    bool ok = text || (arg.from < arg.to && resolver_integer(b->resolver, arg, l->site->at, &one));

    b->resolver->mode = before;
    text = text ? text : spelling_tidy(b->arena, str_text(&one));
    str_finish(&one);
    if (seen && !(ok && resolver_evaluate(b->resolver, text, &value) && value == number)) {
        b->resolver->nr_sizes = ok ? b->resolver->nr_sizes : nr_sizes;
        str_addf(out, "%lld", (long long)number);
        return;
    }
    const char *size =
        ok ? text
           : resolver_unknown(b->resolver, arena_printf(b->arena, "%s_value", name), l->site->line);

    if (!size)
        contract_note(l, arena_printf(b->arena, "parameter %s: %s", name, b->resolver->why));
    str_add(out, size ? size : name);
}

static void texture_arg(struct launching *l, unsigned i, struct str *args)
{
    const char *name = l->params[i].name, *why = contract_texture(l, i, args);

    if (!why)
        return;
    contract_note(l, arena_printf(l->b->arena, "parameter %s is a texture: %s", name, why));
    str_add(args, name);
}

static void one_arg(struct launching *l, unsigned i, struct str *args)
{
    struct contract_builder *b = l->b;
    const struct param *p = &l->params[i];
    const struct tok_range arg = l->site->args[i];
    const struct interp_value *v = l->seen ? &l->seen->args[i] : NULL;
    const char *type = resolver_type(b->resolver, p->type, l->site->at);
    const char *why = NULL;
    struct str one = {0};

    if (strcmp(type, "cudaTextureObject_t") == 0)
        texture_arg(l, i, args);
    else if (p->is_pointer || (v && v->kind == VALUE_MEMORY && !spelling_is_real(type) &&
                                  !spelling_is_integer(type)))
        pointer_arg(l, i, v, args);
    else if (spelling_is_real(type))
        str_add(args, contract_scalar(l, p->name, p->type, arg, v));
    else if (spelling_is_integer(type))
        contract_integer(l, p->name, arg, v, NULL, args);
    else if ((why = contract_struct(l, i, type, v, args)) == NULL)
        ;
    else if (strictly(b, arg, l->site->at, &one)) /* an enum of a header */
        contract_integer(l, p->name, arg, v, spelling_tidy(b->arena, str_text(&one)), args);
    else {
        contract_note(l, arena_printf(b->arena,
                             "parameter %s has type %s, which is passed by value: %s; pass its "
                             "fields in braces, as in {n : i32, x}",
                             p->name, p->type, why));
        str_add(args, p->name);
    }
    str_finish(&one);
}

/* Notes which arrays hold indices into other arrays. */
static void note_indices(struct launching *l)
{
    for (unsigned i = 0; i < l->nr && i < l->site->nr_args; i++)
        for (unsigned k = 0; l->arrays[i] && l->params[i].indexed && k < l->nr; k++)
            if (l->arrays[k] && strcmp(l->params[k].name, l->params[i].indexed) == 0 &&
                l->arrays[k] != l->arrays[i])
                l->arrays[i]->indexed = l->arrays[k]->name;
}

/* The launch, with the kernel's default arguments where the launch gives none. */
static const struct site *with_defaults(struct contract_builder *b, const struct site *given,
    const struct decl *kernel, const struct param *params, unsigned nr)
{
    struct site *site = arena_alloc(b->arena, sizeof(*site));

    *site = *given;
    while (site->nr_args < nr && site->nr_args < LAUNCH_MAX_ARGS) {
        struct tok_range whole;

        if (resolver_param(b->resolver, kernel, params[site->nr_args].name, &whole) < 0)
            break;
        const unsigned equals = toks_find(whole.toks, whole.from, whole.to, "=");

        if (equals >= whole.to)
            break;
        site->args[site->nr_args++] = (struct tok_range){whole.toks, equals + 1, whole.to};
    }
    return site;
}

/* A launch line names a kernel without its parameters, so that only overloads that are launched
 * count. */
static bool is_overloaded(const struct contract_builder *b, const struct decl *kernel)
{
    for (unsigned l = 0; l < b->nr_launches; l++) {
        const struct decl *other = b->resolver->kernels[l];

        if (other != kernel && other->container == kernel->container &&
            strcmp(other->name, kernel->name) == 0)
            return true;
    }
    return false;
}

void contract_launch(struct contract_builder *b, const struct site *site, const struct decl *kernel,
    const struct interp_launch *seen)
{
    struct launching *l = arena_alloc(b->arena, sizeof(*l));
    struct contract_launch to = {
        .line = site->line, .assumed = seen ? seen->assumed : 0, .kernel = site->kernel};

    *l = (struct launching){.b = b, .site = site, .seen = seen, .kernel = kernel};
    l->nr = params_read(l->params, b->arena, b->resolver->decls, kernel);
    param_access_pointers(l->params, l->nr, b->resolver, kernel);
    l->site = site = with_defaults(b, site, kernel, l->params, l->nr);
    for (unsigned i = 0; i < l->nr && i < site->nr_args; i++) {
        struct param *p = &l->params[i];
        struct str arg = {0};

        l->declared[i] = p->type;
        p->type = bound_type(b, site, seen, kernel, p->type);
        if (!p->is_pointer)
            p->type = deduced_type(
                b, site, kernel, l->params, l->nr, p->type, seen, seen ? &seen->args[i] : NULL);
        one_arg(l, i, &arg);
        to.args[to.nr_args++] = arena_strdup(b->arena, str_text(&arg));
        str_finish(&arg);
    }
    note_indices(l);
    if (is_overloaded(b, kernel))
        contract_note(
            l, arena_printf(b->arena, "there are several kernels called %s", kernel->name));
    if (l->nr != site->nr_args)
        contract_note(l, arena_printf(b->arena, "%s takes %u arguments, %u are given", site->kernel,
                             l->nr, site->nr_args));
    contract_config(b, site, seen, &to, &l->why);
    to.id = kernel_id(l);
    to.why = l->why;
    to.is_empty = contract_is_empty(b, &to);
    b->launches[b->nr_launches++] = to;
}
