/* Rows in parallel: the work of one thread (a row) is spread over lanes, which are the lanes of a
 * warp or the threads of a block.
 *
 *     loops whose iterations are independent       each lane takes every count-th iteration
 *     ... or combine into a sum, product,          the same, and a reduction follows the loop
 *         minimum or maximum
 *     running sums                                 a scan (warp_scan.h)
 *     stores outside such loops                    lane 0 alone makes them
 *     other statements                             every lane repeats them */
#ifndef KEET_PROPOSE_REWRITE_PARALLELIZE_ROW_H
#define KEET_PROPOSE_REWRITE_PARALLELIZE_ROW_H

#include "propose/rewrite/rewrite.h"

struct row_lanes {
    const struct rewrite_in *in;
    struct edits *edits;
    struct node *function;
    const char *lane;      /* the variable that holds the lane's number */
    const char *count;     /* "32", or "blockDim.x" */
    bool block;            /* the lanes are a one-dimensional block's threads, else a warp's */
    const char *part;      /* block: name of the shared array of floats; other types add a suffix */
    unsigned nr_loops;     /* out: how many loops were spread */
    unsigned shared_types; /* out, block: a bit for each enum scalar that needs a shared array */
    const char *why;       /* out: the reason of a refusal */
};

/* Spread the statements by edits on lanes->edits. All lanes must reach all of them, or none. False,
 * with lanes->why, and perhaps with edits to drop, when a statement is not understood or no loop
 * can be spread. */
bool parallelize_row(struct row_lanes *lanes, struct node *const *stmts, unsigned nr);

/* The declarations of the shared arrays that were asked for so far, one per line, or "". */
const char *row_lanes_shared_decls(const struct row_lanes *lanes, const char *indent);

/* Ask for a shared array of 32 partial results of that type: its name. */
const char *row_lanes_part(struct row_lanes *lanes, enum scalar scalar);

/* Code after which `var` is in every lane what it was in all lanes, combined by `op`: "+", "*", ">"
 * (the greatest), "<" (the least), or a function's name. */
const char *row_lanes_reduction(struct row_lanes *lanes, const char *var, enum scalar scalar,
    const char *op, const char *indent);

#endif
