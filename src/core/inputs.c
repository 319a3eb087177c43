/* Owns the contents of input arrays. */
#include "base/hash.h"
#include "base/rng.h"
#include "core/inputs.h"
#include "core/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct value_range {
    double a, b;
    int64_t a_int, b_int;
};

/* Two arrays under one seed must differ, so the name of the array chooses the stream. */
static uint64_t stream_of(const struct task_array *array, uint64_t seed)
{
    return hash_bytes(array->name, strlen(array->name), seed).low;
}

static double unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

/* Box and Muller, from two random numbers of its own per element, so that elements can be made in
 * any order. */
static double normal(uint64_t seed, uint64_t i)
{
    double u = 1 - unit(rng_mix(seed, 2 * i)), v = unit(rng_mix(seed, 2 * i + 1));

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* The width of a range of doubles may be more than a double holds. */
static double real(double share, const struct value_range *r)
{
    const double width = r->b - r->a;

    return isfinite(width) ? r->a + width * share : r->a * (1 - share) + r->b * share;
}

static int64_t whole(uint64_t seed, uint64_t i, const struct value_range *r)
{
    uint64_t span = (uint64_t)r->b_int - (uint64_t)r->a_int + 1; /* 0: all 2^64 values */
    uint64_t bits = rng_mix(seed, i);

    return (int64_t)((uint64_t)r->a_int + (span ? bits % span : bits));
}

/* log(1/5) / log(4/5): of a share to this power, 80% are below a fifth, and so on ("self-similar";
 * Gray and others, Quickly generating billion-record synthetic databases, SIGMOD 1994). */
#define SKEW 7.212567

/* The whole number at a share of the range, 0 to 1. */
static int64_t at_share(const struct value_range *r, double share)
{
    const double span = (double)r->b_int - (double)r->a_int, at = floor(span * share);

    return at >= span ? r->b_int
           : at <= 0  ? r->a_int
                      : (int64_t)((uint64_t)r->a_int + (uint64_t)at);
}

static int64_t skewed(uint64_t seed, uint64_t i, const struct value_range *r)
{
    return at_share(r, pow(unit(rng_mix(seed, i)), SKEW));
}

static int64_t nearly_sorted(uint64_t seed, uint64_t i, uint64_t n, const struct value_range *r)
{
    return at_share(r, ((double)i + 0.5) / (double)n + (unit(rng_mix(seed, i)) - 0.5) / 32);
}

static int64_t sorted_skewed(uint64_t i, uint64_t n, const struct value_range *r)
{
    return i == n - 1 && i > 0 ? r->b_int : at_share(r, pow((double)i / (double)n, SKEW));
}

/* Element i of n lies within half a step of its place on the straight line from a to b, so values
 * rise, and steps vary between nothing and twice the mean. */
static int64_t sorted(uint64_t seed, uint64_t i, uint64_t n, const struct value_range *r)
{
    if (i == 0)
        return r->a_int;
    if (i == n - 1)
        return r->b_int;
    return at_share(r, ((double)i - 0.5 + unit(rng_mix(seed, i))) / (double)(n - 1));
}

/* In runs of `run`; what is left over after the last whole run stays where it is. */
static void fill_permutation(enum elem elem, uint64_t seed, uint64_t run, void *elems, uint64_t nr)
{
    size_t bytes = elem_bytes(elem);
    unsigned char *at = elems, swap[8];

    for (uint64_t i = 0; i < nr; i++)
        elem_set_int(elem, elems, i, (int64_t)i);
    for (uint64_t i = nr / run; i > 1; i--) { /* Fisher and Yates */
        uint64_t j = rng_mix(seed, i) % i;

        for (uint64_t k = 0; k < run; k++) {
            unsigned char *one = at + (j * run + k) * bytes,
                          *other = at + ((i - 1) * run + k) * bytes;

            memcpy(swap, one, bytes);
            memcpy(one, other, bytes);
            memcpy(other, swap, bytes);
        }
    }
}

/* A bound of real numbers as a whole number, the nearest where there is none. */
static int64_t whole_of(double bound)
{
    return bound >= 0x1p63 ? INT64_MAX : bound >= -0x1p63 ? (int64_t)bound : INT64_MIN;
}

static bool get_range(
    const struct gen *gen, const struct env *env, struct value_range *r, struct err *err)
{
    r->a = gen->a;
    r->b = gen->b;
    r->a_int = whole_of(gen->a);
    r->b_int = whole_of(gen->b);
    if (gen->a_int) {
        if (!expr_eval(gen->a_int, env, &r->a_int, err))
            return false;
        r->a = (double)r->a_int;
    }
    if (gen->b_int) {
        if (!expr_eval(gen->b_int, env, &r->b_int, err))
            return false;
        r->b = (double)r->b_int;
    }
    if (gen->kind == GEN_RUNS && r->a_int < 1)
        return err_set(err, "runs of %" PRId64 " elements; expected at least 1", r->a_int);
    if ((gen->kind == GEN_INTEGERS || gen_rises(gen) || gen->kind == GEN_SKEWED ||
            gen->kind == GEN_NEARLY_SORTED) &&
        r->a_int > r->b_int)
        return err_set(err,
            "the range %" PRId64 "..%" PRId64 " is empty; expected the smaller "
            "one first",
            r->a_int, r->b_int);
    return true;
}

static bool fill_file(
    const struct task_array *array, const char *folder, void *elems, uint64_t nr, struct err *err)
{
    char path[4096];
    const char *name = array->gen.path;

    if (name[0] == '/' || !folder || !*folder)
        snprintf(path, sizeof(path), "%s", name);
    else
        snprintf(path, sizeof(path), "%s/%s", folder, name);
    return npy_read(path, array->elem, elems, nr, err) || err_wrap(err, "%s", array->name);
}

static void fill_one(const struct task_array *array, const struct value_range *r, uint64_t seed,
    double scale, void *elems, uint64_t i, uint64_t nr)
{
    enum elem elem;
    void *at = (unsigned char *)elems + array_place(array, i, &elem);
    struct value_range own = *r;
    enum gen_kind kind = array->gen.kind;

    if (kind == GEN_VALUES) {
        const struct gen gen = gen_default(elem);

        kind = gen.kind;
        own = (struct value_range){gen.a, gen.b, (int64_t)gen.a, (int64_t)gen.b};
    }
    scale = elem_is_float(elem) ? scale : 1; /* indices and counts must not be scaled */
    switch (kind) {
    case GEN_UNIFORM:
        elem_set(elem, at, 0, scale * real(unit(rng_mix(seed, i)), &own));
        break;
    case GEN_NORMAL:
        elem_set(elem, at, 0, scale * (own.a + own.b * normal(seed, i)));
        break;
    case GEN_INTEGERS:
        elem_set_int(elem, at, 0, whole(seed, i, &own));
        break;
    case GEN_SORTED:
        elem_set_int(elem, at, 0, sorted(seed, i, nr, &own));
        break;
    case GEN_SKEWED:
        elem_set_int(elem, at, 0, skewed(seed, i, &own));
        break;
    case GEN_NEARLY_SORTED:
        elem_set_int(elem, at, 0, nearly_sorted(seed, i, nr, &own));
        break;
    case GEN_SORTED_SKEWED:
        elem_set_int(elem, at, 0, sorted_skewed(i, nr, &own));
        break;
    case GEN_CONSTANT:
        elem_set(elem, at, 0, own.a);
        break;
    default:
        elem_set(elem, at, 0, own.a + own.b * (double)i);
    }
}

/* The values of fill_one in a short loop, for the most common arrays. False: another array. */
static bool fill_floats(const struct task_array *array, const struct value_range *r, uint64_t seed,
    double scale, float *floats, uint64_t nr)
{
    if (array->record || array->elem != ELEM_F32 || array->gen.kind != GEN_UNIFORM)
        return false;
    for (uint64_t i = 0; i < nr; i++)
        floats[i] = (float)(scale * (r->a + (r->b - r->a) * unit(rng_mix(seed, i))));
    return true;
}

bool inputs_fill(const struct task_array *array, const struct env *env, const char *folder,
    uint64_t seed, double scale, void *elems, uint64_t nr, struct err *err)
{
    const struct gen *gen = &array->gen;
    enum elem elem = array->elem;
    struct value_range r;

    seed = stream_of(array, seed);
    if (gen->kind == GEN_FILE)
        return fill_file(array, folder, elems, nr, err);
    if (!get_range(gen, env, &r, err))
        return err_wrap(err, "%s", array->name);
    if (gen_permutes(gen)) {
        fill_permutation(elem, seed, gen->kind == GEN_RUNS ? (uint64_t)r.a_int : 1, elems, nr);
        return true;
    }
    if (fill_floats(array, &r, seed, scale, elems, nr))
        return true;
    for (uint64_t i = 0; i < nr; i++)
        fill_one(array, &r, seed, scale, elems, i, nr);
    return true;
}

bool inputs_fill_beside(const struct task *task, const struct task_array *array,
    const struct env *env, uint64_t seed, void *elems, uint64_t nr, struct err *err)
{
    const char *slash = strrchr(task->path, '/');
    struct task_array other = *array;
    char folder[4096];
    struct err why;
    uint64_t timed;

    snprintf(folder, sizeof(folder), "%.*s", slash != NULL ? (int)(slash - task->path) : 1,
        slash != NULL ? task->path : ".");
    if (array->gen.kind == GEN_FILE &&
        !(array_elems(array, &task->timed.sizes, &timed, &why) && timed == nr))
        other.gen = array->gen.elsewhere ? *array->gen.elsewhere : gen_default(array->elem);
    return inputs_fill(&other, env, folder, seed, 1, elems, nr, err);
}
