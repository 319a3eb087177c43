/* Private to intake/: the numbers that a program starts from. */
#ifndef KEET_INTAKE_GATHER_SEED_CONSTANTS_H
#define KEET_INTAKE_GATHER_SEED_CONSTANTS_H

#include "intake/gather/source_set.h"

/* Those of a file whose contract is there, as in.starts. */
void starts_find(struct reading *r);

/* Those of args->instead put into r->text, which then gets its tokens. */
void starts_put(struct reading *r, const struct intake_args *args);

#endif
