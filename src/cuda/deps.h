/* Dependences: what the value of a local, or of an expression, depends on.
 *
 *     struct deps deps = {.guard = form.guard};
 *     deps_seed(&deps, row, 1);
 *     deps_seed(&deps, col, 2);
 *     deps_solve(&deps, function);
 *     if (deps_of(&deps, index) & 1) ...            // index depends on row
 *
 * A set of bits stands for what a value depends on. The caller gives bits to the locals that it
 * asks about; threadIdx and blockIdx have bits of their own. */
#ifndef KEET_CUDA_DEPS_H
#define KEET_CUDA_DEPS_H

#include "cuda/cuda_tree.h"

enum { DEPS_MAX = 128, DEPS_THREAD = 1u << 30, DEPS_BLOCK = 1u << 29 };

struct deps {
    const struct node *decls[DEPS_MAX];
    unsigned masks[DEPS_MAX];
    unsigned nr;
    bool overflow;            /* there are more locals than DEPS_MAX: the answers mean nothing */
    const struct node *guard; /* an `if` whose condition does not count, since nobody sees what the
                                 threads do that it holds back; may be NULL */
};

/* Give bits to a local. deps_solve leaves them as they are. */
void deps_seed(struct deps *deps, const struct node *decl, unsigned mask);
/* Find the bits of all other locals: follow initialisers, assignments, and the conditions that
 * these stand under, to a fixed point. */
void deps_solve(struct deps *deps, const struct node *function);
/* The bits of an expression or statement. */
unsigned deps_of(const struct deps *deps, const struct node *n);

#endif
