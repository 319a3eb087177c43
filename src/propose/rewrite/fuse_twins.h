/* Fusion of two launches of one kernel that follow each other, with equal grids, and neither of
 * which reads what the other writes: one launch, in which blockIdx.z says whose arguments a block
 * has. Blocks that wait together do not wait one after the other. */
#ifndef KEET_PROPOSE_REWRITE_FUSE_TWINS_H
#define KEET_PROPOSE_REWRITE_FUSE_TWINS_H

#include "propose/rewrite/rewrite.h"

/* Whether launches `launch` and `launch` + 1 of the plan are of one kernel, which no other launch
 * has. */
bool fuse_twins_fits(const struct rewrite_in *in, unsigned launch);
/* Fuse them. False, with out->why, when that cannot be. */
bool fuse_twins(const struct rewrite_in *in, unsigned launch, struct rewrite_out *out);

#endif
