/* fuse: two launches of one kernel, side by side. */
#include "propose/rewrite/fuse_twins.h"

#include "base/str.h"
#include "cuda/kernel_form.h"
#include "propose/rewrite/launch_line.h"

#include <string.h>

struct twin_launches {
    const struct rewrite_in *in;
    struct rewrite_out *out;
    unsigned launch; /* of the first */
    struct node *function;
    struct launch_line lines[2];
};

bool fuse_twins_fits(const struct rewrite_in *in, unsigned launch)
{
    const struct node *function = rewrite_kernel(in, launch);
    return function && function == rewrite_kernel(in, launch + 1) &&
           rewrite_nr_launches_of(in, function) == 2;
}

static bool refuse(const struct twin_launches *t, const char *why)
{
    return rewrite_refuse(
        t->in, t->out, "launches %u and %u: %s", t->launch + 1, t->launch + 2, why);
}

static bool same_shape(const struct twin_launches *t)
{
    const struct launch_line *a = &t->lines[0], *b = &t->lines[1];
    for (unsigned i = 0; i < NR_AXES; i++)
        if (strcmp(a->grid[i], b->grid[i]) != 0 || strcmp(a->block[i], b->block[i]) != 0)
            return false;
    return !strcmp(a->grid[2], "1") && a->nr_args == b->nr_args && !a->smem == !b->smem &&
           (!a->smem || !strcmp(a->smem, b->smem));
}

static bool is_plain_line(const struct twin_launches *t, unsigned launch)
{
    const unsigned line = t->in->plan->launches[launch].line;
    const unsigned from = source_line_at(t->in, line), to = source_line_at(t->in, line + 1);
    const char *text = arena_strndup(t->in->arena, t->in->source + from, to - from);
    return !source_line_continues(t->in, line) && !strstr(text, "cluster");
}

/* Constants that a function beside the kernel reads are none of these. */
static bool has_variables_of_others(const struct node *function)
{
    for (const struct node *n = function; n; n = node_next(function, n))
        if (n->kind == NODE_NAME && n->decl && n->decl->kind == NODE_VAR &&
            !node_within(n->decl, function) && (function->is_kernel || !n->decl->type.is_const))
            return true;
    return false;
}

/* Whether the kernel changes nothing but its own variables and what its parameters point to, and
 * blocks along z are free. What it calls is read as text. */
static bool kernel_fits(const struct twin_launches *t)
{
    const struct node *function = t->function;
    const char *text = tree_text(t->in->tree, function);
    if (strstr(text, ".z") || strstr(text, "__cluster_dims__") ||
        (strstr(t->in->source, "__device__") &&
            (strstr(t->in->source, "blockIdx.z") || strstr(t->in->source, "gridDim.z"))))
        return false;
    for (const struct node *f = t->in->tree->root->child; f; f = f->next)
        if (f->kind == NODE_FUNCTION && (f == function || !f->is_kernel) &&
            has_variables_of_others(f))
            return false;
    return true;
}

static bool holds_array(const struct launch_arg *arg)
{
    return arg->kind == ARG_ARRAY || arg->kind == ARG_TEXTURE || arg->kind == ARG_TENSOR_MAP;
}

/* Whether the kernel may write the array by that argument. */
static bool may_write(const struct twin_launches *t, const struct launch *launch, unsigned arg)
{
    return launch->args[arg].kind != ARG_ARRAY ||
           node_writes(t->function->body, function_param(t->function, arg));
}

/* Whether no array that one of them may write is given to the other, in any part. */
static bool are_apart(const struct twin_launches *t)
{
    const struct launch *a = &t->in->plan->launches[t->launch], *b = a + 1;
    for (unsigned i = 0; i < a->nr_args; i++)
        for (unsigned k = 0; k < b->nr_args; k++) {
            const struct launch_arg *one = &a->args[i], *other = &b->args[k];
            if (one->kind == ARG_STRUCT || other->kind == ARG_STRUCT)
                return false;
            if (!holds_array(one) || !holds_array(other) || strcmp(one->name, other->name) != 0)
                continue;
            const struct task_array *array = task_find_array(t->in->task, t->in->plan, one->name);
            if ((!array || array->role != ROLE_IN) && (may_write(t, a, i) || may_write(t, b, k)))
                return false;
        }
    return true;
}

/* Whether a local may be declared with the parameter's text, other names apart. */
static bool may_be_chosen(const struct twin_launches *t, unsigned arg)
{
    const struct node *p = function_param(t->function, arg);
    const char *text = tree_slice(t->in->tree, p->start, p->name_at);
    return (p->type.is_pointer ||
               (p->type.scalar != SCALAR_OTHER && p->type.scalar != SCALAR_VOID)) &&
           p->end == p->name_at + strlen(p->name) && !strstr(text, "__grid_constant__") &&
           !strchr(text, '&');
}

static bool differs(const struct twin_launches *t, unsigned arg)
{
    return strcmp(t->lines[0].args[arg], t->lines[1].args[arg]) != 0;
}

static void write(struct twin_launches *t)
{
    const struct cuda_tree *tree = t->in->tree;
    struct edits *edits = &t->out->edits;
    struct str chosen = {0}, args = {0};
    for (unsigned i = 0; i < t->lines[0].nr_args; i++) {
        const struct node *p = function_param(t->function, i);
        str_addf(&args, "%s%s", i ? ", " : "", t->lines[0].args[i]);
        if (!differs(t, i))
            continue;
        const char *type = tree_slice(tree, p->start, p->name_at);
        const char *first = tree_fresh(tree, arena_printf(t->in->arena, "first_%s", p->name));
        const char *second = tree_fresh(tree, arena_printf(t->in->arena, "second_%s", p->name));
        str_addf(&args, ", %s", t->lines[1].args[i]);
        edits_replace(edits, p->start, p->end, "%s%s, %s%s", type, first, type, second);
        str_addf(&chosen, "\n    %s%s = blockIdx.z ? %s : %s;", type, p->name, second, first);
    }
    edits_insert(edits, t->function->body->start + 1, "%s", str_text(&chosen));
    struct launch_line line = t->lines[0];
    line.grid[2] = "2";
    launch_line_write(&line, edits);
    edits_replace(edits, line.args_start, line.args_end, "%s", str_text(&args));
    source_drop_line(t->in, edits, t->in->plan->launches[t->launch + 1].line);
    str_finish(&chosen);
    str_finish(&args);
}

bool fuse_twins(const struct rewrite_in *in, unsigned launch, struct rewrite_out *out)
{
    struct twin_launches t = {
        .in = in, .out = out, .launch = launch, .function = rewrite_kernel(in, launch)};
    for (unsigned i = 0; i < 2; i++)
        if (!launch_line_read(in, launch + i, &t.lines[i], out) || !is_plain_line(&t, launch + i))
            return refuse(&t, "a launch line that is not understood");
    const struct launch *launches = &in->plan->launches[launch];
    if (strcmp(launches[0].kernel, launches[1].kernel) != 0)
        return refuse(&t, "kernels of other template arguments");
    if (!same_shape(&t))
        return refuse(&t, "their grids differ, or go along z");
    if (!kernel_fits(&t))
        return refuse(&t, "the kernel uses blocks along z, or variables of others");
    if (!are_apart(&t))
        return refuse(&t, "one writes what the other has");
    for (unsigned i = 0; i < t.lines[0].nr_args; i++)
        if (differs(&t, i) && !may_be_chosen(&t, i))
            return refuse(&t, "a parameter that cannot be chosen");
    write(&t);
    return rewrite_done(in, out, "both launches of %s in one", t.function->name);
}
