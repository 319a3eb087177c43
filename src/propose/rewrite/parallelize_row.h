/* Lanes: the work of one thread spread over the lanes of a warp or the threads of a block. Loops
 * whose iterations are independent, or combine into sums, products, minima or maxima, are strided
 * over the lanes and followed by a reduction; other statements are repeated by every lane; stores
 * outside such loops are left to lane 0. */
#ifndef KEET_PROPOSE_REWRITE_PARALLELIZE_ROW_H
#define KEET_PROPOSE_REWRITE_PARALLELIZE_ROW_H

#include "propose/rewrite/rewrite.h"

struct row_lanes {
    const struct rewrite_in *in;
    struct edits *edits;
    struct node *function;
    const char *lane;      /* the name of the lane's number */
    const char *count;     /* "32", or "blockDim.x" */
    bool block;            /* all threads of a one-dimensional block, else a warp */
    const char *part;      /* block: name of the shared array for `float`; others get a suffix */
    unsigned nr_loops;     /* out: how many loops were strided */
    unsigned shared_types; /* out, block: bit per enum scalar that needs a shared array */
    const char *why;       /* out: the reason of a refusal */
};

/* Spread statements nr[0..nr). All of them must be reached by all lanes or by none. */
bool parallelize_row(struct row_lanes *lanes, struct node *const *stmts, unsigned nr);

/* The declarations of the shared arrays that the reductions use, one per line, or "". */
const char *row_lanes_shared_decls(const struct row_lanes *lanes, const char *indent);

/* The shared array of 32 partial results of that type, asked for. */
const char *row_lanes_part(struct row_lanes *lanes, enum scalar scalar);

/* The code that leaves in every lane the sum ("+"), product ("*"), or maximum or minimum (a
 * function's name) of `var` over the lanes. */
const char *row_lanes_reduction(struct row_lanes *lanes, const char *var, enum scalar scalar,
    const char *op, const char *indent);

#endif
