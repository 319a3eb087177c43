/* Private to intake/: what a kernel does with the memory behind a parameter. */
#ifndef KEET_INTAKE_ROLES_H
#define KEET_INTAKE_ROLES_H

#include "intake/decls.h"

enum { MAX_PARAMS = 64 };

struct param {
    const char *name, *type; /* type without const, *, &, __restrict__: "float", "T" */
    bool is_pointer, is_const;
    bool reads, writes, atomics; /* pointers */
    const char *indexed; /* its values index the memory of this parameter; NULL: none seen */
};

/* The parameters of a function, in order; at most MAX_PARAMS. */
unsigned params_read(
    struct param *params, struct arena *arena, const struct decls *decls, const struct decl *fn);

/* Sets what a kernel does with the memory behind a pointer in a struct that it gets by value:
 * reads, writes and atomics of object.member, in methods of the struct too (type; NULL: it has
 * none). Where none is seen, it may do both. */
void param_member(struct param *p, const struct decls *decls, const struct decl *fn,
    const char *object, const char *member, const struct decl *type);

/* The names of a template's parameters, in order. */
unsigned template_params(
    const struct toks *toks, const struct decl *fn, const char **names, unsigned max);

#endif
