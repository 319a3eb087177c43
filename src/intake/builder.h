/* Private to intake/: a contract while it is put together: arrays by contract_arrays.c, launches
 * with their arguments by contract_launch.c, lines by contract_lines.c. */
#ifndef KEET_INTAKE_BUILDER_H
#define KEET_INTAKE_BUILDER_H

#include "intake/host.h"
#include "intake/intake.h"
#include "intake/roles.h"

enum { MAX_ARRAYS = 64, MAX_SCALARS = 64, MAX_LAUNCHES = INTAKE_MAX_LAUNCHES, MAX_LINE_SHOWN = 90 };

struct array {
    const char *name;   /* in the file */
    const char *id;     /* in the contract */
    const char *type;   /* of C */
    const char *extent; /* text; NULL: not known */
    const char *why;
    unsigned line; /* of the allocation */
    bool read_first, read, written, atomics;
    bool to_host, from_host;
    const char *filled;  /* cudaMemset's value, or NULL */
    const char *indexed; /* the array that its values index */
    unsigned first_launch, last_launch;
    const char *param; /* of the first kernel, for messages */
};

struct scalar_arg {
    const char *param; /* of the kernel */
    const char *name, *type, *value, *why;
    unsigned line;
};

struct launch_text {
    const char *text, *why;
    unsigned line;
};

struct builder {
    struct arena *arena;
    struct host *host;
    struct array arrays[MAX_ARRAYS];
    unsigned nr_arrays;
    struct scalar_arg scalars[MAX_SCALARS];
    unsigned nr_scalars;
    struct launch_text launches[MAX_LAUNCHES];
    unsigned nr_launches;
    struct intake *in;
    size_t cap_lines;
};

/* "line 40: cudaMalloc(&x, n * sizeof(float))" */
const char *builder_shown(const struct builder *b, unsigned line);

/* The array that an argument names, made where it is new. NULL: the argument names none. */
struct array *builder_array(
    struct builder *b, const struct param *p, struct range arg, unsigned at);

/* A tensor's extent is its number of elements, which only its caller knows. */
void builder_tensor_extent(struct builder *b, struct array *a, struct range arg);

/* What launch number `launch` does with the array. */
void builder_use_array(struct array *a, const struct param *p, unsigned launch);

/* Adds the launch of a kernel, with the arrays and scalars that it takes. */
void builder_launch(struct builder *b, const struct site *site, const struct decl *kernel);

/* All lines of the contract, in order. */
void builder_lines(struct builder *b);

#endif
