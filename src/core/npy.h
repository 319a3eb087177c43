/* NumPy .npy files (format 1.0 and 2.0, C order, little endian). */
#ifndef KEET_CORE_NPY_H
#define KEET_CORE_NPY_H

#include "base/err.h"
#include "core/elem.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads nr elements of type `elem`. The file must hold nr elements of that type's dtype ('<f2' for
 * f16; '<u2' and '|u1' stand for bf16 and the 8-bit floats). */
bool npy_read(const char *path, enum elem elem, void *elems, uint64_t nr, struct err *err);
bool npy_write(const char *path, enum elem elem, const void *elems, const uint64_t *dims,
    unsigned nr_dims, struct err *err);

#endif
