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
    for (const struct node *n = function; n; n = node_next(function, n))
        if (n->kind == NODE_NAME && n->decl && n->decl->kind == NODE_VAR &&
            !node_within(n->decl, function))
            return false;
    return true;
}

/* Whether no array that one of them may write is given to the other. */
static bool are_apart(const struct twin_launches *t)
{
    for (unsigned i = 0; i < t->lines[0].nr_args; i++)
        for (unsigned k = 0; k < t->lines[1].nr_args; k++) {
            const struct task_array *a = rewrite_array(t->in, t->launch, i);
            if (a && a == rewrite_array(t->in, t->launch + 1, k) && a->role != ROLE_IN &&
                (node_writes(t->function->body, function_param(t->function, i)) ||
                    node_writes(t->function->body, function_param(t->function, k))))
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
