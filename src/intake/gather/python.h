/* Private to intake/: CUDA in strings of a Python file, as PyTorch's load_inline takes it. */
#ifndef KEET_INTAKE_GATHER_PYTHON_H
#define KEET_INTAKE_GATHER_PYTHON_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

bool python_is(const char *path);

/* The CUDA and C++ strings of a file; all else is blank, so that each byte stands where it does in
 * the file. A doubled backslash becomes a blank and a backslash. NULL: no string has a kernel. */
char *python_cuda(struct arena *arena, const char *text, size_t bytes);

/* The text as it must be written in the string around byte `at`. */
const char *python_quoted(struct arena *arena, const char *file, size_t at, const char *text);

#endif
