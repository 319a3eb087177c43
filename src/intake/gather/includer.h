/* Private to intake/: the macros that a file has from the source that includes it. */
#ifndef KEET_INTAKE_GATHER_INCLUDER_H
#define KEET_INTAKE_GATHER_INCLUDER_H

#include "intake/gather/buildfile.h"
#include "intake/gather/source_set.h"

/* Adds to build the macros without parameters that text names and does not define, as the source
 * that includes the user's file has them before its #include line. That source stands beside the
 * user's file, and its headers count too. Adds nothing where several sources include the file. */
void includer_defines(struct build *build, struct source_set *set, const char *text, size_t bytes);

#endif
