/* Private to intake/: a contract while it is put together: arrays by contract_arrays.c, launches
 * with their arguments by contract_launch.c, lines by contract_lines.c. */
#ifndef KEET_INTAKE_CONTRACT_CONTRACT_BUILDER_H
#define KEET_INTAKE_CONTRACT_CONTRACT_BUILDER_H

#include "intake/eval/interp.h"
#include "intake/eval/param_access.h"
#include "intake/eval/resolver.h"
#include "intake/intake.h"

enum {
    MAX_ARRAYS = INTAKE_MAX_ARRAYS,
    MAX_SCALARS = 64,
    MAX_LAUNCHES = INTAKE_MAX_LAUNCHES,
    MAX_LINE_SHOWN = 90,
    MAX_LEFT_OUT = 64
};

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
    unsigned first_launch, last_launch, first_write;
    uint32_t launches;           /* those that take it: bit i is launch i */
    const char *param;           /* of the first kernel, for messages */
    const struct memory *memory; /* of the interpreter; NULL: none */
    int64_t offset;              /* bytes from its beginning */
    const char *whole;           /* the extent of all of it, as the program says it; or NULL */
};

struct scalar_arg {
    const char *param; /* of the kernel */
    const char *name, *type, *value, *why;
    unsigned line;
};

struct launch_line {
    const char *text, *why;
    unsigned line;
    unsigned assumed;   /* see interp_launch */
    const char *kernel; /* its name */
    bool is_empty;      /* its grid has no blocks */
};

struct left_out { /* a launch that cannot be described, where others can */
    unsigned at;  /* of its site */
    const char *kernel, *text;
};

struct contract_builder {
    struct arena *arena;
    struct resolver *resolver;
    struct array arrays[MAX_ARRAYS];
    unsigned nr_arrays;
    struct scalar_arg scalars[MAX_SCALARS];
    unsigned nr_scalars;
    struct launch_line launches[MAX_LAUNCHES];
    unsigned nr_launches;
    struct left_out left_out[MAX_LEFT_OUT];
    unsigned nr_left_out;
    const char
        *end_note; /* why the launches end before those of the interpreter do; NULL: they do not */
    struct intake *in;
    struct interp *interp; /* NULL: none got to a launch */
    struct interp *types;  /* see contract_types */
    bool all_idle;         /* no launch touches any memory */
    size_t cap_lines;
};

/* A launch while its arguments are written. */
struct launching {
    struct contract_builder *b;
    const struct site *site;
    const struct interp_launch *seen;
    const struct decl *kernel;
    struct param params[MAX_PARAMS];
    const char *declared[MAX_PARAMS]; /* the parameters' types as written */
    struct array *arrays[MAX_PARAMS];
    unsigned nr;
    const char *why; /* the first thing that is missing; NULL: nothing */
};
void contract_note(struct launching *l, const char *why);

/* One more line of the contract. */
void contract_add_line(
    struct contract_builder *b, bool missing, const char *from, const char *pragma);

/* The lines of the __constant__ and __device__ variables that host code sets. */
void contract_symbols(struct contract_builder *b);

/* "line 40: cudaMalloc(&x, n * sizeof(float))" */
const char *contract_shown(const struct contract_builder *b, unsigned line);

/* The array that an argument names, made where it is new; seen is what the interpreter saw there,
 * or NULL. NULL: the argument names none. */
struct array *contract_array(struct contract_builder *b, const struct param *p,
    struct tok_range arg, unsigned at, const struct interp_value *seen);

/* The array of that name in the file; NULL: there is none yet. */
struct array *contract_array_named(struct contract_builder *b, const char *name);

/* An array of which the file does not say how large it is; NULL: there are too many. */
struct array *contract_unknown_array(
    struct contract_builder *b, const struct param *p, unsigned line);

/* Texels of that type in so many dimensions, an array of CUDA's. NULL: there are too many. */
struct array *contract_texel_array(struct contract_builder *b, const char *name, const char *type,
    const char *const *size, unsigned nr, unsigned line);

/* Adds argument i, a cudaTextureObject_t. NULL, else why not: what it is made of is not known. */
const char *contract_texture(struct launching *l, unsigned i, struct str *args);

/* Pointers into one allocation become arrays one after another. */
void contract_part_arrays(struct contract_builder *b);

/* A tensor's extent is its number of elements, which only its caller knows. */
void contract_tensor_extent(struct contract_builder *b, struct array *a, struct tok_range arg);

/* What is missing of its line beyond numbers; NULL: nothing. */
const char *contract_array_lacks(struct contract_builder *b, const struct array *a);

/* What launch number `launch` does with the array. */
void contract_use_array(struct array *a, const struct param *p, unsigned launch);

/* Adds the launch of a kernel, with the arrays and scalars that it takes; seen is the interpreter's
 * record of it, or NULL. */
void contract_launch(struct contract_builder *b, const struct site *site, const struct decl *kernel,
    const struct interp_launch *seen);

/* A number that a launch passes, seen as value v (NULL: not known), as text of the task language:
 * an integer, which text already is, or arg comes down to; a real one as the name of a scalar. */
void contract_integer(struct launching *l, const char *name, struct tok_range arg,
    const struct interp_value *v, const char *text, struct str *out);
const char *contract_scalar(struct launching *l, const char *name, const char *type,
    struct tok_range arg, const struct interp_value *v);

/* Adds argument i, a struct or a vector by value: its fields in braces. NULL, else why not: what
 * its type has in memory is not known. */
const char *contract_struct(struct launching *l, unsigned i, const char *type,
    const struct interp_value *v, struct str *args);

/* Types, where the interpreter itself may have come to its end. */
struct interp *contract_types(struct contract_builder *b);

/* The element type for a type of C, and how many of them one value holds: of numbers, vectors, and
 * structs whose fields are all of one type. NULL: none. */
const char *contract_elem(struct contract_builder *b, const char *type, unsigned *lanes);

/* Of other structs "{f32, i32, f64[3]}"; NULL: it is none, or has pointers. */
const char *contract_record(struct contract_builder *b, const char *type);

/* Another launch of the contract stands in another case of one switch: not both of them run. */
bool contract_excluded(const struct contract_builder *b, unsigned at);

/* Sizes that a switch decides by are what the case with the launch says. */
void contract_bind_cases(struct contract_builder *b);

/* A size is this number wherever it stands, and no size any more. */
void contract_replace_size(struct contract_builder *b, unsigned size, int64_t value);

/* The only size that has this value; NULL. */
const char *contract_size_of(const struct contract_builder *b, double value);

/* Some launch has this name or number: of threads, or as an argument. */
bool contract_launched_with(const struct contract_builder *b, const char *word);

/* Large extents that are plain numbers become what sizes they are, with the arguments that are the
 * same. */
void contract_name_numbers(struct contract_builder *b);

/* What stands between <<< and >>>; *why is set where it is not known, if it was NULL. */
const char *contract_config(struct contract_builder *b, const struct site *site,
    const struct interp_launch *seen, const char **why);

/* Of that text: the grid has no blocks. */
bool contract_is_empty(struct contract_builder *b, const char *config);

/* All lines of the contract, in order. */
void contract_lines(struct contract_builder *b);

#endif
