/* vectorize: a thread takes 2 or 4 neighbouring elements of an element-wise kernel, in loads and
 * stores of whole vectors. The last elements are done one by one. Loops with the stride of the grid
 * are vectorize_loop.c's. */
#include "base/str.h"
#include "cuda/deps.h"
#include "cuda/subst.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/rewrite.h"
#include "propose/rewrite/vectorize_loop.h"

#include <string.h>

enum { MAX_ARRAYS = 12 };

struct elementwise {
    const struct rewrite_in *in;
    struct rewrite_out *out;
    struct kernel_form form;
    const struct form_axis *axis;
    const struct form_cond *cond;
    unsigned width;                  /* elements per thread */
    struct node *arrays[MAX_ARRAYS]; /* parameters that are accessed at [index] */
    bool loaded[MAX_ARRAYS], stored[MAX_ARRAYS];
    unsigned nr_arrays;
    const char *index;
};

static bool refuse(struct elementwise *e, const char *why)
{
    return rewrite_refuse(e->in, e->out, "%s: %s", e->form.function->name, why);
}

/* CUDA's vector type of `width` elements, or NULL. */
static const char *vector_type(enum scalar scalar, unsigned width)
{
    static const char *const types[][2] = {[SCALAR_F32] = {"float2", "float4"},
        [SCALAR_I32] = {"int2", "int4"},
        [SCALAR_U32] = {"uint2", "uint4"},
        [SCALAR_U8] = {"uchar2", "uchar4"},
        [SCALAR_I8] = {"char2", "char4"},
        [SCALAR_F64] = {"double2", NULL}};
    if (scalar >= sizeof types / sizeof types[0])
        return NULL;
    return types[scalar][width == 4];
}

static bool is_stored_to(const struct node *access)
{
    const struct node *up = access->parent;
    while (up && up->kind == NODE_PAREN)
        up = up->parent;
    return up && up->kind == NODE_ASSIGN && node_strip(up->child) == access;
}

static bool note_access(struct elementwise *e, struct node *access)
{
    struct node *base = node_strip(access->child), *at = node_strip(access->child->next);
    struct node *decl = base->kind == NODE_NAME ? base->decl : NULL;
    bool own = at->kind == NODE_NAME && at->decl == e->axis->var;
    if (!decl || decl->kind != NODE_PARAM)
        return own ? refuse(e, "it indexes something other than a parameter") : true;
    if (!own)
        return node_writes(e->form.function, decl)
                   ? refuse(e, "an array that it stores to is read elsewhere too")
                   : true;
    unsigned i = 0;
    while (i < e->nr_arrays && e->arrays[i] != decl)
        i++;
    if (i == MAX_ARRAYS || !vector_type(decl->type.scalar, e->width))
        return refuse(e, "an array whose type has no vector");
    if (i == e->nr_arrays)
        e->arrays[e->nr_arrays++] = decl;
    bool stored = is_stored_to(access);
    e->stored[i] = e->stored[i] || stored;
    const struct node *assign = access->parent;
    e->loaded[i] = e->loaded[i] || !stored || (assign->kind == NODE_ASSIGN && assign->op[1]);
    return true;
}

/* Whether the work is understood. Only what is stored unconditionally may be stored as a vector. */
static bool statements_fit(struct elementwise *e)
{
    for (unsigned i = 0; i < e->form.nr_work; i++) {
        struct node *stmt = e->form.work[i];
        for (struct node *n = stmt; n; n = node_next(stmt, n)) {
            if (n->kind == NODE_CALL && !call_is_pure(n->name))
                return refuse(e, "a call with effects");
            if (n->kind == NODE_RETURN || n->kind == NODE_FOR || n->kind == NODE_WHILE ||
                n->kind == NODE_DO || n->kind == NODE_SWITCH)
                return refuse(e, "it does more than a few operations per element");
            if (n->kind == NODE_UNARY && (!strcmp(n->op, "*") || !strcmp(n->op, "&")))
                return refuse(e, "it uses pointers");
            if (n->kind == NODE_INDEX && !note_access(e, n))
                return false;
            if (n->kind == NODE_ASSIGN && node_strip(n->child)->kind == NODE_INDEX && n != stmt)
                return refuse(e, "a store under a condition");
        }
    }
    for (unsigned i = 0; i < e->nr_arrays; i++)
        if (node_writes(e->form.function, e->arrays[i]) != e->stored[i])
            return refuse(e, "an array is stored to in two ways");
    return e->nr_arrays ? true : refuse(e, "no array is accessed at the thread's index");
}

static bool read_elementwise(struct elementwise *e, struct node *function)
{
    const char *why;
    if (!kernel_form_read(&e->form, e->in->tree, function, &why))
        return rewrite_refuse(e->in, e->out, "%s: %s", function->name, why);
    e->axis = form_axis_along(&e->form, 0);
    if (!e->axis || e->axis->block_only || e->form.nr_axes != 1 || e->form.raw)
        return refuse(e, "it has not one index along thread x");
    e->cond = extent_cond(&e->form, e->axis->var);
    if (!e->cond || e->form.nr_conds != 1 || node_uses(e->cond->high, e->axis->var))
        return refuse(e, "no single guard `index < limit`");
    for (unsigned i = 0; i < e->form.nr_prologue; i++)
        if (e->form.prologue[i]->nr_children != 1)
            return refuse(e, "several variables in one declaration");
    if (!rewrite_no_alias(e->in, function))
        return refuse(e, "one array is given twice to it");
    return statements_fit(e);
}

/* --- code --- */

static void write_stmts(struct elementwise *e, struct str *code, const char *indent, bool vectors)
{
    static const char lanes[] = "xyzw";
    unsigned nr = vectors ? e->width : 1;
    for (unsigned lane = 0; lane < nr; lane++) {
        struct substs s = {.nr = 0};
        if (vectors)
            str_addf(code, "%s{\n", indent);
        for (unsigned i = 0; i < e->form.nr_work; i++) {
            struct node *stmt = e->form.work[i];
            for (struct node *n = stmt; vectors && n; n = node_next(stmt, n)) {
                struct node *at = n->kind == NODE_INDEX ? node_strip(n->child->next) : NULL;
                if (at && at->kind == NODE_NAME && at->decl == e->axis->var)
                    substs_add(&s, n,
                        arena_printf(e->in->arena, "%s4.%c", node_base(n)->name, lanes[lane]));
            }
        }
        if (vectors && lane)
            substs_add(&s, e->axis->var,
                arena_printf(e->in->arena, "(%s + %u)", e->axis->var->name, lane));
        for (unsigned i = 0; i < e->form.nr_work; i++) {
            const char *in = arena_printf(e->in->arena, "%s%s", indent, vectors ? "    " : "");
            str_addf(
                code, "%s%s\n", in, subst_statement(e->in->tree, e->form.work[i], &s, strlen(in)));
        }
        if (vectors)
            str_addf(code, "%s}\n", indent);
    }
}

static void write_vectors(struct elementwise *e, struct str *code)
{
    const char *index = e->axis->var->name;
    for (unsigned i = 0; i < e->nr_arrays; i++) {
        const char *name = e->arrays[i]->name;
        const char *type = vector_type(e->arrays[i]->type.scalar, e->width);
        if (e->loaded[i])
            str_addf(code, "        %s %s4 = *reinterpret_cast<const %s *>(&%s[%s]);\n", type, name,
                type, name, index);
        else
            str_addf(code, "        %s %s4;\n", type, name);
    }
    write_stmts(e, code, "        ", true);
    for (unsigned i = 0; i < e->nr_arrays; i++)
        if (e->stored[i])
            str_addf(code, "        *reinterpret_cast<%s *>(&%s[%s]) = %s4;\n",
                vector_type(e->arrays[i]->type.scalar, e->width), e->arrays[i]->name, index,
                e->arrays[i]->name);
}

static void write_kernel(struct elementwise *e)
{
    struct str code = {0};
    const struct node *var = e->axis->var;
    const char *index = var->name;
    const char *limit = text_operand(e->in->arena, tree_text(e->in->tree, e->cond->high));
    str_add(&code, "{\n");
    for (unsigned i = 0; i < e->form.nr_prologue; i++) {
        if (node_within(var, e->form.prologue[i]))
            str_addf(&code, "    int %s = (%s) * %u;\n", index, tree_text(e->in->tree, var->init),
                e->width);
        else
            str_addf(&code, "    %s;\n", tree_text(e->in->tree, e->form.prologue[i]));
    }
    str_addf(&code, "    if (%s + %u < %s) {\n", index, e->width - 1, limit);
    write_vectors(e, &code);
    str_addf(&code, "    } else {\n        for (; %s < %s; %s++) {\n", index, limit, index);
    write_stmts(e, &code, "            ", false);
    str_add(&code, "        }\n    }\n}");
    edits_replace(&e->out->edits, e->form.body->start, e->form.body->end, "%s", str_text(&code));
    str_finish(&code);
}

static bool prologue_fits(struct elementwise *e)
{
    struct deps deps = {.guard = e->form.guard};
    deps_seed(&deps, e->axis->var, 1);
    deps_solve(&deps, e->form.function);
    for (unsigned i = 0; i < e->form.nr_prologue; i++)
        if (!node_within(e->axis->var, e->form.prologue[i]) && deps_of(&deps, e->form.prologue[i]))
            return refuse(e, "a local variable before the guard depends on the index");
    return !deps_of(&deps, e->cond->high) && !deps.overflow
               ? true
               : refuse(e, "the limit depends on the index");
}

static bool edit_launches(struct elementwise *e)
{
    struct launch_lines lines;
    if (!launch_lines_read(e->in, e->form.function, &lines, e->out))
        return false;
    for (unsigned i = 0; i < lines.nr; i++) {
        struct launch_line *line = &lines.items[i];
        line->grid[0] = arena_printf(e->in->arena, "ceil_div(%s, %u)", line->grid[0], e->width);
        launch_line_write(line, &e->out->edits);
    }
    return true;
}

bool rewrite_vectorize(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct elementwise e = {.in = in, .out = out, .width = variant % 2 ? 2 : 4};
    struct node *function;
    if (rewrite_nth_kernel(in, variant / 2, &function) < 0)
        return rewrite_refuse(in, out, "no kernel that goes element by element");
    out->more = true;
    if (node_has(function, NODE_FOR))
        return vectorize_loop(in, function, variant % 2 ? 8 : 16, out);
    if (!read_elementwise(&e, function) || !prologue_fits(&e))
        return false;
    for (unsigned i = 0; i < e.nr_arrays; i++)
        if (tree_word_used(in->tree, arena_printf(in->arena, "%s4", e.arrays[i]->name)))
            return refuse(&e, "names of vectors are taken");
    write_kernel(&e);
    if (!edit_launches(&e))
        return false;
    return rewrite_done(
        in, out, "%u elements a thread, in vectors, in %s", e.width, function->name);
}
