/* Owns the runs of the original in f64: the measure of its own rounding. The caller of the checker
 * compiles the original with double in place of float; here its arrays become wider, too. */
#include "check/check_exact.h"

#include "base/mem.h"
#include "check/check_compare.h"
#include "check/check_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct exact {
    struct check_wide wide;
    struct device_module *module; /* NULL: it cannot be run */
    struct arena *arena;
    /* the last outputs */
    bool known, usable;
    unsigned where;
    struct input_set set;
    struct host_arrays outputs;
    double **values; /* per array */
};

static const struct shape *shape_at(const struct checker *k, unsigned where)
{
    return where == UINT_MAX ? &k->task->timed : &k->shapes[where].shape;
}

static bool is_widened(const struct exact *e, const struct checker *k, unsigned a)
{
    return k->task->arrays[a].elem == ELEM_F32 && e->wide.task->arrays[a].elem == ELEM_F64 &&
           !k->task->arrays[a].record;
}

/* The inputs in the narrow types, as the original has them, and then wider. */
static bool fill_wide(struct checker *k, unsigned where, const struct input_set *set,
    struct host_arrays *wide, struct err *err)
{
    const struct env *env = &shape_at(k, where)->sizes;
    const bool timed = where == UINT_MAX || k->shapes[where].kind == SHAPE_TIMED;
    const char *folder = where == UINT_MAX ? NULL : k->shapes[where].folder;
    struct host_arrays narrow = {0};
    bool ok = host_init(&narrow, k->task, env, err) &&
              host_init(wide, k->exact->wide.task, env, err) &&
              host_fill(&narrow, k->task, env, set, timed, folder, err);

    for (unsigned a = 0; ok && a < k->task->nr_arrays; a++) {
        if (!is_widened(k->exact, k, a)) {
            memcpy(wide->bytes[a], narrow.bytes[a], array_bytes(&k->task->arrays[a], narrow.nr[a]));
            continue;
        }
        for (uint64_t i = 0; i < narrow.nr[a]; i++)
            ((double *)wide->bytes[a])[i] = (double)((const float *)narrow.bytes[a])[i];
    }
    host_finish(&narrow);
    return ok;
}

static bool run_wide(
    struct checker *k, unsigned where, const struct input_set *set, bool *clean, struct err *err)
{
    struct exact *e = k->exact;
    struct task *task = (struct task *)(uintptr_t)e->wide.task;
    struct arena *arena = arena_create();
    struct host_arrays inputs = {0};
    struct device_result result = {0};
    struct check_run run = {.device = k->device,
        .task = task,
        .plan = e->wide.plan,
        .compilation = e->wide.compilation,
        .module = e->module,
        .shape = shape_at(k, where),
        .inputs = &inputs,
        .poison = POISON_FIRST};
    bool ok;

    host_finish(&e->outputs);
    if (set->other_scalars) /* their values are those of the narrow task */
        for (unsigned i = 0; i < task->nr_scalars; i++)
            task->scalars[i].value = k->varied.scalars[i].value;
    ok = fill_wide(k, where, set, &inputs, err) &&
         host_init(&e->outputs, task, &run.shape->sizes, err) &&
         check_run(&run, arena, &e->outputs, &result, err);
    for (unsigned i = 0; i < task->nr_scalars; i++)
        task->scalars[i].value = k->task->scalars[i].value;
    *clean = ok && result.verdict == VERDICT_OK;
    host_finish(&inputs);
    arena_destroy(arena);
    return ok;
}

/* The wider run must say the same as the narrow one on the first inputs, but for rounding: code
 * that looks at the bits of a float does not. */
static bool is_plausible(struct checker *k, struct err *err, bool *plausible)
{
    const struct input_set set = {.scale = 1, .seed = 11};
    struct exact *e = k->exact;
    struct host_arrays narrow = {0};
    struct device_result result;
    bool clean = false, ok;

    *plausible = false;
    ok =
        run_wide(k, 0, &set, &clean, err) && original_run(k, 0, &set, false, &narrow, &result, err);
    if (ok && clean && result.verdict == VERDICT_OK) {
        *plausible = true;
        for (unsigned a = 0; a < k->task->nr_arrays; a++) {
            const struct task_array *array = &k->task->arrays[a];
            const struct tolerance t = compare_tolerance(k->task, array, 1);

            if (array->role == ROLE_IN || !is_widened(e, k, a))
                continue;
            for (uint64_t i = 0; i < narrow.nr[a]; i++) {
                const double x = ((const double *)e->outputs.bytes[a])[i],
                             r = (double)((const float *)narrow.bytes[a])[i];
                uint64_t bits, poison;

                memset(&poison, POISON_FIRST, sizeof(poison));
                memcpy(&bits, &((const double *)e->outputs.bytes[a])[i], sizeof(bits));
                if (bits == poison)
                    continue; /* written by neither, or by the narrow run only */
                if (!(x == r || (x - r) * (x - r) <= 256 * (t.abs + t.rel * (r < 0 ? -r : r)) *
                                                         (t.abs + t.rel * (r < 0 ? -r : r))))
                    *plausible = false;
            }
        }
    }
    host_finish(&narrow);
    return ok;
}

static bool make(struct checker *k, struct err *err)
{
    struct exact *e = k->exact = xcalloc(1, sizeof(*e));
    struct device_result result;
    bool found = false, plausible;

    e->arena = arena_create();
    if (!k->widen || !k->widen(k->owner, e->arena, &e->wide, &found, err) || !found)
        return !k->widen || found || !*err->text;
    if (!device_load(k->device, e->wide.compilation, &e->module, &result, err))
        return false;
    if (result.verdict != VERDICT_OK) {
        e->module = NULL;
        return true;
    }
    e->values = arena_array(e->arena, k->task->nr_arrays + 1, sizeof(*e->values));
    if (!is_plausible(k, err, &plausible))
        return false;
    if (!plausible) {
        device_unload(k->device, e->module);
        e->module = NULL;
    }
    return true;
}

bool exact_outputs(struct checker *k, unsigned where, const struct input_set *set,
    double *const **outputs, struct err *err)
{
    struct exact *e;

    *outputs = NULL;
    err->text[0] = '\0';
    if (!k->exact && !make(k, err))
        return false;
    e = k->exact;
    if (!e->module)
        return true;
    if (!e->known || e->where != where || !input_set_same(&e->set, set)) {
        e->known = true;
        e->where = where;
        e->set = *set;
        if (!run_wide(k, where, set, &e->usable, err))
            return false;
        for (unsigned a = 0; e->usable && a < k->task->nr_arrays; a++)
            e->values[a] = k->task->arrays[a].role != ROLE_IN && is_widened(e, k, a)
                               ? (double *)e->outputs.bytes[a]
                               : NULL;
    }
    *outputs = e->usable ? e->values : NULL;
    return true;
}

void exact_destroy(struct checker *k)
{
    struct exact *e = k->exact;

    if (!e)
        return;
    host_finish(&e->outputs);
    if (e->module)
        device_unload(k->device, e->module);
    arena_destroy(e->arena);
    free(e);
    k->exact = NULL;
}
