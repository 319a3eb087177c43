/* Owns what is said of contents: so that other sizes get the like of them. */
#include "capture/capture.h"

#include "base/file.h"
#include "core/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct facts {
    int64_t least, most;
    double least_real, most_real;
    bool rises, even, finite; /* no element below the one before it; all steps alike */
};

static struct facts look(enum elem elem, const void *elems, uint64_t nr)
{
    const bool real = elem_is_float(elem);
    struct facts f = {.rises = true, .even = true, .finite = true};
    double step = 0;

    for (uint64_t i = 0; i < nr; i++) {
        const double x = elem_get(elem, elems, i),
                     before = i > 0 ? elem_get(elem, elems, i - 1) : x;
        const int64_t whole = real ? 0 : elem_get_int(elem, elems, i);

        f.finite &= isfinite(x);
        f.rises &= i == 0 || x >= before;
        step = i == 1 ? x - before : step;
        f.even &= i < 2 || x - before == step;
        f.least = i == 0 || whole < f.least ? whole : f.least;
        f.most = i == 0 || whole > f.most ? whole : f.most;
        f.least_real = i == 0 || x < f.least_real ? x : f.least_real;
        f.most_real = i == 0 || x > f.most_real ? x : f.most_real;
    }
    return f;
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
    return found != NULL ? found : arena_printf(arena, "%" PRId64, most);
}

/* Programs fill arrays of reals with i, or with 1, for want of data: kernels may not count on it.
 * The sign of a constant is kept, since its kernel may take the logarithm. */
static const char *describe_reals(struct arena *arena, const struct facts *f)
{
    enum { LEAST_SPAN = 8, MOST_WHOLE = 1 << 24 };
    const double middle = f->least_real, half = f->most_real == middle ? fabs(middle) / 2 : 0,
                 low = ceil(f->least_real), high = floor(f->most_real);

    if (middle == 0 && f->most_real == 0)
        return "uniform(0, 1)";
    if (f->rises && high - low >= LEAST_SPAN && low > -MOST_WHOLE && high < MOST_WHOLE)
        return arena_printf(arena, "sorted(%.0f, %.0f)", low, high);
    return arena_printf(arena, "uniform(%.9g, %.9g)", middle - half, f->most_real + half);
}

const char *capture_describe(
    struct arena *arena, enum elem elem, const void *elems, uint64_t nr, const struct env *sizes)
{
    const struct facts f = look(elem, elems, nr);

    if (nr < 2 || !f.finite)
        return NULL;
    if (elem_is_float(elem))
        return describe_reals(arena, &f);
    if (f.least_real == f.most_real)
        return arena_printf(arena, "constant(%.9g)", f.least_real);
    if (f.even)
        return arena_printf(arena, "iota(%.9g, %.9g)", elem_get(elem, elems, 0),
            elem_get(elem, elems, 1) - elem_get(elem, elems, 0));
    if (f.least < 0)
        return arena_printf(arena, "%s(%" PRId64 ", %" PRId64 ")", f.rises ? "sorted" : "integers",
            f.least, f.most);
    return arena_printf(arena, "%s(%" PRId64 ", %s)", f.rises ? "sorted" : "integers", f.least,
        bound(arena, f.most, f.rises, nr, sizes));
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
