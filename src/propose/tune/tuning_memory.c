/* Owns the memory of points. */
#include "propose/tune/tuning_memory.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger spaces are looked at through a sample, and the neighbours of the best point. */
enum { MOST_LOOKED_AT = 2048, MOST_DRAWN = 8 * MOST_LOOKED_AT };
/* Until so many points a parameter are known, the next one differs from the best in so many
 * parameters at most: where a rewrite begins is no bad place. */
enum { NEAR_PER_PARAMETER = 2, NEAR = 2 };

struct tune_record {
    uint64_t family, space;
    struct tune_result result;
    bool told; /* else given out, and under way */
};

struct tuning {
    uint64_t seed;
    struct tune_record *records;
    size_t nr, cap;
    /* Open addressing by family and point: a record's number plus 1, or 0. A power of two of slots,
     * at most half of them taken. */
    uint32_t *slots;
    size_t nr_slots;
};

struct tuning *tuning_create(uint64_t seed)
{
    struct tuning *t = xcalloc(1, sizeof(*t));

    t->seed = seed;
    return t;
}

void tuning_destroy(struct tuning *t)
{
    if (!t)
        return;
    free(t->records);
    free(t->slots);
    free(t);
}

/* --- spaces and families --- */

static struct tune_space space_of(const struct plan *plan)
{
    struct tune_space space = {.nr_params = plan->nr_tunes};

    if (space.nr_params > TUNE_MAX_PARAMS)
        space.nr_params = TUNE_MAX_PARAMS;
    for (unsigned i = 0; i < space.nr_params; i++)
        space.nr_values[i] = plan->tunes[i].nr_choices < 256 ? plan->tunes[i].nr_choices : 256;
    return space;
}

static struct tune_point point_of(const struct plan *plan)
{
    const struct tune_space space = space_of(plan);
    struct tune_point point = {{0}};

    for (unsigned i = 0; i < space.nr_params; i++)
        for (unsigned k = 0; k < space.nr_values[i]; k++)
            if (plan->tunes[i].choices[k] == plan->tunes[i].value)
                point.at[i] = (uint8_t)k;
    return point;
}

static uint64_t number_of_space(const struct plan *plan)
{
    uint64_t number = plan->nr_tunes;

    for (unsigned i = 0; i < plan->nr_tunes; i++) {
        const struct tune *tune = &plan->tunes[i];

        number = rng_mix(number, hash_bytes(tune->name, strlen(tune->name), 0).low);
        for (unsigned k = 0; k < tune->nr_choices; k++)
            number = rng_mix(number, (uint64_t)tune->choices[k]);
    }
    return number;
}

/* The hash of the source with the first value in each `tune` line. */
static uint64_t number_of_family(const struct rewrite_in *in)
{
    struct edits edits = {.arena = in->arena};
    const char *text = NULL;
    size_t bytes;

    for (unsigned i = 0; i < in->plan->nr_tunes; i++)
        pragma_set_tune(in, &edits, in->plan->tunes[i].name, in->plan->tunes[i].choices[0]);
    text = edits_apply(&edits, in->source, in->bytes, &bytes);
    return text ? hash_bytes(text, bytes, 0).low : hash_bytes(in->source, in->bytes, 0).low;
}

static bool same_point(const struct tune_point *a, const struct tune_point *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static unsigned nr_apart(const struct tune_point *a, const struct tune_point *b)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < TUNE_MAX_PARAMS; i++)
        nr += a->at[i] != b->at[i];
    return nr;
}

/* --- the memory --- */

/* The slot that has the record, or the free one where it belongs. There must be a free one. */
static uint32_t *slot_of(const struct tuning *t, uint64_t family, const struct tune_point *point)
{
    size_t i = (size_t)rng_mix(family, hash_bytes(point, sizeof(*point), 0).low);

    for (;; i++) {
        uint32_t *slot = &t->slots[i & (t->nr_slots - 1)];
        const struct tune_record *r = *slot ? &t->records[*slot - 1] : NULL;

        if (!r || (r->family == family && same_point(&r->result.point, point)))
            return slot;
    }
}

static struct tune_record *find(
    const struct tuning *t, uint64_t family, const struct tune_point *point)
{
    const uint32_t number = t->nr_slots ? *slot_of(t, family, point) : 0;

    return number ? &t->records[number - 1] : NULL;
}

static void make_room(struct tuning *t)
{
    if (t->nr < t->cap)
        return;
    t->cap = t->cap ? 2 * t->cap : 64;
    t->records = xrealloc(t->records, t->cap * sizeof(*t->records));
    free(t->slots);
    t->nr_slots = 2 * t->cap;
    t->slots = xcalloc(t->nr_slots, sizeof(*t->slots));
    for (size_t i = 0; i < t->nr; i++)
        *slot_of(t, t->records[i].family, &t->records[i].result.point) = (uint32_t)i + 1;
}

static struct tune_record *record_of(
    struct tuning *t, const struct rewrite_in *in, uint64_t family, const struct tune_point *point)
{
    struct tune_record *known = find(t, family, point);

    if (known)
        return known;
    make_room(t);
    t->records[t->nr] = (struct tune_record){
        .family = family, .space = number_of_space(in->plan), .result = {.point = *point}};
    *slot_of(t, family, point) = (uint32_t)t->nr + 1;
    return &t->records[t->nr++];
}

void tuning_told(struct tuning *t, const struct rewrite_in *in, double speedup)
{
    const struct tune_point point = point_of(in->plan);
    struct tune_record *record = record_of(t, in, number_of_family(in), &point);

    record->told = true;
    record->result.failed = !(speedup > 0);
    record->result.cost = record->result.failed ? 0 : -log2(speedup);
}

/* By how much the relative's points are slower than the family's, in the mean over the points that
 * both have measured. False: there is none. */
static bool shift_between(struct tuning *t, uint64_t family, uint64_t relative, double *shift)
{
    double sum = 0;
    unsigned nr = 0;

    for (size_t i = 0; i < t->nr; i++) {
        const struct tune_record *r = &t->records[i];
        const struct tune_record *own =
            r->family == relative && r->told ? find(t, family, &r->result.point) : NULL;

        if (own && own->told && !own->result.failed && !r->result.failed) {
            sum += own->result.cost - r->result.cost;
            nr++;
        }
    }
    *shift = nr ? sum / nr : 0;
    return nr > 0;
}

/* What is known of the family's points: its own results, then hints of relatives. */
static size_t results_of(
    struct tuning *t, uint64_t family, uint64_t space, struct tune_result *results, size_t *nr_own)
{
    uint64_t relative = family;
    double shift = 0;
    bool usable = false;
    size_t nr = 0;

    for (size_t i = 0; i < t->nr; i++)
        if (t->records[i].family == family && t->records[i].told)
            results[nr++] = t->records[i].result;
    *nr_own = nr;
    for (size_t i = 0; i < t->nr; i++) {
        const struct tune_record *r = &t->records[i];

        if (r->space != space || r->family == family || !r->told ||
            find(t, family, &r->result.point))
            continue;
        if (r->family != relative)
            usable = shift_between(t, family, relative = r->family, &shift);
        if (!usable)
            continue;
        results[nr] = r->result;
        results[nr].hint = true;
        results[nr++].cost += shift;
    }
    return nr;
}

/* --- what is allowed --- */

struct chooser {
    const struct rewrite_in *in;
    struct tune_space space;
    struct plan plan; /* a copy whose values change */
    struct env env;
    struct binding *values; /* those of the parameters in env */
};

static void chooser_begin(struct chooser *c, const struct rewrite_in *in)
{
    *c = (struct chooser){.in = in, .space = space_of(in->plan), .plan = *in->plan};
    c->env = plan_env(in->arena, &c->plan, &in->task->timed);
    c->values = arena_array(in->arena, c->env.nr, sizeof(*c->values));
    memcpy(c->values, c->env.bindings, c->env.nr * sizeof(*c->values));
    c->env.bindings = c->values;
    c->values += c->env.nr - c->plan.nr_tunes;
}

/* Whether every `where` holds at the point. */
static bool allowed(struct chooser *c, const struct tune_point *point)
{
    for (unsigned i = 0; i < c->space.nr_params; i++)
        c->values[i].value = c->plan.tunes[i].choices[point->at[i]];
    return plan_allows(&c->plan, &c->env);
}

/* The nth point of the whole space, from 0. */
static struct tune_point nth_point(const struct tune_space *space, uint64_t nth)
{
    struct tune_point point = {{0}};

    for (unsigned i = 0; i < space->nr_params; i++) {
        point.at[i] = (uint8_t)(nth % space->nr_values[i]);
        nth /= space->nr_values[i];
    }
    return point;
}

static uint64_t size_of(const struct tune_space *space)
{
    uint64_t size = 1;

    for (unsigned i = 0; i < space->nr_params && size < UINT32_MAX; i++)
        size *= space->nr_values[i];
    return size;
}

unsigned tuning_nr_others(const struct rewrite_in *in, unsigned most)
{
    const struct tune_point own = point_of(in->plan);
    struct chooser c;
    unsigned nr = 0;

    chooser_begin(&c, in);
    const uint64_t size = size_of(&c.space);

    for (uint64_t i = 0; i < size && i < 1u << 16 && nr < most; i++) {
        const struct tune_point point = nth_point(&c.space, i);

        nr += !same_point(&point, &own) && allowed(&c, &point);
    }
    return nr;
}

bool tuning_neighbour(const struct rewrite_in *in, unsigned nth, struct tune_point *point)
{
    const struct tune_point own = point_of(in->plan);
    struct chooser c;

    chooser_begin(&c, in);
    for (unsigned i = 0; i < c.space.nr_params; i++) {
        *point = own;
        for (unsigned k = 0; k < c.space.nr_values[i]; k++) {
            point->at[i] = (uint8_t)k;
            if (k != own.at[i] && allowed(&c, point) && nth-- == 0)
                return true;
        }
    }
    return false;
}

void tuning_given(struct tuning *t, const struct rewrite_in *in, const struct tune_point *point)
{
    record_of(t, in, number_of_family(in), point);
}

/* --- the next point --- */

struct candidates {
    struct tune_point *points;
    size_t nr;
};

static void consider(struct tuning *t, struct chooser *c, uint64_t family,
    const struct tune_point *near, const struct tune_point *point, struct candidates *found)
{
    if (found->nr < MOST_LOOKED_AT && (!near || nr_apart(near, point) <= NEAR) &&
        allowed(c, point) && !find(t, family, point))
        found->points[found->nr++] = *point;
}

/* Allowed points that were neither measured nor given out: all of them, or a sample. */
static void look(struct tuning *t, struct chooser *c, uint64_t family,
    const struct tune_point *best, bool near, struct candidates *found)
{
    const uint64_t size = size_of(&c->space);
    struct rng rng;

    for (unsigned i = 0; i < c->space.nr_params; i++) /* the neighbours come first */
        for (unsigned k = 0; k < c->space.nr_values[i] && size > MOST_DRAWN; k++) {
            struct tune_point point = *best;

            point.at[i] = (uint8_t)k;
            consider(t, c, family, NULL, &point, found);
        }
    rng_seed(&rng, t->seed, family);
    for (uint64_t i = 0; i < size && i < MOST_DRAWN; i++) {
        const struct tune_point point =
            nth_point(&c->space, size > MOST_DRAWN ? rng_below(&rng, size) : i);

        consider(t, c, family, near ? best : NULL, &point, found);
    }
}

/* The best measured point of the family that is not `own`. */
static bool best_other(
    struct tuning *t, uint64_t family, const struct tune_point *own, struct tune_point *point)
{
    const struct tune_record *best = NULL;

    for (size_t i = 0; i < t->nr; i++) {
        const struct tune_record *r = &t->records[i];

        if (r->family == family && r->told && !r->result.failed &&
            !(own && same_point(&r->result.point, own)) &&
            (!best || r->result.cost < best->result.cost))
            best = r;
    }
    if (best)
        *point = best->result.point;
    return best != NULL;
}

bool tuning_next(struct tuning *t, const struct rewrite_in *in, struct tune_point *point)
{
    const uint64_t family = number_of_family(in);
    const struct tune_point own = point_of(in->plan);
    struct tune_point best = own;
    struct candidates found = {.points = xcalloc(MOST_LOOKED_AT, sizeof(*found.points))};
    struct tune_result *results = xcalloc(t->nr + 1, sizeof(*results));
    struct chooser c;
    size_t nr_own, nr;

    chooser_begin(&c, in);
    record_of(t, in, family, &own); /* where we are is no candidate */
    nr = results_of(t, family, number_of_space(in->plan), results, &nr_own);
    best_other(t, family, NULL, &best);
    look(t, &c, family, &best, nr_own < NEAR_PER_PARAMETER * (size_t)c.space.nr_params, &found);
    if (found.nr == 0)
        look(t, &c, family, &best, false, &found);
    const bool fresh = found.nr > 0;

    if (fresh) {
        *point = found.points[surrogate_choose(
            &c.space, results, nr, found.points, found.nr, rng_mix(t->seed, family))];
        record_of(t, in, family, point);
    }
    free(found.points);
    free(results);
    return fresh || best_other(t, family, &own, point);
}
