/* Private to intake/: what becomes of a pointer in an expression and in what it is handed to:
 * functions and macros of the file, other variables. */
#ifndef KEET_INTAKE_EVAL_MEMORY_EFFECTS_H
#define KEET_INTAKE_EVAL_MEMORY_EFFECTS_H

#include "intake/eval/resolver.h"

struct memory_effects {
    bool reads, writes, atomics;
};

/* Adds what code of fn does with the memory behind the pointer called name. */
void memory_effects_of_pointer(const struct resolver *resolver, const struct decl *fn,
    const char *name, struct memory_effects *effects);

/* The same of object.member and object.part.member, also where fn hands on the object or a part. */
void memory_effects_of_member(const struct resolver *resolver, const struct decl *fn,
    const char *object, const char *member, struct memory_effects *effects);

#endif
