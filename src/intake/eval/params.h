/* Private to intake/: the parameters of a function and of a template. */
#ifndef KEET_INTAKE_EVAL_PARAMS_H
#define KEET_INTAKE_EVAL_PARAMS_H

#include "intake/syntax/decls.h"

enum { MAX_PARAMS = 64 };

struct param {
    const char *name, *type; /* type: without const, *, &, __restrict__: "float", "T" */
    bool is_pointer, is_reference, is_const;
    bool reads, writes, atomics; /* of pointers: set by param_access.h */
    bool may_be_null;            /* set by param_access.h too */
    const char *indexed;         /* the parameter whose memory its values index; NULL: none seen */
};

/* The parameters of a function, or of a lambda, as they stand there, in order; at most MAX_PARAMS.
 * Returns how many there are. */
unsigned params_split(const struct toks *toks, const struct decl *fn, struct tok_range *params);

/* Fills params with the parameters of a function, in order; at most MAX_PARAMS. arena NULL: types
 * stay empty. Returns how many there are. */
unsigned params_read(
    struct param *params, struct arena *arena, const struct decls *decls, const struct decl *fn);

/* Fills names with the names of a template's parameters, in order. Returns how many there are, at
 * most max. */
unsigned params_of_template(
    const struct toks *toks, const struct decl *fn, const char **names, unsigned max);

#endif
