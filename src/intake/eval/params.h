/* Private to intake/: the parameters of a function and of a template. */
#ifndef KEET_INTAKE_EVAL_PARAMS_H
#define KEET_INTAKE_EVAL_PARAMS_H

#include "intake/syntax/decls.h"

enum { MAX_PARAMS = 64 };

struct param {
    const char *name, *type; /* type without const, *, &, __restrict__: "float", "T" */
    bool is_pointer, is_reference, is_const;
    bool reads, writes, atomics; /* pointers, see param_access.h */
    bool may_be_null;            /* the same */
    const char *indexed; /* its values index the memory of this parameter; NULL: none seen */
};

/* The parameters of a function, in order; at most MAX_PARAMS. arena NULL: without their types. */
unsigned params_read(
    struct param *params, struct arena *arena, const struct decls *decls, const struct decl *fn);

/* The names of a template's parameters, in order. */
unsigned params_of_template(
    const struct toks *toks, const struct decl *fn, const char **names, unsigned max);

#endif
