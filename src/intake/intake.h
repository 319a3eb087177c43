/* Any CUDA file as a task. The device code of a file is kept, and the contract is inferred from how
 * the host code of the file launches it.
 *
 *     struct intake in;
 *     if (intake_read(&in, arena, "saxpy.cu", source, bytes, &err))
 *         ... in.text is a kernel file; in.lines say where each pragma came from ...
 *
 * in.text keeps the user's line numbers, except where headers of the user were put in place. Code
 * that only the host needs is blanked. The pragmas of the contract stand after the last line.
 *
 * Nothing is guessed silently. Each line of the contract says what it follows from. A line that
 * could not be inferred is `missing`, and has an example for the user to complete. Where only some
 * launches can be described, the contract has only these, and in.note says what was left out and
 * why.
 *
 * Files are read by tokens, with bounded memory and time. A file whose headers are elsewhere is
 * therefore read as well as one that compiles. All memory is the arena's. */
#ifndef KEET_INTAKE_INTAKE_H
#define KEET_INTAKE_INTAKE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum intake_kind {
    INTAKE_SIZE,
    INTAKE_CHECK,
    INTAKE_ARRAY,
    INTAKE_SYMBOL,
    INTAKE_SCALAR,
    INTAKE_LAUNCH
};

/* A line of the contract: #pragma keet ROLE NAME : TEXT = CONTENTS. */
struct intake_line {
    enum intake_kind kind;
    const char *name;     /* of an array, a symbol, a scalar, a size whose number is missing; of a
                             launch: the kernel's id; NULL: of other lines */
    const char *role;     /* of an array or a symbol: "in", "out", "inout", "temp" */
    const char *text;     /* the type with its extents; "<<<...>>>(...)"; "n = 4, m = 8"; or NULL */
    const char *contents; /* how an input is filled; the number of a scalar or a size; or NULL */
    const char *from; /* what the line follows from: "line 40: cudaMalloc(&x, n*sizeof(float))" */
    bool missing;     /* the line is an example */
    const char *indexed; /* the extent of the array that its values index; or NULL */
    bool assumed;        /* a part of the line was chosen by intake_assume */
};

struct intake_size { /* a size whose number the file gives */
    const char *name;
    int64_t value;
};

/* A number that the program starts from: `int n = 1 << 20`. The device code does not use it. */
struct intake_seed {
    const char *name;
    int64_t value;
    size_t at;        /* where its text stands: bytes into what was read */
    const char *text; /* its text: "1 << 20" */
};

enum {
    INTAKE_LEAST_SEED = 64,     /* smaller numbers are widths of filters or numbers of channels */
    INTAKE_MAX_BYTES = 16 << 20 /* of a file */
};

struct intake {
    const char *text;
    const char *path, *code; /* text is this code with the lines behind it */
    struct intake_line *lines;
    unsigned nr_lines, nr_missing;
    struct intake_size *sizes;
    unsigned nr_sizes;
    unsigned nr_kernels, nr_launches; /* kernels of the file; launches of the contract */
    bool followed;                    /* the program was followed to a launch */
    unsigned nr_left_out; /* launches that the contract lacks, because they cannot be described */
    const char *note;     /* what else the user should know, line by line; NULL: nothing */
    struct intake_seed *seeds;
    unsigned nr_seeds;
    unsigned shift; /* lines that headers put in place add before the user's later lines */
};

/* What the file itself does not say: the arguments of the program, without its name, and what the
 * compiler is told. All zero: nothing was given. */
struct intake_args {
    const char *const *args;
    unsigned nr;
    bool given;
    const char *const *dirs, *const
                                 *defines; /* folders of headers; macros: "NAME" or "NAME=VALUE" */
    unsigned nr_dirs, nr_defines;
    const struct intake_seed *instead; /* seeds of an earlier intake_read, with other values */
    unsigned nr_instead;
    unsigned only;       /* n > 0: the contract has only the n-th of its launches */
    const char *reached; /* a text whose names the device code is taken to use: "f<Pool, float>" */
};

/* Reads a file. False: the file has no kernel, is not text, or is too large. err says which of
 * these it is, and what to do. */
bool intake_read(struct intake *in, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, struct err *err);

/* The line as it stands in the text: "#pragma keet in     X : f32[n]". */
const char *intake_pragma(struct arena *arena, const struct intake_line *line);

/* The line is missing, and nothing of it but a number. */
bool intake_lacks_number(const struct intake_line *line);

/* Gives a missing number a value: a number, or an expression over the other sizes. A number that no
 * size can be (0, -1) and an expression take the place of the name in all lines. The lines show
 * `why` as their reason. The caller calls intake_compose afterwards. */
void intake_assume(
    struct intake *in, struct arena *arena, const char *name, const char *value, const char *why);

/* Makes arrays of indices use only the first 1/divisor of the array that they index. False: no
 * array holds indices. The caller calls intake_compose afterwards. */
bool intake_divide_indices(struct intake *in, struct arena *arena, unsigned divisor);

/* Turns an `in` line into an "out" or "inout" line. The caller calls intake_compose afterwards. */
void intake_set_role(
    struct intake *in, struct arena *arena, const char *array, const char *role, const char *why);

/* Adds a check line with the numbers of `small`: the contract of the same program, read with
 * smaller seeds. Numbers that differ between the two contracts become sizes. The line shows `why`
 * as its reason. False: the contracts differ in more than numbers, or the sizes alone already give
 * the numbers. in->lines is a new array. The caller calls intake_compose afterwards. */
bool intake_add_check(
    struct intake *in, struct arena *arena, const struct intake *small, const char *why);

/* Makes in->text anew from the code and the lines. */
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
