/* Private to intake/: what a kernel does with the memory behind a parameter. A pointer whose way is
 * not understood, into asm or a function that is not in the file, may be written through unless it
 * is one to const: taking an array for more than it is costs a comparison, for less is wrong. */
#ifndef KEET_INTAKE_EVAL_PARAM_ACCESS_H
#define KEET_INTAKE_EVAL_PARAM_ACCESS_H

#include "intake/eval/params.h"
#include "intake/eval/resolver.h"

/* Sets reads, writes, atomics and indexed of fn's parameters that are pointers, and which of these
 * may be null: fn, or what it hands them to, asks whether they are, or leaves their memory alone.
 */
void param_access_pointers(
    struct param *params, unsigned nr, const struct resolver *resolver, const struct decl *fn);

/* Sets what a kernel does with the memory behind a pointer in a struct that it gets by value:
 * reads, writes and atomics of object.member, in methods of the struct too (type; NULL: it has
 * none). Where none is seen, it may do both. */
void param_access_member(struct param *p, const struct resolver *resolver, const struct decl *fn,
    const char *object, const char *member, const struct decl *type);

#endif
