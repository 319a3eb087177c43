/* Deterministic contents for arrays. The same (generator, seed, index) gives the same value on
 * every machine and in any order. */
#ifndef KEET_CORE_INPUTS_H
#define KEET_CORE_INPUTS_H

#include "core/task.h"

/* Fills nr elements. `scale` multiplies the values of real generators (uniform, normal) only, so
 * that indices and counts keep their meaning. file("x.npy") is looked up in `folder`. */
bool inputs_fill(const struct task_array *array, const struct env *env, const char *folder,
    uint64_t seed, double scale, void *elems, uint64_t nr, struct err *err);

/* The same for an array of a task: file("x.npy") is looked up beside the kernel file where the
 * array has as many elements as at the timed sizes; elsewhere the array gets what its line says for
 * other sizes. */
bool inputs_fill_beside(const struct task *task, const struct task_array *array,
    const struct env *env, uint64_t seed, void *elems, uint64_t nr, struct err *err);

/* Inputs that tell kernels apart, other than the declared ones: what is declared once more, but for
 *   TIES        few small numbers, which sums hold exactly; either end of an integer range; long
 *               segments of few lengths
 *   ZEROS       zeros; the lowest integer (one segment takes all, the others are empty)
 *   CONSTANTS   one number for all; the highest integer
 *   FAR         the lead array lies around 1000 or -1000, by rows; integers in long runs
 *   HIGH        the lead array up to +-100; most integers the same
 *   MIXED       magnitudes from 2^-8 to 2^8 of either sign
 *   SPARSE      four of five numbers zero, or the lowest
 *   BIG         the lead array between 200 and 400, so that few of them sum up beyond f16
 *   SPIKE       one element of each row of the lead array far above the others: the last, the
 * first, any ROWS        each row of the lead array in another of these ways RISING, FALLING   in
 * order, within each row WIDE        integers without a declared range at the ends of their type
 *   NAN         some NaN and infinities in the lead array
 * The lead array is the task's largest floating-point input: what a kernel normalises, compares or
 * exponentiates. Arrays of constants, steps and files stay as they are; a permutation stays one. */
enum input_style {
    INPUT_DECLARED,
    INPUT_TIES,
    INPUT_ZEROS,
    INPUT_CONSTANTS,
    INPUT_FAR,
    INPUT_HIGH,
    INPUT_MIXED,
    INPUT_SPARSE,
    INPUT_BIG,
    INPUT_SPIKE,
    INPUT_ROWS,
    INPUT_RISING,
    INPUT_FALLING,
    INPUT_WIDE,
    INPUT_NAN,
    NR_INPUT_STYLES
};

const char *input_style_name(enum input_style style); /* "ties", ... */

/* Is the sum of such numbers exact, so that only the tolerance decides? */
bool input_style_is_exact(enum input_style style);

/* Changes contents that inputs_fill has made. row: elements of the last dimension. */
bool inputs_restyle(const struct task_array *array, const struct env *env, enum input_style style,
    bool lead, uint64_t seed, uint64_t row, void *elems, uint64_t nr, struct err *err);

/* The range of integers that nobody declared. */
bool gen_is_default_integers(const struct gen *gen);

#endif
