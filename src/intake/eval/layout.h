/* Private to intake/: where the fields of a struct lie in memory, by C's rules.
 *
 *     struct layout l;
 *     if (layout_of(interp, type, &value, &l))
 *         ... l.leaves: its numbers and pointers in the order of memory, l.bytes, l.align ...
 *
 * Knows the structs of the file with their fields, bases, arrays and alignas, CUDA's short vectors,
 * and dim3. */
#ifndef KEET_INTAKE_EVAL_LAYOUT_H
#define KEET_INTAKE_EVAL_LAYOUT_H

#include "intake/eval/interp.h"

enum { LAYOUT_MAX_LEAVES = 8192 };

struct leaf {
    const char *path;        /* from the outermost struct: "n", "a.x", "v[2]" */
    const struct type *type; /* of a number or of a pointer */
    unsigned offset;
    struct interp_value seen; /* its value, as far as that is known */
};

struct layout {
    unsigned bytes, align;
    struct leaf *leaves; /* in the interpreter's arena; NULL: only the size was asked for */
    unsigned nr, room;
    const char *why; /* set where the layout is not known: "field x is of type y" */
};

/* Fills layout for a type. seen is the value of the struct, or NULL. False: layout->why says what
 * is not known. */
bool layout_of(struct interp *interp, const struct type *type, const struct interp_value *seen,
    struct layout *layout);

/* Bytes of one value; 0: not known. */
unsigned layout_bytes(struct interp *interp, const struct type *type);

#endif
