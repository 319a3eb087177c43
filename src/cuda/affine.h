/* Affine view of index expressions: how an index moves with a thread or loop variable.
 *
 * An expression is expanded to a sum of monomials (an integer times symbols). Local integers that
 * have one value for ever are replaced by what they were initialised with; symbols are parameters,
 * loop counters, tuning parameters, and members such as threadIdx.x (by that text). What is not a
 * sum or product (loads, calls, / and %) is one opaque symbol that knows which names it depends on.
 */
#ifndef KEET_CUDA_AFFINE_H
#define KEET_CUDA_AFFINE_H

#include "cuda/cuda_tree.h"

enum { AFFINE_MAX_TERMS = 24, AFFINE_MAX_FACTORS = 6 };

struct affine_symbol {
    const char *text;        /* "k", "threadIdx.x"; for opaque ones the source text */
    const struct node *decl; /* variables of the file, else NULL */
    const struct node *node; /* opaque: the expression */
};

struct monomial {
    int64_t factor;
    struct affine_symbol symbols[AFFINE_MAX_FACTORS];
    unsigned nr;
};

struct affine {
    bool known; /* false: too large */
    struct monomial terms[AFFINE_MAX_TERMS];
    unsigned nr;
};

/* function: where single-valued locals are looked up. stop: locals that are kept as symbols even if
 * single-valued (may be NULL). */
struct affine affine_of(const struct cuda_tree *tree, const struct node *function,
    const struct node *expression, const struct node *stop);

enum coefficient {
    COEFFICIENT_ZERO,     /* does not depend on it */
    COEFFICIENT_CONSTANT, /* *value */
    COEFFICIENT_SYMBOLIC, /* linear, by an amount such as N */
    COEFFICIENT_NONLINEAR /* squares, inside / or %, inside a load */
};
/* How the expression moves when the symbol of that text ("threadIdx.x", "k") moves by one. */
enum coefficient affine_coefficient(
    const struct affine *affine, const char *symbol, int64_t *value);
/* The symbolic coefficient as source text ("N", "4*K", "N - 1"); "0" when there is none. */
const char *affine_coefficient_text(
    struct arena *arena, const struct affine *affine, const char *symbol);
bool affine_depends(const struct affine *affine, const char *symbol);

/* The same for an element of memory: base[i], base[i][j] (arrays by their dimensions), *(base + i).
 * The index is in elements of the innermost type. *base gets the variable. */
bool affine_access(const struct cuda_tree *tree, const struct node *function,
    const struct node *access, const struct node **base, struct affine *index);

#endif
