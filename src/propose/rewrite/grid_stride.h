/* Element-wise kernels as loops with the stride of the grid: the move grid_stride, and the first
 * half of privatize. */
#ifndef KEET_PROPOSE_REWRITE_GRID_STRIDE_H
#define KEET_PROPOSE_REWRITE_GRID_STRIDE_H

#include "propose/rewrite/rewrite.h"

/* `int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) work`, or the same with an early
 * return, becomes a loop over i with the stride of the grid. A new tuning parameter limits the
 * number of blocks, one of `choices` ("264, 528"), and starts at `blocks`. False with out->why, and
 * perhaps with edits to drop, when the kernel is not of that form or returns anywhere else. */
bool grid_stride_edit(const struct rewrite_in *in, struct node *function, unsigned launch,
    int64_t blocks, const char *choices, struct rewrite_out *out);

#endif
