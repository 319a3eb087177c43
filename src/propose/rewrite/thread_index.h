/* How a kernel uses its thread coordinates. Private to propose/; shared by moves that reshape
 * blocks or change which thread does what. */
#ifndef KEET_PROPOSE_REWRITE_THREAD_INDEX_H
#define KEET_PROPOSE_REWRITE_THREAD_INDEX_H

#include "propose/rewrite/rewrite.h"

/* n is blockIdx.a * blockDim.a + threadIdx.a in some order, for axis a (0 x, 1 y, 2 z): returns a;
 * else -1. */
int global_coordinate(const struct node *n);

/* The variable `int i = blockIdx.a * blockDim.a + threadIdx.a` of the axis, never assigned again;
 * NULL when the kernel has none. */
struct node *coordinate_variable(const struct node *function, unsigned axis);

/* Every use of threadIdx is part of a global coordinate, and nothing in the kernel depends on which
 * threads share a block: no shared memory, no barriers, no warp functions. Then any block shape
 * that covers the same coordinates computes the same. On false why->why says what stands against
 * it. */
bool any_block_shape(
    const struct rewrite_in *in, const struct node *function, struct rewrite_out *why);

/* The launch covers axis a as ceil_div(extent, block[a]): the text of extent, or NULL. */
const char *covered_extent(struct arena *arena, const struct launch_line *launch, unsigned axis);

/* Element-wise kernels, `int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) work` or with an
 * early return, become loops with the stride of the grid, whose blocks are limited to a new tuning
 * parameter. False with out->why, and perhaps edits to drop, when the kernel is not of that form.
 * Only the first return may be in the kernel. */
bool grid_stride_edit(const struct rewrite_in *in, struct node *function, unsigned launch,
    int64_t blocks, struct rewrite_out *out);

extern const char axis_name[3];

#endif
