/* Pieces of a contraction's old kernel as text for the new one. Private to the files that
 * write such kernels. */
#ifndef KEET_PROPOSE_REWRITE_CONTRACTION_CODE_H
#define KEET_PROPOSE_REWRITE_CONTRACTION_CODE_H

#include "base/str.h"
#include "cuda/subst.h"
#include "propose/rewrite/contraction.h"

/* Expressions and statements that are to be written. Initialisers of what they name are added. */
struct code_needs {
    struct node *roots[160];
    unsigned nr;
    bool late; /* locals after the nest count too */
};

/* The locals that the roots name and that differ between threads, in order of declaration. */
unsigned code_find_needs(
    const struct contraction *c, struct code_needs *needs, struct node **vars, unsigned max);
/* Write the declarations of those locals. */
void code_decls(
    const struct contraction *c, struct str *out, struct code_needs *needs, const char *indent);
/* Write the declarations of the locals that all threads have alike. */
void code_uniform_decls(const struct contraction *c, struct str *out);
/* The guard's conditions on one axis (0: on none), joined by &&; NULL when there is none. */
const char *code_conds(const struct contraction *c, unsigned axis);
/* All conditions of the guard, joined by &&; NULL when there is none. */
const char *code_all_conds(const struct contraction *c);
/* The block's number along an axis: "blockIdx.z". */
const char *code_block_of(const struct contraction *c, const struct form_axis *axis);
/* What holds for an element of the axis inside the matrix that is not beyond the last k, where the
 * counter is `more` behind; axis 0 alone: all threads alike. */
const char *code_inside(const struct contraction *c, unsigned axis, unsigned more);

/* A walk over the tiles of k in all rounds of the outer loops: the counters of the outer loops are
 * variables of their own names, k's has the name given. */
void code_walk_begin(const struct contraction *c, struct str *out, const char *k);
/* The number of tiles of `piece` values of k. */
const char *code_walk_length(const struct contraction *c, const char *piece);
/* Write the step to the next tile. */
void code_walk_step(const struct contraction *c, struct str *out, const char *k, const char *piece,
    const char *indent);

/* Write the launches: blocks for pieces of `columns` and `rows`, then what the caller put in block
 * and smem by `shape`. False, with out->why, when a launch cannot be read, or the caller refuses.
 */
struct code_launch {
    const char *columns, *rows; /* outputs of a block */
    const char *split;          /* blocks of a cluster that share these; NULL: one, no cluster */
    const char *together;       /* blocks of a cluster along the rows, without split; NULL: one */
    const char *threads[2], *smem; /* smem NULL: none, and the old launch's stays */
};
bool code_launches(
    const struct contraction *c, const struct code_launch *shape, struct rewrite_out *out);

/* The text of an expression of the kernel in the terms of a launch: a parameter is its argument. */
const char *code_at_launch(
    const struct contraction *c, const struct launch_line *line, const struct node *n);

/* Write the statements after the loop, and before these the declarations that they need. */
void code_rest(
    const struct contraction *c, struct str *out, const struct substs *s, const char *indent);

#endif
