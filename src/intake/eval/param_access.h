/* Private to intake/: what a kernel does with the memory behind its parameters. A pointer that is
 * not understood (it goes into asm, or into a function that is not in the file) may be written
 * through, unless it points to const. This errs on the safe side: an array that is wrongly taken
 * for written costs one comparison; an array that is wrongly taken for read only makes a wrong
 * contract. */
#ifndef KEET_INTAKE_EVAL_PARAM_ACCESS_H
#define KEET_INTAKE_EVAL_PARAM_ACCESS_H

#include "intake/eval/params.h"
#include "intake/eval/resolver.h"

/* Sets reads, writes, atomics and indexed for the parameters of fn that are pointers. Also sets
 * may_be_null: fn or a function that it calls compares the pointer with null, or fn leaves its
 * memory alone. */
void param_access_pointers(
    struct param *params, unsigned nr, const struct resolver *resolver, const struct decl *fn);

/* Sets reads, writes and atomics of p for object.member, where object is a struct that the kernel
 * gets by value. Methods of the struct count too: type is the struct, or NULL where it has no
 * methods. Where no access is seen, the memory may be both read and written. */
void param_access_member(struct param *p, const struct resolver *resolver, const struct decl *fn,
    const char *object, const char *member, const struct decl *type);

#endif
