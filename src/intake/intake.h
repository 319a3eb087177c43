/* Any CUDA file as a task: the device code of a file with host code, and the contract that follows
 * from how the host code launches it.
 *
 *     struct intake in;
 *     if (intake_read(&in, arena, "saxpy.cu", source, bytes, &err))
 *         ... in.text is a kernel file; in.lines say where each pragma came from ...
 *
 * The text keeps the user's line numbers (but for files that it had to pull in): what only the host
 * needs is blanked, the pragmas stand after the last line. Nothing is guessed silently: each line
 * says what it follows from, and a line that could not be inferred is `missing`, with an example
 * for the user to complete. Where some launches can be described and others cannot, the contract is
 * of those that can, and `note` says what was left out and why. Reading is by tokens, with bounded
 * memory and time, so that a file whose headers are elsewhere is read as well as one that compiles.
 * All memory is the arena's. */
#ifndef KEET_INTAKE_INTAKE_H
#define KEET_INTAKE_INTAKE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intake_line {
    const char *pragma; /* "#pragma keet in X : f32[n]"; missing: what it could look like */
    const char *from;   /* "line 40: cudaMalloc(&x, n*sizeof(float))" */
    bool missing;
    const char *number; /* missing: all that is, is the number of this size or scalar; else NULL */
    const char *array;  /* of an in line: what it declares; else NULL */
    const char
        *indexed; /* its values are indices into an array of this extent; NULL: they are not */
    bool assumed; /* something in it was chosen: see intake_assume */
};

/* A number that the program starts from, and the device does not use: `int n = 1 << 20`. */
struct intake_start {
    const char *name;
    int64_t value;
    size_t at;        /* bytes into what was read, where */
    const char *text; /* stands */
};

enum {
    INTAKE_LEAST_START = 64,
    INTAKE_MAX_BYTES = 16 << 20 /* of a file */
};                              /* smaller ones are widths of filters, numbers of channels */

struct intake {
    const char *text;
    const char *path, *code; /* text is this device code, and the lines */
    struct intake_line *lines;
    unsigned nr_lines, nr_missing;
    unsigned nr_kernels, nr_launches; /* in the file; in the contract */
    bool walked;                      /* the program was followed to a launch */
    unsigned nr_left_out; /* launches that cannot be described and are not in the contract */
    const char *note;     /* what else there is to know, line by line; NULL: nothing */
    struct intake_start *starts;
    unsigned nr_starts;
    unsigned shift; /* lines that pulled-in headers add before the user's later lines; 0: none */
};

/* What the file itself does not say: the program's own arguments, without its name, and what the
 * compiler is told. A zeroed one: nothing was given. */
struct intake_args {
    const char *const *args;
    unsigned nr;
    bool given;
    const char *const *dirs, *const *defines; /* of headers; "NAME" and "NAME=VALUE" */
    unsigned nr_dirs, nr_defines;
    const struct intake_start *instead; /* of an earlier reading, with other values */
    unsigned nr_instead;
    unsigned only; /* n > 0: the n-th launch alone of those that the contract would have */
};

/* False: the file has no kernel, is not text, or is too large (err says which and what to do). */
bool intake_read(struct intake *in, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, struct err *err);

/* Gives a number that is missing a value: a number, or an expression over the other sizes, which
 * then stands in the lines wherever the name did, and the name is gone. why is what the lines say
 * of it. intake_compose afterwards. */
void intake_assume(
    struct intake *in, struct arena *arena, const char *name, const char *value, const char *why);

/* The arrays that hold indices get those below the divisor's part of what they index. False: there
 * are none. intake_compose afterwards. */
bool intake_divide_indices(struct intake *in, struct arena *arena, unsigned divisor);

/* Turns an `in` line into "out" or "inout". intake_compose afterwards. */
void intake_set_role(
    struct intake *in, struct arena *arena, const char *array, const char *role, const char *why);

/* A check line with the numbers of `small`, the contract of the same program where it started from
 * smaller ones: numbers that are written out, and differ there, become sizes. why is what the line
 * says of it. False: the two differ in more than numbers, or the numbers hang together in no way
 * that sizes do not show by themselves. in->lines are new ones; intake_compose afterwards. */
bool intake_add_check(
    struct intake *in, struct arena *arena, const struct intake *small, const char *why);

/* in->text anew, from the code and the lines. */
void intake_compose(struct intake *in, struct arena *arena);

/* True for a file that launches kernels and has no `#pragma keet` line. */
bool intake_needed(const char *source, size_t bytes);

/* True for a file that says its task itself, by `#pragma keet` lines, and has host code as well: a
 * launch, or main. */
bool intake_has_both(struct arena *arena, const char *source, size_t bytes);

/* The kernel file in such a file: what only the host needs is blanked, the user's own pragmas stay
 * where they stand, and nothing is inferred. Fills text, path, code and shift. False as
 * intake_read. */
bool intake_split(struct intake *in, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, struct err *err);

#endif
