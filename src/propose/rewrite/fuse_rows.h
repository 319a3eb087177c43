/* Fusion of an element-wise launch into the launch before it, in which a block makes each row: a
 * mean or a sum that is stored for the row, and read by the row's elements, stays in the block. */
#ifndef KEET_PROPOSE_REWRITE_FUSE_ROWS_H
#define KEET_PROPOSE_REWRITE_FUSE_ROWS_H

#include "propose/rewrite/rewrite.h"

/* Fuse launches `launch` and `launch` + 1 of the plan. False, with out->why, when they are not of
 * this kind. */
bool fuse_rows(const struct rewrite_in *in, unsigned launch, struct rewrite_out *out);

#endif
