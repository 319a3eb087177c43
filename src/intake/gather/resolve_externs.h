/* Private to intake/: what device code of a file uses and another file of the program defines, as
 * a linker of device code finds it (nvcc -rdc): `__device__ float f(float);` of a header. */
#ifndef KEET_INTAKE_GATHER_RESOLVE_EXTERNS_H
#define KEET_INTAKE_GATHER_RESOLVE_EXTERNS_H

#include "intake/gather/source_set.h"

/* After decls_reach: adds to r->linked the neighbours that define what is missing. True: the text
 * is to be read again, with r->linked as it now is. Twins in them of what the file has are no
 * longer kept; where they differ, nothing is linked. */
bool resolve_externs(struct source_set *set);

#endif
