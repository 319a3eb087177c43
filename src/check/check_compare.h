/* Private to check/: the errors between two sets of outputs. */
#ifndef KEET_CHECK_CHECK_COMPARE_H
#define KEET_CHECK_CHECK_COMPARE_H

#include "check/check_run.h"

enum { ERROR_BINS = 1024 };

/* Errors of all elements compared so far. rel is |x-r| / |r|, for elements whose |r| is over the
 * absolute tolerance: for smaller ones a relative error says nothing. */
struct errors {
    bool rough; /* set by the caller: relative errors of large arrays are not asked for */
    uint64_t nr, nr_rel;
    double max_abs, max_rel;
    double worst; /* |x-r| over the allowed error; > 1 is wrong */
    const char *worst_array;
    uint64_t worst_index;
    uint64_t bins[ERROR_BINS]; /* of rel, eight per octave */
};

/* The 99th percentile of the relative errors, to within 9%. */
double errors_q99(const struct errors *errors);

/* The tolerance of one array: the task's, or its type's; never under one unit in the last place
 * of a 16- or 8-bit float. Integers compare exactly, unless `abs` is 1 or more. abs grows with the
 * square of a scale over 1: outputs are at most quadratic in the inputs for the kernels that sum.
 * compare_outputs adds to abs of an f64 array 64 units in the last place of its mean magnitude. */
struct tolerance compare_tolerance(
    const struct task *task, const struct task_array *array, double scale);

/* The first wrong element, and the number of wrong ones. */
struct mismatch {
    const struct task_array *array; /* NULL: none */
    unsigned which;                 /* its number in the task */
    uint64_t index, nr_wrong, nr;
    bool unwritten;
};

/* How two sets of outputs are compared. */
struct comparison {
    const struct task *task;
    double scale;         /* of the inputs */
    const double *shrink; /* of `abs`, per array, at most 1; NULL: 1 each */
    double slack;         /* of all tolerances; 0: 1 */
    /* The reference's outputs without its rounding: f64 in place of each f32 array's elements, and
     * NULL for other arrays; NULL: not known. A difference of a few of the reference's own errors
     * nearby is allowed. */
    double *const *exact;
};

/* Compares outputs with the reference. Elements that the reference left at its poison are not
 * compared. Elements that only the candidate left at its poison are wrong. */
void compare_outputs(const struct comparison *how, const struct host_arrays *got,
    const struct host_arrays *want, uint8_t got_poison, uint8_t want_poison, struct errors *errors,
    struct mismatch *mismatch);

/* Most of what a sample of blocks leaves is the poison: so many elements from i on are looked at
 * together, before each by itself; 0: i is not where such elements begin. */
static inline uint64_t elements_together(uint64_t i, uint64_t nr)
{
    const uint64_t together = 4096;

    return i % together != 0 ? 0 : nr - i < together ? nr - i : together;
}
/* Are elements i to i + nr, nr > 0, the poison? False for structs, whose gaps nobody writes. */
bool elements_are_poison(
    const struct task_array *array, const void *elems, uint64_t i, uint64_t nr, uint8_t poison);

/* The mean magnitude of the finite elements of each array that the kernel writes; 0 for others. */
void outputs_typical(const struct task *task, const struct host_arrays *outputs, double *typical);

/* Compares bit for bit, without the elements that the reference left unwritten. */
void compare_bits(const struct task *task, const struct host_arrays *a, const struct host_arrays *b,
    const struct host_arrays *reference, uint8_t reference_poison, struct mismatch *mismatch);

bool outputs_finite(const struct task *task, const struct host_arrays *outputs);
/* Has the kernel written all elements of all outputs; at least one element of each? */
bool outputs_written(const struct task *task, const struct host_arrays *outputs, uint8_t poison);
bool outputs_begun(const struct task *task, const struct host_arrays *outputs, uint8_t poison);

#endif
