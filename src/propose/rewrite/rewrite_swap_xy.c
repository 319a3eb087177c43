/* swap_xy: exchange two axes of thread coordinates in a kernel and in its launches. The threads
 * together do the same work; which of them are neighbours changes. */
#include "base/mem.h"
#include "base/str.h"
#include "cuda/affine.h"
#include "cuda/kernel_form.h"
#include "propose/rewrite/launch_line.h"

#include <string.h>

static const unsigned pairs[][2] = {{0, 1}, {0, 2}, {1, 2}};

static bool is_builtin(const char *name)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};
    return str_among(name, names);
}

/* Swap the names of members. False: one of them is in a macro. */
static bool swap_members(const struct rewrite_in *in, const struct node *function, unsigned a,
    unsigned b, struct edits *edits, unsigned *nr)
{
    for (const struct node *n = function; n; n = node_next(function, n)) {
        if (n->kind != NODE_MEMBER || n->child->kind != NODE_NAME || n->child->decl ||
            !is_builtin(n->child->name))
            continue;
        if (n->in_macro)
            return false;
        const char axis = n->name[0];
        if (axis != axis_names[a] && axis != axis_names[b])
            continue;
        const char other = axis == axis_names[a] ? axis_names[b] : axis_names[a];
        edits_replace(edits, n->end - 1, n->end, "%c", other);
        *nr += !strcmp(n->child->name, "threadIdx");
    }
    return true;
}

/* Whether the kernel counts on which threads form a warp, or on tiles that were laid out for these
 * axes. */
static bool warp_code(const struct node *function)
{
    if (node_has_shared(function))
        return true;
    for (const struct node *n = function; n; n = node_next(function, n))
        if (n->kind == NODE_CALL && call_is_barrier(n->name) &&
            !str_starts(n->name, "__syncthreads") && !str_starts(n->name, "__threadfence"))
            return true;
    return node_uses_name(function, "warpSize");
}

static bool device_code_uses(const struct rewrite_in *in, const struct node *function)
{
    for (const struct node *n = function->body; n; n = node_next(function->body, n))
        if (n->kind == NODE_CALL && tree_function(in->tree, n->name))
            return true;
    return false;
}

/* The number of accesses in which neighbours along the axis are no neighbours in memory. */
static unsigned nr_scattered(
    const struct rewrite_in *in, const struct node *function, unsigned axis)
{
    const char *symbol = arena_printf(in->arena, "threadIdx.%c", axis_names[axis]);
    unsigned nr = 0;
    for (const struct node *n = function; n; n = node_next(function, n)) {
        const struct node *base;
        struct affine index;
        int64_t step;
        if (n->kind != NODE_INDEX || n->parent->kind == NODE_INDEX ||
            !affine_access(in->tree, function, n, &base, &index) || base->is_shared)
            continue;
        const enum coefficient kind = affine_coefficient(&index, symbol, &step);
        nr += kind == COEFFICIENT_SYMBOLIC || kind == COEFFICIENT_NONLINEAR ||
              (kind == COEFFICIENT_CONSTANT && step != 1 && step != -1);
    }
    return nr;
}

bool rewrite_swap_xy(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct node *function;
    const int launch = rewrite_nth_kernel(in, variant / ARRAY_SIZE(pairs), &function);
    if (launch < 0)
        return rewrite_refuse(in, out, "no more kernels");
    const unsigned a = pairs[variant % ARRAY_SIZE(pairs)][0];
    const unsigned b = pairs[variant % ARRAY_SIZE(pairs)][1];
    out->more = true;
    uint32_t block[3], grid[3];
    if (!rewrite_block(in, (unsigned)launch, block) || !rewrite_grid(in, (unsigned)launch, grid))
        return rewrite_refuse(in, out, "the launch of %s does not evaluate", function->name);
    if (block[b] == 1 && block[a] == 1)
        return rewrite_refuse(in, out, "%s has no threads along those axes", function->name);
    if (block[b] == 1)
        return rewrite_refuse(in, out, "%s has one thread along %c", function->name, axis_names[b]);
    if (grid[a] > 65535 && b > 0)
        return rewrite_refuse(in, out, "grid %c would be over 65535", axis_names[b]);
    const unsigned now = nr_scattered(in, function, a), then = nr_scattered(in, function, b);
    if (a == 0 && (!now || then > now))
        return rewrite_refuse(
            in, out, "thread %c of %s runs along memory already", axis_names[a], function->name);
    if (warp_code(function) || device_code_uses(in, function))
        return rewrite_refuse(
            in, out, "%s counts on which threads form a warp or a tile", function->name);
    unsigned nr = 0;
    if (!swap_members(in, function, a, b, &out->edits, &nr) || !nr)
        return rewrite_refuse(in, out, "%s hides its coordinates in macros", function->name);
    struct launch_lines lines;
    if (!launch_lines_read(in, function, &lines, out))
        return false;
    for (unsigned i = 0; i < lines.nr; i++) {
        struct launch_line *line = &lines.items[i];
        const char *g = line->grid[a], *k = line->block[a];
        line->grid[a] = line->grid[b];
        line->grid[b] = g;
        line->block[a] = line->block[b];
        line->block[b] = k;
        launch_line_write(line, &out->edits);
    }
    return rewrite_done(
        in, out, "exchange thread %c and %c in %s", axis_names[a], axis_names[b], function->name);
}
