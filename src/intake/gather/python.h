/* Private to intake/: CUDA in strings of a Python file, as PyTorch's load_inline takes it. */
#ifndef KEET_INTAKE_GATHER_PYTHON_H
#define KEET_INTAKE_GATHER_PYTHON_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

bool python_is(const char *path);

/* The file with only its strings of CUDA and C++, each byte where it stands in the file; a doubled
 * backslash is a blank and a backslash. NULL: no string has a kernel. */
char *python_cuda(struct arena *arena, const char *text, size_t bytes);

/* A text as it must stand in the string around byte `at`. */
const char *python_quoted(struct arena *arena, const char *file, size_t at, const char *text);

#endif
