/* Pieces of a contraction's old kernel as text for the new one. Private to contraction_code.c and
 * rewrite_tensor_cores.c, which write such kernels. */
#ifndef KEET_PROPOSE_REWRITE_CONTRACTION_CODE_H
#define KEET_PROPOSE_REWRITE_CONTRACTION_CODE_H

#include "base/str.h"
#include "cuda/subst.h"
#include "propose/rewrite/contraction.h"

/* Expressions and statements that are to be written. Initialisers of what they name are added. */
struct code_needs {
    struct node *roots[160];
    unsigned nr;
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
/* Write the statements after the loop, and before these the declarations that they need. */
void code_rest(
    const struct contraction *c, struct str *out, const struct substs *s, const char *indent);

#endif
