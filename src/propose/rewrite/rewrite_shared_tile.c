/* shared_tile: operands that the threads of a block share are staged in shared memory; or a tile of
 * a matrix is transposed there, so that both its loads and its stores run along memory. */
#include "propose/rewrite/contraction.h"
#include "propose/rewrite/rewrite.h"
#include "propose/rewrite/transpose_tile.h"

bool rewrite_shared_tile(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct node *function;
    struct contraction *c = arena_alloc(in->arena, sizeof *c);
    const char *why = NULL;
    if (rewrite_nth_kernel(in, variant / 2, &function) < 0)
        return rewrite_refuse(in, out, "no operand that threads of a block share");
    out->more = true;
    if (variant % 2)
        return transpose_tile(in, function, out);
    if (!contraction_read(c, in, function, &why))
        return rewrite_refuse(in, out, "%s: %s", function->name, why);
    const struct tiling tiling = {16, 32, 32, 1, 1};
    if (!contraction_tile(c, &tiling, out))
        return false;
    return rewrite_done(in, out, "tiles of %s's operands in shared memory", function->name);
}
