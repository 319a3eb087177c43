/* unroll: `#pragma unroll N` in front of an innermost loop, or another N where there is one. */
#include "base/mem.h"
#include "base/str.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/rewrite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const unsigned factors[] = {4, 8, 2, 16};

/* The number of iterations where the source says it; 0: unknown. */
static int64_t constant_trips(const struct cuda_tree *tree, const struct for_loop *loop)
{
    const struct node *start = node_strip(loop->start), *bound = node_strip(loop->bound);
    if (start->kind != NODE_NUMBER || bound->kind != NODE_NUMBER)
        return 0;
    return strtoll(tree_text(tree, bound), NULL, 0) - strtoll(tree_text(tree, start), NULL, 0);
}

/* Whether the line before the loop is a `#pragma unroll`, and its bytes. */
static bool pragma_before(
    const struct cuda_tree *tree, const struct node *loop, unsigned *start, unsigned *end)
{
    const unsigned line = tree_line_start(tree, loop->start);
    if (!line)
        return false;
    *start = tree_line_start(tree, line - 1);
    *end = line - 1;
    while (*start < *end && isspace((unsigned char)tree->source[*start]))
        (*start)++;
    return str_starts(tree->source + *start, "#pragma unroll");
}

static bool starts_its_line(const struct cuda_tree *tree, const struct node *n)
{
    for (unsigned at = tree_line_start(tree, n->start); at < n->start; at++)
        if (!isspace((unsigned char)tree->source[at]))
            return false;
    return true;
}

/* Whether `#pragma unroll` alone unrolls the loop as a whole, as arrays in registers need it. */
static bool is_unrolled(const struct rewrite_in *in, const struct for_loop *loop)
{
    unsigned start, end;
    if (!pragma_before(in->tree, loop->node, &start, &end))
        return false;
    for (unsigned at = start + (unsigned)strlen("#pragma unroll"); at < end; at++)
        if (!isspace((unsigned char)in->source[at]))
            return false;
    return extent_is_constant(in, tree_text(in->tree, loop->bound)) &&
           extent_is_constant(in, tree_text(in->tree, loop->start));
}

/* The nth loop worth unrolling. */
static const struct node *nth_loop(const struct rewrite_in *in, unsigned nth)
{
    struct node *function;
    for (unsigned k = 0; rewrite_nth_kernel(in, k, &function) >= 0; k++)
        for (const struct node *n = function; n; n = node_next(function, n)) {
            struct for_loop loop;
            if (n->kind != NODE_FOR || n->in_macro || !node_innermost(n) || !node_loop(n, &loop))
                continue;
            const int64_t trips = constant_trips(in->tree, &loop);
            if (!starts_its_line(in->tree, n) || (trips > 0 && trips <= 8) ||
                is_unrolled(in, &loop))
                continue;
            if (!nth--)
                return n;
        }
    return NULL;
}

bool rewrite_unroll(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    /* All loops with the first factor come first: the first variants touch each loop once. */
    unsigned nr_loops = 0;
    while (nth_loop(in, nr_loops))
        nr_loops++;
    if (!nr_loops)
        return rewrite_refuse(in, out, "no innermost counted loop");
    if (variant >= nr_loops * ARRAY_SIZE(factors))
        return rewrite_refuse(in, out, "no more loops and factors");
    const struct node *loop = nth_loop(in, variant % nr_loops);
    const unsigned factor = factors[variant / nr_loops];
    unsigned start, end;
    out->more = true;
    if (pragma_before(in->tree, loop, &start, &end)) {
        edits_replace(&out->edits, start, end, "#pragma unroll %u", factor);
    } else {
        edits_insert(&out->edits, tree_line_start(in->tree, loop->start), "%s#pragma unroll %u\n",
            tree_indent(in->tree, loop->start), factor);
    }
    return rewrite_done(in, out, "unroll the loop at line %u by %u", loop->line, factor);
}
