/* coarsen: each thread makes several outputs along one axis. A loop that these outputs share runs
 * once for all of them (unroll and jam), so that what does not depend on the axis is loaded and
 * computed once. */
#include "base/str.h"
#include "cuda/deps.h"
#include "cuda/subst.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/rewrite.h"

#include <string.h>

enum { VARIES = 1, MAX_VARS = 64 };

struct coarsening {
    const struct rewrite_in *in;
    struct rewrite_out *out;
    struct kernel_form form;
    const struct form_axis *axis;
    const struct form_cond *cond; /* axis < limit; NULL for an axis of blocks */
    const char *limit;            /* text of the limit in the kernel */
    bool new_param;               /* the limit is passed in a new parameter */
    struct deps deps;
    const struct node *arrays[MAX_VARS]; /* locals that become arrays: one element per output */
    unsigned nr_arrays;
    const char *factor, *counter; /* names */
    struct str code;
};

static bool refuse(struct coarsening *c, const char *why)
{
    return rewrite_refuse(c->in, c->out, "%s: %s", c->form.function->name, why);
}

static bool varies(const struct coarsening *c, const struct node *n)
{
    return deps_of(&c->deps, n) & VARIES;
}

static bool var_varies(const struct coarsening *c, const struct node *var)
{
    for (unsigned i = 0; i < c->deps.nr; i++)
        if (c->deps.decls[i] == var)
            return c->deps.masks[i] & VARIES;
    return false;
}

/* Whether anything in a statement, declared names included, differs between the outputs. */
static bool stmt_varies(const struct coarsening *c, const struct node *stmt)
{
    for (const struct node *n = stmt; n; n = node_next(stmt, n))
        if (n->kind == NODE_VAR && var_varies(c, n))
            return true;
    return varies(c, stmt);
}

static bool is_memory_change(const struct node *n)
{
    if (n->kind == NODE_CALL)
        return call_is_atomic(n->name);
    if (!node_is_change(n) || node_strip(n->child)->kind == NODE_NAME)
        return false;
    const struct node *base = node_base(n->child), *to = node_strip(n->child);
    unsigned nr_indices = 0;
    for (; to->kind == NODE_INDEX; to = node_strip(to->child))
        nr_indices++;
    if (!base || base->kind != NODE_VAR || base->is_shared)
        return true;
    /* an element of a local array of pointers is no memory: what it points to is */
    return base->type.is_pointer && (to->kind != NODE_NAME || nr_indices > base->type.nr_dims);
}

static bool stores(const struct node *root)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (is_memory_change(n))
            return true;
    return false;
}

/* Whether the statement is a frame: a loop, an `if` or a block that runs once for all outputs, and
 * whose statements are written one by one. */
static bool is_shared_frame(const struct coarsening *c, const struct node *stmt)
{
    if (stmt->kind == NODE_BLOCK)
        return true;
    if (stmt->kind == NODE_FOR) {
        struct for_loop loop;
        return node_loop(stmt, &loop) && loop.counted && !varies(c, loop.start) &&
               !varies(c, loop.bound) && !var_varies(c, loop.var);
    }
    return stmt->kind == NODE_IF && !varies(c, stmt->cond) && node_is_pure(stmt->cond) &&
           node_has(stmt, NODE_FOR);
}

/* --- which locals become arrays --- */

/* The leaf that n is part of: a statement of the nearest frame. */
static const struct node *leaf_of(const struct coarsening *c, const struct node *n)
{
    const struct node *leaf = n;
    for (const struct node *up = n; up && up != c->form.body; up = up->parent)
        if (node_is_statement(up) && !is_shared_frame(c, up) && up != c->form.guard)
            leaf = up;
    return leaf;
}

/* Whether two leaves are in one group: only leaves that vary stand between them. */
static bool same_group(const struct coarsening *c, const struct node *a, const struct node *b)
{
    if (a->start > b->start) {
        const struct node *t = a;
        a = b;
        b = t;
    }
    for (const struct node *s = a; s; s = s->next) {
        if (s == b)
            return true;
        if (is_shared_frame(c, s) || !stmt_varies(c, s))
            return false;
    }
    return false;
}

static bool used_elsewhere(const struct coarsening *c, const struct node *var)
{
    const struct node *home = leaf_of(c, var);
    for (const struct node *n = c->form.body; n; n = node_next(c->form.body, n))
        if (n->kind == NODE_NAME && n->decl == var && !same_group(c, home, leaf_of(c, n)))
            return true;
    return false;
}

/* The dimensions of a local array as written, "" for a plain variable. */
static const char *dims_text(const struct coarsening *c, const struct node *var)
{
    if (!var->type.nr_dims)
        return "";
    return tree_slice(c->in->tree, var->name_at + (unsigned)strlen(var->name), var->end);
}

static bool choose_arrays(struct coarsening *c)
{
    for (const struct node *n = c->form.body; n; n = node_next(c->form.body, n)) {
        if (n->kind != NODE_VAR || n == c->axis->var || !var_varies(c, n))
            continue;
        if ((n->type.nr_dims && n->init) || n->type.is_reference || n->is_shared)
            return refuse(c, "an array of the thread depends on the axis");
        if (!used_elsewhere(c, n))
            continue;
        if (c->nr_arrays == MAX_VARS || (n->type.is_const && !n->type.is_pointer))
            return refuse(c, "a local variable that cannot be repeated");
        c->arrays[c->nr_arrays++] = n;
    }
    return true;
}

static bool is_array(const struct coarsening *c, const struct node *var)
{
    for (unsigned i = 0; i < c->nr_arrays; i++)
        if (c->arrays[i] == var)
            return true;
    return var == c->axis->var;
}

/* --- code --- */

static void subst_arrays(const struct coarsening *c, struct substs *s)
{
    substs_add(
        s, c->axis->var, arena_printf(c->in->arena, "%s[%s]", c->axis->var->name, c->counter));
    for (unsigned i = 0; i < c->nr_arrays; i++)
        substs_add(
            s, c->arrays[i], arena_printf(c->in->arena, "%s[%s]", c->arrays[i]->name, c->counter));
}

/* Write a declaration: a variable that became an array is assigned, any other is declared. */
static void write_decls(struct coarsening *c, const struct node *stmt, const char *indent)
{
    struct substs s = {.nr = 0};
    subst_arrays(c, &s);
    for (const struct node *var = stmt->child; var; var = var->next) {
        const char *init = var->init ? subst_text(c->in->tree, var->init, &s) : NULL;
        if (is_array(c, var)) {
            if (init)
                str_addf(&c->code, "%s%s[%s] = %s;\n", indent, var->name, c->counter, init);
            continue;
        }
        str_addf(&c->code, "%s%s%s %s%s%s", indent, var->type.is_const ? "const " : "",
            var->type.base, var->type.is_pointer ? "*" : "", var->name, dims_text(c, var));
        str_addf(&c->code, init ? " = %s;\n" : "%s;\n", init ? init : "");
    }
}

/* The `#pragma unroll` line before a statement, with its line break, or "". */
static const char *pragma_before(const struct coarsening *c, const struct node *stmt)
{
    const struct cuda_tree *tree = c->in->tree;
    unsigned line = tree_line_start(tree, stmt->start);
    if (!line)
        return "";
    unsigned above = tree_line_start(tree, line - 1);
    const char *text = tree_slice(tree, above, line);
    text += strspn(text, " ");
    return str_starts(text, "#pragma unroll") ? text : "";
}

static void write_leaf(struct coarsening *c, const struct node *stmt, const char *indent)
{
    struct substs s = {.nr = 0};
    if (stmt->kind == NODE_DECLS) {
        write_decls(c, stmt, indent);
        return;
    }
    subst_arrays(c, &s);
    const char *pragma = pragma_before(c, stmt);
    if (pragma[0])
        str_addf(&c->code, "%s%s", indent, pragma);
    str_addf(&c->code, "%s%s\n", indent, subst_statement(c->in->tree, stmt, &s, strlen(indent)));
}

static const char *in_range(const struct coarsening *c, const char *counter)
{
    const struct form_axis *a = c->axis;
    const char d = axis_names[a->dim];
    if (a->block_only)
        return arena_printf(c->in->arena, "blockIdx.%c * %s + %s", d, c->factor, counter);
    return arena_printf(c->in->arena, "(blockIdx.%c * %s + %s) * blockDim.%c + threadIdx.%c", d,
        c->factor, counter, d, d);
}

/* Whether the leaves only declare variables that became arrays. */
static bool only_declares(const struct coarsening *c, struct node *const *leaves, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++) {
        if (leaves[i]->kind != NODE_DECLS)
            return false;
        for (const struct node *v = leaves[i]->child; v; v = v->next)
            if (v->init || !is_array(c, v))
                return false;
    }
    return true;
}

/* Write consecutive leaves that vary, in one loop over the outputs. Outputs beyond the limit store
 * nothing. */
static void write_group(
    struct coarsening *c, struct node *const *leaves, unsigned nr, const char *indent)
{
    const char *in = arena_printf(c->in->arena, "%s    ", indent);
    bool guard = false;
    for (unsigned i = 0; i < nr; i++) {
        guard = guard || stores(leaves[i]);
        for (const struct node *v = leaves[i]->kind == NODE_DECLS ? leaves[i]->child : NULL; v;
             v = v->next)
            if (is_array(c, v) && v != c->axis->var)
                str_addf(&c->code, "%s%s%s %s%s[%s]%s;\n", indent, v->type.is_const ? "const " : "",
                    v->type.base, v->type.is_pointer ? "*" : "", v->name, c->factor,
                    dims_text(c, v));
    }
    if (only_declares(c, leaves, nr))
        return;
    str_addf(&c->code, "%s#pragma unroll\n%sfor (int %s = 0; %s < %s; %s++) {\n", indent, indent,
        c->counter, c->counter, c->factor, c->counter);
    const char *deep = in;
    if (guard) {
        str_addf(&c->code, "%sif (%s < %s) {\n", in, in_range(c, c->counter), c->limit);
        deep = arena_printf(c->in->arena, "%s    ", in);
    }
    for (unsigned i = 0; i < nr; i++)
        write_leaf(c, leaves[i], deep);
    if (guard)
        str_addf(&c->code, "%s}\n", in);
    str_addf(&c->code, "%s}\n", indent);
}

static void write_list(
    struct coarsening *c, struct node *const *stmts, unsigned nr, const char *indent);

static void write_body(struct coarsening *c, struct node *body, const char *indent)
{
    struct node *list[FORM_MAX_STMTS];
    unsigned nr = 0;
    if (body->kind != NODE_BLOCK)
        list[nr++] = body;
    for (struct node *n = body->kind == NODE_BLOCK ? body->child : NULL; n && nr < FORM_MAX_STMTS;
         n = n->next)
        list[nr++] = n;
    write_list(c, list, nr, arena_printf(c->in->arena, "%s    ", indent));
}

static void write_frame(struct coarsening *c, struct node *stmt, const char *indent)
{
    const struct cuda_tree *tree = c->in->tree;
    if (stmt->kind == NODE_BLOCK) {
        str_addf(&c->code, "%s{\n", indent);
        write_body(c, stmt, indent);
        str_addf(&c->code, "%s}\n", indent);
        return;
    }
    const char *pragma = pragma_before(c, stmt);
    if (pragma[0])
        str_addf(&c->code, "%s%s", indent, pragma);
    str_addf(&c->code, "%s%s{\n", indent, tree_slice(tree, stmt->start, stmt->body->start));
    char *text = c->code.text;
    size_t at = c->code.len - 2; /* bring the brace up to the line of `for (...)` */
    while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\n'))
        at--;
    c->code.len = at;
    text[at] = '\0';
    str_add(&c->code, " {\n");
    write_body(c, stmt->body, indent);
    if (stmt->other) {
        str_addf(&c->code, "%s} else {\n", indent);
        write_body(c, stmt->other, indent);
    }
    str_addf(&c->code, "%s}\n", indent);
}

static void write_list(
    struct coarsening *c, struct node *const *stmts, unsigned nr, const char *indent)
{
    for (unsigned i = 0; i < nr;) {
        if (is_shared_frame(c, stmts[i])) {
            write_frame(c, stmts[i++], indent);
        } else if (!stmt_varies(c, stmts[i])) {
            write_leaf(c, stmts[i++], indent);
        } else {
            unsigned end = i;
            while (end < nr && !is_shared_frame(c, stmts[end]) && stmt_varies(c, stmts[end]))
                end++;
            write_group(c, stmts + i, end - i, indent);
            i = end;
        }
    }
}

/* Write the indices of all outputs. An index beyond the limit becomes the last one, so that it
 * loads something that exists. */
static void write_indices(struct coarsening *c, const char *indent)
{
    const char *name = c->axis->var->name;
    str_addf(&c->code, "%sint %s[%s];\n%s#pragma unroll\n", indent, name, c->factor, indent);
    str_addf(&c->code, "%sfor (int %s = 0; %s < %s; %s++)\n", indent, c->counter, c->counter,
        c->factor, c->counter);
    str_addf(&c->code, "%s    %s[%s] = min((int)(%s), %s - 1);\n", indent, name, c->counter,
        in_range(c, c->counter), text_operand(c->in->arena, c->limit));
}

static void write_kernel(struct coarsening *c)
{
    const struct node *var = c->axis->var;
    struct node *late[FORM_MAX_STMTS];
    unsigned nr_late = 0;
    str_add(&c->code, "{\n");
    for (unsigned i = 0; i < c->form.nr_prologue; i++) {
        struct node *s = c->form.prologue[i];
        if (s->kind == NODE_DECLS && node_within(var, s) && s->nr_children == 1)
            continue;
        if (stmt_varies(c, s))
            late[nr_late++] = s;
        else
            write_leaf(c, s, "    ");
    }
    str_add(&c->code, "    if (");
    if (!c->cond)
        str_addf(&c->code, "blockIdx.%c * %s < %s%s", axis_names[c->axis->dim], c->factor, c->limit,
            c->form.nr_conds ? " && " : "");
    for (unsigned i = 0; i < c->form.nr_conds; i++) {
        struct substs s = {.nr = 0};
        const struct form_cond *cond = &c->form.conds[i];
        if (cond == c->cond)
            str_addf(
                &c->code, "%s < %s", in_range(c, "0"), subst_text(c->in->tree, cond->high, &s));
        else
            str_add(&c->code, cond->text);
        if (i + 1 < c->form.nr_conds)
            str_add(&c->code, " && ");
    }
    str_add(&c->code, ") {\n");
    write_indices(c, "        ");
    write_list(c, late, nr_late, "        ");
    write_list(c, c->form.work, c->form.nr_work, "        ");
    str_add(&c->code, "    }\n}");
}

/* --- conditions, launches --- */

static bool guards_fit(struct coarsening *c)
{
    unsigned nr = 0;
    c->cond = c->axis->block_only ? NULL : extent_cond(&c->form, c->axis->var);
    for (unsigned i = 0; i < c->form.nr_conds; i++)
        nr += varies(c, c->form.conds[i].node);
    if (c->axis->block_only ? nr != 0 : !c->cond || nr != 1 || varies(c, c->cond->high))
        return refuse(c, "no single guard `index < limit` on the axis");
    if (c->cond && (!node_is_pure(c->cond->high) || node_has(c->cond->high, NODE_INDEX)))
        return refuse(c, "a limit that is loaded");
    return true;
}

/* Whether threadIdx, blockIdx, blockDim or gridDim are used along the axis apart from its index. */
static bool uses_dim_otherwise(const struct coarsening *c)
{
    static const char *const objects[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    for (const struct node *n = c->form.body; n;) {
        for (unsigned i = 0; i < 4; i++)
            if (n->kind == NODE_MEMBER && node_axis(n, objects[i]) == (int)c->axis->dim)
                return true;
        n = n == c->axis->var ? node_skip(c->form.body, n) : node_next(c->form.body, n);
    }
    return false;
}

static bool body_fits(struct coarsening *c)
{
    for (const struct node *n = c->form.body; n; n = node_next(c->form.body, n)) {
        if (n->kind == NODE_VAR && n->is_shared)
            return refuse(c, "it uses shared memory");
        if (n->kind == NODE_CALL && !call_is_pure(n->name) && !call_is_atomic(n->name))
            return refuse(c, "it calls functions with effects of their own");
        const struct node *to = node_is_change(n) ? node_strip(n->child) : NULL;
        if (to && to->kind == NODE_NAME && to->decl && to->decl->type.is_reference)
            return refuse(c, "it stores through a reference");
        if (n->kind == NODE_RETURN && node_enclosing(n, NODE_FOR))
            return refuse(c, "it returns early");
        if (n->kind == NODE_SWITCH || n->kind == NODE_OTHER)
            return refuse(c, "a statement that is not understood");
    }
    for (unsigned i = 0; i < c->form.nr_prologue; i++)
        if (node_within(c->axis->var, c->form.prologue[i]) && c->form.prologue[i]->nr_children != 1)
            return refuse(c, "the index is declared together with others");
    for (unsigned i = 0; i < c->form.nr_work; i++)
        if (node_has(c->form.work[i], NODE_RETURN) || node_within(c->axis->var, c->form.work[i]))
            return refuse(c, "it returns early");
    if (uses_dim_otherwise(c))
        return refuse(c, "threadIdx is used in other ways");
    return rewrite_no_alias(c->in, c->form.function) ? true
                                                     : refuse(c, "one array is given twice to it");
}

/* Whether the outputs share something: a load in a loop that does not vary. */
static bool pays(struct coarsening *c)
{
    for (const struct node *n = c->form.body; n; n = node_next(c->form.body, n))
        if (n->kind == NODE_INDEX && !varies(c, n) && node_enclosing(n, NODE_FOR))
            return true;
    return refuse(c, "no load in a loop that several outputs would share");
}

static bool edit_launches(struct coarsening *c)
{
    struct arena *arena = c->in->arena;
    unsigned d = c->axis->dim;
    struct launch_lines lines;
    if (!launch_lines_read(c->in, c->form.function, &lines, c->out))
        return false;
    for (unsigned i = 0; i < lines.nr; i++) {
        struct launch_line *line = &lines.items[i];
        if (c->new_param)
            edits_insert(
                &c->out->edits, line->args_end, "%s%s", line->nr_args ? ", " : "", line->grid[d]);
        line->grid[d] = arena_printf(arena, "ceil_div(%s, %s)", line->grid[d], c->factor);
        launch_line_write(line, &c->out->edits);
    }
    return true;
}

static bool set_limit(struct coarsening *c)
{
    if (c->cond) {
        c->limit = text_operand(c->in->arena, tree_text(c->in->tree, c->cond->high));
        return true;
    }
    unsigned nr = function_nr_params(c->form.function);
    const struct node *last = nr ? function_param(c->form.function, nr - 1) : NULL;
    if (!last)
        return refuse(c, "it has no parameters");
    c->limit = tree_fresh(c->in->tree, arena_printf(c->in->arena, "nr_%s", c->axis->var->name));
    c->new_param = true;
    edits_insert(&c->out->edits, last->end, ", int %s", c->limit);
    return true;
}

static bool coarsen(struct coarsening *c)
{
    c->deps.guard = c->form.guard;
    deps_seed(&c->deps, c->axis->var, VARIES);
    deps_solve(&c->deps, c->form.function);
    if (c->deps.overflow)
        return refuse(c, "too many variables");
    if (!body_fits(c) || !guards_fit(c) || !pays(c) || !set_limit(c) || !choose_arrays(c))
        return false;
    write_kernel(c);
    edits_replace(&c->out->edits, c->form.body->start, c->form.body->end, "%s", c->code.text);
    pragma_add_tune(c->in, &c->out->edits, c->factor, 4, "2, 4, 8");
    return edit_launches(c);
}

bool rewrite_coarsen(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct coarsening *c = arena_alloc(in->arena, sizeof *c);
    struct node *function;
    const char *why;
    *c = (struct coarsening){.in = in, .out = out};
    if (rewrite_nth_kernel(in, variant / NR_AXES, &function) < 0)
        return rewrite_refuse(in, out, "no axis along which outputs share loads");
    out->more = true;
    if (!kernel_form_read(&c->form, in->tree, function, &why))
        return rewrite_refuse(in, out, "%s: %s", function->name, why);
    c->axis = form_axis_along(&c->form, variant % NR_AXES);
    if (!c->axis)
        return rewrite_refuse(
            in, out, "%s: no index along %c", function->name, axis_names[variant % NR_AXES]);
    c->factor = tree_fresh(in->tree, arena_printf(in->arena, "PER_%c", "XYZ"[variant % NR_AXES]));
    c->counter =
        tree_fresh(in->tree, arena_printf(in->arena, "u%c", axis_names[variant % NR_AXES]));
    bool good = coarsen(c);
    str_finish(&c->code);
    if (!good)
        return false;
    return rewrite_done(
        in, out, "4 values of %s per thread in %s", c->axis->var->name, function->name);
}
