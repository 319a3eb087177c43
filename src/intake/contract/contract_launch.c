/* Owns the launches of a contract: the kernel's id, grid and block, arguments. */
#include "intake/contract/contract_builder.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/task.h"
#include "intake/syntax/spelling.h"

#include <stdlib.h>
#include <string.h>

const char *contract_text(struct contract_builder *b, const struct interp_value *v, bool fixed)
{
    const struct said *said = said_whole(b->arena, interp_said(b->interp, v), false);
    const unsigned nr_sizes = b->resolver->nr_sizes;
    struct str out = {0};
    int64_t value, number = 0;

    if (!said || !resolver_write(b->resolver, said, fixed, &out)) {
        str_finish(&out);
        return NULL;
    }
    const char *text = str_move(&out, b->arena);
    if (interp_whole(v, &number) &&
        !(resolver_evaluate(b->resolver, text, &value) && value == number)) {
        b->resolver->nr_sizes = nr_sizes;
        text = arena_printf(b->arena, number < 0 ? "(%lld)" : "%lld", (long long)number);
    }
    return text;
}

/* The grid has no blocks. */
static bool is_empty(struct contract_builder *b, const struct contract_launch *launch)
{
    int64_t value;

    for (unsigned i = 0; i < launch->dims[0].nr; i++)
        if (resolver_evaluate(b->resolver, launch->dims[0].of[i], &value) && value == 0)
            return true;
    return false;
}

/* Sets grid, block and shared memory of a launch. Where they are not known, to->words has them in
 * the file's own words, and *why is set if it was NULL. */
static void set_config(struct contract_builder *b, const struct interp_launch *seen,
    struct contract_launch *to, const char **why)
{
    static const char *const parts[] = {"grid", "block", "cluster"};
    const struct site *site = &seen->site;

    for (unsigned c = 0; c < 3; c++) {
        for (unsigned i = 0; i < seen->nr_dims[c]; i++)
            to->dims[c].of[i] = contract_text(b, &seen->dims[c][i], true);
        to->dims[c].nr = seen->nr_dims[c];
        if (!seen->nr_dims[c] && (c < 2 || seen->clustered) && !*why)
            *why = arena_printf(b->arena, "%s: nothing gives it", parts[c]);
    }
    if (seen->smem.kind != VALUE_INT || seen->smem.i != 0)
        to->smem = contract_text(b, &seen->smem, true);
    if (!to->smem && seen->smem.kind != VALUE_INT && !*why)
        *why = "shared memory: nothing gives it";
    if (*why && site->nr_config) /* in the file's own words: easier to complete */
        to->words = toks_text(site->config[0].toks, b->arena, site->config[0].from,
            site->config[site->nr_config - 1].to);
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
    return str_move(&text, b->arena);
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

        if (seen->template_args[t])
            arg = spelling_bytes(seen->template_args[t])
                      ? seen->template_args[t]
                      : resolver_type(b->resolver, seen->template_args[t], site->at);
        else if (t < site->nr_template_args)
            arg = spelled_out(b, site->template_args[t], site->at);
        if (!arg)
            break;
        str_addf(&text, "%s%s", nr_given++ ? ", " : "<", of_enum(b, kernel, names[t], arg));
    }
    if (nr_given) /* the template has defaults for the others, or deduces them */
        str_add_char(&text, '>');
    return str_move(&text, b->arena);
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
    const char *words, const struct interp_value *v)
{
    struct contract_builder *b = l->b;
    const char *name = param, *value = NULL;
    const char *why =
        arena_printf(b->arena, "the value of %s, %s, is not a number in this file", param, words);
    double number = 0;
    unsigned lanes;

    if (interp_number_of(v, &number))
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

void contract_note(struct launching *l, const char *why)
{
    l->why = l->why ? l->why : why;
}

static void pointer_arg(
    struct launching *l, unsigned i, const struct interp_value *v, struct str *args)
{
    struct contract_builder *b = l->b;
    const struct param *p = &l->params[i];
    const bool null = v->kind == VALUE_INT && v->i == 0;
    const struct tok_range arg = l->site->args[i];
    struct array *a = contract_array(b, p, v, l->seen->names[i]);

    if (!a && !null && toks_find(arg.toks, arg.from, arg.to, "+") == arg.to)
        a = contract_unknown_array(b,
            v->said && v->said->name && v->said->name->text ? v->said->name->text : p->name, p,
            l->site->line);
    l->arrays[i] = a;
    if (null && p->may_be_null) {
        str_add_char(args, '0');
        return;
    }
    if (a) {
        contract_use_array(a, p, b->nr_launches);
        str_add(args, a->id);
        return;
    }
    contract_note(
        l, arena_printf(b->arena,
               null ? "parameter %s is a null pointer" : "the memory of parameter %s", p->name));
    str_add(args, p->name);
}

void contract_integer(
    struct launching *l, const char *name, const struct interp_value *v, struct str *out)
{
    struct contract_builder *b = l->b;
    const char *text = contract_text(b, v, false);

    if (!text)
        text =
            resolver_unknown(b->resolver, arena_printf(b->arena, "%s_value", name), l->site->line);
    if (!text)
        contract_note(l, arena_printf(b->arena, "parameter %s: there are too many sizes", name));
    str_add(out, text ? text : name);
}

static void texture_arg(struct launching *l, unsigned i, struct str *args)
{
    const char *name = l->params[i].name, *why = contract_texture(l, i, args);

    if (!why)
        return;
    contract_note(l, arena_printf(l->b->arena, "parameter %s is a texture: %s", name, why));
    str_add(args, name);
}

/* What the host gave cuTensorMapEncodeTiled is not followed. */
static void tensor_map_arg(struct launching *l, unsigned i, struct str *args)
{
    const char *name = l->params[i].name;

    contract_note(l, arena_printf(l->b->arena,
                         "parameter %s is a tensor map, and how the host encodes it is not "
                         "followed: write tensor_map(ARRAY, box(...)), extents innermost first, as "
                         "cuTensorMapEncodeTiled has them there, and a line for ARRAY",
                         name));
    str_addf(args, "%s", name);
}

static void one_arg(struct launching *l, unsigned i, struct str *args)
{
    struct contract_builder *b = l->b;
    const struct param *p = &l->params[i];
    const struct tok_range arg = l->site->args[i];
    const struct interp_value *v = &l->seen->args[i];
    const char *type = resolver_type(b->resolver, p->type, l->site->at);
    const char *why = NULL;

    if (strcmp(type, "cudaTextureObject_t") == 0)
        texture_arg(l, i, args);
    else if (strcmp(type, "CUtensorMap") == 0)
        tensor_map_arg(l, i, args);
    else if (p->is_pointer ||
             (v->kind == VALUE_MEMORY && !spelling_is_real(type) && !spelling_is_integer(type)))
        pointer_arg(l, i, v, args);
    else if (spelling_is_real(type))
        str_add(args, contract_scalar(l, p->name, type, tok_range_text(arg, b->arena), v));
    else if (spelling_is_integer(type))
        contract_integer(l, p->name, v, args);
    else if ((why = contract_struct(l, i, type, v, args)) == NULL)
        ;
    else if (v->kind == VALUE_INT) /* an enum of a header */
        contract_integer(l, p->name, v, args);
    else {
        contract_note(l, arena_printf(b->arena,
                             "parameter %s has type %s, which is passed by value: %s; pass its "
                             "fields in braces, as in {n : i32, x}",
                             p->name, p->type, why));
        str_add(args, p->name);
    }
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

/* The launch, with the kernel's default arguments where it gives none. */
static struct interp_launch *with_defaults(
    struct contract_builder *b, const struct interp_launch *given)
{
    struct tok_range params[MAX_PARAMS];
    const unsigned nr = params_split(b->resolver->toks, given->kernel, params);
    struct interp_launch *seen = arena_alloc(b->arena, sizeof(*seen));
    struct site *site = &seen->site;

    *seen = *given;
    while (site->nr_args < nr && site->nr_args < LAUNCH_MAX_ARGS) {
        const struct tok_range whole = params[site->nr_args];
        const unsigned equals = toks_find(whole.toks, whole.from, whole.to, "=");

        if (equals >= whole.to)
            break;
        site->args[site->nr_args] = (struct tok_range){whole.toks, equals + 1, whole.to};
        seen->args[site->nr_args] = interp_in_scope(b->interp, NULL, site->args[site->nr_args]);
        site->nr_args++;
    }
    return seen;
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

void contract_launch(struct contract_builder *b, const struct interp_launch *seen)
{
    struct launching *l = arena_alloc(b->arena, sizeof(*l));
    const struct decl *kernel = seen->kernel;

    *l = (struct launching){.b = b, .kernel = kernel};
    l->nr = params_read(l->params, b->arena, b->resolver->decls, kernel);
    param_access_pointers(l->params, l->nr, contract_types(b), kernel);
    l->seen = seen = with_defaults(b, seen);
    const struct site *site = l->site = &seen->site;
    struct contract_launch to = {
        .line = site->line, .assumed = seen->assumed, .kernel = site->kernel};

    b->resolver->bound = seen->bound;
    for (unsigned i = 0; i < l->nr && i < site->nr_args; i++) {
        struct str arg = {0};

        one_arg(l, i, &arg);
        to.args[to.nr_args++] = str_move(&arg, b->arena);
    }
    note_indices(l);
    if (is_overloaded(b, kernel))
        contract_note(
            l, arena_printf(b->arena, "there are several kernels called %s", kernel->name));
    if (l->nr != site->nr_args)
        contract_note(l, arena_printf(b->arena, "%s takes %u arguments, %u are given", site->kernel,
                             l->nr, site->nr_args));
    set_config(b, seen, &to, &l->why);
    to.id = kernel_id(l);
    b->resolver->bound = NULL;
    to.why = l->why;
    to.is_empty = is_empty(b, &to);
    b->launches[b->nr_launches++] = to;
}
