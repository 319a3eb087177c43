/* Private to intake/: #include lines, and which of them the device code keeps. */
#ifndef KEET_INTAKE_SYNTAX_HEADERS_H
#define KEET_INTAKE_SYNTAX_HEADERS_H

#include "intake/syntax/decls.h"

#include <stdbool.h>

/* The name in an #include line, *quoted where it stands in quotes; NULL: it is another directive.
 */
const char *headers_include_name(struct arena *arena, const char *directive, bool *quoted);

/* False for a header that only host code can want: the device code drops its #include line. */
bool headers_is_device(const char *name);

/* The #include lines, one a line, of headers that the kept code needs and that a dropped header
 * brought along. */
const char *headers_brought(const struct decls *decls, struct arena *arena);

#endif
