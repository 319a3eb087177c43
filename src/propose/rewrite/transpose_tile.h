/* Transposed tiles: for a kernel that copies one matrix to another in the other order, and perhaps
 * computes something on the way. The block's tile goes through shared memory, so that both its
 * loads and its stores run along memory. A variant of the move shared_tile. */
#ifndef KEET_PROPOSE_REWRITE_TRANSPOSE_TILE_H
#define KEET_PROPOSE_REWRITE_TRANSPOSE_TILE_H

#include "propose/rewrite/rewrite.h"

/* False, with out->why, when the kernel is not of that form. */
bool transpose_tile(const struct rewrite_in *in, struct node *function, struct rewrite_out *out);

#endif
