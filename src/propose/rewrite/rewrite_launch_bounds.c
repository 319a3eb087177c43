/* launch_bounds: __launch_bounds__(threads, blocks) so that the compiler may use as many registers
 * as that occupancy leaves, and no more. */
#include "propose/rewrite/rewrite.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

static const unsigned min_blocks[] = {0, 2, 4};
enum { THREADS_PER_SM = 2048 };

/* An expression of tuning parameters and numbers alone means the same in device code. */
static bool is_code_constant(const struct rewrite_in *in, const char *text)
{
    for (const char *p = text; *p;) {
        if (isalpha((unsigned char)*p) || *p == '_') {
            const char *end = p;
            while (isalnum((unsigned char)*end) || *end == '_')
                end++;
            if (!pragma_find_tune(in, arena_strndup(in->arena, p, (size_t)(end - p))))
                return false;
            p = end;
        } else {
            p++;
        }
    }
    return true;
}

/* "TILE*TILE"; the same for all launches of the kernel, or NULL. */
static const char *threads_text(
    const struct rewrite_in *in, const struct node *function, struct rewrite_out *out)
{
    const char *text = NULL;
    for (unsigned l = 0; l < in->plan->nr_launches; l++) {
        if (rewrite_kernel(in, l) != function)
            continue;
        struct launch_line launch;
        if (!launch_line_read(in, l, &launch, out))
            return NULL;
        struct str s = {0};
        for (unsigned d = 0; d < 3; d++)
            if (strcmp(launch.block[d], "1"))
                str_addf(&s, "%s%s", s.len ? "*" : "", text_operand(in->arena, launch.block[d]));
        const char *here = arena_strdup(in->arena, s.len ? str_text(&s) : "1");
        str_finish(&s);
        if ((text && strcmp(text, here)) || !is_code_constant(in, here)) {
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
