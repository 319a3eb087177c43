/* Owns the comparison of outputs. */
#include "check/check_compare.h"

#include <math.h>
#include <string.h>

static bool is_poison(const void *elems, size_t each, uint64_t i, uint8_t poison)
{
    const unsigned char *at = (const unsigned char *)elems + i * each;

    for (size_t b = 0; b < each; b++) {
        if (at[b] != poison)
            return false;
    }
    return true;
}

static bool same_bits(const void *a, const void *b, size_t each, uint64_t i)
{
    return memcmp((const char *)a + i * each, (const char *)b + i * each, each) == 0;
}

/* One unit in the last place of 1, for the formats so coarse that a correct kernel may differ by
 * one: elem_tolerance is 4 of them (2 for the 8-bit floats). */
static double one_ulp(enum elem elem)
{
    switch (elem) {
    case ELEM_TF32:
    case ELEM_F16:
    case ELEM_BF16:
        return elem_tolerance(elem).rel / 4;
    case ELEM_E4M3:
    case ELEM_E5M2:
        return elem_tolerance(elem).rel / 2;
    default:
        return 0;
    }
}

struct tolerance compare_tolerance(
    const struct task *task, const struct task_array *array, double scale)
{
    struct tolerance t = elem_tolerance(array->elem);

    if (task->has_tolerance) {
        t.rel = task->tolerance.rel >= 0 ? task->tolerance.rel : t.rel;
        t.abs = task->tolerance.abs >= 0 ? task->tolerance.abs : t.abs;
    }
    if (!elem_is_float(array->elem))
        return (struct tolerance){0, task->has_tolerance && t.abs >= 1 ? t.abs : 0};
    if (t.rel < one_ulp(array->elem))
        t.rel = one_ulp(array->elem);
    if (fabs(scale) > 1)
        t.abs *= scale * scale;
    return t;
}

static void add_error(struct errors *e, const struct task_array *array, uint64_t index,
    double difference, double reference, const struct tolerance *t)
{
    double allowed = t->abs + t->rel * fabs(reference), rel, ratio;
    int bin;

    e->nr++;
    if (difference > e->max_abs)
        e->max_abs = difference;
    ratio = difference == 0 ? 0 : allowed > 0 ? difference / allowed : INFINITY;
    if (ratio > e->worst || !e->worst_array) {
        e->worst = ratio;
        e->worst_array = array->name;
        e->worst_index = index;
    }
    if (!(fabs(reference) > t->abs))
        return;
    e->nr_rel++;
    rel = difference / fabs(reference);
    if (rel > e->max_rel)
        e->max_rel = rel;
    bin = rel > 0 && isfinite(rel) ? (int)(8 * log2(rel)) + ERROR_BINS / 2
          : rel > 0                ? ERROR_BINS
                                   : 0;
    e->bins[bin < 0 ? 0 : bin >= ERROR_BINS ? ERROR_BINS - 1 : bin]++;
}

double errors_q99(const struct errors *errors)
{
    uint64_t below = 0;

    for (int i = 0; i < ERROR_BINS; i++) {
        below += errors->bins[i];
        if ((double)below >= 0.99 * (double)errors->nr_rel) {
            double edge = exp2((i + 1 - ERROR_BINS / 2) / 8.0);

            return i == 0 ? 0 : edge < errors->max_rel ? edge : errors->max_rel;
        }
    }
    return errors->max_rel;
}

/* Integers differ exactly, also beyond 2^53. */
static double int_difference(enum elem elem, int64_t x, int64_t r)
{
    uint64_t bits = (uint64_t)x - (uint64_t)r;
    bool less = elem == ELEM_U64 ? (uint64_t)x < (uint64_t)r : x < r;

    return (double)(less ? 0 - bits : bits);
}

/* Is element i right? Non-finite values must be the same ones. */
static bool element_right(const struct task_array *array, const void *got, const void *want,
    uint64_t i, const struct tolerance *t, struct errors *errors)
{
    double x = elem_get(array->elem, got, i), r = elem_get(array->elem, want, i), difference;

    if (isnan(x) || isnan(r) || isinf(x) || isinf(r)) {
        bool same = (isnan(x) && isnan(r)) || x == r;

        errors->nr++;
        if (!same && errors->worst < INFINITY) {
            errors->max_abs = errors->worst = INFINITY;
            errors->worst_array = array->name;
            errors->worst_index = i;
        }
        return same;
    }
    difference = elem_is_float(array->elem)
                     ? fabs(x - r)
                     : int_difference(array->elem, elem_get_int(array->elem, got, i),
                           elem_get_int(array->elem, want, i));
    add_error(errors, array, i, difference, r, t);
    return difference <= t->abs + t->rel * fabs(r);
}

static void note_wrong(
    struct mismatch *m, const struct task *task, unsigned which, uint64_t index, bool unwritten)
{
    if (!m->array) {
        m->array = &task->arrays[which];
        m->which = which;
        m->index = index;
        m->unwritten = unwritten;
        m->nr_wrong = 0;
    }
    if (m->which == which)
        m->nr_wrong++;
}

void compare_outputs(const struct task *task, const struct host_arrays *got,
    const struct host_arrays *want, uint8_t got_poison, uint8_t want_poison, double scale,
    struct errors *errors, struct mismatch *mismatch)
{
    *mismatch = (struct mismatch){0};
    for (unsigned a = 0; a < task->nr_arrays; a++) {
        const struct task_array *array = &task->arrays[a];
        struct tolerance t = compare_tolerance(task, array, scale);
        size_t each = elem_bytes(array->elem);
        bool fresh = array->role == ROLE_OUT;

        if (array->role == ROLE_IN)
            continue;
        for (uint64_t i = 0; i < want->nr[a]; i++) {
            if (fresh && is_poison(want->bytes[a], each, i, want_poison))
                continue;
            /* The poison can also be the right value (0xff.. is -1), and a byte can be any: then
             * the value decides. */
            if (fresh && each > 1 && is_poison(got->bytes[a], each, i, got_poison) &&
                !same_bits(got->bytes[a], want->bytes[a], each, i))
                note_wrong(mismatch, task, a, i, true);
            else if (!element_right(array, got->bytes[a], want->bytes[a], i, &t, errors))
                note_wrong(
                    mismatch, task, a, i, fresh && is_poison(got->bytes[a], each, i, got_poison));
        }
        if (mismatch->array == array)
            mismatch->nr = want->nr[a];
    }
}

void compare_bits(const struct task *task, const struct host_arrays *a, const struct host_arrays *b,
    const struct host_arrays *reference, uint8_t reference_poison, struct mismatch *mismatch)
{
    *mismatch = (struct mismatch){0};
    for (unsigned k = 0; k < task->nr_arrays; k++) {
        const struct task_array *array = &task->arrays[k];
        size_t each = elem_bytes(array->elem);

        if (array->role == ROLE_IN)
            continue;
        for (uint64_t i = 0; i < a->nr[k]; i++) {
            if (same_bits(a->bytes[k], b->bytes[k], each, i))
                continue;
            if (array->role == ROLE_OUT &&
                is_poison(reference->bytes[k], each, i, reference_poison))
                continue;
            note_wrong(mismatch, task, k, i, false);
        }
        if (mismatch->array == array)
            mismatch->nr = a->nr[k];
    }
}

bool outputs_finite(const struct task *task, const struct host_arrays *outputs)
{
    for (unsigned a = 0; a < task->nr_arrays; a++) {
        if (task->arrays[a].role == ROLE_IN || !elem_is_float(task->arrays[a].elem))
            continue;
        for (uint64_t i = 0; i < outputs->nr[a]; i++) {
            if (!isfinite(elem_get(task->arrays[a].elem, outputs->bytes[a], i)))
                return false;
        }
    }
    return true;
}

bool outputs_written(const struct task *task, const struct host_arrays *outputs, uint8_t poison)
{
    for (unsigned a = 0; a < task->nr_arrays; a++) {
        size_t each = elem_bytes(task->arrays[a].elem);

        if (task->arrays[a].role != ROLE_OUT || each == 1)
            continue;
        for (uint64_t i = 0; i < outputs->nr[a]; i++) {
            if (is_poison(outputs->bytes[a], each, i, poison))
                return false;
        }
    }
    return true;
}

bool outputs_begun(const struct task *task, const struct host_arrays *outputs, uint8_t poison)
{
    for (unsigned a = 0; a < task->nr_arrays; a++) {
        size_t each = elem_bytes(task->arrays[a].elem);
        uint64_t i = 0;

        while (i < outputs->nr[a] && is_poison(outputs->bytes[a], each, i, poison))
            i++;
        if (task->arrays[a].role == ROLE_OUT && i == outputs->nr[a])
            return false;
    }
    return true;
}
