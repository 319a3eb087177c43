/* Writes contractions anew: tiles in shared memory, patches of outputs in registers. */
#include "propose/rewrite/contraction_code.h"

#include "cuda/subst.h"

#include <string.h>

/* The names in the new kernel. */
struct tile_names {
    const char *bm, *bn, *bk, *tm, *tn; /* tuning parameters */
    const char *thread, *nr_threads, *row0, *col0, *k0, *kk, *vector, *dm, *dn, *e, *at, *u;
    const char *tile, *nr_tiles; /* of a nest */
};

struct tile_writer {
    const struct contraction *c;
    const struct tiling *tiling;
    struct tile_names names;
    struct arena *arena;
    struct str out;
};

static const char *fresh(const struct tile_writer *w, const char *base)
{
    return tree_fresh(w->c->in->tree, base);
}

static void choose_names(struct tile_writer *w)
{
    w->names = (struct tile_names){fresh(w, "BM"), fresh(w, "BN"), fresh(w, "BK"), fresh(w, "TM"),
        fresh(w, "TN"), fresh(w, "tid"), fresh(w, "NR_THREADS"), fresh(w, "first_y"),
        fresh(w, "first_x"), fresh(w, "k0"), fresh(w, "kk"), fresh(w, "VECTOR"), fresh(w, "dm"),
        fresh(w, "dn"), fresh(w, "e"), fresh(w, "at"), fresh(w, "u"), fresh(w, "tile"),
        fresh(w, "nr_tiles")};
}

static const char *zero_of(const char *type)
{
    if (strcmp(type, "float") == 0)
        return "0.0f";
    if (strcmp(type, "half") == 0 || strcmp(type, "__nv_bfloat16") == 0)
        return type[0] == 'h' ? "half(0.0f)" : "__nv_bfloat16(0.0f)";
    return "0";
}

static bool is_acc(const struct contraction *c, const struct node *var)
{
    for (unsigned i = 0; i < c->nr_accs; i++)
        if (c->accs[i] == var)
            return true;
    return false;
}

static bool is_axis(const struct contraction *c, const struct node *var)
{
    return var == c->x->var || var == c->y->var;
}

static bool is_counter(const struct contraction *c, const struct node *var)
{
    for (unsigned i = 0; i < c->nr_outer; i++)
        if (c->outer[i].var == var)
            return true;
    return var == c->loop.var;
}

const char *code_block_of(const struct contraction *c, const struct form_axis *axis)
{
    return arena_printf(c->in->arena, "blockIdx.%c", axis_names[axis->dim]);
}

static bool depends(const struct contraction *c, const struct node *var)
{
    return deps_of(&c->deps, var->init) & (ALONG_X | ALONG_Y | ALONG_K | ALONG_OUTER);
}

/* --- declarations that expressions stand on --- */

static bool used_by(const struct node *var, struct node *const *roots, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++)
        if (node_uses(roots[i], var))
            return true;
    return false;
}

unsigned code_find_needs(
    const struct contraction *c, struct code_needs *needs, struct node **vars, unsigned max)
{
    struct node *all[128];
    unsigned nr_all = 0, nr = 0;
    for (struct node *n = c->form.body; n; n = node_next(c->form.body, n))
        if (n->kind == NODE_VAR && n->init && !is_acc(c, n) && !is_axis(c, n) &&
            !is_counter(c, n) && !node_within(n, c->form.work[c->form.nr_work - 1]) &&
            nr_all < 128 && n->parent->parent &&
            (n->start < c->nest->end ? depends(c, n) : needs->late))
            all[nr_all++] = n;
    bool wanted[128] = {false};
    for (unsigned i = nr_all; i-- > 0;) {
        wanted[i] = used_by(all[i], needs->roots, needs->nr);
        if (wanted[i] && needs->nr < 160)
            needs->roots[needs->nr++] = all[i]->init;
    }
    for (unsigned i = 0; i < nr_all && nr < max; i++)
        if (wanted[i])
            vars[nr++] = all[i];
    return nr;
}

void code_decls(
    const struct contraction *c, struct str *out, struct code_needs *needs, const char *indent)
{
    struct node *vars[64];
    unsigned nr = code_find_needs(c, needs, vars, 64);
    for (unsigned i = 0; i < nr; i++) {
        const struct node *v = vars[i];
        str_addf(out, "%s%s%s %s%s = %s;\n", indent, v->type.is_const ? "const " : "", v->type.base,
            v->type.is_pointer ? "*" : "", v->name, tree_text(c->in->tree, v->init));
    }
}

/* The number of the block for an index of threads that is neither column nor row; NULL: the
 * variable is none. */
static const char *other_axis(const struct contraction *c, const struct node *var)
{
    for (unsigned i = 0; i < c->form.nr_axes; i++)
        if (c->form.axes[i].var == var && !is_axis(c, var) && !c->form.axes[i].block_only)
            return code_block_of(c, &c->form.axes[i]);
    return NULL;
}

void code_uniform_decls(const struct contraction *c, struct str *out)
{
    for (unsigned part = 0; part < 2; part++) {
        struct node *const *list = part ? c->form.work : c->form.prologue;
        unsigned nr = part ? c->loop_at : c->form.nr_prologue;
        for (unsigned i = 0; i < nr; i++)
            for (const struct node *v = list[i]->child; v; v = v->next)
                if (other_axis(c, v))
                    str_addf(out, "    %s %s = %s;\n", v->type.base, v->name, other_axis(c, v));
                else if (!is_axis(c, v) && !is_acc(c, v) && !depends(c, v))
                    str_addf(out, "    %s%s %s%s = %s;\n", v->type.is_const ? "const " : "",
                        v->type.base, v->type.is_pointer ? "*" : "", v->name,
                        tree_text(c->in->tree, v->init));
    }
}

const char *code_conds(const struct contraction *c, unsigned axis)
{
    const char *text = NULL;
    for (unsigned i = 0; i < c->form.nr_conds; i++) {
        const struct form_cond *cond = &c->form.conds[i];
        unsigned mask = deps_of(&c->deps, cond->node) & (ALONG_X | ALONG_Y);
        if (mask != axis)
            continue;
        text = text ? arena_printf(c->in->arena, "%s && %s", text, cond->text) : cond->text;
    }
    if (c->rows && axis == ALONG_Y)
        text = arena_printf(c->in->arena, "%s < %s%s%s", c->y->var->name, c->rows,
            text ? " && " : "", text ? text : "");
    return text;
}

/* --- walks over tiles, and launches --- */

const char *code_inside(const struct contraction *c, unsigned axis, unsigned more)
{
    const char *conds = code_conds(c, axis), *uniform = code_conds(c, 0);
    const char *text = arena_printf(c->in->arena, "%s", c->loop.var->name);
    if (more)
        text = arena_printf(c->in->arena, "%s + %u", text, more);
    text = arena_printf(c->in->arena, "%s < %s%s%s%s%s", text,
        text_operand(c->in->arena, tree_text(c->in->tree, c->loop.bound)), conds ? " && " : "",
        conds ? conds : "", uniform ? " && " : "", uniform ? uniform : "");
    return text;
}

void code_walk_begin(const struct contraction *c, struct str *out, const char *k)
{
    for (unsigned i = 0; i < c->nr_outer; i++)
        str_addf(out, "    %s %s = %s;\n", c->outer[i].var->type.base, c->outer[i].var->name,
            tree_text(c->in->tree, c->outer[i].start));
    str_addf(out, "    int %s = %s;\n", k, tree_text(c->in->tree, c->loop.start));
}

const char *code_walk_length(const struct contraction *c, const char *piece)
{
    const struct cuda_tree *tree = c->in->tree;
    struct arena *arena = c->in->arena;
    const char *text = arena_printf(arena, "max((int)(%s - (%s) + %s - 1) / %s, 0)",
        text_operand(arena, tree_text(tree, c->loop.bound)), tree_text(tree, c->loop.start), piece,
        piece);
    for (unsigned i = 0; i < c->nr_outer; i++)
        text = arena_printf(arena, "%s * max((int)(%s - (%s)), 0)", text,
            text_operand(arena, tree_text(tree, c->outer[i].bound)),
            tree_text(tree, c->outer[i].start));
    return text;
}

void code_walk_step(const struct contraction *c, struct str *out, const char *k, const char *piece,
    const char *indent)
{
    const struct cuda_tree *tree = c->in->tree;
    str_addf(out, "%s%s += %s;\n", indent, k, piece);
    if (c->nr_outer)
        str_addf(out, "%sif (%s >= %s) {\n%s    %s = %s;\n", indent, k,
            text_operand(c->in->arena, tree_text(tree, c->loop.bound)), indent, k,
            tree_text(tree, c->loop.start));
    for (unsigned i = c->nr_outer; i-- > 0;) {
        const char *var = c->outer[i].var->name;
        if (i)
            str_addf(out, "%s    if (++%s >= %s) {\n%s    %s = %s;\n", indent, var,
                text_operand(c->in->arena, tree_text(tree, c->outer[i].bound)), indent, var,
                tree_text(tree, c->outer[i].start));
        else
            str_addf(out, "%s    ++%s;\n", indent, var);
    }
    for (unsigned i = 0; i < c->nr_outer; i++)
        str_addf(out, "%s}\n", indent);
}

/* Give the kernel and its launches the number of rows. */
static void pass_rows(const struct contraction *c, const struct launch_line *line, bool first,
    struct rewrite_out *out)
{
    const struct node *function = c->form.function;
    const unsigned nr = function_nr_params(function);
    if (!c->rows)
        return;
    edits_insert(
        &out->edits, line->args_end, "%s%s", line->nr_args ? ", " : "", line->grid[c->y->dim]);
    if (first && nr)
        edits_insert(&out->edits, function_param(function, nr - 1)->end, ", int %s", c->rows);
}

const char *code_at_launch(
    const struct contraction *c, const struct launch_line *line, const struct node *n)
{
    n = node_strip(n);
    const char *given =
        n->kind == NODE_NAME ? launch_line_argument(line, c->form.function, n->decl) : NULL;
    return given ? given : tree_text(c->in->tree, n);
}

/* Let `nr` blocks, neighbours along a dimension of the grid, be a cluster. */
static void add_cluster(
    const struct launch_line *line, unsigned dim, const char *nr, struct rewrite_out *out)
{
    edits_insert(&out->edits, line->args_end + 1, " cluster(%s%s)",
        dim == 0   ? ""
        : dim == 1 ? "1, "
                   : "1, 1, ",
        nr);
}

bool code_launches(
    const struct contraction *c, const struct code_launch *shape, struct rewrite_out *out)
{
    const struct rewrite_in *in = c->in;
    struct launch_lines lines;
    if (!launch_lines_read(in, c->form.function, &lines, out))
        return false;
    for (unsigned i = 0; i < lines.nr; i++) {
        struct launch_line *line = &lines.items[i];
        if (shape->smem && line->smem && strcmp(line->smem, "0") != 0)
            return rewrite_refuse(in, out, "%s has dynamic shared memory", c->form.function->name);
        if ((shape->split || shape->together) && line->in_clusters)
            return rewrite_refuse(in, out, "%s has clusters", c->form.function->name);
        pass_rows(c, line, i == 0, out);
        for (unsigned a = 0; a < c->form.nr_axes; a++) {
            const struct form_axis *axis = &c->form.axes[a];
            if (axis == c->x || axis == c->y)
                extent_cover(in, line, &c->form, axis,
                    axis == c->x ? shape->columns
                    : shape->together
                        ? arena_printf(in->arena, "(%s*%s)", shape->rows, shape->together)
                        : shape->rows);
            else if (!axis->block_only)
                line->grid[axis->dim] = extent_text(in, line, &c->form, axis);
        }
        line->block[0] = shape->threads[0];
        line->block[1] = shape->threads[1];
        if (c->rows || c->nr_outer)
            line->block[2] = "1";
        line->smem = shape->smem ? shape->smem : line->smem;
        if (shape->split) {
            line->grid[c->x->dim] = arena_printf(
                in->arena, "%s*%s", text_operand(in->arena, line->grid[c->x->dim]), shape->split);
            add_cluster(line, c->x->dim, shape->split, out);
        } else if (shape->together) {
            line->grid[c->y->dim] =
                arena_printf(in->arena, "%s*%s", line->grid[c->y->dim], shape->together);
            add_cluster(line, c->y->dim, shape->together, out);
        }
        launch_line_write(line, &out->edits);
    }
    return true;
}

void code_rest(
    const struct contraction *c, struct str *out, const struct substs *s, const char *indent)
{
    const struct cuda_tree *tree = c->in->tree;
    struct code_needs needs = {.nr = 0};
    for (unsigned i = c->loop_at + 1; i < c->form.nr_work && needs.nr < 60; i++)
        needs.roots[needs.nr++] = c->form.work[i];
    code_decls(c, out, &needs, indent);
    for (unsigned i = c->loop_at + 1; i < c->form.nr_work; i++) {
        const struct node *stmt = c->form.work[i];
        const unsigned end = stmt->kind == NODE_BLOCK ? stmt->end : tree_stmt_end(tree, stmt);
        const unsigned from = (unsigned)strlen(tree_indent(tree, stmt->start));
        str_addf(out, "%s%s\n", indent,
            text_reindent(c->in->arena, subst_slice(tree, stmt, stmt->start, end, s), from,
                (unsigned)strlen(indent)));
    }
}

const char *code_all_conds(const struct contraction *c)
{
    static const unsigned axes[] = {ALONG_Y, ALONG_X, 0};
    const char *all = NULL;
    for (unsigned i = 0; i < 3; i++) {
        const char *conds = code_conds(c, axes[i]);
        if (conds)
            all = all ? arena_printf(c->in->arena, "%s && %s", all, conds) : conds;
    }
    return all;
}

/* --- parts of the kernel --- */

static bool is_first_of_its_tile(const struct contraction *c, unsigned i)
{
    for (unsigned j = 0; j < i; j++)
        if (strcmp(c->operands[j].tile, c->operands[i].tile) == 0)
            return false;
    return true;
}

static void write_head(struct tile_writer *w)
{
    const struct contraction *c = w->c;
    const struct tile_names *n = &w->names;
    str_add(&w->out, "{\n");
    for (unsigned i = 0; i < c->nr_operands; i++) {
        const struct contraction_operand *o = &c->operands[i];
        if (is_first_of_its_tile(c, i))
            str_addf(&w->out, "    __shared__ __align__(16) %s %s[%s][%s%s];\n", o->type, o->tile,
                n->bk, o->axis == ALONG_X ? n->bn : n->bm, o->k_runs ? " + 4" : "");
    }
    str_addf(&w->out, "    const int %s = (%s / %s) * (%s / %s);\n", n->nr_threads, n->bm, n->tm,
        n->bn, n->tn);
    str_addf(&w->out, "    const int %s = %s %% 4 == 0 ? 4 : 1;\n", n->vector, n->tn);
    str_addf(
        &w->out, "    int %s = threadIdx.y * (%s / %s) + threadIdx.x;\n", n->thread, n->bn, n->tn);
    str_addf(&w->out, "    int %s = %s * %s;\n    int %s = %s * %s;\n", n->row0,
        code_block_of(c, c->y), n->bm, n->col0, code_block_of(c, c->x), n->bn);
    code_uniform_decls(c, &w->out);
    for (unsigned i = 0; i < c->nr_accs; i++)
        str_addf(
            &w->out, "    %s %s[%s][%s];\n", c->accs[i]->type.base, c->accs[i]->name, n->tm, n->tn);
}

static void write_patch_loops(struct tile_writer *w, const char *indent)
{
    const struct tile_names *n = &w->names;
    str_addf(&w->out, "%s#pragma unroll\n%sfor (int %s = 0; %s < %s; %s++) {\n", indent, indent,
        n->dm, n->dm, n->tm, n->dm);
    str_addf(&w->out, "%s    #pragma unroll\n%s    for (int %s = 0; %s < %s; %s++) {\n", indent,
        indent, n->dn, n->dn, n->tn, n->dn);
}

/* Let accumulators stand for elements of the patch. */
static void subst_accs(const struct tile_writer *w, struct substs *s)
{
    for (unsigned i = 0; i < w->c->nr_accs; i++)
        substs_add(s, w->c->accs[i],
            arena_printf(w->arena, "%s[%s][%s]", w->c->accs[i]->name, w->names.dm, w->names.dn));
}

/* Where output dn (along x) or dm (along y) of the thread's patch is in the block. Along x outputs
 * are in groups that a vector load takes, with the groups of neighbouring threads side by side.
 * Along y they follow each other. */
static const char *place_in_block(const struct tile_writer *w, unsigned axis)
{
    const struct tile_names *n = &w->names;
    if (axis == ALONG_Y)
        return arena_printf(w->arena, "threadIdx.y * %s + %s", n->tm, n->dm);
    return arena_printf(w->arena, "%s / %s * (%s / %s * %s) + threadIdx.x * %s + %s %% %s", n->dn,
        n->vector, n->bn, n->tn, n->vector, n->vector, n->dn, n->vector);
}

static void write_position(struct tile_writer *w, unsigned axis, const char *indent)
{
    const struct tile_names *n = &w->names;
    if (axis == ALONG_X)
        str_addf(&w->out, "%sint %s = %s + %s;\n", indent, w->c->x->var->name, n->col0,
            place_in_block(w, ALONG_X));
    else
        str_addf(&w->out, "%sint %s = %s + %s;\n", indent, w->c->y->var->name, n->row0,
            place_in_block(w, ALONG_Y));
}

/* An accumulator's initialiser. One that loads does so only for outputs within the guard. */
static const char *init_text(const struct tile_writer *w, const struct node *acc, const char *guard)
{
    struct substs none = {.nr = 0};
    const char *text = subst_text(w->c->in->tree, acc->init, &none);
    if (!guard || !node_has(acc->init, NODE_INDEX))
        return text;
    return arena_printf(w->arena, "%s ? %s : %s", guard, text, zero_of(acc->type.base));
}

static void write_inits(struct tile_writer *w)
{
    const char *guard = code_all_conds(w->c);
    struct code_needs needs = {.nr = 0};
    bool positions = false;
    write_patch_loops(w, "    ");
    for (unsigned i = 0; i < w->c->nr_accs; i++) {
        positions = positions || deps_of(&w->c->deps, w->c->accs[i]->init) ||
                    (guard && node_has(w->c->accs[i]->init, NODE_INDEX));
        needs.roots[needs.nr++] = w->c->accs[i]->init;
    }
    if (positions) {
        write_position(w, ALONG_X, "            ");
        write_position(w, ALONG_Y, "            ");
        code_decls(w->c, &w->out, &needs, "            ");
    }
    for (unsigned i = 0; i < w->c->nr_accs; i++)
        str_addf(&w->out, "            %s[%s][%s] = %s;\n", w->c->accs[i]->name, w->names.dm,
            w->names.dn, init_text(w, w->c->accs[i], guard));
    str_add(&w->out, "        }\n    }\n");
}

/* The number of elements of a tile that a thread fetches. */
static const char *fetches(const struct tile_writer *w, const struct contraction_operand *o)
{
    const struct tile_names *n = &w->names;
    return arena_printf(w->arena, "(%s * %s + %s - 1) / %s", n->bk,
        o->axis == ALONG_X ? n->bn : n->bm, n->nr_threads, n->nr_threads);
}

static const char *next_name(const struct tile_writer *w, const struct contraction_operand *o)
{
    return arena_printf(w->arena, "next_%s", o->tile);
}

/* Write the head of the loop over a thread's elements of a tile, with their places in the tile. */
static void write_elements(struct tile_writer *w, const struct contraction_operand *o)
{
    const struct tile_names *n = &w->names;
    const char *size = o->axis == ALONG_X ? n->bn : n->bm, *in = "            ";
    const char *fast = o->k_runs ? n->kk : n->at, *slow = o->k_runs ? n->at : n->kk;
    const char *run = o->k_runs ? n->bk : size;
    str_addf(&w->out, "        #pragma unroll\n        for (int %s = 0; %s < %s; %s++) {\n", n->u,
        n->u, fetches(w, o), n->u);
    str_addf(&w->out, "%sint %s = %s + %s * %s;\n", in, n->e, n->thread, n->u, n->nr_threads);
    str_addf(&w->out, "%sint %s = %s %% %s, %s = %s / %s;\n", in, fast, n->e, run, slow, n->e, run);
}

/* The condition that an element is in the tile: a constant where the threads share evenly. */
static const char *in_tile(const struct tile_writer *w, const struct contraction_operand *o)
{
    const struct tile_names *n = &w->names;
    const char *size = o->axis == ALONG_X ? n->bn : n->bm;
    return arena_printf(w->arena, "(%s * %s %% %s == 0 || %s < %s * %s)", n->bk, size,
        n->nr_threads, n->e, n->bk, size);
}

/* Write the fetch of a thread's elements from memory to registers, with zeros outside the matrix.
 */
static void write_fetch(struct tile_writer *w, const struct contraction_operand *o)
{
    const struct contraction *c = w->c;
    const struct tile_names *n = &w->names;
    bool x = o->axis == ALONG_X;
    const char *axis = (x ? c->x : c->y)->var->name, *k = c->loop.var->name, *in = "            ";
    struct node *cond = c->cond && o->axis == c->cond_axis ? c->cond : NULL;
    struct code_needs needs = {.roots = {o->node, cond}, .nr = cond ? 2 : 1};
    str_addf(&w->out, "        %s %s[%s];\n", o->type, next_name(w, o), fetches(w, o));
    write_elements(w, o);
    str_addf(&w->out, "%sint %s = %s + %s, %s = %s + %s;\n", in, axis, x ? n->col0 : n->row0, n->at,
        k, n->k0, n->kk);
    str_addf(&w->out, "%s%s[%s] = %s;\n", in, next_name(w, o), n->u, zero_of(o->type));
    str_addf(&w->out, "%sif (%s && %s", in, in_tile(w, o), code_inside(c, o->axis, 0));
    if (c->nr_outer)
        str_addf(&w->out, " && %s < %s", n->tile, n->nr_tiles);
    struct node *vars[64];
    struct code_needs probe = needs;
    bool block = code_find_needs(c, &probe, vars, 64) > 0;
    str_addf(&w->out, ")%s\n", block ? " {" : "");
    code_decls(w->c, &w->out, &needs, "                ");
    if (cond)
        str_addf(&w->out, "                if (%s)\n    ", tree_text(c->in->tree, cond));
    str_addf(&w->out, "                %s[%s] = %s;\n", next_name(w, o), n->u, o->text);
    str_addf(&w->out, "%s        }\n", block ? "            }\n" : "");
}

/* Write the way of these elements from registers to shared memory. */
static void write_put(struct tile_writer *w, const struct contraction_operand *o)
{
    const struct tile_names *n = &w->names;
    write_elements(w, o);
    str_addf(&w->out, "            if %s\n                %s[%s][%s] = %s[%s];\n        }\n",
        in_tile(w, o), o->tile, n->kk, n->at, next_name(w, o), n->u);
}

/* Write the load of the thread's part of each tile at one k into registers. */
static void write_fragments(struct tile_writer *w, const char *indent)
{
    const struct tile_names *n = &w->names;
    for (unsigned i = 0; i < w->c->nr_operands; i++) {
        const struct contraction_operand *o = &w->c->operands[i];
        bool x = o->axis == ALONG_X;
        const char *counter = x ? n->dn : n->dm, *nr = x ? n->tn : n->tm;
        if (!is_first_of_its_tile(w->c, i))
            continue;
        str_addf(&w->out, "%s%s %s[%s];\n%s#pragma unroll\n%sfor (int %s = 0; %s < %s; %s++)\n",
            indent, o->type, o->fragment, nr, indent, indent, counter, counter, nr, counter);
        str_addf(&w->out, "%s    %s[%s] = %s[%s][%s];\n", indent, o->fragment, counter, o->tile,
            n->kk, place_in_block(w, o->axis));
    }
}

static bool is_operand_node(const struct contraction *c, const struct node *n)
{
    for (unsigned i = 0; i < c->nr_operands; i++)
        if (c->operands[i].node == n)
            return true;
    return false;
}

/* Write what the body names beside its operands that differs between threads. In a nest it names
 * nothing of the kind. */
static void write_named(struct tile_writer *w, const char *indent)
{
    const struct contraction *c = w->c;
    struct code_needs needs = {.nr = 0};
    bool axes = false;
    for (struct node *n = c->body; n && !c->nr_outer && needs.nr < 60;) {
        const struct node *decl = n->kind == NODE_NAME ? n->decl : NULL;
        axes = axes || (decl && is_axis(c, decl));
        if (decl && decl->kind == NODE_VAR && decl->init && !is_axis(c, decl) && !is_acc(c, decl) &&
            !is_counter(c, decl) && depends(c, decl) && !node_within(decl, c->body))
            needs.roots[needs.nr++] = n;
        n = is_operand_node(c, n) ? node_skip(c->body, n) : node_next(c->body, n);
    }
    if (!axes && !needs.nr)
        return;
    write_position(w, ALONG_Y, indent);
    write_position(w, ALONG_X, indent);
    code_decls(c, &w->out, &needs, indent);
}

static void write_body(struct tile_writer *w, const char *indent)
{
    const struct contraction *c = w->c;
    struct node *body = c->body;
    struct substs s = {.nr = 0};
    const char *inner = arena_printf(w->arena, "%s        ", indent);
    write_fragments(w, indent);
    subst_accs(w, &s);
    substs_add(&s, c->loop.var,
        arena_printf(w->arena, "(%s - %s + %s)", w->names.k0, w->names.bk, w->names.kk));
    for (unsigned i = 0; i < c->nr_operands; i++) {
        const struct contraction_operand *o = &c->operands[i];
        substs_add(&s, o->node,
            arena_printf(
                w->arena, "%s[%s]", o->fragment, o->axis == ALONG_X ? w->names.dn : w->names.dm));
    }
    write_patch_loops(w, indent);
    write_named(w, inner);
    struct node *stmt = body->kind == NODE_BLOCK ? body->child : body;
    unsigned nr = body->kind == NODE_BLOCK ? body->nr_children : 1;
    for (unsigned i = 0; i < nr; i++, stmt = stmt->next)
        if (!c->nr_outer || stmt->kind != NODE_DECLS)
            str_addf(
                &w->out, "%s%s\n", inner, subst_statement(c->in->tree, stmt, &s, strlen(inner)));
    str_addf(&w->out, "%s    }\n%s}\n", indent, indent);
}

/* Write the computation with the tiles in shared memory, which are those of k0 - BK. */
static void write_compute(struct tile_writer *w)
{
    const struct contraction *c = w->c;
    const struct tile_names *n = &w->names;
    const char *bound = tree_text(c->in->tree, c->loop.bound), *in = "            ";
    if (!c->neutral) {
        str_addf(&w->out, "            if (%s >= %s) {\n", text_operand(w->arena, bound), n->k0);
        in = "                ";
    }
    str_addf(&w->out, "%s#pragma unroll\n%sfor (int %s = 0; %s < %s; %s++) {\n", in, in, n->kk,
        n->kk, n->bk, n->kk);
    write_body(w, arena_printf(w->arena, "%s    ", in));
    str_addf(&w->out, "%s}\n", in);
    if (!c->neutral) {
        str_addf(&w->out, "            } else {\n%sfor (int %s = 0; %s < %s - (%s - %s); %s++) {\n",
            in, n->kk, n->kk, text_operand(w->arena, bound), n->k0, n->bk, n->kk);
        write_body(w, "                    ");
        str_addf(&w->out, "%s}\n            }\n", in);
    }
}

/* Write the loop over tiles. Each round fetches one tile of each operand into registers, and
 * computes with the tiles before: that hides the latency of the fetches. The last round fetches
 * nothing. */
static void write_loop(struct tile_writer *w)
{
    const struct contraction *c = w->c;
    const struct tile_names *n = &w->names;
    const char *bound = text_operand(w->arena, tree_text(c->in->tree, c->loop.bound));
    const char *start = tree_text(c->in->tree, c->loop.start);
    if (c->nr_outer) {
        code_walk_begin(c, &w->out, n->k0);
        str_addf(&w->out, "    const int %s = %s;\n    for (int %s = 0; %s <= %s; %s++) {\n",
            n->nr_tiles, code_walk_length(c, n->bk), n->tile, n->tile, n->nr_tiles, n->tile);
    } else {
        str_addf(&w->out, "    for (int %s = %s; %s < %s + %s; %s += %s) {\n", n->k0, start, n->k0,
            bound, n->bk, n->k0, n->bk);
    }
    for (unsigned i = 0; i < c->nr_operands; i++)
        if (is_first_of_its_tile(c, i))
            write_fetch(w, &c->operands[i]);
    str_addf(&w->out, "        if (%s > %s) {\n", c->nr_outer ? n->tile : n->k0,
        c->nr_outer ? "0" : text_operand(w->arena, start));
    write_compute(w);
    str_add(&w->out, "        }\n        __syncthreads();\n");
    for (unsigned i = 0; i < c->nr_operands; i++)
        if (is_first_of_its_tile(c, i))
            write_put(w, &c->operands[i]);
    if (c->nr_outer)
        code_walk_step(c, &w->out, n->k0, n->bk, "        ");
    str_add(&w->out, "        __syncthreads();\n    }\n");
}

static void write_tail(struct tile_writer *w)
{
    const struct contraction *c = w->c;
    struct substs s = {.nr = 0};
    const char *in = "            ", *all = code_all_conds(w->c);
    write_patch_loops(w, "    ");
    write_position(w, ALONG_Y, in);
    write_position(w, ALONG_X, in);
    if (all)
        str_addf(&w->out, "%sif (%s) {\n", in, all);
    else
        str_addf(&w->out, "%s{\n", in);
    subst_accs(w, &s);
    code_rest(c, &w->out, &s, "                ");
    str_addf(&w->out, "%s}\n        }\n    }\n}", in);
}

static void write_tunes(const struct tile_writer *w, struct rewrite_out *out)
{
    const struct rewrite_in *in = w->c->in;
    const struct tile_names *n = &w->names;
    const struct tiling *t = w->tiling;
    pragma_add_tune(in, &out->edits, n->bm, t->block_m, "16, 32, 64, 128");
    pragma_add_tune(in, &out->edits, n->bn, t->block_n, "16, 32, 64, 128");
    pragma_add_tune(in, &out->edits, n->bk, t->block_k, "8, 16, 32");
    pragma_add_tune(in, &out->edits, n->tm, t->thread_m, "1, 2, 4, 8");
    pragma_add_tune(in, &out->edits, n->tn, t->thread_n, "1, 2, 4, 8");
    pragma_add_line(in, &out->edits,
        arena_printf(w->arena,
            "where  (%s/%s)*(%s/%s) <= 1024 && (%s/%s)*(%s/%s) %% 32 == 0 && %s*%s*%s <= 2048",
            n->bm, n->tm, n->bn, n->tn, n->bm, n->tm, n->bn, n->tn, n->bk, n->tm, n->tn));
}

bool contraction_tile(
    const struct contraction *c, const struct tiling *tiling, struct rewrite_out *out)
{
    struct tile_writer w = {.c = c, .tiling = tiling, .arena = c->in->arena};
    choose_names(&w);
    write_head(&w);
    write_inits(&w);
    write_loop(&w);
    write_tail(&w);
    edits_replace(&out->edits, c->form.body->start, c->form.body->end, "%s", str_text(&w.out));
    str_finish(&w.out);
    write_tunes(&w, out);
    extent_drop_bounds(c->in, c->form.function, &out->edits);
    extent_drop_tunes(c->in, c->form.function, &out->edits);
    const struct tile_names *n = &w.names;
    return code_launches(c,
        &(struct code_launch){.columns = n->bn,
            .rows = n->bm,
            .threads = {arena_printf(w.arena, "%s/%s", n->bn, n->tn),
                arena_printf(w.arena, "%s/%s", n->bm, n->tm)}},
        out);
}
