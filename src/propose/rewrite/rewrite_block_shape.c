/* block_shape: other extents of the block, for kernels that do not care which threads share one. */
#include "propose/rewrite/thread_index.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

struct shape3 {
    unsigned d[3];
};

static const struct shape3 lines[] = {{{256, 1, 1}}, {{128, 1, 1}}, {{64, 1, 1}}, {{512, 1, 1}}};
static const struct shape3 planes[] = {
    {{32, 8, 1}}, {{64, 4, 1}}, {{32, 4, 1}}, {{128, 1, 1}}, {{16, 16, 1}}, {{32, 16, 1}}};

static const char *const choices[3] = {"16, 32, 64, 128, 256, 512", "1, 2, 4, 8, 16", "1, 2, 4, 8"};
static const char *const line_choices = "32, 64, 128, 256, 512, 1024";

/* The axes that the kernel gives coordinates to; launches must cover exactly those. */
static unsigned used_axes(const struct node *function, bool used[3])
{
    unsigned nr = 0;
    for (unsigned a = 0; a < 3; a++)
        used[a] = false;
    for (const struct node *n = function; n; n = node_next(function, n)) {
        const int a = n->kind == NODE_BINARY ? global_coordinate(n) : -1;
        if (a >= 0 && !used[a]) {
            used[a] = true;
            nr++;
        }
    }
    return nr;
}

static bool same_dims(const struct launch_line *a, const struct launch_line *b)
{
    for (unsigned d = 0; d < 3; d++)
        if (strcmp(a->block[d], b->block[d]))
            return false;
    return true;
}

static const char *block_names[3] = {"BLOCK_X", "BLOCK_Y", "BLOCK_Z"};

/* Reshape all launches of the kernel to named extents. */
static bool reshape(const struct rewrite_in *in, const struct node *function,
    const struct shape3 *shape, const bool used[3], unsigned nr_used, struct rewrite_out *out)
{
    const char *names[3] = {"1", "1", "1"};
    for (unsigned a = 0; a < 3; a++)
        if (used[a] && (shape->d[a] > 1 || a < 2))
            names[a] = tree_fresh(in->tree, nr_used == 1 ? "BLOCK" : block_names[a]);
    struct launch_line first = {0};
    for (unsigned l = 0; l < in->plan->nr_launches; l++) {
        struct launch_line text;
        if (rewrite_kernel(in, l) != function)
            continue;
        if (!launch_line_read(in, l, &text, out))
            return false;
        if (first.end && !same_dims(&first, &text))
            return rewrite_refuse(in, out, "launches of %s differ in their blocks", function->name);
        if (!first.end)
            first = text;
        for (unsigned a = 0; a < 3; a++) {
            if (!used[a]) {
                if (strcmp(text.block[a], "1"))
                    return rewrite_refuse(
                        in, out, "%s does not use thread %c", function->name, axis_name[a]);
                continue;
            }
            const char *extent = covered_extent(in->arena, &text, a);
            if (!extent)
                return rewrite_refuse(in, out, "grid %c of %s is not ceil_div(extent, block)",
                    axis_name[a], function->name);
            text.block[a] = names[a];
            text.grid[a] = strcmp(names[a], "1")
                               ? arena_printf(in->arena, "ceil_div(%s, %s)", extent, names[a])
                               : text_operand(in->arena, extent);
        }
        launch_line_write(&text, &out->edits);
    }
    struct str product = {0};
    for (unsigned a = 0; a < 3; a++) {
        if (!strcmp(names[a], "1"))
            continue;
        pragma_add_tune(
            in, &out->edits, names[a], shape->d[a], nr_used == 1 ? line_choices : choices[a]);
        str_addf(&product, "%s%s", product.len ? "*" : "", names[a]);
    }
    if (nr_used > 1)
        pragma_add_line(
            in, &out->edits, arena_printf(in->arena, "where  %s <= 1024", str_text(&product)));
    str_finish(&product);
    return true;
}

/* When the block's extents are tuning parameters that only this kernel's launches use, new values
 * are enough, and the tuner gives those one by one; here only pairs matter. */
static bool retune(const struct rewrite_in *in, const struct launch_line *text,
    const struct shape3 *shape, const bool used[3], struct rewrite_out *out)
{
    for (unsigned a = 0; a < 3; a++) {
        if (!used[a])
            continue;
        const struct tune *tune = pragma_find_tune(in, text->block[a]);
        bool offered = false;
        for (unsigned b = 0; b < a; b++)
            if (!strcmp(text->block[a], text->block[b]))
                return false;
        for (unsigned k = 0; tune && k < tune->nr_choices; k++)
            offered |= tune->choices[k] == shape->d[a];
        if (!offered)
            return false;
    }
    for (unsigned a = 0; a < 3; a++)
        if (used[a] && !pragma_set_tune(in, &out->edits, text->block[a], shape->d[a]))
            return false;
    return true;
}

bool rewrite_block_shape(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    /* Shape by shape over all kernels. */
    unsigned nr_kernels = 0;
    struct node *function;
    while (rewrite_nth_kernel(in, nr_kernels, &function) >= 0)
        nr_kernels++;
    if (!nr_kernels)
        return rewrite_refuse(in, out, "no kernel was understood");
    const int launch = rewrite_nth_kernel(in, variant % nr_kernels, &function);
    const unsigned k = variant / nr_kernels;
    if (k >= ARRAY_SIZE(planes))
        return rewrite_refuse(in, out, "no more shapes");
    out->more = true;
    bool used[3];
    const unsigned nr_used = used_axes(function, used);
    if (!any_block_shape(in, function, out))
        return false;
    if (!nr_used || !used[0])
        return rewrite_refuse(in, out, "%s computes no coordinate of x", function->name);
    if (nr_used == 1 && k >= ARRAY_SIZE(lines))
        return rewrite_refuse(in, out, "no more shapes");
    const struct shape3 *shape = nr_used == 1 ? &lines[k] : &planes[k];
    uint32_t block[3];
    struct launch_line text;
    if (!rewrite_block(in, (unsigned)launch, block) ||
        !launch_line_read(in, (unsigned)launch, &text, out))
        return false;
    if (block[0] == shape->d[0] && block[1] == shape->d[1] && block[2] == shape->d[2])
        return rewrite_refuse(in, out, "%s has that block already", function->name);
    if (nr_used == 1 && pragma_find_tune(in, text.block[0]) && rewrite_nr_launches_of(in, function))
        return rewrite_refuse(in, out, "the block of %s is the tuner's", function->name);
    if (!retune(in, &text, shape, used, out)) {
        out->edits.nr = 0;
        if (!reshape(in, function, shape, used, nr_used, out))
            return false;
    }
    return rewrite_done(in, out, "launch %s in blocks of %ux%ux%u threads", function->name,
        shape->d[0], shape->d[1], shape->d[2]);
}
