/* The task: the content of the `#pragma keet` lines of a kernel file (grammar:
 * docs/reference/task-language.md).
 *
 * The contract (size, check, assume, in, out, inout, symbol, scalar, fixed, inputs, tolerance,
 * work, reference, expect, case, pytorch) is read once, from the user's original file. The plan
 * (launch, temp, tune, where) and the code belong to each candidate. A candidate is a whole kernel
 * file; contract lines that it repeats must say the same as the original's, or it breaks the
 * contract. A candidate's tuning parameters take the values written before `in {...}`: its text
 * alone determines everything about it. */
#ifndef KEET_CORE_TASK_H
#define KEET_CORE_TASK_H

#include "base/arena.h"
#include "base/err.h"
#include "core/elem.h"
#include "core/expr.h"
#include "core/verdict.h"
#include "core/work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TASK_MAX_DIMS = 6, TASK_MAX_BYTES = 4 << 20 };

enum role { ROLE_IN, ROLE_OUT, ROLE_INOUT, ROLE_TEMP };

/* How an input is filled; a and b are the generator's arguments.
 *   uniform(a, b)      reals in [a, b)           (default: uniform(-1, 1))
 *   normal(a, b)       mean a, deviation b
 *   integers(a, b)     whole numbers a..b inclusive   (default for integer types: integers(0, 9))
 *   sorted(a, b)       integers(a, b), in rising order; first is a and last is b (CSR offsets)
 *   skewed(a, b)       integers(a, b), small ones far more often: 80% in the lowest fifth of the
 *                      range, 80% of these in its lowest fifth, and so on
 *   nearly_sorted(a, b)
 *                      rising from a to b, each up to a 64th of the range off
 *   sorted_skewed(a, b)
 *                      as sorted; 80% of the rise in the last fifth, and so on (uneven segments)
 *   permutation()      of 0..n-1
 *   runs(k)            of 0..n-1, in runs of k that rise by one
 *   constant(a)        all equal a
 *   iota(a, b)         a + b*i (default: iota(0, 1))
 *   file("x.npy")      a NumPy file, beside the kernel file; used at the timed size only. At other
 *                      sizes the type's default holds, or g of file("x.npy", g) */
enum gen_kind {
    GEN_UNIFORM,
    GEN_NORMAL,
    GEN_INTEGERS,
    GEN_SORTED,
    GEN_SKEWED,
    GEN_NEARLY_SORTED,
    GEN_SORTED_SKEWED,
    GEN_PERMUTATION,
    GEN_RUNS,
    GEN_CONSTANT,
    GEN_IOTA,
    GEN_FILE,
    GEN_VALUES /* each value of a record as its type's default, for records without `=` */
};

struct gen {
    enum gen_kind kind;
    const struct expr *a_int, *b_int; /* integer arguments may use sizes; NULL when a, b are used */
    double a, b;
    const char *path;            /* GEN_FILE */
    const struct gen *elsewhere; /* GEN_FILE; NULL: the type's default */
};

/* Contents that rise from the first argument to the second, as offsets do. */
bool gen_rises(const struct gen *gen);
/* Contents that hold each of 0..n-1 once, in an order by lot. */
bool gen_permutes(const struct gen *gen);

/* The generator of an input without `=`, and of file("x.npy") away from the timed size. */
struct gen gen_default(enum elem elem);

/* The type of an array of structs, `in p : {f32, i32, f64[3]} [n]`: its values in the order of
 * memory, each at the next multiple of its size, as in C. */
struct struct_type {
    const struct struct_value {
        enum elem elem;
        uint32_t offset;
    } * values;
    unsigned nr;
    uint32_t bytes;   /* of one struct */
    const char *text; /* "{f32,i32,f64[3]}" */
};

struct task_array {
    const char *name;
    enum role role;
    enum elem elem;                   /* of all values; of a record's first one */
    const struct struct_type *record; /* NULL: all values are alike */
    unsigned nr_dims;                 /* 0: f32[], one element without a dimension */
    const struct expr *dims[TASK_MAX_DIMS];
    struct gen gen;          /* ROLE_IN and ROLE_INOUT */
    const char *expect_path; /* `expect C = file("c.npy")`, else NULL */
    /* `symbol`: a __constant__ or __device__ variable of the code. It gets the contents before each
     * launch; with ROLE_OUT and ROLE_INOUT they are read back afterwards. */
    bool is_symbol;
    unsigned line; /* in the file, from 1 */
};

struct task_scalar {
    const char *name;
    enum elem elem;
    double value;
    bool is_fixed; /* `fixed`: the check leaves the value as it is */
    unsigned line;
};

/* One assignment of all sizes: the timed one or a check. A size that a check line leaves out takes
 * the value of its own expression on the `size` line, under the check's other sizes: with
 * `size N = 64, NNZ = 8*N`, `check N = 7` has NNZ = 56; a plain number stays as timed. */
struct shape {
    struct env sizes; /* in the order of the `size` line */
    unsigned line;
};

/* An argument of a launch: the name of an array or of a scalar, or an integer expression. `x + 4`
 * is a pointer to the array's element 4 (of f32[n][2]: two pairs on), for stencils with a halo.
 *
 * A parameter that is a struct or a vector by value gets its fields between braces, in the order of
 * memory:
 *     #pragma keet launch scale<<<1, 32>>>(x, {p_n : i32, p_scale, table})
 * A field is an array (a pointer), a scalar, or an integer expression with its type, and stands at
 * the next multiple of its size, as in C. Where an alignment asks for more padding, write that as
 * integers (0 : i32); leave out the padding behind the last field. {} is a struct without fields.
 * The fields must add up to the size of the parameter. */
enum arg_kind { ARG_ARRAY, ARG_SCALAR, ARG_INTEGER, ARG_STRUCT, ARG_TEXTURE, ARG_TENSOR_MAP };

/* texture(x, width, height, linear, normalized, wrap): a cudaTextureObject_t with the elements of x
 * as texels, dense; a texel has as many numbers (1, 2 or 4) as x has elements for it. One to three
 * extents, the fastest first; with `layered` the last extent is the number of layers, with `cube`
 * it is 6, or 6 for each layer. Without words a fetch takes the nearest texel, coordinates are in
 * texels, `clamp` holds, and integers are read as integers (with `floats` as 0..1 or -1..1).
 * Source: CUDA programming guide, Texture Fetching. */
enum texture_mode { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER };

struct texture_view {
    const struct expr *size[3];
    unsigned nr_dims; /* with layers and faces */
    enum texture_mode mode;
    bool linear, normalized, floats, layered, cube;
    const char *written;
};

/* tensor_map(A, box(64, 128), swizzle(128)): a CUtensorMap by value, 128 bytes, over the elements
 * of A, as cuTensorMapEncodeTiled makes it. Extents stand innermost first: of bf16[M][K] they are
 * K, M. size(K, M)    another view of the elements than the array's own extents, dense stride(K)
 * elements from one index of a dimension to the next, for all but the innermost step(1, 2)    every
 * second element of the box along the second dimension swizzle(b)    32, 64 or 128 bytes nan floats
 * outside of the array are NaN; else zeros */
enum { TENSOR_VIEW_DIMS = 5 };
struct tensor_view {
    const struct expr *box[TENSOR_VIEW_DIMS], *size[TENSOR_VIEW_DIMS], *stride[TENSOR_VIEW_DIMS],
        *step[TENSOR_VIEW_DIMS];
    unsigned nr_box, nr_size, nr_stride, nr_step; /* 0: not given */
    const struct expr *swizzle;                   /* NULL: none */
    bool nan;
    const char *written;
};

struct launch_arg {
    enum arg_kind kind;
    const char *name;         /* array or scalar; ARG_STRUCT: as written */
    const struct expr *value; /* ARG_INTEGER: over sizes and tuning parameters; ARG_ARRAY: the
                                 element that is pointed to; NULL: the first */
    enum elem elem;           /* ARG_INTEGER that is a field */
    const struct launch_arg *fields; /* ARG_STRUCT; of the other kinds */
    unsigned nr_fields;
    const struct texture_view *texture; /* ARG_TEXTURE; name is the array's */
    const struct tensor_view *tensor;   /* ARG_TENSOR_MAP; name is the array's */
};

struct launch {
    const char *kernel; /* as written: a name, or a template-id such as row_sum<float, 4> */
    const struct expr *grid[3], *block[3], *smem_bytes,
        *cluster[3]; /* absent ones are literal 1, 0 */
    const struct launch_arg *args;
    unsigned nr_args;
    unsigned line;
    const char *text; /* everything after `launch`, as written */
};

struct tune {
    const char *name;
    int64_t value;          /* the chosen one */
    const int64_t *choices; /* value is among them */
    unsigned nr_choices;
    unsigned line;
};

/* The plan, which belongs to the candidate. */
struct plan {
    struct launch *launches;
    unsigned nr_launches;
    struct task_array *temps;
    unsigned nr_temps;
    struct tune *tunes;
    unsigned nr_tunes;
    const struct expr **wheres;
    unsigned nr_wheres;
};

struct task {
    const char *path;   /* as the user gave it */
    const char *source; /* the whole original file */
    size_t source_bytes;
    struct shape timed;
    struct shape *checks; /* explicit `check` lines, in order */
    unsigned nr_checks;
    struct task_array *arrays; /* in, out, inout, in order of declaration */
    unsigned nr_arrays;
    struct task_scalar *scalars;
    unsigned nr_scalars;
    const char **cases; /* `case` lines: folders with the same files for other inputs */
    unsigned nr_cases;
    const char *pytorch;        /* the texts of `pytorch` lines, a line each; NULL: none */
    struct tolerance tolerance; /* a negative part was not given: elem_tolerance has it */
    bool has_tolerance;
    bool inputs_nan;             /* `inputs nan`: the check tries NaN and infinities, too */
    const struct expr **assumes; /* `assume`: what holds for all sizes, derived ones included */
    unsigned nr_assumes;
    const struct expr *work[NR_WORKS], *bytes; /* `work`; NULL when not given */
    const struct launch *reference;            /* oracle kernel in the same file, or NULL */
    struct plan plan;                          /* the original's own */
};

/* Reads a kernel file. Everything lives in the arena, a copy of `source` included. Errors have the
 * form "file:line:column: what is wrong; what was expected". */
bool task_parse(struct task *task, struct arena *arena, const char *path, const char *source,
    size_t source_bytes, struct err *err);
bool task_load(struct task *task, struct arena *arena, const char *path, struct err *err);

/* Reads a candidate's plan. False: *verdict is `contract` or `no_kernel`, and why->text has the
 * reason with its line. */
bool plan_parse(struct plan *plan, const struct task *task, struct arena *arena, const char *source,
    size_t source_bytes, enum verdict *verdict, struct err *why);

/* Sizes of one shape and the plan's tuning parameters in one environment (arena memory). */
struct env plan_env(struct arena *arena, const struct plan *plan, const struct shape *shape);

/* True when every `where` holds under the environment. */
bool plan_allows(const struct plan *plan, const struct env *env);

/* Does a name occur in the array's dimensions; between <<< and >>> of the launch (clusters
 * included); there or in the arguments? */
bool array_dims_use(const struct task_array *array, const char *name);
bool launch_config_uses(const struct launch *launch, const char *name);
bool launch_uses(const struct launch *launch, const char *name);

/* Argument i of the launch, where the fields of a struct count in place of the struct; NULL behind
 * the last one. */
const struct launch_arg *launch_leaf(const struct launch *launch, unsigned i);

/* True when every `assume` holds for the sizes. */
bool task_assumes(const struct task *task, const struct env *sizes);

/* The number of elements of an array under an environment. An error: a dimension is negative, or
 * the product is over 2^40. Zero is allowed. For an array of structs, the number of their values.
 */
bool array_elems(
    const struct task_array *array, const struct env *env, uint64_t *nr, struct err *err);

uint64_t array_bytes(const struct task_array *array, uint64_t nr_elems);

/* The offset of element i from the first one, in bytes, and its type. */
static inline uint64_t array_place(const struct task_array *array, uint64_t i, enum elem *elem)
{
    const struct struct_type *record = array->record;
    const struct struct_value *value = record ? &record->values[i % record->nr] : NULL;

    *elem = value ? value->elem : array->elem;
    return value ? i / record->nr * record->bytes + value->offset : i * elem_bytes(array->elem);
}

/* Elements and bytes of all arrays of a task together; UINT64_MAX when array_elems fails for one.
 */
uint64_t task_elems(const struct task *task, const struct env *env);
uint64_t task_bytes(const struct task *task, const struct env *env);

/* A launch with all expressions evaluated. */
struct launch_config {
    const char *kernel;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t smem_bytes;
};
/* False: a value does not fit, or is not positive; the verdict is launch_failed, and why->text
 * names the launch line. */
bool launch_resolve(const struct launch *launch, const struct env *env,
    struct launch_config *config, struct err *why);

const struct task_array *task_find_array(
    const struct task *task, const struct plan *plan, const char *name);
const struct task_scalar *task_find_scalar(const struct task *task, const char *name);

/* The source for the compiler, in heap memory: every `#pragma keet` line is blank, newlines stay,
 * so that line numbers hold. The compiler gets tuning parameters as -DNAME=value. */
char *task_code(const char *source, size_t source_bytes);

/* The kind of a line of a kernel file, by its keyword alone. */
enum task_line {
    TASK_LINE_CODE,     /* not a `#pragma keet` line */
    TASK_LINE_CONTRACT, /* of the contract */
    TASK_LINE_PLAN,     /* of the plan */
    TASK_LINE_UNKNOWN,  /* a pragma with another keyword, or none */
};
enum task_line task_line(const char *line);

/* True for a name that means something to C++, CUDA or the task language: a task may not take it.
 */
bool task_reserves(const char *name);

#endif
