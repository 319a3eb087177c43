/* Element types of the task language: sizes, names, and conversion to and from double.
 * tf32 is stored as 32 bits (an f32 whose low 13 mantissa bits are zero). e4m3 and e5m2 are the
 * OCP 8-bit floats (OFP8 1.0); bool is one byte, 0 or 1. */
#ifndef KEET_CORE_ELEM_H
#define KEET_CORE_ELEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum elem {
    ELEM_F64,
    ELEM_F32,
    ELEM_TF32,
    ELEM_F16,
    ELEM_BF16,
    ELEM_E4M3,
    ELEM_E5M2,
    ELEM_I64,
    ELEM_I32,
    ELEM_I16,
    ELEM_I8,
    ELEM_U64,
    ELEM_U32,
    ELEM_U16,
    ELEM_U8,
    ELEM_BOOL,
    NR_ELEMS
};

const char *elem_name(enum elem elem); /* "f32", ... */
bool elem_parse(const char *name, size_t len, enum elem *elem);
size_t elem_bytes(enum elem elem);
bool elem_is_float(enum elem elem);

/* Element i of an array. Stores round to nearest even and saturate integers and 8-bit floats (an
 * infinity becomes the largest finite e4m3 or e5m2, as CUDA's satfinite conversions do); a NaN
 * becomes an integer 0. 64-bit integers beyond 2^53 lose bits in a double: elem_get_int and
 * elem_set_int keep them, and carry a u64 as the int64_t of the same bits. */
double elem_get(enum elem elem, const void *array, size_t i);
void elem_set(enum elem elem, void *array, size_t i, double value);
int64_t elem_get_int(enum elem elem, const void *array, size_t i);
void elem_set_int(enum elem elem, void *array, size_t i, int64_t value);

/* The tolerance of a task without a tolerance line: rel = abs = a few roundings of the type; 0 for
 * integers. */
struct tolerance {
    double rel, abs;
};
struct tolerance elem_tolerance(enum elem elem);

#endif
