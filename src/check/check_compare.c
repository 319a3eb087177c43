/* Owns the comparison of outputs. */
#include "check/check_compare.h"

#include <math.h>
#include <string.h>

static bool is_poison(const struct task_array *array, const void *elems, uint64_t i, uint8_t poison)
{
    enum elem elem;
    const unsigned char *at = (const unsigned char *)elems + array_place(array, i, &elem);

    for (size_t b = 0; b < elem_bytes(elem); b++) {
        if (at[b] != poison)
            return false;
    }
    return true;
}

bool elements_are_poison(
    const struct task_array *array, const void *elems, uint64_t i, uint64_t nr, uint8_t poison)
{
    const unsigned char *at = (const unsigned char *)elems + array_bytes(array, i);
    const uint64_t bytes = array_bytes(array, nr);

    return !array->record && at[0] == poison && memcmp(at, at + 1, bytes - 1) == 0;
}

static bool same_bits(const struct task_array *array, const void *a, const void *b, uint64_t i)
{
    enum elem elem;
    const uint64_t at = array_place(array, i, &elem);

    return memcmp((const char *)a + at, (const char *)b + at, elem_bytes(elem)) == 0;
}

/* The values are bytes, so that a correct value may look like the poison. */
static bool is_bytes(const struct task_array *array, uint64_t i)
{
    enum elem elem;

    array_place(array, i, &elem);
    return elem_bytes(elem) == 1;
}

/* One unit in the last place of 1, for formats so coarse that a correct kernel may differ by one
 * unit. elem_tolerance is 4 units (2 for the 8-bit floats). */
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

static struct tolerance tolerance_of(const struct task *task, enum elem elem, double scale)
{
    struct tolerance t = elem_tolerance(elem);

    if (task->has_tolerance) {
        t.rel = task->tolerance.rel >= 0 ? task->tolerance.rel : t.rel;
        t.abs = task->tolerance.abs >= 0 ? task->tolerance.abs : t.abs;
    }
    if (!elem_is_float(elem))
        return (struct tolerance){0, task->has_tolerance && t.abs >= 1 ? t.abs : 0};
    if (t.rel < one_ulp(elem))
        t.rel = one_ulp(elem);
    if (fabs(scale) > 1)
        t.abs *= scale * scale;
    return t;
}

struct tolerance compare_tolerance(
    const struct task *task, const struct task_array *array, double scale)
{
    return tolerance_of(task, array->elem, scale);
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
    enum elem elem;
    const uint64_t at = array_place(array, i, &elem);
    const void *mine = (const char *)got + at, *theirs = (const char *)want + at;
    double x = elem_get(elem, mine, 0), r = elem_get(elem, theirs, 0), difference;

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
    difference = elem_is_float(elem) ? fabs(x - r)
                                     : int_difference(elem, elem_get_int(elem, mine, 0),
                                           elem_get_int(elem, theirs, 0));
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

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* Many elements have the very bits of the reference: those need no arithmetic. False: look closer.
 */
static bool same_float(const struct task_array *array, const void *got, const void *want,
    uint64_t i, uint8_t want_poison, const struct tolerance *t, struct errors *errors)
{
    float x, r;
    uint32_t poison;

    if (array->record || array->elem != ELEM_F32 || !errors->worst_array)
        return false;
    memcpy(&x, (const char *)got + 4 * i, sizeof(x));
    memcpy(&r, (const char *)want + 4 * i, sizeof(r));
    memset(&poison, want_poison, sizeof(poison));
    if (bits_of(x) != bits_of(r) || bits_of(r) == poison || !isfinite(r))
        return false;
    errors->nr++;
    if (fabs((double)r) > t->abs) {
        errors->nr_rel++;
        errors->bins[0]++;
    }
    return true;
}

/* Large f32 arrays without anything wrong, in a short loop that leaves out relative errors. False:
 * look at each element. */
static bool all_right(const struct task_array *array, const float *got, const float *want,
    uint64_t nr, uint8_t got_poison, uint8_t want_poison, const struct tolerance *t,
    struct errors *errors)
{
    const double abs = t->abs, rel = t->rel;
    double most = 0, worst = 0;
    uint32_t mine, theirs;

    if (array->record || array->elem != ELEM_F32 || !errors->rough || !(abs > 0))
        return false;
    memset(&mine, got_poison, sizeof(mine));
    memset(&theirs, want_poison, sizeof(theirs));
    for (uint64_t i = 0; i < nr; i++) {
        const double r = want[i], difference = fabs((double)got[i] - r),
                     ratio = difference / (abs + rel * fabs(r));

        most = difference > most ? difference : most;
        worst = ratio > worst ? ratio : worst;
        if (!(ratio <= 1) || bits_of(got[i]) == mine || bits_of(want[i]) == theirs)
            return false;
    }
    errors->nr += nr;
    errors->max_abs = most > errors->max_abs ? most : errors->max_abs;
    if (worst > errors->worst) {
        errors->worst = worst;
        errors->worst_array = array->name;
    }
    return true;
}

static struct tolerance tolerance_at(
    const struct comparison *how, unsigned a, enum elem elem, double slack)
{
    struct tolerance t = tolerance_of(how->task, elem, how->scale);

    if (!elem_is_float(elem))
        return t;
    t.abs *= slack * (how->shrink ? how->shrink[a] : 1);
    t.rel *= slack;
    return t;
}

enum { NEAR = 16, FEW = 8 };

/* What the reference's own rounding allows at an element: a few times its largest error among the
 * elements nearby; more where there are so few that all may be right by chance. */
static double allowance(
    const double *exact, const struct task_array *array, const void *want, uint64_t i, uint64_t nr)
{
    const uint64_t from = i < NEAR ? 0 : i - NEAR, to = i + NEAR + 1 < nr ? i + NEAR + 1 : nr;
    double most = 0;

    for (uint64_t j = from; j < to; j++) {
        const double error = fabs(elem_get(array->elem, want, j) - exact[j]);

        most = error > most ? error : most;
    }
    return (nr < FEW ? 64 : 8) * most;
}

/* The mean magnitude of the finite elements. */
static double typical_of(const struct task_array *array, const void *bytes, uint64_t nr)
{
    double sum = 0;
    uint64_t nr_finite = 0;

    for (uint64_t i = 0; i < nr; i++) {
        enum elem elem;
        const uint64_t at = array_place(array, i, &elem);
        const double x = fabs(elem_get(elem, (const char *)bytes + at, 0));

        nr_finite += isfinite(x);
        sum += isfinite(x) ? x : 0;
    }
    return nr_finite ? sum / (double)nr_finite : 0;
}

/* Nothing wider tells the rounding of sums in f64, whose terms may cancel: so many units in the
 * last place of what the array typically has are allowed. */
enum { F64_UNITS = 64 };

void compare_outputs(const struct comparison *how, const struct host_arrays *got,
    const struct host_arrays *want, uint8_t got_poison, uint8_t want_poison, struct errors *errors,
    struct mismatch *mismatch)
{
    const struct task *task = how->task;
    const double slack = how->slack > 0 ? how->slack : 1;

    *mismatch = (struct mismatch){0};
    for (unsigned a = 0; a < task->nr_arrays; a++) {
        const struct task_array *array = &task->arrays[a];
        const double *exact = how->exact ? how->exact[a] : NULL;
        struct tolerance t = tolerance_at(how, a, array->elem, slack);
        bool fresh = array->role == ROLE_OUT;

        if (array->elem == ELEM_F64 && !array->record && array->role != ROLE_IN)
            t.abs += F64_UNITS * 0x1p-53 * typical_of(array, want->bytes[a], want->nr[a]);
        if (array->role == ROLE_IN || all_right(array, got->bytes[a], want->bytes[a], want->nr[a],
                                          got_poison, want_poison, &t, errors))
            continue;
        for (uint64_t i = 0; i < want->nr[a]; i++) {
            const uint64_t together = elements_together(i, want->nr[a]);

            if (fresh && together > 0 &&
                elements_are_poison(array, want->bytes[a], i, together, want_poison)) {
                i += together - 1;
                continue;
            }
            if (same_float(array, got->bytes[a], want->bytes[a], i, want_poison, &t, errors))
                continue;
            if (fresh && is_poison(array, want->bytes[a], i, want_poison))
                continue;
            struct tolerance own = t;

            if (array->record)
                own =
                    tolerance_at(how, a, array->record->values[i % array->record->nr].elem, slack);
            if (exact)
                own.abs += allowance(exact, array, want->bytes[a], i, want->nr[a]);
            /* The poison can also be the right value (0xff.. is -1), and a byte can be any: then
             * the value decides. */
            if (fresh && !is_bytes(array, i) && is_poison(array, got->bytes[a], i, got_poison) &&
                !same_bits(array, got->bytes[a], want->bytes[a], i))
                note_wrong(mismatch, task, a, i, true);
            else if (!element_right(array, got->bytes[a], want->bytes[a], i, &own, errors))
                note_wrong(
                    mismatch, task, a, i, fresh && is_poison(array, got->bytes[a], i, got_poison));
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

        if (array->role == ROLE_IN)
            continue;
        for (uint64_t i = 0; i < a->nr[k]; i++) {
            if (same_bits(array, a->bytes[k], b->bytes[k], i))
                continue;
            if (array->role == ROLE_OUT &&
                is_poison(array, reference->bytes[k], i, reference_poison))
                continue;
            note_wrong(mismatch, task, k, i, false);
        }
        if (mismatch->array == array)
            mismatch->nr = a->nr[k];
    }
}

void outputs_typical(const struct task *task, const struct host_arrays *outputs, double *typical)
{
    for (unsigned a = 0; a < task->nr_arrays; a++) {
        const struct task_array *array = &task->arrays[a];

        typical[a] =
            array->role == ROLE_IN ? 0 : typical_of(array, outputs->bytes[a], outputs->nr[a]);
    }
}

bool outputs_finite(const struct task *task, const struct host_arrays *outputs)
{
    for (unsigned a = 0; a < task->nr_arrays; a++) {
        const struct task_array *array = &task->arrays[a];

        if (array->role == ROLE_IN || (!array->record && !elem_is_float(array->elem)))
            continue;
        for (uint64_t i = 0; i < outputs->nr[a]; i++) {
            enum elem elem;
            const uint64_t at = array_place(array, i, &elem);

            if (elem_is_float(elem) &&
                !isfinite(elem_get(elem, (const char *)outputs->bytes[a] + at, 0)))
                return false;
        }
    }
    return true;
}

bool outputs_written(const struct task *task, const struct host_arrays *outputs, uint8_t poison)
{
    for (unsigned a = 0; a < task->nr_arrays; a++) {
        const struct task_array *array = &task->arrays[a];

        for (uint64_t i = 0; array->role == ROLE_OUT && i < outputs->nr[a]; i++) {
            if (!is_bytes(array, i) && is_poison(array, outputs->bytes[a], i, poison))
                return false;
        }
    }
    return true;
}

bool outputs_begun(const struct task *task, const struct host_arrays *outputs, uint8_t poison)
{
    for (unsigned a = 0; a < task->nr_arrays; a++) {
        const struct task_array *array = &task->arrays[a];
        uint64_t i = 0;

        while (i < outputs->nr[a] && is_poison(array, outputs->bytes[a], i, poison))
            i++;
        if (array->role == ROLE_OUT && i == outputs->nr[a])
            return false;
    }
    return true;
}
