/* Private to intake/: the numbers that a program starts from. */
#ifndef KEET_INTAKE_GATHER_SEED_CONSTANTS_H
#define KEET_INTAKE_GATHER_SEED_CONSTANTS_H

#include "intake/gather/source_set.h"

/* Those of a file whose contract is there, as in.seeds. */
void seed_constants_find(struct source_set *set);

/* Those of args->instead put into r->text, which then gets its tokens. */
void seed_constants_put(struct source_set *set, const struct intake_args *args);

#endif
