/* launch_bounds: __launch_bounds__(threads, blocks) so that the compiler may use as many registers
 * as that occupancy leaves, and no more. */
#include "base/mem.h"
#include "base/str.h"
#include "cuda/subst.h"
#include "propose/rewrite/extent.h"

#include <string.h>

static const unsigned min_blocks[] = {0, 2, 4};
enum { THREADS_PER_SM = 2048 };

/* The number of threads of a block, as "TILE*TILE", if all launches of the kernel have the same;
 * else NULL, with out->why. */
static const char *threads_text(
    const struct rewrite_in *in, const struct node *function, struct rewrite_out *out)
{
    const char *text = NULL;
    struct launch_lines lines;
    if (!launch_lines_read(in, function, &lines, out))
        return NULL;
    for (unsigned i = 0; i < lines.nr; i++) {
        const struct launch_line *line = &lines.items[i];
        struct str s = {0};
        for (unsigned d = 0; d < 3; d++)
            if (strcmp(line->block[d], "1"))
                str_addf(&s, "%s%s", s.len ? "*" : "", text_operand(in->arena, line->block[d]));
        const char *here = arena_strdup(in->arena, s.len ? str_text(&s) : "1");
        str_finish(&s);
        if ((text && strcmp(text, here)) || !extent_is_constant(in, here)) {
            rewrite_refuse(in, out, "the block size of %s is not one constant", function->name);
            return NULL;
        }
        text = here;
    }
    return text;
}

bool rewrite_launch_bounds(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct node *function;
    const int launch = rewrite_nth_kernel(in, variant / ARRAY_SIZE(min_blocks), &function);
    const unsigned blocks = min_blocks[variant % ARRAY_SIZE(min_blocks)];
    if (launch < 0)
        return rewrite_refuse(in, out, "no more kernels");
    out->more = true;
    uint32_t block[3];
    const char *threads = threads_text(in, function, out);
    if (!threads)
        return false;
    if (!rewrite_block(in, (unsigned)launch, block) ||
        block[0] * block[1] * block[2] * blocks > THREADS_PER_SM)
        return rewrite_refuse(in, out, "a multiprocessor has no room for %u such blocks", blocks);
    const char *bounds = blocks
                             ? arena_printf(in->arena, "__launch_bounds__(%s, %u)", threads, blocks)
                             : arena_printf(in->arena, "__launch_bounds__(%s)", threads);
    const char *head = tree_slice(in->tree, function->start, function->name_at);
    const char *old = strstr(head, "__launch_bounds__");
    if (old) {
        unsigned depth = 0;
        const char *end = strchr(old, '(');
        for (; end && *end; end++) {
            depth += *end == '(';
            depth -= *end == ')';
            if (!depth)
                break;
        }
        if (!end || !*end)
            return rewrite_refuse(in, out, "the bounds of %s cannot be read", function->name);
        edits_replace(&out->edits, function->start + (unsigned)(old - head),
            function->start + (unsigned)(end + 1 - head), "%s", bounds);
    } else {
        edits_insert(&out->edits, function->name_at, "%s ", bounds);
    }
    return rewrite_done(in, out, "give %s %s", function->name, bounds);
}
