/* CUTLASS, where there is one: which folder it is in, and what a model may look up there. */
#ifndef KEET_CUTLASS_H
#define KEET_CUTLASS_H

#include "base/err.h"

#include <stdbool.h>

/* The folder that holds include/cute/tensor.hpp, as heap memory: below `given` (--cutlass) when
 * that is not NULL, else below $KEET_CUTLASS, else .deps/cutlass beside the program (setup.sh
 * --cutlass). NVIDIA's wheel `nvidia-cutlass` counts, unpacked as it is. "none" is none. *root is
 * NULL without one; only a folder that was named and has none is an error. */
bool cutlass_find(const char *given, char **root, struct err *err);

#endif
