/* Owns the contract that is inferred: sizes, arrays with their roles, scalars, launches; each line
 * with what it follows from. */
#include "intake/contract.h"

#include "base/mem.h"
#include "core/task.h"
#include "intake/roles.h"
#include "intake/spelling.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ARRAYS = 64, MAX_SCALARS = 64, MAX_LAUNCHES = 16, MAX_LINE_SHOWN = 90 };

struct array {
    const char *name;   /* in the file */
    const char *id;     /* in the contract */
    const char *type;   /* of C */
    const char *extent; /* text; NULL: not known */
    const char *why;
    unsigned line; /* of the allocation */
    bool read_first, read, written, atomics;
    bool to_host, from_host;
    const char *filled;  /* cudaMemset's value, or NULL */
    const char *indexed; /* the array that its values index */
    unsigned first_launch, last_launch;
    const char *param; /* of the first kernel, for messages */
};

struct scalar_arg {
    const char *param; /* of the kernel */
    const char *name, *type, *value, *why;
    unsigned line;
};

struct launch_text {
    const char *text, *why;
    unsigned line;
};

struct builder {
    struct arena *arena;
    struct host *host;
    struct array arrays[MAX_ARRAYS];
    unsigned nr_arrays;
    struct scalar_arg scalars[MAX_SCALARS];
    unsigned nr_scalars;
    struct launch_text launches[MAX_LAUNCHES];
    unsigned nr_launches;
    struct intake *in;
    size_t cap_lines;
};

/* "line 40: cudaMalloc(&x, n * sizeof(float));" */
static const char *shown(const struct builder *b, unsigned line)
{
    const char *p = b->host->toks->source;

    for (unsigned l = 1; l < line && p; l++) {
        p = strchr(p, '\n');
        p += p != NULL;
    }
    if (!p || line == 0)
        return "";
    p += strspn(p, " \t");
    size_t nr = strcspn(p, "\r\n");

    while (nr > 0 && strchr("; \t{", p[nr - 1]))
        nr--;
    return arena_printf(b->arena, "line %u: %.*s%s", line,
        (int)(nr < MAX_LINE_SHOWN ? nr : MAX_LINE_SHOWN), p, nr < MAX_LINE_SHOWN ? "" : "...");
}

static void add_line(struct builder *b, bool missing, const char *from, const char *pragma)
{
    b->in->lines = grow(b->in->lines, &b->cap_lines, b->in->nr_lines + 1, sizeof(*b->in->lines));
    b->in->lines[b->in->nr_lines++] = (struct intake_line){pragma, from, missing};
    b->in->nr_missing += missing;
}

/* ---- arrays ---- */

static bool range_has(struct range r, const char *word)
{
    for (unsigned i = r.from; i < r.to; i++)
        if (r.toks->tok[i].kind == TOK_NAME && strcmp(r.toks->tok[i].text, word) == 0)
            return true;
    return false;
}

static void note_copies(struct builder *b, struct array *a)
{
    const struct toks *toks = b->host->toks;

    for (unsigned i = 0; i + 1 < toks->nr; i++) {
        struct range args[5];
        bool copy = tok_is(&toks->tok[i], "cudaMemcpy") || tok_is(&toks->tok[i], "cudaMemcpyAsync");
        bool fill = tok_is(&toks->tok[i], "cudaMemset") || tok_is(&toks->tok[i], "cudaMemsetAsync");

        if ((!copy && !fill) || !tok_is(&toks->tok[i + 1], "("))
            continue;
        unsigned nr = range_split(
            (struct range){toks, i + 2, toks->tok[i + 1].match}, args, ARRAY_SIZE(args));

        if (copy && nr >= 4) {
            a->from_host = a->from_host || (range_has(args[0], a->name) &&
                                               !range_has(args[3], "cudaMemcpyDeviceToHost"));
            a->to_host = a->to_host || (range_has(args[1], a->name) &&
                                           !range_has(args[3], "cudaMemcpyHostToDevice"));
        } else if (fill && nr >= 3 && range_has(args[0], a->name) &&
                   args[1].to == args[1].from + 1 &&
                   strcmp(toks->tok[args[1].from].text, "0") == 0) {
            a->filled = "0";
        }
    }
}

static struct array *array_for(
    struct builder *b, const struct param *p, struct range arg, unsigned at)
{
    const char *name, *declared = "";
    unsigned where;

    if (!hostcode_pointer(b->host, arg, at, &name, &where))
        return NULL;
    for (unsigned i = 0; i < b->nr_arrays; i++)
        if (strcmp(b->arrays[i].name, name) == 0)
            return &b->arrays[i];
    if (b->nr_arrays == MAX_ARRAYS)
        return NULL;
    struct array *a = &b->arrays[b->nr_arrays++];
    struct str elems = {0};
    bool tensor = range_has(arg, "data_ptr") || range_has(arg, "mutable_data_ptr") ||
                  range_has(arg, "const_data_ptr");
    bool offset = toks_find(arg.toks, arg.from, arg.to, "+") < arg.to;

    *a = (struct array){.name = name,
        .id = name,
        .type = p->type,
        .param = p->name,
        .line = b->host->toks->tok[at].line};
    if (task_reserves(name))
        a->id = arena_printf(b->arena, "%s_", name);
    if (tensor)
        a->why = "it is a tensor";
    else if (hostcode_extent(b->host, name, where, &elems, &declared, &a->line) && !offset)
        a->extent = tidy(b->arena, str_text(&elems));
    else
        a->why = offset
                     ? arena_printf(b->arena, "the argument for %s is inside of %s", p->name, name)
                     : b->host->why;
    str_finish(&elems);
    unsigned lanes;

    if (!elem_of(hostcode_type(b->host, a->type, where), &lanes) && *declared)
        a->type = declared;
    a->type = hostcode_type(b->host, a->type, where);
    note_copies(b, a);
    return a;
}

/* The tensor that one made by empty_like(x) is like; the name itself for others. */
static const char *like(struct builder *b, const char *name, unsigned at)
{
    for (unsigned up = 0; up < 4; up++) {
        struct range value;
        unsigned where, i;
        const char *other = NULL;

        if (!hostcode_definition(b->host, name, at, &value, &where))
            break;
        for (i = value.from; i + 2 < value.to && !other; i++) {
            const struct tok *t = &value.toks->tok[i];

            if (t->kind == TOK_NAME && str_ends(t->text, "_like") &&
                tok_is(&value.toks->tok[i + 1], "(") && value.toks->tok[i + 2].kind == TOK_NAME)
                other = value.toks->tok[i + 2].text;
        }
        if (!other && value.to == value.from + 1 && value.toks->tok[value.from].kind == TOK_NAME)
            other = value.toks->tok[value.from].text;
        if (!other)
            break;
        name = other;
        at = where;
    }
    return name;
}

/* torch::zeros({m, n}, options): the product of its list; false: it was not made so. */
static bool made_of_list(struct builder *b, const char *name, unsigned at, struct str *out)
{
    struct range value, dims[6];
    unsigned where;

    if (!hostcode_definition(b->host, name, at, &value, &where))
        return false;
    for (unsigned i = value.from; i + 1 < value.to; i++) {
        const struct tok *brace = &value.toks->tok[i + 1];

        if (!tok_is(&value.toks->tok[i], "(") || !tok_is(brace, "{") || !brace->match)
            continue;
        unsigned nr = range_split((struct range){value.toks, i + 2, brace->match}, dims, 6);

        for (unsigned d = 0; d < nr; d++) {
            str_add(out, d ? "*(" : "(");
            if (!hostcode_resolve(b->host, dims[d], where, out))
                return false;
            str_add_char(out, ')');
        }
        return nr > 0;
    }
    return false;
}

/* A tensor's extent is its number of elements, which only its caller knows. */
static void tensor_extent(struct builder *b, struct array *a, struct range arg)
{
    struct host *h = b->host;
    struct str product = {0};

    if (a->extent || !(range_has(arg, "data_ptr") || range_has(arg, "mutable_data_ptr") ||
                         range_has(arg, "const_data_ptr") || range_has(arg, "data")))
        return;
    const char *tensor = like(b, a->name, arg.from);

    if (made_of_list(b, tensor, arg.from, &product))
        a->extent = tidy(b->arena, str_text(&product));
    str_finish(&product);
    const char *name = arena_printf(b->arena, "%s_numel", tensor);

    for (unsigned i = 0; i < h->nr_sizes && !a->extent; i++)
        if (strcmp(h->sizes[i].name, name) == 0)
            a->extent = name;
    if (!a->extent && h->nr_sizes < INTAKE_MAX_SIZES) {
        h->sizes[h->nr_sizes++] = (struct size){name, 0, false, a->line};
        a->extent = name;
    }
}

static void use_array(struct array *a, const struct param *p, unsigned launch)
{
    bool fresh = !a->read && !a->written;

    if (fresh)
        a->first_launch = launch;
    a->last_launch = launch;
    a->read_first = a->read_first || (p->reads && !a->written);
    a->read = a->read || p->reads;
    a->written = a->written || p->writes;
    a->atomics = a->atomics || p->atomics;
}

/* ---- launches ---- */

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

/* No memory goes in and none comes out: a warm-up. */
static bool touches_nothing(struct builder *b, const struct decl *kernel)
{
    struct param params[MAX_PARAMS];
    const struct decls *decls = b->host->decls;
    unsigned nr = params_read(params, NULL, decls, kernel);

    for (unsigned p = 0; p < nr; p++)
        if (params[p].is_pointer)
            return false;
    for (unsigned i = 0; i < decls->nr; i++)
        for (unsigned t = kernel->body;
             decls->decl[i].kind == DECL_VARIABLE && decls->decl[i].keep && t < kernel->to; t++)
            if (decls->toks->tok[t].kind == TOK_NAME &&
                strcmp(decls->toks->tok[t].text, decls->decl[i].name) == 0)
                return false;
    return nr == 0;
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
                const struct array *a = array_for(b, &params[k], site->args[k], site->at);

                return a ? a->type : type;
            }
    return type;
}

static void build_launch(struct builder *b, const struct site *site, const struct decl *kernel)
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
            arrays[i] = array_for(b, &params[i], site->args[i], site->at);
            if (arrays[i]) {
                tensor_extent(b, arrays[i], site->args[i]);
                use_array(arrays[i], &params[i], b->nr_launches);
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

/* ---- lines ---- */

static void size_lines(struct builder *b)
{
    const struct host *h = b->host;
    struct str text = {0}, from = {0};

    for (unsigned i = 0; i < h->nr_sizes; i++) {
        if (!h->sizes[i].known)
            continue;
        str_addf(&text, "%s%s = %lld", text.len ? ", " : "#pragma keet size   ", h->sizes[i].name,
            (long long)h->sizes[i].value);
        str_addf(&from, "%s%s", from.len ? "; " : "", shown(b, h->sizes[i].line));
    }
    if (text.len)
        add_line(b, false, arena_strdup(b->arena, str_text(&from)),
            arena_strdup(b->arena, str_text(&text)));
    for (unsigned i = 0; i < h->nr_sizes; i++)
        if (!h->sizes[i].known)
            add_line(b, true,
                arena_printf(b->arena, "only the caller knows %s (%s)", h->sizes[i].name,
                    shown(b, h->sizes[i].line)),
                arena_printf(b->arena, "#pragma keet size   %s = 1048576", h->sizes[i].name));
    str_finish(&text);
    str_finish(&from);
}

static const char *role_of(const struct builder *b, const struct array *a)
{
    if (!a->written)
        return "in";
    if (a->read_first)
        return "inout";
    return b->nr_launches > 1 && a->read && a->last_launch > a->first_launch && !a->to_host ? "temp"
                                                                                            : "out";
}

static const struct array *array_named(const struct builder *b, const char *name)
{
    for (unsigned i = 0; i < b->nr_arrays; i++)
        if (strcmp(b->arrays[i].name, name) == 0)
            return &b->arrays[i];
    return NULL;
}

static void array_line(struct builder *b, const struct array *a)
{
    unsigned lanes = 1;
    const char *elem = elem_of(a->type, &lanes), *role = role_of(b, a), *contents = "";
    const char *field = elem ? NULL : hostcode_struct(b->host, a->type, &lanes);

    if (field) {
        unsigned each = 1;

        elem = elem_of(field, &each);
        lanes *= each;
    }
    const struct array *target = a->indexed ? array_named(b, a->indexed) : NULL;
    const char *what =
        a->written && a->read_first && a->filled && !a->from_host ? " = constant(0)" : contents;

    if (!a->written && target && target->extent && elem && is_integer(a->type))
        what = arena_printf(b->arena, " = integers(0, %s - 1)", target->extent);
    const char *dims = lanes > 1 ? arena_printf(b->arena, "[%u]", lanes) : "";
    const char *pragma = arena_printf(b->arena, "#pragma keet %-6s %s : %s[%s]%s%s", role, a->id,
        elem ? elem : "f32", a->extent ? a->extent : "1048576", dims, what);
    const char *access = !a->written     ? "only read"
                         : a->atomics    ? "updated by atomics"
                         : a->read_first ? "read and written"
                                         : "written before it is read";

    if (!elem)
        add_line(b, true,
            arena_printf(b->arena, "type %s of %s is no element type of the task language", a->type,
                a->name),
            pragma);
    else if (!a->extent)
        add_line(b, true,
            arena_printf(b->arena, "the number of elements of %s: %s", a->name, a->why), pragma);
    else
        add_line(b, false,
            arena_printf(b->arena, "%s; %s by the kernel%s", shown(b, a->line), access,
                target && strchr(pragma, '-') ? ", as indices" : ""),
            pragma);
}

static void scalar_lines(struct builder *b)
{
    for (unsigned i = 0; i < b->nr_scalars; i++) {
        const struct scalar_arg *s = &b->scalars[i];

        add_line(b, s->value == NULL, s->value ? shown(b, s->line) : s->why,
            arena_printf(b->arena, "#pragma keet scalar %s : %s = %s", s->name,
                s->type ? s->type : "f32", s->value ? s->value : "1.0"));
    }
}

/* The same kernel with the same words again: a warm-up, or a loop that times. */
static bool repeats(struct builder *b, const struct site *sites, unsigned i)
{
    for (unsigned k = 0; k < i; k++) {
        if (hostcode_unreached(b->host, sites[k].at))
            continue;
        bool same =
            strcmp(sites[k].kernel, sites[i].kernel) == 0 && sites[k].nr_args == sites[i].nr_args;

        for (unsigned a = 0; same && a < sites[i].nr_args; a++)
            same = strcmp(toks_text(sites[k].args[a].toks, b->arena, sites[k].args[a].from,
                              sites[k].args[a].to),
                       toks_text(sites[i].args[a].toks, b->arena, sites[i].args[a].from,
                           sites[i].args[a].to)) == 0;
        if (same)
            return true;
    }
    return false;
}

static bool sets_block(const struct builder *b, const char *name)
{
    for (unsigned i = 0; i < b->nr_launches; i++) {
        struct toks toks;
        const char *text = b->launches[i].text;

        if (!lex(&toks, b->arena, text + 1, strlen(text + 1)))
            continue;
        unsigned open = toks_find(&toks, 0, toks.nr, "<<<"),
                 close = toks_find(&toks, open, toks.nr, ">>>"),
                 comma = toks_find(&toks, open, close, ",");

        for (unsigned t = comma; t < close; t++)
            if (tok_is(&toks.tok[t], name))
                return true;
    }
    return false;
}

static void fix_sizes(struct builder *b)
{
    struct host *h = b->host;

    for (unsigned i = h->nr_sizes; i-- > 0;) {
        struct size s = h->sizes[i];

        if (!s.known || !sets_block(b, s.name))
            continue;
        for (unsigned l = 0; l < b->nr_launches; l++)
            b->launches[l].text =
                with_number(b->arena, b->launches[l].text, s.name, (long long)s.value);
        for (unsigned a = 0; a < b->nr_arrays; a++)
            if (b->arrays[a].extent)
                b->arrays[a].extent =
                    with_number(b->arena, b->arrays[a].extent, s.name, (long long)s.value);
        memmove(&h->sizes[i], &h->sizes[i + 1], (h->nr_sizes - i - 1) * sizeof(s));
        h->nr_sizes--;
    }
}

bool contract_infer(struct intake *in, struct host *host, const char *path, struct err *err)
{
    struct builder *b = arena_alloc(host->arena, sizeof(*b));
    unsigned nr_sites;
    struct site *sites = hostcode_launches(host, &nr_sites);
    const struct decl *in_function = NULL;

    *b = (struct builder){.arena = host->arena, .host = host, .in = in};
    for (unsigned i = 0; i < host->decls->nr; i++)
        in->nr_kernels += host->decls->decl[i].is_kernel && host->decls->decl[i].body;
    for (unsigned i = 0; i < nr_sites && b->nr_launches < MAX_LAUNCHES; i++) {
        const struct decl *kernel = decls_function(host->decls, sites[i].kernel);
        const struct decl *fn = hostcode_function_at(host, sites[i].at);

        if (!kernel || !kernel->is_kernel || !kernel->body || (in_function && fn != in_function) ||
            hostcode_unreached(host, sites[i].at) || repeats(b, sites, i) ||
            (nr_sites > 1 && touches_nothing(b, kernel)))
            continue;
        in_function = fn;
        build_launch(b, &sites[i], kernel);
    }
    free(sites);
    in->nr_launches = b->nr_launches;
    if (in->nr_kernels == 0)
        return err_set(err,
            "%s: there is no __global__ function with a body; name a file that has the kernel",
            path);
    if (b->nr_launches == 0)
        return err_set(err,
            "%s: %u kernel(s), but no kernel<<<grid, block>>>(...) of one of them; add `#pragma "
            "keet` "
            "lines by hand (see README.md, What a kernel file says)",
            path, in->nr_kernels);
    fix_sizes(b);
    size_lines(b);
    for (unsigned i = 0; i < b->nr_arrays; i++)
        array_line(b, &b->arrays[i]);
    scalar_lines(b);
    for (unsigned i = 0; i < b->nr_launches; i++)
        add_line(b, b->launches[i].why != NULL,
            b->launches[i].why ? b->launches[i].why : shown(b, b->launches[i].line),
            b->launches[i].text);
    struct intake_line *heap = in->lines;
    in->lines = arena_array(host->arena, in->nr_lines, sizeof(*heap));
    memcpy(in->lines, heap, in->nr_lines * sizeof(*heap));
    free(heap);
    return true;
}
