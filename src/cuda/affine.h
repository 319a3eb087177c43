/* Affine forms of index expressions: how an index moves with a thread's coordinate or a loop's
 * counter.
 *
 *     if (affine_access(tree, function, access, &base, &index) &&
 *         affine_coefficient(&index, "threadIdx.x", &step) == COEFFICIENT_CONSTANT && step == 1)
 *         ...                                      // neighbouring threads, neighbouring elements
 *
 * An expression is expanded to a sum of monomials, each an integer times symbols. A local integer
 * that only ever has one value is replaced by its initialiser. Symbols are parameters, loop
 * counters, tuning parameters, and members such as threadIdx.x (by that text). What is not a sum or
 * a product (a load, a call, / or %) is one opaque symbol, which depends on the names in it. */
#ifndef KEET_CUDA_AFFINE_H
#define KEET_CUDA_AFFINE_H

#include "cuda/cuda_tree.h"

enum { AFFINE_MAX_TERMS = 24, AFFINE_MAX_FACTORS = 6 };

struct affine_symbol {
    const char *text;        /* "k", "threadIdx.x"; of an opaque symbol the source text */
    const struct node *decl; /* of a variable of the file; else NULL */
    const struct node *node; /* the expression of an opaque symbol; else NULL */
};

struct monomial {
    int64_t factor;
    struct affine_symbol symbols[AFFINE_MAX_FACTORS];
    unsigned nr;
};

struct affine {
    bool known; /* false: the expression has more terms or factors than fit */
    struct monomial terms[AFFINE_MAX_TERMS];
    unsigned nr;
};

/* The expression of a function, expanded. stop: a local that stays a symbol even if it only ever
 * has one value; may be NULL. */
struct affine affine_of(const struct cuda_tree *tree, const struct node *function,
    const struct node *expression, const struct node *stop);

enum coefficient {
    COEFFICIENT_ZERO,     /* not at all */
    COEFFICIENT_CONSTANT, /* by *value */
    COEFFICIENT_SYMBOLIC, /* by an amount such as N */
    COEFFICIENT_NONLINEAR /* the symbol is squared, or inside /, % or a load */
};
/* How the expression moves when the symbol of that text ("threadIdx.x", "k") grows by one. */
enum coefficient affine_coefficient(
    const struct affine *affine, const char *symbol, int64_t *value);
/* The coefficient as source text: "N", "4*K", "N - 1"; "0" when there is none. */
const char *affine_coefficient_text(
    struct arena *arena, const struct affine *affine, const char *symbol);
bool affine_depends(const struct affine *affine, const char *symbol);

/* The index of an element of memory: base[i], base[i][j] (by the array's dimensions), *(base + i).
 * It counts elements of the innermost type; *base is the variable. False: not of these forms. */
bool affine_access(const struct cuda_tree *tree, const struct node *function,
    const struct node *access, const struct node **base, struct affine *index);

#endif
