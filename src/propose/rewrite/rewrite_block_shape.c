/* block_shape: another shape of the block, for kernels that do not care which threads share one. */
#include "base/mem.h"
#include "base/str.h"
#include "cuda/kernel_form.h"
#include "cuda/subst.h"
#include "propose/rewrite/launch_line.h"

#include <ctype.h>
#include <string.h>

struct shape3 {
    unsigned d[3];
};

static const struct shape3 line_shapes[] = {
    {{256, 1, 1}}, {{128, 1, 1}}, {{64, 1, 1}}, {{512, 1, 1}}};
static const struct shape3 plane_shapes[] = {
    {{32, 8, 1}}, {{64, 4, 1}}, {{32, 4, 1}}, {{128, 1, 1}}, {{16, 16, 1}}, {{32, 16, 1}}};

static const char *const choices[3] = {"16, 32, 64, 128, 256, 512", "1, 2, 4, 8, 16", "1, 2, 4, 8"};
static const char *const line_choices = "32, 64, 128, 256, 512, 1024";

/* The axes along which the kernel has a coordinate. Its launches must cover exactly these. */
static unsigned used_axes(const struct node *function, bool used[3])
{
    unsigned nr = 0;
    for (unsigned a = 0; a < 3; a++)
        used[a] = false;
    for (const struct node *n = function; n; n = node_next(function, n)) {
        const int a = n->kind == NODE_BINARY ? node_coordinate(n) : -1;
        if (a >= 0 && !used[a]) {
            used[a] = true;
            nr++;
        }
    }
    return nr;
}

/* --- kernels that may have any shape --- */

/* Whether the member stands in a coordinate expression. */
static bool in_coordinate(const struct node *member)
{
    const struct node *n = member;
    for (unsigned up = 0; n && up < 5; up++, n = n->parent)
        if (n->kind == NODE_BINARY && node_coordinate(n) >= 0)
            return true;
    return false;
}

/* Whether any shape that covers the same coordinates computes the same. It does where every use of
 * threadIdx is part of a global coordinate, and nothing depends on which threads share a block: no
 * shared memory, no barriers, no warp functions. False: out->why says what stands against it. */
static bool any_shape(
    const struct rewrite_in *in, const struct node *function, struct rewrite_out *out)
{
    for (const struct node *n = function->body; n; n = node_next(function->body, n)) {
        if (n->kind == NODE_VAR && n->is_shared)
            return rewrite_refuse(
                in, out, "%s has shared memory, which fits its block", function->name);
        if (n->kind == NODE_CALL && call_is_barrier(n->name) && strncmp(n->name, "__threadf", 9))
            return rewrite_refuse(in, out, "%s works together as a block", function->name);
        if (n->kind == NODE_CALL && !call_is_pure(n->name) && !call_is_atomic(n->name) &&
            !call_is_barrier(n->name))
            return rewrite_refuse(in, out, "%s calls %s", function->name, n->name);
        if (n->kind == NODE_NAME && !n->decl && !strcmp(n->name, "threadIdx") && !in_coordinate(n))
            return rewrite_refuse(
                in, out, "%s uses threadIdx beside blockIdx*blockDim+threadIdx", function->name);
        if (n->in_macro && n->kind == NODE_MEMBER)
            return rewrite_refuse(in, out, "%s hides coordinates in macros", function->name);
    }
    return true;
}

static const char *without_blanks(struct arena *arena, const char *text)
{
    char *out = arena_strdup(arena, text), *to = out;
    for (const char *p = text; *p; p++)
        if (!isspace((unsigned char)*p))
            *to++ = *p;
    *to = '\0';
    return out;
}

/* a and b of "ceil_div(a, b)". False: the text is something else. */
static bool ceil_div_parts(
    struct arena *arena, const char *text, const char **first, const char **second)
{
    if (!str_starts(text, "ceil_div"))
        return false;
    const char *p = text + 8, *comma = NULL;
    while (isspace((unsigned char)*p))
        p++;
    if (*p != '(')
        return false;
    const char *open = p;
    unsigned depth = 0;
    for (; *p; p++) {
        depth += *p == '(';
        depth -= *p == ')';
        if (*p == ',' && depth == 1)
            comma = p;
        if (!depth)
            break;
    }
    if (!*p || p[1] || !comma)
        return false;
    *first = arena_strndup(arena, open + 1, (size_t)(comma - open - 1));
    const char *b = comma + 1;
    while (isspace((unsigned char)*b))
        b++;
    *second = arena_strndup(arena, b, (size_t)(p - b));
    return true;
}

/* The text of the extent where the launch covers the axis by ceil_div(extent, block); else NULL. */
static const char *covered_extent(
    struct arena *arena, const struct launch_line *launch, unsigned axis)
{
    const char *first, *second;
    if (ceil_div_parts(arena, launch->grid[axis], &first, &second) &&
        !strcmp(without_blanks(arena, second), without_blanks(arena, launch->block[axis])))
        return first;
    return NULL;
}

/* --- new shapes --- */

static bool same_dims(const struct launch_line *a, const struct launch_line *b)
{
    for (unsigned d = 0; d < 3; d++)
        if (strcmp(a->block[d], b->block[d]))
            return false;
    return true;
}

static const char *block_names[3] = {"BLOCK_X", "BLOCK_Y", "BLOCK_Z"};

/* Name the shape of the block by new tuning parameters, in all launches of the kernel. */
static bool reshape(const struct rewrite_in *in, const struct node *function,
    const struct shape3 *shape, const bool used[3], unsigned nr_used, struct rewrite_out *out)
{
    const char *names[3] = {"1", "1", "1"};
    for (unsigned a = 0; a < 3; a++)
        if (used[a] && (shape->d[a] > 1 || a < 2))
            names[a] = tree_fresh(in->tree, nr_used == 1 ? "BLOCK" : block_names[a]);
    struct launch_lines lines;
    if (!launch_lines_read(in, function, &lines, out))
        return false;
    for (unsigned i = 1; i < lines.nr; i++)
        if (!same_dims(&lines.items[0], &lines.items[i]))
            return rewrite_refuse(in, out, "launches of %s differ in their blocks", function->name);
    for (unsigned i = 0; i < lines.nr; i++) {
        struct launch_line *line = &lines.items[i];
        for (unsigned a = 0; a < 3; a++) {
            if (!used[a]) {
                if (strcmp(line->block[a], "1"))
                    return rewrite_refuse(
                        in, out, "%s does not use thread %c", function->name, axis_names[a]);
                continue;
            }
            const char *extent = covered_extent(in->arena, line, a);
            if (!extent)
                return rewrite_refuse(in, out, "grid %c of %s is not ceil_div(extent, block)",
                    axis_names[a], function->name);
            line->block[a] = names[a];
            line->grid[a] = strcmp(names[a], "1")
                                ? arena_printf(in->arena, "ceil_div(%s, %s)", extent, names[a])
                                : text_operand(in->arena, extent);
        }
        launch_line_write(line, &out->edits);
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

/* Give the block the shape by new values, where its extents are tuning parameters that offer these.
 * False: they are not. */
static bool retune(const struct rewrite_in *in, const struct launch_line *line,
    const struct shape3 *shape, const bool used[3], struct rewrite_out *out)
{
    for (unsigned a = 0; a < 3; a++) {
        if (!used[a])
            continue;
        const struct tune *tune = pragma_find_tune(in, line->block[a]);
        bool offered = false;
        for (unsigned b = 0; b < a; b++)
            if (!strcmp(line->block[a], line->block[b]))
                return false;
        for (unsigned k = 0; tune && k < tune->nr_choices; k++)
            offered |= tune->choices[k] == shape->d[a];
        if (!offered)
            return false;
    }
    for (unsigned a = 0; a < 3; a++)
        if (used[a] && !pragma_set_tune(in, &out->edits, line->block[a], shape->d[a]))
            return false;
    return true;
}

bool rewrite_block_shape(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    /* All kernels with the first shape come first, then all with the next. */
    unsigned nr_kernels = 0;
    struct node *function;
    while (rewrite_nth_kernel(in, nr_kernels, &function) >= 0)
        nr_kernels++;
    if (!nr_kernels)
        return rewrite_refuse(in, out, "no kernel was understood");
    const int launch = rewrite_nth_kernel(in, variant % nr_kernels, &function);
    const unsigned k = variant / nr_kernels;
    if (k >= ARRAY_SIZE(plane_shapes))
        return rewrite_refuse(in, out, "no more shapes");
    out->more = true;
    bool used[3];
    const unsigned nr_used = used_axes(function, used);
    if (!any_shape(in, function, out))
        return false;
    if (!nr_used || !used[0])
        return rewrite_refuse(in, out, "%s computes no coordinate of x", function->name);
    if (nr_used == 1 && k >= ARRAY_SIZE(line_shapes))
        return rewrite_refuse(in, out, "no more shapes");
    const struct shape3 *shape = nr_used == 1 ? &line_shapes[k] : &plane_shapes[k];
    uint32_t block[3];
    struct launch_line line;
    if (!rewrite_block(in, (unsigned)launch, block) ||
        !launch_line_read(in, (unsigned)launch, &line, out))
        return false;
    if (block[0] == shape->d[0] && block[1] == shape->d[1] && block[2] == shape->d[2])
        return rewrite_refuse(in, out, "%s has that block already", function->name);
    if (nr_used == 1 && pragma_find_tune(in, line.block[0]))
        return rewrite_refuse(in, out, "the block of %s is the tuner's", function->name);
    if (!retune(in, &line, shape, used, out)) {
        out->edits.nr = 0;
        if (!reshape(in, function, shape, used, nr_used, out))
            return false;
    }
    return rewrite_done(in, out, "launch %s in blocks of %ux%ux%u threads", function->name,
        shape->d[0], shape->d[1], shape->d[2]);
}
