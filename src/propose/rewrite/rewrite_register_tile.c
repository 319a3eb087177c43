/* register_tile: each thread makes a patch of outputs from tiles in shared memory. */
#include "propose/rewrite/contraction.h"
#include "propose/rewrite/rewrite.h"

static const struct tiling tilings[] = {{64, 64, 8, 4, 8}, {64, 64, 16, 4, 4}, {32, 32, 32, 2, 4}};
enum { NR_TILINGS = 3 };

bool rewrite_register_tile(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct node *function;
    struct contraction *c = arena_alloc(in->arena, sizeof *c);
    const char *why = NULL;
    if (rewrite_nth_kernel(in, variant / NR_TILINGS, &function) < 0)
        return rewrite_refuse(in, out, "no kernel with a two-dimensional patch of outputs");
    out->more = true;
    if (!contraction_read(c, in, function, &why))
        return rewrite_refuse(in, out, "%s: %s", function->name, why);
    const struct tiling *t = &tilings[variant % NR_TILINGS];
    if (!contraction_tile(c, t, out))
        return false;
    return rewrite_done(in, out, "%dx%d outputs a thread in %s, tiles %dx%dx%d", t->thread_m,
        t->thread_n, function->name, t->block_m, t->block_n, t->block_k);
}
