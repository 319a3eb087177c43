/* Owns launches in the walk: by chevrons, by cudaLaunchKernel and its kin. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

/* The launch's record, new; NULL: this place has launched this kernel before. */
static struct walk_launch *record(
    struct walk *w, const struct toks *toks, unsigned at, const struct decl *kernel)
{
    for (unsigned i = 0; i < w->nr_launches; i++) {
        if (w->launches[i].kernel != kernel || w->launches[i].site.place != &toks->tok[at])
            continue;
        while (w->nr_copies && w->copies[w->nr_copies - 1].before == w->nr_launches)
            w->nr_copies--; /* for another round of the same */
        return NULL;
    }
    if (w->nr_launches == WALK_MAX_LAUNCHES || w->dry || !kernel || !kernel->body)
        return NULL;
    struct walk_launch *l = &w->launches[w->nr_launches++];

    *l = (struct walk_launch){.kernel = kernel,
        .from = hostcode_function_at(w->host, w->at),
        .assumed = w->assumed,
        .site = {.kernel = kernel->name,
            .id = kernel->name,
            .at = toks == w->host->toks ? at : w->at,
            .line = toks->tok[at].line,
            .place = &toks->tok[at]}};
    for (const struct frame *f = w->frame; f; f = f->up)
        walk_facts(w, f, true);
    walk_facts(w, NULL, true);
    return l;
}

static bool dims_of(struct walk *w, struct value v, int64_t dims[3])
{
    static const char *const names[] = {"x", "y", "z"};
    bool known = true;

    dims[0] = dims[1] = dims[2] = 1;
    if (walk_whole(&v, &dims[0])) /* a real one: <<<ceil(n / 256.0), 256>>> */
        return true;
    dims[0] = 1;
    if (v.kind != VALUE_OBJECT)
        return false;
    for (unsigned i = 0; i < 3; i++) {
        struct value *d = &walk_field(w, v.object, names[i])->v;

        known = known && d->kind == VALUE_INT;
        dims[i] = d->i;
    }
    return known;
}

static void set_config(struct walk *w, struct walk_launch *l, struct value *config, unsigned nr)
{
    l->grid_known = nr > 0 && dims_of(w, config[0], l->grid);
    l->block_known = nr > 1 && dims_of(w, config[1], l->block);
    l->smem_known = nr < 3 || config[2].kind == VALUE_INT;
    l->smem = nr < 3 ? 0 : config[2].i;
}

/* What the kernel's template parameters are: numbers and types as text. */
static void set_template_args(
    struct walk *w, struct walk_launch *l, const struct toks *toks, unsigned angle)
{
    unsigned close = angle ? toks_angle(toks, angle, toks->nr) : 0;

    if (!close)
        return;
    l->site.nr_template_args = range_split((struct range){toks, angle + 1, close},
        l->site.template_args, ARRAY_SIZE(l->site.template_args));
    for (unsigned i = 0; i < l->site.nr_template_args; i++) {
        struct range r = l->site.template_args[i];
        struct value v = walk_evaluate(w, r);
        const struct type *type;
        bool is_ref;

        if (v.kind == VALUE_INT)
            l->template_args[i] = v.type && strcmp(v.type->text, "bool") == 0
                                      ? (v.i ? "true" : "false")
                                      : arena_printf(w->arena, "%lld", (long long)v.i);
        else if (v.kind == VALUE_UNKNOWN &&
                 type_read(w, toks, r.from, r.to, &type, &is_ref) == r.to && type &&
                 type->kind != TYPE_OTHER)
            l->template_args[i] = type->text;
    }
}

void walk_launch_chevrons(struct walk *w, const struct toks *toks, unsigned id, unsigned angle,
    unsigned chevrons, unsigned to, unsigned *past)
{
    unsigned close = toks_find(toks, chevrons + 1, to, ">>>"),
             name = angle ? angle - 1 : chevrons - 1;
    struct range parts[LAUNCH_MAX_ARGS];
    struct value values[4] = {{0}};

    *past = to;
    if (close >= to || !tok_is(&toks->tok[close + 1], "(") || !toks->tok[close + 1].match)
        return;
    *past = toks->tok[close + 1].match + 1;
    if (w->dry)
        return;
    struct value code = walk_named(w, toks->tok[name].text).v;
    struct walk_launch *l = record(
        w, toks, chevrons, code.kind == VALUE_CODE && code.code->is_kernel ? code.code : NULL);

    if (!l)
        return;
    l->site.id = toks_text(toks, w->arena, id, chevrons);
    l->site.nr_config = range_split((struct range){toks, chevrons + 1, close}, l->site.config, 4);
    for (unsigned i = 0; i < l->site.nr_config; i++)
        values[i] = walk_evaluate(w, l->site.config[i]);
    set_config(w, l, values, l->site.nr_config);
    set_template_args(w, l, toks, angle);
    l->site.nr_args = range_split(
        (struct range){toks, close + 2, toks->tok[close + 1].match}, parts, LAUNCH_MAX_ARGS);
    for (unsigned i = 0; i < l->site.nr_args; i++) {
        l->site.args[i] = parts[i];
        l->args[i] = walk_copy(w, walk_evaluate(w, parts[i]));
    }
}

/* void *args[] = {&a, &b}: what stands behind each address. */
static void args_behind(struct walk *w, struct walk_launch *l, struct value list, unsigned nr)
{
    for (unsigned i = 0; i < nr && i < LAUNCH_MAX_ARGS && list.kind == VALUE_MEMORY; i++) {
        struct value v = walk_cell(w, list.memory, walk_along(list.i, i, 8));

        if (v.kind == VALUE_ADDRESS)
            l->args[i] = walk_copy(w, v.slot->v);
        else if (v.kind == VALUE_MEMORY)
            l->args[i] = walk_cell(w, v.memory, v.i);
        else
            break;
        l->site.nr_args = i + 1;
    }
}

static unsigned nr_params(const struct walk *w, const struct decl *kernel)
{
    struct range params[LAUNCH_MAX_ARGS];
    const struct toks *toks = w->host->toks;

    return range_split((struct range){toks, kernel->open + 1, toks->tok[kernel->open].match},
        params, LAUNCH_MAX_ARGS);
}

/* The kernel that an argument such as (void *)kernel<float, 4> names; the token of its `<`. */
static const struct decl *kernel_in(struct walk *w, struct range r, unsigned *angle)
{
    *angle = 0;
    for (unsigned i = r.from; i < r.to; i++) {
        struct value v = r.toks->tok[i].kind == TOK_NAME ? walk_named(w, r.toks->tok[i].text).v
                                                         : (struct value){0};

        if (v.kind != VALUE_CODE || !v.code->is_kernel)
            continue;
        if (i + 1 < r.to && tok_is(&r.toks->tok[i + 1], "<"))
            *angle = i + 1;
        return v.code;
    }
    return NULL;
}

/* The initialiser's items, as ranges: for expressions over sizes. */
static void arg_ranges(struct walk *w, struct walk_launch *l, struct range list)
{
    struct range value, items[LAUNCH_MAX_ARGS];
    unsigned where;

    if (list.to != list.from + 1 ||
        !hostcode_definition(w->host, list.toks->tok[list.from].text, w->at, &value, &where) ||
        value.from >= value.to || !tok_is(&value.toks->tok[value.from], "{"))
        return;
    unsigned nr =
        range_split((struct range){value.toks, value.from + 1, value.toks->tok[value.from].match},
            items, LAUNCH_MAX_ARGS);

    for (unsigned i = 0; i < nr && i < l->site.nr_args; i++) {
        unsigned amp = toks_find(items[i].toks, items[i].from, items[i].to, "&");

        if (amp < items[i].to)
            l->site.args[i] = (struct range){items[i].toks, amp + 1, items[i].to};
    }
}

bool walk_launch_call(struct walk *w, const char *name, struct range *args, unsigned nr)
{
    bool plain =
        strcmp(name, "cudaLaunchKernel") == 0 || strcmp(name, "cudaLaunchCooperativeKernel") == 0;
    bool extended = strcmp(name, "cudaLaunchKernelEx") == 0;
    struct value config[3];
    unsigned angle;

    if ((!plain && !extended) || nr < (plain ? 4U : 2U))
        return false;
    const struct decl *kernel = kernel_in(w, args[extended], &angle);
    struct walk_launch *l = record(w, args[0].toks, args[0].from, kernel);

    if (!l)
        return true;
    if (angle)
        set_template_args(w, l, args[extended].toks, angle);
    if (plain) {
        config[0] = walk_evaluate(w, args[1]);
        config[1] = walk_evaluate(w, args[2]);
        config[2] = nr > 4 ? walk_evaluate(w, args[4]) : walk_int(0);
        l->site.config[0] = args[1];
        l->site.config[1] = args[2];
        l->site.config[2] = nr > 4 ? args[4] : (struct range){args[0].toks, 0, 0};
        l->site.nr_config = nr > 4 ? 3 : 2;
        args_behind(w, l, walk_evaluate(w, args[3]), nr_params(w, kernel));
        arg_ranges(w, l, args[3]);
        set_config(w, l, config, 3);
        return true;
    }
    struct operand c = walk_operand(w, args[0]);
    struct value object = c.v.kind == VALUE_ADDRESS ? c.v.slot->v : c.v;

    if (object.kind == VALUE_OBJECT) {
        struct value smem = walk_field(w, object.object, "dynamicSmemBytes")->v;

        config[0] = walk_field(w, object.object, "gridDim")->v;
        config[1] = walk_field(w, object.object, "blockDim")->v;
        config[2] = smem.kind == VALUE_UNKNOWN ? walk_int(0) : smem;
        set_config(w, l, config, 3);
    }
    for (unsigned i = 2; i < nr; i++) {
        l->site.args[i - 2] = args[i];
        l->args[i - 2] = walk_copy(w, walk_evaluate(w, args[i]));
    }
    l->site.nr_args = nr - 2;
    return true;
}
