/* fuse: two element-wise launches in a row become one, where the second reads what the first wrote
 * at the same index. The array between them goes. An element-wise launch after one of blocks that
 * make rows is the work of fuse_rows.c, two launches of one kernel that of fuse_twins.c. */
#include "base/str.h"
#include "cuda/kernel_form.h"
#include "cuda/subst.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/fuse_rows.h"
#include "propose/rewrite/fuse_twins.h"
#include "propose/rewrite/rewrite.h"

#include <string.h>

struct fused_launch {
    unsigned launch;
    struct kernel_form form;
    const struct form_axis *axis;
    struct launch_line text;
    unsigned arg; /* the number of the argument that is the array between the two */
    struct node *param;
};

struct fusion {
    const struct rewrite_in *in;
    struct rewrite_out *out;
    struct fused_launch a, b;
    struct node *store; /* in a: between[i] = value */
    const char *array;  /* the name of the array between them */
};

static bool read_launch(struct fusion *f, struct fused_launch *s, unsigned launch)
{
    struct node *function = rewrite_kernel(f->in, launch);
    const char *why;
    s->launch = launch;
    if (!function || rewrite_nr_launches_of(f->in, function) != 1 ||
        !kernel_form_read(&s->form, f->in->tree, function, &why) || s->form.raw ||
        s->form.nr_axes != 1 || s->form.nr_conds != 1 || s->form.nr_prologue > 1 ||
        !launch_line_read(f->in, launch, &s->text, f->out))
        return false;
    s->axis = &s->form.axes[0];
    if (s->form.nr_prologue && (s->form.prologue[0] != node_statement(s->axis->var) ||
                                   s->form.prologue[0]->nr_children != 1))
        return false;
    if (s->axis->dim || s->axis->block_only || !extent_cond(&s->form, s->axis->var))
        return false;
    for (const struct node *n = function; n; n = node_next(function, n))
        if ((n->kind == NODE_CALL && !call_is_pure(n->name)) || n->in_macro ||
            (n->kind == NODE_VAR && n->is_shared))
            return false;
    return true;
}

/* Find the temp that these two launches get, and no other launch. */
static bool find_between(struct fusion *f)
{
    const struct launch *a = &f->in->plan->launches[f->a.launch];
    const struct launch *b = &f->in->plan->launches[f->b.launch];
    for (unsigned i = 0; i < a->nr_args; i++)
        for (unsigned k = 0; k < b->nr_args; k++) {
            const struct task_array *array = rewrite_array(f->in, f->a.launch, i);
            if (!array || array->role != ROLE_TEMP || array != rewrite_array(f->in, f->b.launch, k))
                continue;
            unsigned nr = 0;
            for (unsigned l = 0; l < f->in->plan->nr_launches; l++)
                for (unsigned j = 0; j < f->in->plan->launches[l].nr_args; j++)
                    nr += rewrite_array(f->in, l, j) == array;
            f->a.arg = i;
            f->b.arg = k;
            f->array = array->name;
            f->a.param = function_param(f->a.form.function, i);
            f->b.param = function_param(f->b.form.function, k);
            return nr == 2 && f->a.param && f->b.param && f->a.param->type.base &&
                   !strcmp(f->a.param->type.base, f->b.param->type.base);
        }
    return false;
}

static bool is_element(const struct node *n, const struct node *param, const struct node *var)
{
    n = node_strip(n);
    if (n->kind != NODE_INDEX || node_strip(n->child)->decl != param)
        return false;
    const struct node *index = node_strip(n->child->next);
    return index->kind == NODE_NAME && index->decl == var;
}

/* Whether the first kernel is declarations, then between[i] = value, and changes nothing else. */
static bool read_first(struct fusion *f)
{
    const struct kernel_form *form = &f->a.form;
    if (!form->nr_work)
        return false;
    f->store = form->work[form->nr_work - 1];
    if (f->store->kind != NODE_ASSIGN || strcmp(f->store->op, "=") ||
        !is_element(f->store->child, f->a.param, f->a.axis->var) ||
        node_uses(f->store->child->next, f->a.param))
        return false;
    for (unsigned i = 0; i + 1 < form->nr_work; i++)
        if (form->work[i]->kind != NODE_DECLS || !node_is_pure(form->work[i]) ||
            node_uses(form->work[i], f->a.param))
            return false;
    for (const struct node *n = f->store->child; n; n = node_next(f->store, n))
        if (node_is_change(n))
            return false;
    return true;
}

/* Whether the second kernel reads no other element of the array than between[i], and writes nothing
 * that the first reads. */
static bool read_second(struct fusion *f)
{
    const struct node *body = f->b.form.function->body;
    for (const struct node *n = body; n; n = node_next(body, n))
        if (n->kind == NODE_NAME && n->decl == f->b.param &&
            (!is_element(n->parent, f->b.param, f->b.axis->var) ||
                (node_is_change(n->parent->parent) && n->parent->parent->child == n->parent)))
            return false;
    for (unsigned k = 0; k < f->b.text.nr_args; k++) {
        const struct task_array *array = rewrite_array(f->in, f->b.launch, k);
        const struct node *param = function_param(f->b.form.function, k);
        if (!array || !node_writes(body, param))
            continue;
        for (unsigned i = 0; i < f->a.text.nr_args; i++)
            if (rewrite_array(f->in, f->a.launch, i) == array)
                return false;
    }
    return true;
}

static const char *fresh(const struct fusion *f, const char *name)
{
    for (const struct node *n = f->b.form.function; n; n = node_next(f->b.form.function, n))
        if ((n->kind == NODE_PARAM || n->kind == NODE_VAR || n->kind == NODE_NAME) &&
            !strcmp(n->name, name))
            return tree_fresh(f->in->tree, arena_printf(f->in->arena, "first_%s", name));
    return name;
}

/* Put the first kernel's parameters and arguments into the second's lists, in the place of the
 * array. */
static void join_lists(struct fusion *f, struct substs *names)
{
    const struct cuda_tree *tree = f->in->tree;
    struct str params = {0}, args = {0};
    for (unsigned i = 0; i < function_nr_params(f->a.form.function); i++) {
        struct node *p = function_param(f->a.form.function, i);
        if (p == f->a.param)
            continue;
        const char *name = fresh(f, p->name);
        substs_add(names, p, name);
        str_addf(&params, "%s%s%s%s", params.len ? ", " : "",
            tree_slice(tree, p->start, p->name_at), name,
            tree_slice(tree, p->name_at + (unsigned)strlen(p->name), p->end));
        str_addf(&args, "%s%s", args.len ? ", " : "", f->a.text.args[i]);
    }
    edits_replace(&f->out->edits, f->b.param->start, f->b.param->end, "%s", str_text(&params));
    struct str all = {0};
    for (unsigned k = 0; k < f->b.text.nr_args; k++)
        str_addf(&all, "%s%s", k ? ", " : "", k == f->b.arg ? str_text(&args) : f->b.text.args[k]);
    edits_replace(&f->out->edits, f->b.text.args_start, f->b.text.args_end, "%s", str_text(&all));
    str_finish(&params);
    str_finish(&args);
    str_finish(&all);
}

static void join_work(struct fusion *f, struct substs *names, const char *value)
{
    const struct cuda_tree *tree = f->in->tree;
    struct node *first = f->b.form.work[0];
    const bool braces = first->parent->kind == NODE_BLOCK;
    const char *indent = tree_indent(tree, first->start);
    struct str code = {0};
    for (unsigned i = 0; i + 1 < f->a.form.nr_work; i++) {
        struct node *stmt = f->a.form.work[i];
        for (struct node *v = stmt->child; v; v = v->next)
            substs_add(names, v, fresh(f, v->name));
        /* substitution alone leaves declared names, so both are edited here */
        struct edits edits = {.arena = f->in->arena};
        for (const struct node *v = stmt->child; v; v = v->next)
            edits_replace(&edits, v->name_at, v->name_at + (unsigned)strlen(v->name), "%s",
                fresh(f, v->name));
        for (const struct node *n = stmt; n; n = node_next(stmt, n))
            for (unsigned k = 0; k < names->nr && n->kind == NODE_NAME; k++)
                if (names->items[k].what == n->decl)
                    edits_replace(&edits, n->start, n->end, "%s", names->items[k].text);
        str_addf(&code, "%s\n%s",
            edits_slice(&edits, f->in->source, stmt->start, tree_stmt_end(tree, stmt)), indent);
    }
    str_addf(&code, "const %s %s = %s;\n%s", f->a.param->type.base, value,
        subst_text(tree, f->store->child->next, names), indent);
    edits_insert(&f->out->edits, first->start, "%s", str_text(&code));
    if (!braces) {
        unsigned at = first->start;
        while (at && strchr(" \t\n", f->in->source[at - 1]))
            at--;
        edits_insert(&f->out->edits, at, " {");
        edits_insert(&f->out->edits, tree_stmt_end(tree, first), "\n%s}",
            tree_indent(tree, first->parent->start));
    }
    str_finish(&code);
    for (const struct node *n = f->b.form.function->body; n;
         n = node_next(f->b.form.function->body, n))
        if (n->kind == NODE_NAME && n->decl == f->b.param)
            edits_replace(&f->out->edits, n->parent->start, n->parent->end, "%s", value);
}

static void drop_first(const struct fusion *f)
{
    const struct node *function = f->a.form.function;
    unsigned end = function->end;
    while (end < f->in->bytes && f->in->source[end] == '\n')
        end++;
    edits_replace(&f->out->edits, function->start, end, "%s", "");
    source_drop_line(f->in, &f->out->edits, f->in->plan->launches[f->a.launch].line);
    for (unsigned i = 0; i < f->in->plan->nr_temps; i++)
        if (!strcmp(f->in->plan->temps[i].name, f->array))
            source_drop_line(f->in, &f->out->edits, f->in->plan->temps[i].line);
}

bool rewrite_fuse(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct fusion f = {.in = in, .out = out};
    if (variant + 1 >= in->plan->nr_launches)
        return rewrite_refuse(in, out, "no two launches in a row");
    out->more = true;
    if (fuse_twins_fits(in, variant))
        return fuse_twins(in, variant, out);
    if (!read_launch(&f, &f.a, variant) || !read_launch(&f, &f.b, variant + 1))
        return fuse_rows(in, variant, out);
    if (f.a.form.function == f.b.form.function || !find_between(&f))
        return rewrite_refuse(
            in, out, "no temp goes from launch %u to %u alone", variant + 1, variant + 2);
    if (strcmp(extent_text(in, &f.a.text, &f.a.form, f.a.axis),
            extent_text(in, &f.b.text, &f.b.form, f.b.axis)))
        return rewrite_refuse(in, out, "the two launches cover different extents");
    if (!read_first(&f) || !read_second(&f) ||
        source_line_continues(in, in->plan->launches[variant].line))
        return rewrite_refuse(in, out, "%s is not written and read element by element", f.array);
    struct substs names = {.nr = 0};
    substs_add(&names, f.a.axis->var, f.b.axis->var->name);
    join_lists(&f, &names);
    join_work(&f, &names, tree_fresh(in->tree, "fused"));
    drop_first(&f);
    if (substs_full(&names))
        return rewrite_refuse(in, out, "%s is long", f.a.form.function->name);
    return rewrite_done(in, out, "compute %s inside %s, without array %s", f.a.form.function->name,
        f.b.form.function->name, f.array);
}
