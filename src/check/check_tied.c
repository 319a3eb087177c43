/* Owns the search for sizes that are tied to numbers in the kernel's text, so that the check can
 * still change the others. */
#include "check/check_parts.h"

#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

static unsigned nr_tails(const struct checker *k)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < k->nr_shapes; i++)
        nr += k->shapes[i].kind == SHAPE_DERIVED;
    return nr;
}

/* Does the original run at the timed sizes alone? What those did not allow (the finer checks of
 * large arrays) may be looked at with smaller ones. */
static bool has_own_sizes_alone(const struct checker *k)
{
    return k->nr_shapes == 0 || k->shapes[0].kind == SHAPE_RESORT;
}

/* At how many derived shapes does the original run, where these sizes are held? The checker stays
 * as it is. */
static bool count_running(
    struct checker *k, uint64_t held, unsigned *nr_running, bool *all, struct err *err)
{
    struct check_shape *const shapes = k->shapes;
    const unsigned nr_shapes = k->nr_shapes;
    const bool sanitize = k->sanitize;
    struct device_result result = {0};
    bool ok = true;

    *nr_running = 0;
    k->sanitize |= has_own_sizes_alone(k);
    shapes_choose(k->task, held, k->arena, &k->shapes, &k->nr_shapes);
    *all = true;
    for (unsigned i = 0; ok && i < k->nr_shapes && result.verdict != VERDICT_TIMEOUT; i++) {
        bool clean = false;

        if (k->shapes[i].kind != SHAPE_DERIVED)
            continue;
        ok = original_runs_at(k, i, &clean, &result, err);
        *nr_running += clean;
        *all = *all && clean;
    }
    *all = *all && *nr_running > 0;
    k->shapes = shapes;
    k->nr_shapes = nr_shapes;
    k->sanitize = sanitize;
    return ok;
}

static const int64_t tied_limits[] = {16, 32, 64, 256, 1024};
enum { NR_TIED_LIMITS = ARRAY_SIZE(tied_limits), MOST_TIED_SIZES = 16 };

/* The n-th guess which sizes are tied to a number in the kernel's text: each by itself, then all up
 * to a limit, since what a kernel's text fixes (channels, taps, the width of a head) is small. */
static uint64_t guess_tied(const struct env *sizes, unsigned n)
{
    uint64_t held = 0;

    if (n < sizes->nr)
        return UINT64_C(1) << n;
    for (size_t i = 0; i < sizes->nr; i++)
        if (sizes->bindings[i].value <= tied_limits[n - sizes->nr])
            held |= UINT64_C(1) << i;
    return held;
}

/* *held: the sizes with which, held, the original runs at most derived shapes; 0: at no more than
 * without with any. */
static bool find_tied(struct checker *k, uint64_t *held, struct err *err)
{
    const struct env *sizes = &k->task->timed.sizes;
    uint64_t guesses[MOST_TIED_SIZES + NR_TIED_LIMITS];
    unsigned most = nr_tails(k);
    bool all = false;

    *held = 0;
    for (unsigned n = 0; n < sizes->nr + NR_TIED_LIMITS && !(all && *held); n++) {
        bool known = false;
        unsigned nr;

        guesses[n] = guess_tied(sizes, n);
        for (unsigned i = 0; i < n; i++)
            known |= guesses[i] == guesses[n];
        if (known || guesses[n] == 0 || guesses[n] == (UINT64_C(1) << sizes->nr) - 1)
            continue;
        if (!count_running(k, guesses[n], &nr, &all, err))
            return false;
        if (nr > most) {
            most = nr;
            *held = guesses[n];
        }
    }
    return true;
}

/* Says which sizes have their timed value in all shapes. */
static void note_tied(struct checker *k, uint64_t held)
{
    const struct env *sizes = &k->task->timed.sizes;
    const char *names = "";

    for (size_t i = 0; i < sizes->nr; i++) {
        bool always = held >> i & 1;

        for (unsigned s = 0; s < k->nr_shapes; s++)
            always &= k->shapes[s].shape.sizes.bindings[i].value == sizes->bindings[i].value;
        if (always)
            names = arena_printf(k->arena, "%s%s%s = %" PRId64, names, *names ? ", " : "",
                sizes->bindings[i].name, sizes->bindings[i].value);
    }
    if (*names)
        caveat_add(
            k, arena_printf(k->arena, "%s everywhere: the original fails with others", names));
}

/* Adds the derived shapes with held sizes to those that were kept; keeps those of them that run. */
static bool add_held(struct checker *k, uint64_t held, struct err *err)
{
    const unsigned nr = k->nr_shapes;
    const struct check_shape *kept = k->shapes;
    const uint64_t *costs = k->costs;
    struct check_shape *more;
    unsigned nr_more;
    bool slow;

    shapes_choose(k->task, held, k->arena, &more, &nr_more);
    k->shapes = arena_array(k->arena, nr + nr_more + 1, sizeof(*k->shapes));
    k->costs = arena_array(k->arena, nr + nr_more + 1, sizeof(*k->costs));
    for (unsigned i = 0; i < nr; i++) {
        k->shapes[i] = kept[i];
        k->costs[i] = costs[i];
    }
    for (unsigned i = 0; i < nr_more; i++) {
        bool known = more[i].kind != SHAPE_DERIVED && more[i].kind != SHAPE_LONG;

        for (unsigned s = 0; s < nr; s++)
            known |= strcmp(kept[s].text, more[i].text) == 0;
        if (!known)
            k->shapes[k->nr_shapes++] = more[i];
    }
    if (!original_try_shapes(k, nr, &slow, err))
        return false;
    note_tied(k, held);
    return true;
}

/* Is the set of shapes so thin that some sizes may be tied to numbers in the kernel's text? On a
 * card a stray access may go unseen or end the context, so no guess is tried there. */
static bool may_have_tied(const struct checker *k)
{
    const size_t nr_sizes = k->task->timed.sizes.nr;

    return nr_tails(k) < LEAST_DERIVED && k->task->nr_checks == 0 && !shapes_use_files(k->task) &&
           nr_sizes >= 2 && nr_sizes <= MOST_TIED_SIZES && k->device->ops->catches_stray;
}

/* A number in the kernel's text may repeat a size (a template argument, a macro), which then must
 * stay, though the contract does not say so: the original fails at derived shapes until the size is
 * held. Other shapes that were kept stay: in them a held size may be another one. */
bool tied_keep_shapes(struct checker *k, struct err *err)
{
    bool kept, slow;
    uint64_t held;

    shapes_choose(k->task, 0, k->arena, &k->shapes, &k->nr_shapes);
    k->costs = arena_array(k->arena, k->nr_shapes + 1, sizeof(*k->costs));
    kept = original_try_shapes(k, 0, &slow, err);
    if ((!kept && (k->nr_shapes > 0 || err->original)) || slow || !may_have_tied(k))
        return kept;
    if (!find_tied(k, &held, err))
        return false;
    if (held == 0)
        return kept;
    if (has_own_sizes_alone(k)) {
        k->sanitize = true;
        k->unvetted = false;
        k->caveat = "";
    }
    for (unsigned i = k->nr_shapes; i-- > 0;)
        if (k->shapes[i].kind == SHAPE_RESORT) {
            original_drop_shape(k, i);
            k->nr_explicit--;
        }
    return add_held(k, held, err);
}
