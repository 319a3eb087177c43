/* Fuses an element-wise launch into the launch of its rows. */
#include "propose/rewrite/fuse_rows.h"

#include "base/str.h"
#include "cuda/kernel_form.h"
#include "cuda/subst.h"
#include "propose/rewrite/extent.h"

#include <string.h>

enum { MAX_VALUES = 8 };

/* What the first kernel stores for its row. */
struct row_value {
    struct node *stored, *read; /* parameters of the two kernels */
    struct node *target;        /* the element in the one assignment */
    const struct task_array *array;
    const char *name; /* in the fused kernel: of a shared variable */
};

struct row_fusion {
    const struct rewrite_in *in;
    struct rewrite_out *out;
    unsigned launch;
    struct kernel_form rows, elements;
    const struct form_axis *row, *element;
    struct launch_line rows_line, elements_line;
    struct row_value values[MAX_VALUES];
    unsigned nr_values;
    struct node *owner;        /* in the second kernel: the local that is the element's row */
    struct node *run, *period; /* owner = element / run % period; period NULL: element / run */
    struct substs names;       /* what the second kernel's names are in the fused one */
    struct str params, args;
};

static bool refuse(struct row_fusion *f, const char *why)
{
    return rewrite_refuse(f->in, f->out, "launches %u and %u are not both element-wise, and %s",
        f->launch + 1, f->launch + 2, why);
}

static struct node *function_of(struct row_fusion *f, unsigned launch)
{
    struct node *function = rewrite_kernel(f->in, launch);
    return function && rewrite_nr_launches_of(f->in, function) == 1 ? function : NULL;
}

static bool is_line(const struct launch_line *line)
{
    return !strcmp(line->block[1], "1") && !strcmp(line->block[2], "1") &&
           !strcmp(line->grid[1], "1") && !strcmp(line->grid[2], "1");
}

static bool read_rows(struct row_fusion *f)
{
    struct node *function = function_of(f, f->launch);
    struct kernel_form *form = &f->rows;
    const char *why;
    if (!function || !kernel_form_read(form, f->in->tree, function, &why) || form->nr_axes != 1 ||
        !form->axes[0].block_only || form->axes[0].dim || form->nr_work == 0 ||
        node_has(function, NODE_RETURN) || function_nr_params(function) == 0 ||
        form->work[0]->parent->kind != NODE_BLOCK ||
        !launch_line_read(f->in, f->launch, &f->rows_line, f->out) || !is_line(&f->rows_line))
        return refuse(f, "no block makes a row in the first of them");
    f->row = &form->axes[0];
    for (unsigned i = 0; i < form->nr_conds; i++)
        if (&form->conds[i] != extent_cond(form, f->row->var))
            return refuse(f, "the first has a guard that is not the row's");
    return true;
}

static bool read_elements(struct row_fusion *f)
{
    struct node *function = function_of(f, f->launch + 1);
    struct kernel_form *form = &f->elements;
    const char *why;
    if (!function || function == f->rows.function ||
        !kernel_form_read(form, f->in->tree, function, &why) || form->raw || form->nr_axes != 1 ||
        form->nr_conds != 1 || form->nr_prologue > 1 || form->axes[0].dim ||
        form->axes[0].block_only || !extent_cond(form, form->axes[0].var) ||
        (form->nr_prologue && form->prologue[0] != node_statement(form->axes[0].var)) ||
        !launch_line_read(f->in, f->launch + 1, &f->elements_line, f->out))
        return refuse(f, "the second is not element-wise");
    for (const struct node *n = function; n; n = node_next(function, n))
        if ((n->kind == NODE_CALL && !call_is_pure(n->name)) || n->in_macro ||
            n->kind == NODE_WHILE || (n->kind == NODE_VAR && n->is_shared))
            return refuse(f, "the second is not element-wise");
    f->element = &form->axes[0];
    return true;
}

/* --- what goes from one to the other --- */

static bool is_at(const struct node *n, const struct node *param, const struct node *var)
{
    n = node_strip(n);
    return n->kind == NODE_INDEX && node_strip(n->child)->decl == param &&
           node_is_name(n->child->next, var->name) && node_strip(n->child->next)->decl == var;
}

static unsigned nr_launches_with(const struct row_fusion *f, const struct task_array *array)
{
    unsigned nr = 0;
    for (unsigned l = 0; l < f->in->plan->nr_launches; l++)
        for (unsigned j = 0; j < f->in->plan->launches[l].nr_args; j++)
            nr += rewrite_array(f->in, l, j) == array;
    return nr;
}

/* The one assignment of the first kernel to its row's value, where all threads come by. */
static struct node *find_target(const struct row_fusion *f, const struct node *param)
{
    const struct node *body = f->rows.body;
    struct node *found = NULL;
    if (node_nr_uses(body, param) != 1)
        return NULL;
    for (struct node *n = (struct node *)body; n; n = node_next(body, n))
        if (n->kind == NODE_ASSIGN && !strcmp(n->op, "=") && is_at(n->child, param, f->row->var))
            found = n;
    for (unsigned i = 0; found && i < f->rows.nr_work; i++) {
        const struct node *s = f->rows.work[i];
        if (s == found || (s->kind == NODE_IF && !s->other && node_within(found, s->body)))
            return found->child;
    }
    return NULL;
}

/* The local by which the second kernel reads the parameter, and by nothing else. */
static struct node *find_owner(const struct row_fusion *f, const struct node *param)
{
    const struct node *body = f->elements.body;
    struct node *owner = NULL;
    for (struct node *n = (struct node *)body; n; n = node_next(body, n)) {
        if (n->kind != NODE_NAME || n->decl != param)
            continue;
        const struct node *up = n->parent;
        struct node *index = up->kind == NODE_INDEX ? node_strip(up->child->next) : NULL;
        if (!index || index->kind != NODE_NAME || !index->decl || (owner && owner != index->decl))
            return NULL;
        owner = index->decl;
    }
    return owner && owner->kind == NODE_VAR && !node_writes(body, param) &&
                   node_is_single(f->elements.function, owner)
               ? owner
               : NULL;
}

static bool find_values(struct row_fusion *f)
{
    for (unsigned i = 0; i < f->rows_line.nr_args; i++)
        for (unsigned k = 0; k < f->elements_line.nr_args; k++) {
            const struct task_array *array = rewrite_array(f->in, f->launch, i);
            if (!array || array->role != ROLE_TEMP ||
                array != rewrite_array(f->in, f->launch + 1, k))
                continue;
            struct row_value v = {.array = array,
                .stored = function_param(f->rows.function, i),
                .read = function_param(f->elements.function, k)};
            if (f->nr_values == MAX_VALUES || nr_launches_with(f, array) != 2 || !v.stored ||
                !v.read || !v.stored->type.base || !v.read->type.base ||
                strcmp(v.stored->type.base, v.read->type.base) != 0)
                return refuse(f, "an array between them is used elsewhere too");
            v.target = find_target(f, v.stored);
            struct node *owner = find_owner(f, v.read);
            if (!v.target || !owner || (f->owner && f->owner != owner))
                return refuse(f, "what goes between them is not one value a row");
            f->owner = owner;
            v.name = tree_fresh(
                f->in->tree, arena_printf(f->in->arena, "%s_%s", f->row->var->name, array->name));
            f->values[f->nr_values++] = v;
        }
    return f->nr_values > 0 || refuse(f, "no temp goes between them");
}

/* --- which elements a row has --- */

static struct node *fixed_param(const struct row_fusion *f, const struct node *n)
{
    struct node *p = node_strip(n)->kind == NODE_NAME ? node_strip(n)->decl : NULL;
    return p && p->kind == NODE_PARAM && p->type.scalar == SCALAR_I32 && !p->type.is_pointer &&
                   !node_assigns(f->elements.function, p)
               ? p
               : NULL;
}

/* A product of names as text without blanks and parentheses; NULL: there is something else. */
static const char *plain_product(const struct row_fusion *f, const char *a, const char *b)
{
    char *text = arena_printf(f->in->arena, "%s*%s", a, b), *to = text;
    for (const char *p = text; *p; p++) {
        if (!str_word_char(*p) && !strchr(" ()*", *p))
            return NULL;
        if (!strchr(" ()", *p))
            *to++ = *p;
    }
    *to = '\0';
    return text;
}

/* Read owner = element / run % period, or element / run, and see that the rows of the first kernel
 * are all the rows there are. */
static bool read_owner(struct row_fusion *f)
{
    const struct node *n = f->owner->init ? node_strip(f->owner->init) : NULL;
    const struct node *high = extent_cond(&f->elements, f->element->var)->high;
    if (n && n->kind == NODE_BINARY && !strcmp(n->op, "%")) {
        f->period = fixed_param(f, n->child->next);
        n = f->period ? node_strip(n->child) : NULL;
    }
    if (!n || n->kind != NODE_BINARY || strcmp(n->op, "/") != 0 ||
        !node_is_name(n->child, f->element->var->name))
        return refuse(f, "an element's row is not found by division");
    f->run = fixed_param(f, n->child->next);
    struct node *end = fixed_param(f, high);
    if (!f->run || !end)
        return refuse(f, "an element's row is not found by division");
    const char *rows = extent_text(f->in, &f->rows_line, &f->rows, f->row);
    const struct node *function = f->elements.function;
    const char *run = launch_line_argument(&f->elements_line, function, f->run);
    if (f->period)
        return (!strcmp(rows, launch_line_argument(&f->elements_line, function, f->period)) &&
                   !strcmp(rows, f->rows_line.grid[0])) ||
               refuse(f, "the two have different rows");
    const char *a = plain_product(f, rows, run),
               *b = plain_product(f, launch_line_argument(&f->elements_line, function, end), "1");
    return (a && b && !strcmp(arena_printf(f->in->arena, "%s*1", a), b) &&
               !strcmp(rows, f->rows_line.grid[0])) ||
           refuse(f, "the two have different rows");
}

/* --- names --- */

static bool is_value(const struct row_fusion *f, const struct node *param)
{
    for (unsigned i = 0; i < f->nr_values; i++)
        if (f->values[i].stored == param || f->values[i].read == param)
            return true;
    return false;
}

/* The first kernel's parameter that gets the same argument, for the same use; or NULL. */
static const struct node *same_param(const struct row_fusion *f, unsigned k)
{
    const struct node *p = function_param(f->elements.function, k);
    for (unsigned i = 0; i < f->rows_line.nr_args; i++) {
        const struct node *q = function_param(f->rows.function, i);
        if (!strcmp(f->rows_line.args[i], f->elements_line.args[k]) &&
            q->type.is_pointer == p->type.is_pointer && q->type.is_const == p->type.is_const &&
            q->type.scalar == p->type.scalar && !node_assigns(f->rows.function, q) &&
            !node_assigns(f->elements.function, p))
            return q;
    }
    return NULL;
}

static void add(struct str *list, const char *text)
{
    str_addf(list, "%s%s", list->len ? ", " : "", text);
}

/* Make the lists of parameters and arguments, and find the second kernel's names in the fused one.
 * False: a local of the second kernel would hide one of these. */
static bool join_lists(struct row_fusion *f)
{
    const struct cuda_tree *tree = f->in->tree;
    for (unsigned i = 0; i < f->rows_line.nr_args; i++) {
        const struct node *p = function_param(f->rows.function, i);
        if (is_value(f, p))
            continue;
        add(&f->params, tree_text(tree, p));
        add(&f->args, f->rows_line.args[i]);
    }
    substs_add(&f->names, f->owner, f->row->var->name);
    for (unsigned k = 0; k < f->elements_line.nr_args; k++) {
        const struct node *p = function_param(f->elements.function, k), *same = same_param(f, k);
        const char *name = same ? same->name : p->name;
        if (is_value(f, p))
            continue;
        if (!same) {
            if (node_has_name(f->rows.function, name))
                name = tree_fresh(tree, arena_printf(f->in->arena, "element_%s", name));
            add(&f->params,
                arena_printf(f->in->arena, "%s%s%s", tree_slice(tree, p->start, p->name_at), name,
                    tree_slice(tree, p->name_at + (unsigned)strlen(p->name), p->end)));
            add(&f->args, f->elements_line.args[k]);
        }
        substs_add(&f->names, p, name);
    }
    for (const struct node *n = f->elements.body; n; n = node_next(f->elements.body, n))
        for (unsigned i = 0; i < f->names.nr && n->kind == NODE_VAR && n != f->owner; i++)
            if (!strcmp(f->names.items[i].text, n->name))
                return refuse(f, "they use one name for two things");
    return !substs_full(&f->names) || refuse(f, "they have many parameters");
}

/* Whether a launch writes what the other uses, the values of rows apart. */
static bool in_the_way(const struct row_fusion *f)
{
    for (unsigned side = 0; side < 2; side++) {
        const struct node *function = (side ? &f->elements : &f->rows)->function;
        for (unsigned i = 0; i < function_nr_params(function); i++) {
            const struct node *p = function_param(function, i);
            const struct task_array *array = rewrite_array(f->in, f->launch + side, i);
            if (!array || is_value(f, p) || !node_writes(function->body, p))
                continue;
            for (unsigned k = 0; k < f->in->plan->launches[f->launch + !side].nr_args; k++)
                if (rewrite_array(f->in, f->launch + !side, k) == array)
                    return true;
        }
    }
    return false;
}

/* --- the fused kernel --- */

static const char *named(const struct row_fusion *f, const struct node *decl)
{
    for (unsigned i = 0; i < f->names.nr; i++)
        if (f->names.items[i].what == decl)
            return f->names.items[i].text;
    return decl->name;
}

static void write_elements(struct row_fusion *f)
{
    const struct cuda_tree *tree = f->in->tree;
    const struct kernel_form *form = &f->elements;
    const struct node *last = f->rows.work[f->rows.nr_work - 1];
    const char *in = tree_indent(tree, last->start), *t = tree_fresh(tree, "at");
    const char *run = named(f, f->run), *row = f->row->var->name, *element = f->element->var->name;
    struct str code = {0};
    str_addf(&code, "\n%s__syncthreads();\n%sfor (int %s = threadIdx.x; %s < ", in, in, t, t);
    if (f->period) {
        const char *period = named(f, f->period);
        const char *end = named(f, node_strip(extent_cond(form, f->element->var)->high)->decl);
        str_addf(&code,
            "(%s + %s * %s - 1) / (%s * %s) * %s; %s += blockDim.x) {\n"
            "%s    int %s = (%s / %s * %s + %s) * %s + %s %% %s;\n",
            end, period, run, period, run, run, t, in, element, t, run, period, row, run, t, run);
    } else {
        str_addf(&code, "%s; %s += blockDim.x) {\n%s    int %s = %s * %s + %s;\n", run, t, in,
            element, row, run, t);
    }
    str_addf(&code, "%s    if (%s < %s) {\n", in, element,
        subst_text(tree, extent_cond(form, f->element->var)->high, &f->names));
    for (unsigned i = 0; i < form->nr_work; i++)
        if (form->work[i] != node_statement(f->owner))
            str_addf(&code, "%s        %s\n", in,
                subst_statement(tree, form->work[i], &f->names, strlen(in) + 8));
    str_addf(&code, "%s    }\n%s}", in, in);
    edits_insert(&f->out->edits, last->kind == NODE_BLOCK ? last->end : tree_stmt_end(tree, last),
        "%s", str_text(&code));
    str_finish(&code);
}

static void drop_elements(struct row_fusion *f)
{
    const struct node *function = f->elements.function;
    unsigned end = function->end;
    while (end < f->in->bytes && f->in->source[end] == '\n')
        end++;
    edits_replace(&f->out->edits, function->start, end, "%s", "");
    source_drop_line(f->in, &f->out->edits, f->in->plan->launches[f->launch + 1].line);
    for (unsigned i = 0; i < f->in->plan->nr_temps; i++)
        for (unsigned k = 0; k < f->nr_values; k++)
            if (!strcmp(f->in->plan->temps[i].name, f->values[k].array->name))
                source_drop_line(f->in, &f->out->edits, f->in->plan->temps[i].line);
    extent_drop_tunes(f->in, function, &f->out->edits);
}

static void write_kernel(struct row_fusion *f)
{
    struct edits *edits = &f->out->edits;
    const struct node *function = f->rows.function;
    const unsigned nr = function_nr_params(function);
    edits_replace(edits, function_param(function, 0)->start, function_param(function, nr - 1)->end,
        "%s", str_text(&f->params));
    edits_replace(edits, f->rows_line.args_start, f->rows_line.args_end, "%s", str_text(&f->args));
    for (unsigned i = 0; i < f->nr_values; i++) {
        const struct row_value *v = &f->values[i];
        edits_insert(edits, function->body->start + 1, "\n    __shared__ %s %s;",
            v->stored->type.base, v->name);
        edits_replace(edits, v->target->start, v->target->end, "%s", v->name);
    }
    write_elements(f);
    drop_elements(f);
}

bool fuse_rows(const struct rewrite_in *in, unsigned launch, struct rewrite_out *out)
{
    struct row_fusion *f = arena_alloc(in->arena, sizeof *f);
    *f = (struct row_fusion){.in = in, .out = out, .launch = launch};
    bool ok = read_rows(f) && read_elements(f) && find_values(f) && read_owner(f);
    if (ok &&
        (in_the_way(f) || !node_statement(f->owner) || node_statement(f->owner)->nr_children != 1 ||
            source_line_continues(in, in->plan->launches[launch + 1].line)))
        ok = refuse(f, "each uses what the other writes");
    ok = ok && join_lists(f);
    if (ok) {
        /* the values come from shared variables */
        for (unsigned i = 0; i < f->nr_values; i++)
            for (struct node *n = f->elements.body; n; n = node_next(f->elements.body, n))
                if (n->kind == NODE_NAME && n->decl == f->values[i].read)
                    substs_add(&f->names, n->parent, f->values[i].name);
        ok = !substs_full(&f->names) || refuse(f, "they have many parameters");
    }
    if (ok)
        write_kernel(f);
    str_finish(&f->params);
    str_finish(&f->args);
    return ok && rewrite_done(in, out, "compute %s inside %s, a row in the block that has its sums",
                     f->elements.function->name, f->rows.function->name);
}
