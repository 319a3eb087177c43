/* Private to intake/: a file that another one includes, after macros that it uses. */
#ifndef KEET_INTAKE_GATHER_INCLUDER_H
#define KEET_INTAKE_GATHER_INCLUDER_H

#include "intake/gather/buildfile.h"
#include "intake/gather/source_set.h"

/* Adds to build the macros without parameters that the one source beside the user's file that
 * includes it has seen before, by itself or by headers beside it: those that text names and does
 * not define. Nothing where several sources include it. */
void includer_defines(struct build *build, struct source_set *set, const char *text, size_t bytes);

#endif
