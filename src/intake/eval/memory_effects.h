/* Private to intake/: what code does with the memory behind a pointer. The pointer is followed
 * through expressions, other variables, functions and macros of the file. */
#ifndef KEET_INTAKE_EVAL_MEMORY_EFFECTS_H
#define KEET_INTAKE_EVAL_MEMORY_EFFECTS_H

#include "intake/eval/resolver.h"

struct memory_effects {
    bool reads, writes, atomics;
};

/* Adds to effects what fn does with the memory behind the pointer `name`. */
void memory_effects_of_pointer(const struct resolver *resolver, const struct decl *fn,
    const char *name, struct memory_effects *effects);

/* The same for object.member and object.part.member, also where fn hands on the object or a part of
 * it. */
void memory_effects_of_member(const struct resolver *resolver, const struct decl *fn,
    const char *object, const char *member, struct memory_effects *effects);

#endif
