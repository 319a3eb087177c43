/* What the writers of contractions share: pieces of the old kernel as text for the new one. Private
 * to contraction_code.c and rewrite_tensor_cores.c. */
#ifndef KEET_PROPOSE_REWRITE_CONTRACTION_CODE_H
#define KEET_PROPOSE_REWRITE_CONTRACTION_CODE_H

#include "base/str.h"
#include "cuda/subst.h"
#include "propose/rewrite/contraction.h"

/* Expressions and statements to come; initialisers are added. */
struct code_needs {
    struct node *roots[160];
    unsigned nr;
};

/* The locals that the roots stand on and that differ between threads, in order of declaration. */
unsigned code_find_needs(
    const struct contraction *c, struct code_needs *needs, struct node **vars, unsigned max);
/* Their declarations, and those of the locals that all threads have alike. */
void code_decls(
    const struct contraction *c, struct str *out, struct code_needs *needs, const char *indent);
void code_uniform_decls(const struct contraction *c, struct str *out);
/* The conditions on one axis (or on none, axes 0), joined; NULL when there is none. */
const char *code_conds(const struct contraction *c, unsigned axis);
/* The conditions on both axes and on none, joined; NULL when there is none. */
const char *code_all_conds(const struct contraction *c);
/* The statements after the loop, after the declarations that these stand on. */
void code_rest(
    const struct contraction *c, struct str *out, const struct substs *s, const char *indent);

#endif
