/* Turned tiles: a kernel that copies one matrix to another in the other order, with something
 * computed on the way. The block's tile goes through shared memory, so that loads and stores both
 * run along memory. A variant of the move shared_tile. */
#ifndef KEET_PROPOSE_REWRITE_TRANSPOSE_TILE_H
#define KEET_PROPOSE_REWRITE_TRANSPOSE_TILE_H

#include "propose/rewrite/rewrite.h"

bool transpose_tile(const struct rewrite_in *in, struct node *function, struct rewrite_out *out);

#endif
