/* Private to intake/: device functions and variables that one file declares and another file of the
 * program defines, as the linker of `nvcc -rdc` finds them. */
#ifndef KEET_INTAKE_GATHER_RESOLVE_EXTERNS_H
#define KEET_INTAKE_GATHER_RESOLVE_EXTERNS_H

#include "intake/gather/source_set.h"

/* Call it after decls_reach. Adds to set->linked the neighbours that define what is missing. True:
 * set->linked has changed, and the text is to be read again. Declarations that both files have are
 * kept once. Where two declarations of one name differ, nothing is linked. */
bool resolve_externs(struct source_set *set);

#endif
