/* Private to compile/: the identity of compiled code. */
#ifndef KEET_COMPILE_PTX_KEY_H
#define KEET_COMPILE_PTX_KEY_H

#include "base/str.h"

/* Appends the PTX without the parts that only tell its origin: comments, blank lines, .loc and
 * .file directives, debug sections, differences in white space. */
void ptx_essence(const char *ptx, size_t ptx_bytes, struct str *essence);

#endif
