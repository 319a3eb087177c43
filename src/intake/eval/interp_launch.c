/* Owns launches in the interpreter: by chevrons, by cudaLaunchKernel and its kin. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

/* A new record for a launch; NULL: the same place has launched the same kernel before. */
static struct interp_launch *record(
    struct interp *ip, const struct toks *toks, unsigned at, const struct decl *kernel)
{
    for (unsigned i = 0; i < ip->nr_launches; i++) {
        if (ip->launches[i].kernel != kernel || ip->launches[i].site.place != &toks->tok[at])
            continue;
        while (ip->nr_transfers && ip->transfers[ip->nr_transfers - 1].before == ip->nr_launches)
            ip->nr_transfers--; /* they belong to another round of the same launch */
        return NULL;
    }
    if (ip->nr_launches == INTERP_MAX_LAUNCHES || !kernel || !kernel->body)
        return NULL;
    struct interp_launch *l = &ip->launches[ip->nr_launches++];

    *l = (struct interp_launch){.kernel = kernel,
        .from = resolver_function_at(ip->resolver, ip->at),
        .assumed = ip->assumed,
        .site = {.kernel = kernel->name,
            .id = kernel->name,
            .at = toks == ip->resolver->toks ? at : ip->at,
            .line = toks->tok[at].line,
            .place = &toks->tok[at]}};
    l->scope = interp_frame_copy(ip);
    l->bound = ip->frame ? ip->frame->bound : NULL;
    return l;
}

/* Reads the grid or the block: a number or a dim3. A part of a grid that nothing gives is a size of
 * its own. Returns how many of its numbers are written; 0: they are not known. */
static unsigned dims_of(
    struct interp *ip, struct interp_value v, struct interp_value dims[3], const char *kernel)
{
    static const char *const names[] = {"x", "y", "z"};
    const struct type *whole = interp_type_named(ip, "int");
    unsigned nr = 1;

    for (unsigned i = 0; i < 3; i++) {
        struct interp_value *d =
            v.kind == VALUE_OBJECT ? &interp_field(ip, v.object, names[i])->v : NULL;

        /* a real number converts: <<<ceil(n / 256.0), 256>>> */
        dims[i] = interp_convert(ip, d ? *d : i == 0 ? v : interp_int(1), whole);
        if (d && kernel && dims[i].kind == VALUE_UNKNOWN)
            dims[i] = (struct interp_value){.kind = VALUE_SIZE,
                .type = whole,
                .said = said_named(
                    ip->arena, (struct said_name){
                                   .text = arena_printf(ip->arena, "%s_grid_%s", kernel, names[i]),
                                   .at = ip->at,
                                   .line = ip->resolver->toks->tok[ip->at].line})};
        if (!interp_said(ip, &dims[i]))
            return 0;
        if (dims[i].said || dims[i].i != 1)
            nr = i + 1;
    }
    return nr;
}

static void set_config(
    struct interp *ip, struct interp_launch *l, struct interp_value *config, unsigned nr)
{
    for (unsigned i = 0; i < 2; i++)
        l->nr_dims[i] = nr > i ? dims_of(ip, config[i], l->dims[i], i ? NULL : l->kernel->name) : 0;
    l->smem = nr < 3 ? interp_int(0) : config[2];
}

/* Sets what the kernel's template parameters stand for: numbers and types as text. */
static void set_template_args(struct interp *ip, struct interp_launch *l)
{
    for (unsigned i = 0; i < l->site.nr_template_args; i++) {
        struct tok_range r = l->site.template_args[i];
        struct interp_value v = interp_evaluate(ip, r);
        const struct type *type = interp_type_in(ip, r);
        const bool bound = interp_bound_type(ip, r.toks->tok[r.from].text) != NULL;

        if (v.kind == VALUE_INT)
            l->template_args[i] = v.type && strcmp(v.type->text, "bool") == 0
                                      ? (v.i ? "true" : "false")
                                      : arena_printf(ip->arena, "%lld", (long long)v.i);
        else if (type && (bound || (v.kind == VALUE_UNKNOWN && type->kind != TYPE_OTHER)))
            l->template_args[i] = type->text;
    }
}

/* Binds the kernel's template parameters. list: those that the arguments say. */
static void bind_template_args(struct interp *ip, struct interp_launch *l, const struct bound *list)
{
    const char *names[MAX_TEMPLATE_ARGS], *text;
    const unsigned nr = params_of_template(ip->resolver->toks, l->kernel, names, ARRAY_SIZE(names));

    for (unsigned n = 0; n < nr; n++) {
        for (const struct bound *b = list; b && n >= l->site.nr_template_args; b = b->next)
            if (strcmp(b->name, names[n]) == 0)
                l->template_args[n] = b->type->text;
        text = l->template_args[n];
        if (!text && n < l->site.nr_template_args)
            text = tok_range_text(l->site.template_args[n], ip->arena);
        if (text)
            l->bound = interp_bind(ip, names[n], interp_type_named(ip, text), l->bound);
    }
}

static void set_args(
    struct interp *ip, struct interp_launch *l, const struct tok_range *args, unsigned nr)
{
    struct tok_range params[MAX_PARAMS];
    const unsigned nr_params = params_split(ip->resolver->toks, l->kernel, params);
    const struct bound *list = NULL;

    for (unsigned i = 0; i < nr; i++) {
        const struct interp_operand o = interp_operand(ip, args[i]);

        if (i < nr_params)
            interp_deduce(ip, l->kernel, params[i], &o, &list);
        l->site.args[i] = args[i];
        l->args[i] = interp_copy(ip, o.v);
        if (o.v.kind == VALUE_MEMORY && o.v.i != 0)
            l->names[i] = o.path;
    }
    l->site.nr_args = nr;
    bind_template_args(ip, l, list);
}

unsigned interp_launch_chevrons(
    struct interp *ip, const struct toks *toks, unsigned chevrons, unsigned to)
{
    struct interp_value values[4] = {{0}};
    struct site site;
    const unsigned past = resolver_site(ip->resolver, toks, chevrons, to, &site);

    if (!past || ip->asking)
        return past ? past : to;
    for (unsigned i = 0; i < site.nr_args && ip->walk; i++) {
        const struct interp_operand o = interp_operand(ip, site.args[i]);

        interp_walk_call(ip, "", &o, 1); /* of device code: whatever its kernel does */
    }
    const struct interp_value code =
        ip->walk ? (struct interp_value){0} : interp_named(ip, site.kernel).v;
    struct interp_launch *l = record(
        ip, toks, chevrons, code.kind == VALUE_CODE && code.code->is_kernel ? code.code : NULL);

    if (!l)
        return past;
    l->site.id = site.id;
    l->site.nr_config = site.nr_config;
    memcpy(l->site.config, site.config, sizeof(site.config));
    l->site.nr_template_args = site.nr_template_args;
    memcpy(l->site.template_args, site.template_args, sizeof(site.template_args));
    ip->launching++;
    for (unsigned i = 0; i < site.nr_config; i++)
        values[i] = interp_evaluate(ip, site.config[i]);
    set_config(ip, l, values, site.nr_config);
    set_template_args(ip, l);
    set_args(ip, l, site.args, site.nr_args);
    ip->launching--;
    return past;
}

/* void *args[] = {&a, &b}: sets the arguments to what stands behind each address. */
static void args_behind(
    struct interp *ip, struct interp_launch *l, struct interp_value list, unsigned nr)
{
    for (unsigned i = 0; i < nr && i < LAUNCH_MAX_ARGS && list.kind == VALUE_MEMORY; i++) {
        struct interp_value v = interp_cell(list.memory, interp_along(list.i, i, 8));

        if (v.kind == VALUE_ADDRESS)
            l->args[i] = interp_copy(ip, interp_read(ip, v.slot));
        else if (v.kind == VALUE_MEMORY)
            l->args[i] = interp_cell(v.memory, v.i);
        else
            break;
        l->site.nr_args = i + 1;
    }
}

/* The kernel that an argument such as (void *)kernel<float, 4> names, and the token of its `<`. */
static const struct decl *kernel_in(struct interp *ip, struct tok_range r, unsigned *angle)
{
    *angle = 0;
    for (unsigned i = r.from; i < r.to; i++) {
        struct interp_value v = r.toks->tok[i].kind == TOK_NAME
                                    ? interp_named(ip, r.toks->tok[i].text).v
                                    : (struct interp_value){0};

        if (v.kind != VALUE_CODE || !v.code->is_kernel)
            continue;
        if (i + 1 < r.to && toks_is(r.toks, i + 1, "<"))
            *angle = i + 1;
        return v.code;
    }
    return NULL;
}

/* The cluster among the attributes of a cudaLaunchConfig_t. Its extents of 1 at the end are left
 * out, as those of grid and block. */
static void set_cluster(struct interp *ip, struct interp_launch *l, struct interp_object *config)
{
    const struct interp_value attrs = interp_field(ip, config, "attrs")->v;
    const struct interp_value nr = interp_field(ip, config, "numAttrs")->v;

    for (int64_t i = 0; i < 8 && (nr.kind != VALUE_INT || i < nr.i); i++) {
        struct interp_value one = attrs;

        if (attrs.kind == VALUE_MEMORY)
            one = interp_cell(attrs.memory, interp_along(attrs.i, i, LAUNCH_ATTRIBUTE_BYTES));
        else if (attrs.kind == VALUE_ADDRESS && i == 0)
            one = attrs.slot->v;
        if (one.kind != VALUE_OBJECT)
            return;
        const struct interp_value id = interp_field(ip, one.object, "id")->v,
                                  val = interp_field(ip, one.object, "val")->v;

        if (id.kind != VALUE_INT || id.i != LAUNCH_CLUSTER || val.kind != VALUE_OBJECT)
            continue;
        l->clustered = true;
        l->nr_dims[2] =
            dims_of(ip, interp_field(ip, val.object, "clusterDim")->v, l->dims[2], NULL);
    }
}

bool interp_launch_call(struct interp *ip, const char *name, struct tok_range *args, unsigned nr)
{
    bool plain =
        strcmp(name, "cudaLaunchKernel") == 0 || strcmp(name, "cudaLaunchCooperativeKernel") == 0;
    bool extended = strcmp(name, "cudaLaunchKernelEx") == 0;
    struct interp_value config[3];
    struct tok_range params[MAX_PARAMS];
    unsigned angle;

    if ((!plain && !extended) || nr < (plain ? 4U : 2U))
        return false;
    const struct decl *kernel = kernel_in(ip, args[extended], &angle);
    struct interp_launch *l = record(ip, args[0].toks, args[0].from, kernel);

    if (!l)
        return true;
    ip->launching++;
    if (angle)
        l->site.nr_template_args = toks_list(
            args[extended].toks, angle, l->site.template_args, ARRAY_SIZE(l->site.template_args));
    set_template_args(ip, l);
    if (plain) {
        config[0] = interp_evaluate(ip, args[1]);
        config[1] = interp_evaluate(ip, args[2]);
        config[2] = nr > 4 ? interp_evaluate(ip, args[4]) : interp_int(0);
        l->site.config[0] = args[1];
        l->site.config[1] = args[2];
        l->site.config[2] = nr > 4 ? args[4] : (struct tok_range){args[0].toks, 0, 0};
        l->site.nr_config = nr > 4 ? 3 : 2;
        args_behind(
            ip, l, interp_evaluate(ip, args[3]), params_split(ip->resolver->toks, kernel, params));
        set_config(ip, l, config, 3);
        bind_template_args(ip, l, NULL);
        ip->launching--;
        return true;
    }
    struct interp_operand c = interp_operand(ip, args[0]);
    struct interp_value object = c.v.kind == VALUE_ADDRESS ? c.v.slot->v : c.v;

    if (object.kind == VALUE_OBJECT) {
        struct interp_value smem = interp_field(ip, object.object, "dynamicSmemBytes")->v;

        config[0] = interp_field(ip, object.object, "gridDim")->v;
        config[1] = interp_field(ip, object.object, "blockDim")->v;
        config[2] = smem.kind == VALUE_UNKNOWN ? interp_int(0) : smem;
        set_config(ip, l, config, 3);
        set_cluster(ip, l, object.object);
    }
    set_args(ip, l, args + 2, nr - 2);
    ip->launching--;
    return true;
}
