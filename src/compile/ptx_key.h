/* Private to compile/: the identity of compiled code. */
#ifndef KEET_COMPILE_PTX_KEY_H
#define KEET_COMPILE_PTX_KEY_H

#include "base/str.h"

/* Append the PTX without what says only where it came from: comments, blank lines, .loc and .file
 * directives, debug sections, differences in white space. */
void ptx_essence(const char *ptx, size_t ptx_bytes, struct str *essence);

#endif
