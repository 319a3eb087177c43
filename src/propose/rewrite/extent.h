/* Extents: what a launch line says about a kernel's axes, as text for new launch lines. */
#ifndef KEET_PROPOSE_REWRITE_EXTENT_H
#define KEET_PROPOSE_REWRITE_EXTENT_H

#include "cuda/kernel_form.h"
#include "propose/rewrite/launch_line.h"

/* How many values of the axis are wanted: the launch's argument for n in a guard `axis < n` where n
 * is a parameter, else threads (blocks, for a block_only axis) along the axis: grid * block. */
const char *extent_text(const struct rewrite_in *in, const struct launch_line *line,
    const struct kernel_form *form, const struct form_axis *axis);

/* Give the launch as many blocks along the axis as cover the extent in pieces of `piece`. */
void extent_cover(const struct rewrite_in *in, struct launch_line *line,
    const struct kernel_form *form, const struct form_axis *axis, const char *piece);

/* The guard's condition `axis < something`, or NULL. */
const struct form_cond *extent_cond(const struct kernel_form *form, const struct node *var);

/* Make sure that `text`, a block size, is a multiple of 32 for all values of the tuning parameters:
 * it is by itself, or a `where` line is added. False with out->why when it is not now. */
bool extent_whole_warps(const struct rewrite_in *in, const char *text, struct rewrite_out *out);

/* The expression uses tuning parameters and literals only: it may size a shared array. */
bool extent_is_constant(const struct rewrite_in *in, const char *text);

/* Delete tuning parameters, with the `where` lines that speak of them, that stand in the launches
 * of the function or in it and nowhere else: for rewrites that replace both. */
void extent_drop_tunes(
    const struct rewrite_in *in, const struct node *function, struct edits *edits);

/* Delete the function's __launch_bounds__, for rewrites that change the size of the block. */
void extent_drop_bounds(
    const struct rewrite_in *in, const struct node *function, struct edits *edits);

#endif
