/* Private to intake/: what becomes of a pointer in an expression and in what it is handed to:
 * functions and macros of the file, other variables. */
#ifndef KEET_INTAKE_EVAL_MEMORY_EFFECTS_H
#define KEET_INTAKE_EVAL_MEMORY_EFFECTS_H

#include "intake/eval/resolver.h"

struct use {
    bool reads, writes, atomics;
};

/* Adds what code of fn does with the memory behind the pointer called name. */
void use_of_pointer(
    const struct host *host, const struct decl *fn, const char *name, struct use *use);

/* The same of object.member and object.part.member, also where fn hands on the object or a part. */
void use_of_member(const struct host *host, const struct decl *fn, const char *object,
    const char *member, struct use *use);

#endif
