/* parallel_reduce: a warp or a block makes each row, instead of one thread. */
#include "cuda/subst.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/parallelize_row.h"
#include "propose/rewrite/rewrite.h"

#include <string.h>

struct rows {
    const struct rewrite_in *in;
    struct rewrite_out *out;
    struct kernel_form form;
    const struct form_axis *axis;
    struct launch_lines lines;
    bool block; /* a block makes each row, else a warp */
};

static bool launches_fit(struct rows *r)
{
    if (!launch_lines_read(r->in, r->form.function, &r->lines, r->out))
        return false;
    for (unsigned i = 0; i < r->lines.nr; i++)
        if (strcmp(r->lines.items[i].block[1], "1") || strcmp(r->lines.items[i].block[2], "1"))
            return rewrite_refuse(r->in, r->out, "the block is not one-dimensional");
    return true;
}

static bool read_rows(struct rows *r, struct node *function)
{
    const char *why;
    if (!kernel_form_read(&r->form, r->in->tree, function, &why))
        return rewrite_refuse(r->in, r->out, "%s", why);
    r->axis = form_axis_along(&r->form, 0);
    if (!r->axis || r->axis->block_only)
        return rewrite_refuse(r->in, r->out, "no index along thread x in %s", function->name);
    for (unsigned i = 0; i < r->form.nr_axes; i++)
        if (&r->form.axes[i] != r->axis && !r->form.axes[i].block_only)
            return rewrite_refuse(r->in, r->out, "threads along more than one axis");
    if (r->form.raw)
        return rewrite_refuse(r->in, r->out, "%s uses threadIdx in other ways", function->name);
    if (!rewrite_no_alias(r->in, function))
        return rewrite_refuse(r->in, r->out, "one array is given twice to %s", function->name);
    return launches_fit(r);
}

static bool edit_launches(struct rows *r)
{
    struct arena *arena = r->in->arena;
    if (!extent_whole_warps(r->in, r->lines.items[0].block[0], r->out))
        return false;
    for (unsigned i = 0; i < r->lines.nr; i++) {
        struct launch_line *line = &r->lines.items[i];
        const char *rows = extent_text(r->in, line, &r->form, r->axis);
        line->grid[0] = r->block ? rows
                                 : arena_printf(arena, "ceil_div(32*%s, %s)",
                                       text_operand(arena, rows), line->block[0]);
        launch_line_write(line, &r->out->edits);
    }
    /* a row may keep more threads busy than single rows in threads did */
    if (r->block)
        pragma_widen_tune(
            r->in, &r->out->edits, r->lines.items[0].block[0], (const int64_t[]){512, 1024}, 2);
    return true;
}

/* Write the index of the row, the number of the lane, and the shared arrays of the reductions. */
static void edit_index(struct rows *r, const struct row_lanes *lanes)
{
    const struct cuda_tree *tree = r->in->tree;
    struct node *var = r->axis->var, *stmt = node_statement(var);
    struct edits *edits = &r->out->edits;
    const char *indent = tree_indent(tree, stmt->start);
    unsigned end = tree_stmt_end(tree, stmt);
    if (r->block) {
        edits_replace(edits, var->init->start, var->init->end, "blockIdx.x");
        edits_insert(edits, end, "\n%sint %s = threadIdx.x;", indent, lanes->lane);
        edits_insert(edits, stmt->start, "%s", row_lanes_shared_decls(lanes, indent));
        return;
    }
    edits_replace(edits, var->init->start, var->init->end, "(%s) / 32", tree_text(tree, var->init));
    edits_insert(edits, end, "\n%sint %s = threadIdx.x %% 32;", indent, lanes->lane);
}

/* A barrier for the whole block must not stand behind a guard that splits the block. Where a block
 * makes each row, the row is the same for all its threads, and so is every guard on the row. */
bool rewrite_parallel_reduce(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct rows r = {.in = in, .out = out, .block = variant % 2 == 1};
    struct node *function;
    if (rewrite_nth_kernel(in, variant / 2, &function) < 0)
        return rewrite_refuse(in, out, "no kernel with one row per thread");
    out->more = true;
    if (!read_rows(&r, function))
        return false;
    struct row_lanes lanes = {.in = in,
        .edits = &out->edits,
        .function = function,
        .lane = tree_fresh(in->tree, "lane"),
        .count = r.block ? "blockDim.x" : "32",
        .block = r.block,
        .part = tree_fresh(in->tree, "part")};
    if (!parallelize_row(&lanes, r.form.work, r.form.nr_work))
        return rewrite_refuse(in, out, "%s: %s", function->name, lanes.why);
    edit_index(&r, &lanes);
    if (!edit_launches(&r))
        return false;
    return rewrite_done(in, out, "one %s per %s in %s", r.block ? "block" : "warp",
        r.axis->var->name, function->name);
}
