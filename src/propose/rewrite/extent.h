/* Extents: how many values each axis of a kernel has, as text for new launch lines; and the tuning
 * parameters that a new launch line leaves without a use. */
#ifndef KEET_PROPOSE_REWRITE_EXTENT_H
#define KEET_PROPOSE_REWRITE_EXTENT_H

#include "cuda/kernel_form.h"
#include "propose/rewrite/launch_line.h"

/* The extent of an axis. Where the guard is `axis < n` and n is made of parameters: n with the
 * launch's arguments. Else the threads along the axis, grid * block; of a block_only axis, the
 * blocks along it.
 */
const char *extent_text(const struct rewrite_in *in, const struct launch_line *line,
    const struct kernel_form *form, const struct form_axis *axis);

/* The value of such a text at the timed size. False: it does not evaluate. */
bool extent_at_timed(const struct rewrite_in *in, const char *text, int64_t *value);

/* Give the launch as many blocks along the axis as cover the extent in pieces of `piece`. */
void extent_cover(const struct rewrite_in *in, struct launch_line *line,
    const struct kernel_form *form, const struct form_axis *axis, const char *piece);

/* The guard's condition `var < something`, or NULL. */
const struct form_cond *extent_cond(const struct kernel_form *form, const struct node *var);

/* Make sure that `text`, a block size, is a multiple of 32 for all values of the tuning parameters,
 * by a new `where` line if need be. False, with out->why, when it is none now. */
bool extent_whole_warps(const struct rewrite_in *in, const char *text, struct rewrite_out *out);

bool extent_is_literal(const char *text); /* decimal digits alone */

/* Whether the expression has tuning parameters and literals only, so that device code may use it as
 * a constant. */
bool extent_is_constant(const struct rewrite_in *in, const char *text);

/* For rewrites that replace a function's body and its launches: delete the tuning parameters that
 * stand nowhere else, and the `where` lines that name them. */
void extent_drop_tunes(
    const struct rewrite_in *in, const struct node *function, struct edits *edits);
/* The same where several functions go, bodies and launches. */
void extent_drop_tunes_of(const struct rewrite_in *in, const struct node *const *functions,
    unsigned nr, struct edits *edits);

/* For rewrites that change the size of the block: delete the function's __launch_bounds__. */
void extent_drop_bounds(
    const struct rewrite_in *in, const struct node *function, struct edits *edits);

#endif
