/* Private to compile/: the identity of compiled code, and how its lines nest. */
#ifndef KEET_COMPILE_PTX_KEY_H
#define KEET_COMPILE_PTX_KEY_H

#include "base/str.h"

/* Appends the PTX without the parts that only tell its origin: comments, blank lines, .loc and
 * .file directives, debug sections, differences in white space. */
void ptx_essence(const char *ptx, size_t ptx_bytes, struct str *essence);

/* How many braces of a line stay open; negative: it closes more. Comments do not count. */
int ptx_brace_balance(const char *line, size_t len);

#endif
