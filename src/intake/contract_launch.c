/* Owns the launches of a contract: the kernel's id, grid and block, arguments. */
#include "intake/builder.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/spelling.h"

#include <stdlib.h>
#include <string.h>

static const char *bound_type(
    struct builder *b, const struct site *site, const struct decl *kernel, const char *type)
{
    const char *names[8];
    unsigned nr = template_params(b->host->toks, kernel, names, ARRAY_SIZE(names));

    for (unsigned i = 0; i < nr && i < site->nr_template_args; i++)
        if (strcmp(names[i], type) == 0)
            return toks_text(site->template_args[i].toks, b->arena, site->template_args[i].from,
                site->template_args[i].to);
    return type;
}

/* A template argument: a type of C as it is; a number or a constant; a parameter of the function
 * around, by a call that gives it. */
static const char *template_argument(struct builder *b, struct range r, unsigned at)
{
    const char *text = toks_text(r.toks, b->arena, r.from, r.to);
    const struct decl *fn = hostcode_function_at(b->host, at);
    const struct toks *toks = b->host->toks;
    struct str number = {0};
    const char *names[8];
    unsigned nr = fn ? template_params(toks, fn, names, ARRAY_SIZE(names)) : 0;

    if (type_bytes(hostcode_type(b->host, text, at)))
        return hostcode_type(b->host, text, at);
    if (r.to != r.from + 1 || toks->tok[r.from].kind != TOK_NAME)
        return text;
    for (unsigned n = 0; n < nr; n++)
        for (unsigned i = 0; strcmp(names[n], text) == 0 && i + 1 < toks->nr; i++) {
            struct range args[8];
            unsigned close = i + 2;

            if (toks->tok[i].kind != TOK_NAME || strcmp(toks->tok[i].text, fn->name) != 0 ||
                !tok_is(&toks->tok[i + 1], "<"))
                continue;
            while (close < toks->nr && close < i + 32 && !tok_is(&toks->tok[close], ">"))
                close++;
            if (range_split((struct range){toks, i + 2, close}, args, ARRAY_SIZE(args)) > n)
                return template_argument(b, args[n], i);
        }
    b->host->fixed = b->host->strict = true;
    if (hostcode_resolve(b->host, r, at, &number))
        text = tidy(b->arena, str_text(&number));
    b->host->fixed = b->host->strict = false;
    str_finish(&number);
    return text;
}

/* The kernel's id with its namespaces and with all template arguments spelled out. */
static const char *kernel_id(struct builder *b, const struct site *site, const struct decl *kernel,
    const struct param *params, struct array **arrays, unsigned nr)
{
    const struct decls *decls = b->host->decls;
    const char *names[8], *id = site->kernel;
    unsigned nr_names = template_params(b->host->toks, kernel, names, ARRAY_SIZE(names));
    struct str text = {0};

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

        if (t < site->nr_template_args)
            arg = template_argument(b, site->template_args[t], site->at);
        for (unsigned p = 0; p < nr && !arg; p++)
            if (strcmp(params[p].type, names[t]) == 0 && arrays[p])
                arg = arrays[p]->type;
        if (!arg)
            break;
        str_addf(&text, "%s%s", t ? ", " : "<", arg);
        if (t + 1 == nr_names)
            str_add_char(&text, '>');
    }
    id = arena_strdup(b->arena, str_text(&text));
    str_finish(&text);
    return id;
}

static bool add_dims(struct builder *b, struct range r, unsigned at, struct str *out)
{
    const struct toks *toks = r.toks;
    struct range dims[3], value;
    unsigned nr, where = at;

    if (r.to == r.from + 1 && toks->tok[r.from].kind == TOK_NAME) {
        const char *name = toks->tok[r.from].text;
        struct range members[3];

        if (hostcode_dim3_members(b->host, name, at, members)) {
            str_add(out, "dim3(");
            for (unsigned i = 0; i < 3; i++) {
                str_add(out, i ? ", " : "");
                if (members[i].from == members[i].to)
                    str_add_char(out, '1');
                else if (!add_dims(b, members[i], at, out))
                    return false;
            }
            str_add_char(out, ')');
            return true;
        }
        if (hostcode_definition(b->host, name, at, &value, &where)) {
            bool is_dim3 = tok_is(&value.toks->tok[value.from], "dim3");
            struct range parts[3];

            nr = range_split(value, parts, 3);
            for (unsigned i = where; i > 0 && i + 4 > where; i--) /* const dim3 grid(x, y) */
                is_dim3 = is_dim3 || tok_is(&b->host->toks->tok[i - 1], "dim3");
            if (is_dim3 || nr > 1)
                return add_dims(b, value, where, out);
        }
    }
    if (tok_is(&toks->tok[r.from], "dim3") && toks->tok[r.from + 1].match)
        r = (struct range){toks, r.from + 2, r.to - 1};
    nr = range_split(r, dims, 3);
    if (nr == 0) {
        str_add_char(out, '1');
        return true;
    }
    if (nr > 1)
        str_add(out, "dim3(");
    for (unsigned i = 0; i < nr; i++) {
        struct str one = {0};
        bool ok = hostcode_resolve(b->host, dims[i], at, &one);

        str_addf(out, "%s%s", i ? ", " : "", tidy(b->arena, str_text(&one)));
        str_finish(&one);
        if (!ok)
            return false;
    }
    if (nr > 1)
        str_add_char(out, ')');
    return true;
}

static bool name_taken(const struct builder *b, const char *name)
{
    bool taken = false;

    for (unsigned i = 0; i < b->nr_arrays; i++)
        taken = taken || strcmp(b->arrays[i].name, name) == 0;
    for (unsigned i = 0; i < b->host->nr_sizes; i++)
        taken = taken || strcmp(b->host->sizes[i].name, name) == 0;
    return taken;
}

/* The value of a real argument, shortest first. */
static const char *real_value(struct builder *b, struct range r, unsigned at)
{
    double value, back;
    char *text = NULL;

    if (!hostcode_real(b->host, r, at, &value))
        return NULL;
    for (int digits = 1; digits <= 17; digits++) {
        text = arena_printf(b->arena, "%.*g", digits, value);
        back = strtod(text, NULL);
        if (back == value)
            break;
    }
    return strpbrk(text, ".en") ? text : arena_printf(b->arena, "%s.0", text);
}

static const char *scalar_for(
    struct builder *b, const struct param *p, struct range arg, const struct site *site)
{
    const char *name = p->name, *value = real_value(b, arg, site->at);
    const char *why = arena_printf(b->arena, "the value of %s, %s, is not a number in this file",
        p->name, toks_text(arg.toks, b->arena, arg.from, arg.to));
    unsigned lanes;

    for (unsigned i = 0; i < b->nr_scalars; i++)
        if (strcmp(b->scalars[i].param, p->name) == 0 && !value == !b->scalars[i].value &&
            (value ? strcmp(b->scalars[i].value, value) : strcmp(b->scalars[i].why, why)) == 0)
            return b->scalars[i].name;
    while (name_taken(b, name))
        name = arena_printf(b->arena, "%s_", name);
    for (unsigned i = 0; i < b->nr_scalars; i++)
        if (strcmp(b->scalars[i].name, name) == 0)
            name = arena_printf(b->arena, "%s%u", name, b->nr_scalars);
    if (b->nr_scalars < MAX_SCALARS)
        b->scalars[b->nr_scalars++] = (struct scalar_arg){p->name, name,
            elem_of(hostcode_type(b->host, p->type, site->at), &lanes), value, why, site->line};
    return name;
}

/* An integer expression without a number that the file does not give. */
static bool strictly(struct builder *b, struct range arg, unsigned at, struct str *out)
{
    b->host->strict = true;
    bool ok = hostcode_resolve(b->host, arg, at, out);

    b->host->strict = false;
    return ok;
}

/* T of a parameter passed by value, where an array of T is an argument too. */
static const char *deduced_type(struct builder *b, const struct site *site,
    const struct decl *kernel, const struct param *params, unsigned nr, const char *type)
{
    const char *names[8];
    unsigned nr_names = template_params(b->host->toks, kernel, names, ARRAY_SIZE(names));

    for (unsigned n = 0; n < nr_names; n++)
        for (unsigned k = 0; strcmp(names[n], type) == 0 && k < nr && k < site->nr_args; k++)
            if (params[k].is_pointer && strcmp(params[k].type, type) == 0) {
                const struct array *a = builder_array(b, &params[k], site->args[k], site->at);

                return a ? a->type : type;
            }
    return type;
}

void builder_launch(struct builder *b, const struct site *site, const struct decl *kernel)
{
    struct param params[MAX_PARAMS];
    struct array *arrays[MAX_PARAMS] = {0};
    unsigned nr = params_read(params, b->arena, b->host->decls, kernel);
    struct str args = {0}, config = {0};
    const char *why = NULL;

    for (unsigned i = 0; i < nr && i < site->nr_args; i++) {
        params[i].type = bound_type(b, site, kernel, params[i].type);
        if (!params[i].is_pointer)
            params[i].type = deduced_type(b, site, kernel, params, nr, params[i].type);
        const char *type = hostcode_type(b->host, params[i].type, site->at);
        struct str one = {0};

        str_add(&args, i ? ", " : "");
        if (params[i].is_pointer) {
            arrays[i] = builder_array(b, &params[i], site->args[i], site->at);
            if (arrays[i]) {
                builder_tensor_extent(b, arrays[i], site->args[i]);
                builder_use_array(arrays[i], &params[i], b->nr_launches);
                str_add(&args, arrays[i]->id);
                continue;
            }
            why = why ? why : arena_printf(b->arena, "the memory of parameter %s", params[i].name);
            str_add(&args, params[i].name);
        } else if (is_real(type)) {
            str_add(&args, scalar_for(b, &params[i], site->args[i], site));
        } else if (is_integer(type) || strictly(b, site->args[i], site->at, &one)) {
            bool ok = one.len > 0 || hostcode_resolve(b->host, site->args[i], site->at, &one);

            const char *size =
                ok ? NULL
                   : hostcode_unknown(
                         b->host, arena_printf(b->arena, "%s_value", params[i].name), site->line);

            if (!ok && !size && !why)
                why = arena_printf(b->arena, "parameter %s: %s", params[i].name, b->host->why);
            str_add(&args, ok ? tidy(b->arena, str_text(&one)) : size ? size : params[i].name);
        } else {
            why = why ? why
                      : arena_printf(b->arena,
                            "parameter %s has type %s, which is passed by value; "
                            "the task language passes arrays, numbers and integers: pass its "
                            "fields one by one",
                            params[i].name, params[i].type);
            str_add(&args, params[i].name);
        }
        str_finish(&one);
    }
    for (unsigned i = 0; i < nr && i < site->nr_args; i++)
        if (arrays[i] && params[i].indexed)
            for (unsigned k = 0; k < nr && k < site->nr_args; k++)
                if (arrays[k] && strcmp(params[k].name, params[i].indexed) == 0 &&
                    arrays[k] != arrays[i])
                    arrays[i]->indexed = arrays[k]->name;
    if (nr != site->nr_args && !why)
        why = arena_printf(
            b->arena, "%s takes %u arguments, %u are given", site->kernel, nr, site->nr_args);
    b->host->fixed = true;
    for (unsigned c = 0; c < site->nr_config && c < 3; c++) {
        struct str bytes = {0};
        bool ok = c < 2 ? add_dims(b, site->config[c], site->at, c ? &config : &config)
                        : hostcode_resolve(b->host, site->config[c], site->at, &bytes);

        if (c == 2 && ok)
            str_add(&config, tidy(b->arena, str_text(&bytes)));
        if (!ok && !why)
            why = arena_printf(b->arena, "%s: %s",
                c == 0   ? "grid"
                : c == 1 ? "block"
                         : "shared memory",
                b->host->why);
        if (c + 1 < site->nr_config && c < 2)
            str_add(&config, ", ");
        str_finish(&bytes);
    }
    b->host->fixed = false;
    const char *id = kernel_id(b, site, kernel, params, arrays, nr);

    if (why &&
        site->nr_config) { /* as the file has it: easier to complete than half of an answer */
        str_clear(&config);
        str_add(&config, toks_text(b->host->toks, b->arena, site->config[0].from,
                             site->config[site->nr_config - 1].to));
    }

    b->launches[b->nr_launches++] =
        (struct launch_text){arena_printf(b->arena, "#pragma keet launch %s<<<%s>>>(%s)", id,
                                 str_text(&config), str_text(&args)),
            why, site->line};
    str_finish(&args);
    str_finish(&config);
}
