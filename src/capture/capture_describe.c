/* Owns what is said of contents: so that other sizes get the like of them. */
#include "capture/capture.h"

#include "base/file.h"
#include "core/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    LARGEST_EXACT_LOG2 = 53
}; /* whole numbers that a double holds, as `constant` and `iota` do */

struct facts {
    int64_t least, most, first;
    uint64_t step; /* of whole numbers, modulo 2^64 */
    double least_real, most_real;
    bool rises, even, finite; /* no element below the one before it; all steps alike */
};

static struct facts look_at_reals(enum elem elem, const void *elems, uint64_t nr)
{
    struct facts f = {.rises = true, .finite = true};
    double before = 0;

    for (uint64_t i = 0; i < nr; i++) {
        const double x = elem_get(elem, elems, i);

        f.finite &= isfinite(x);
        f.rises &= i == 0 || x >= before;
        f.least_real = i == 0 || x < f.least_real ? x : f.least_real;
        f.most_real = i == 0 || x > f.most_real ? x : f.most_real;
        before = x;
    }
    return f;
}

static struct facts look_at_integers(enum elem elem, const void *elems, uint64_t nr)
{
    struct facts f = {.rises = true, .even = true, .finite = true};
    int64_t before = 0;

    for (uint64_t i = 0; i < nr; i++) {
        const int64_t x = elem_get_int(elem, elems, i);
        const uint64_t step = (uint64_t)x - (uint64_t)before;

        f.rises &= i == 0 || x >= before;
        f.first = i == 0 ? x : f.first;
        f.step = i == 1 ? step : f.step;
        f.even &= i < 2 || step == f.step;
        f.least = i == 0 || x < f.least ? x : f.least;
        f.most = i == 0 || x > f.most ? x : f.most;
        before = x;
    }
    return f;
}

/* As an expression; the least number of all has no literal. */
static const char *number(struct arena *arena, int64_t v)
{
    return v == INT64_MIN ? arena_printf(arena, "%" PRId64 " - 1", v + 1)
                          : arena_printf(arena, "%" PRId64, v);
}

/* The largest value in terms of a size: of sorted numbers exactly a size or one less, of others
 * what is below a size of which they use more than half. */
static const char *bound(
    struct arena *arena, int64_t most, bool sorted, uint64_t nr, const struct env *sizes)
{
    const char *found = NULL;
    int64_t best = INT64_MAX;

    for (size_t i = 0; i < sizes->nr; i++) {
        const int64_t v = sizes->bindings[i].value;
        const char *name = sizes->bindings[i].name;

        if (most == v && sorted)
            return name;
        if (most == v - 1)
            return arena_printf(arena, "%s - 1", name);
        if (!sorted && most < v && most > v / 2 && v < best && nr > 8) {
            best = v;
            found = arena_printf(arena, "%s - 1", name);
        }
    }
    return found != NULL ? found : number(arena, most);
}

static bool holds(enum elem elem, double x)
{
    uint64_t place = 0;

    elem_set(elem, &place, 0, x);
    return isfinite(elem_get(elem, &place, 0));
}

/* Programs fill arrays of reals with i, or with 1, for want of data: kernels may not count on it.
 * The sign of a constant is kept, since its kernel may take the logarithm. */
static const char *describe_reals(struct arena *arena, enum elem elem, const struct facts *f)
{
    enum { LEAST_SPAN = 8, MOST_WHOLE = 1 << 24 };
    const double middle = f->least_real, half = f->most_real == middle ? fabs(middle) / 2 : 0,
                 low = ceil(f->least_real), high = floor(f->most_real);

    if (middle == 0 && f->most_real == 0)
        return "uniform(0, 1)";
    if (f->rises && high - low >= LEAST_SPAN && low > -MOST_WHOLE && high < MOST_WHOLE)
        return arena_printf(arena, "sorted(%.0f, %.0f)", low, high);
    return arena_printf(arena, "uniform(%.9g, %.9g)",
        holds(elem, middle - half) ? middle - half : middle,
        holds(elem, f->most_real + half) ? f->most_real + half : f->most_real);
}

/* The upper half of u64 is below 0 here, as it is to `sorted` and `integers`, which set all bits.
 */
static const char *describe_integers(struct arena *arena, enum elem elem, const struct facts *f,
    uint64_t nr, const struct env *sizes)
{
    const int64_t largest = INT64_C(1) << LARGEST_EXACT_LOG2,
                  smallest = elem == ELEM_U64 ? 0 : -largest;
    const char *kind = f->rises ? "sorted" : "integers";

    if (f->least >= smallest && f->most <= largest) {
        if (f->least == f->most)
            return arena_printf(arena, "constant(%" PRId64 ")", f->least);
        if (f->even)
            return arena_printf(
                arena, "iota(%" PRId64 ", %" PRId64 ")", f->first, (int64_t)f->step);
    }
    return arena_printf(arena, "%s(%s, %s)", kind, number(arena, f->least),
        f->least < 0 ? number(arena, f->most) : bound(arena, f->most, f->rises, nr, sizes));
}

const char *capture_describe(
    struct arena *arena, enum elem elem, const void *elems, uint64_t nr, const struct env *sizes)
{
    struct facts f;

    if (nr < 2)
        return NULL;
    if (!elem_is_float(elem)) {
        f = look_at_integers(elem, elems, nr);
        return describe_integers(arena, elem, &f, nr, sizes);
    }
    f = look_at_reals(elem, elems, nr);
    return f.finite ? describe_reals(arena, elem, &f) : NULL;
}

const char *capture_like(
    struct arena *arena, const struct capture_memory *m, enum elem elem, const struct env *sizes)
{
    const uint64_t nr = m->bytes / elem_bytes(m->elem);
    const char *like = NULL;
    char *bytes = NULL;
    size_t len = 0;
    struct err err;
    bool ok = false;

    if (m->before != NULL) {
        len = nr * elem_bytes(m->elem);
        bytes = malloc(len + 1);
        ok = bytes != NULL && npy_read(m->before, m->elem, bytes, nr, &err);
    } else if (m->sample != NULL) {
        ok = file_read(m->sample, m->bytes, &bytes, &len, &err);
    }
    if (ok)
        like = capture_describe(arena, elem, bytes, len / elem_bytes(elem), sizes);
    free(bytes);
    return like;
}
