/* Private to check/: the sizes at which candidates are checked. */
#ifndef KEET_CHECK_CHECK_SHAPES_H
#define KEET_CHECK_CHECK_SHAPES_H

#include "core/task.h"

enum shape_kind {
    SHAPE_EXPLICIT, /* a check line */
    SHAPE_DERIVED,  /* chosen here */
    SHAPE_LONG,     /* one size at its timed value, the others small */
    SHAPE_TIMED,    /* the timed sizes, for file("x.npy") and expect */
    SHAPE_SCALED,   /* the timed sizes, all smaller by one factor: only where the original runs at
                     * none of the above. Kernels that need multiples of a tile run at few others */
    SHAPE_SHRUNK,   /* the timed sizes made smaller in another way: only where none of the above is
                     * left */
    SHAPE_LESS,     /* one of the timed sizes smaller, or all: only where none of the above is left
                     * and the original takes too long at some size */
    SHAPE_RESORT    /* the timed sizes, with inputs that are drawn: only where the original runs at
                     * none of the above, or with the inputs of files alone */
};

struct check_shape {
    struct shape shape;
    enum shape_kind kind;
    const char *text;   /* "M = 129, N = 65" */
    const char *folder; /* of a `case` line; NULL: files lie beside the task */
    unsigned size;      /* SHAPE_LONG: the number of the size at its timed value */
};

/* All shapes worth trying: explicit ones first, then derived ones in order of preference; none
 * twice. held: a bit for each size that stays at its timed value. The caller must find out whether
 * the original runs at a derived shape. Arena memory. */
void shapes_choose(const struct task *task, uint64_t held, struct arena *arena,
    struct check_shape **shapes, unsigned *nr);

/* Some array has file("x.npy") or `expect`. Where the arrays are large, shapes_choose nevertheless
 * gives no SHAPE_TIMED. */
bool shapes_use_files(const struct task *task);
/* Some input comes from file("x.npy"). */
bool shapes_read_files(const struct task *task);

#endif
