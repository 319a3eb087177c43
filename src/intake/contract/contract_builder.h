/* Private to intake/: a contract while it is put together. contract_arrays.c adds its arrays,
 * contract_launch.c its launches with their arguments, contract_lines.c its lines. */
#ifndef KEET_INTAKE_CONTRACT_CONTRACT_BUILDER_H
#define KEET_INTAKE_CONTRACT_CONTRACT_BUILDER_H

#include "intake/eval/interp.h"
#include "intake/eval/param_access.h"
#include "intake/intake.h"

enum {
    MAX_ARRAYS = INTAKE_MAX_ARRAYS,
    MAX_SCALARS = 64,
    MAX_LAUNCHES = INTAKE_MAX_LAUNCHES,
    MAX_LINE_SHOWN = 90,
    MAX_LEFT_OUT = 64
};

struct array {
    const char *name;   /* its name in the file */
    const char *id;     /* its name in the contract */
    const char *type;   /* the type of C */
    const char *extent; /* the number of elements as text; NULL: not known */
    const char *why;
    unsigned line; /* of the allocation */
    bool read_first, read, written, atomics;
    const char *indexed; /* the array that its values index */
    unsigned first_launch, last_launch, first_write;
    uint32_t launches;           /* bit i: launch i takes it */
    const char *param;           /* its parameter of the first kernel, for messages */
    const struct memory *memory; /* as the interpreter saw it; NULL: not seen */
    int64_t offset;              /* bytes from the beginning of memory */
    const char *whole;           /* the extent of all of memory, in the program's words; or NULL */
};

struct scalar_arg {
    const char *param; /* of the kernel */
    const char *name, *type, *value, *why;
    unsigned line;
};

/* The grid or the block of a launch: expressions over sizes. */
struct launch_dims {
    const char *of[3];
    unsigned nr; /* as many as are written: dim3(x, y) has two */
};

/* A launch, with each of its parts as text of the task language. */
struct contract_launch {
    const char *id;             /* the kernel with its namespaces and template arguments */
    struct launch_dims dims[3]; /* the grid, the block (none: words say it), the cluster */
    const char *smem;           /* in bytes; NULL: none */
    const char *words;          /* grid, block and shared memory in the file's own words, where
                                   they are not known; or NULL */
    const char *args[LAUNCH_MAX_ARGS];
    unsigned nr_args;
    const char *why; /* what the launch lacks; NULL: nothing */
    unsigned line;
    unsigned assumed;   /* see struct interp_launch */
    const char *kernel; /* the kernel's name */
    bool is_empty;      /* the grid has no blocks */
};

struct left_out { /* a launch that cannot be described, in a file where others can */
    unsigned at;  /* the token `at` of its site */
    const char *kernel, *text;
};

struct contract_builder {
    struct arena *arena;
    struct resolver *resolver;
    struct array arrays[MAX_ARRAYS];
    unsigned nr_arrays;
    struct scalar_arg scalars[MAX_SCALARS];
    unsigned nr_scalars;
    struct contract_launch launches[MAX_LAUNCHES];
    unsigned nr_launches;
    struct left_out left_out[MAX_LEFT_OUT];
    unsigned nr_left_out;
    const char *end_note; /* why launches that the interpreter saw last are not in it; or NULL */
    struct intake *in;
    struct interp *interp; /* has followed the program to its launches */
    struct interp *types;  /* made by contract_types when it is first asked */
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
    struct array *arrays[MAX_PARAMS];
    unsigned nr;
    const char *why; /* the first thing that is missing; NULL: nothing */
};
void contract_note(struct launching *l, const char *why);

/* Adds a line to the contract. */
void contract_add_line(struct contract_builder *b, struct intake_line line);

/* Adds the lines of the __constant__ and __device__ variables that host code sets or reads. */
void contract_symbols(struct contract_builder *b);

/* A line of the text as messages show it: "line 40: cudaMalloc(&x, n * sizeof(float))". */
const char *contract_shown(const struct contract_builder *b, unsigned line);

/* The array of the memory that is passed, which gets that name (NULL: the memory's own); a new one
 * where the contract has none yet. NULL: the value is no memory, or there are too many arrays. */
struct array *contract_array(struct contract_builder *b, const struct param *p,
    const struct interp_value *seen, const char *name);

/* The number of elements of `each` bytes that the memory has. */
struct interp_value contract_elements(
    struct contract_builder *b, const struct memory *m, unsigned each);

/* The array with that name in the file; NULL: the contract has none yet. */
struct array *contract_array_named(struct contract_builder *b, const char *name);

/* Adds an array of that name, whose extent the file does not say. NULL: there are too many. */
struct array *contract_unknown_array(
    struct contract_builder *b, const char *name, const struct param *p, unsigned line);

/* Adds the array of texels behind a CUDA array: nr dimensions, their extents in size. NULL: there
 * are too many arrays. */
struct array *contract_texel_array(struct contract_builder *b, const char *name, const char *type,
    const char *const *size, unsigned nr, unsigned line);

/* Adds argument i, a cudaTextureObject_t. Returns NULL, or why what the texture is made of is not
 * known. */
const char *contract_texture(struct launching *l, unsigned i, struct str *args);

/* Gives pointers into one allocation extents of their own: each array ends where the next
 * begins. */
void contract_part_arrays(struct contract_builder *b);

/* What the line of an array lacks beyond numbers; NULL: nothing. */
const char *contract_array_lacks(struct contract_builder *b, const struct array *a);

/* Notes what launch number `launch` does with the array. */
void contract_use_array(struct array *a, const struct param *p, unsigned launch);

/* Adds a launch, with the arrays and scalars that it takes. */
void contract_launch(struct contract_builder *b, const struct interp_launch *seen);

/* contract_integer adds to out an integer that a launch passes, as text of the task language.
 * contract_scalar adds a scalar to the contract for a real number, and returns its name. `words`
 * are those of the file, for messages. */
void contract_integer(
    struct launching *l, const char *name, const struct interp_value *v, struct str *out);
const char *contract_scalar(struct launching *l, const char *name, const char *type,
    const char *words, const struct interp_value *v);

/* Adds argument i, a struct or a vector by value: its fields in braces. Returns NULL, or why the
 * layout of its type is not known. */
const char *contract_struct(struct launching *l, unsigned i, const char *type,
    const struct interp_value *v, struct str *args);

/* An interpreter for the types alone: the one that followed the program may have spent its
 * steps. */
struct interp *contract_types(struct contract_builder *b);

/* The element type for a type of C, and how many elements one value has in *lanes: of numbers, of
 * vectors, of structs whose fields are all of one type, and "{f32, i32, f64[3]}" for any other
 * struct. NULL: there is none, as for a struct with pointers. */
const char *contract_elem(struct contract_builder *b, const char *type, unsigned *lanes);

/* A whole number as text of the task language over sizes. fixed: see resolver_write. NULL: it is
 * none, or nothing gives it. */
const char *contract_text(struct contract_builder *b, const struct interp_value *v, bool fixed);

/* Adds all lines of the contract, in order. */
void contract_lines(struct contract_builder *b);

#endif
