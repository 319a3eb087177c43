/* Private to intake/: the numbers that a program starts from. */
#ifndef KEET_INTAKE_GATHER_SEED_CONSTANTS_H
#define KEET_INTAKE_GATHER_SEED_CONSTANTS_H

#include "intake/gather/source_set.h"

/* Finds the seeds of a file whose contract is known, and sets them in set->in. */
void seed_constants_find(struct source_set *set);

/* Writes the values of args->instead into set->text, before its tokens are read. */
void seed_constants_put(struct source_set *set, const struct intake_args *args);

#endif
