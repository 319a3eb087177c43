/* Private to intake/: what a kernel does with the memory behind its parameters. The interpreter
 * follows the kernel's body with a pointer into memory that it watches. A pointer that goes where
 * the file does not say what happens (into asm, or into a function that is not in the file) may be
 * written through, unless it points to const. This errs on the safe side: an array that is wrongly
 * taken for written costs one comparison; an array that is wrongly taken for read only makes a
 * wrong contract. */
#ifndef KEET_INTAKE_EVAL_PARAM_ACCESS_H
#define KEET_INTAKE_EVAL_PARAM_ACCESS_H

#include "intake/eval/interp.h"

/* Sets reads, writes, atomics and indexed for the parameters of fn that are pointers. Also sets
 * may_be_null: fn or a function that it calls compares the pointer with null, or fn leaves its
 * memory alone. interp must not be the one that followed the program. */
void param_access_pointers(
    struct param *params, unsigned nr, struct interp *interp, const struct decl *fn);

/* Sets reads, writes and atomics of p for the pointer at `path` ("x", "part.x", "rows[2]") in a
 * struct of that type, which fn gets by value as the parameter `object`. Where no access is seen,
 * the memory may be both read and written. */
void param_access_member(struct param *p, struct interp *interp, const struct decl *fn,
    const char *object, const struct type *type, const char *path);

/* True: fn may write the variable of that name, which stands at the top level. */
bool param_access_writes_variable(struct interp *interp, const struct decl *fn, const char *name);

#endif
