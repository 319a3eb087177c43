/* Owns the choice of inputs: the declared ones at some scales, and at cheap shapes sets that tell
 * kernels apart. */
#include "base/rng.h"
#include "check/check_compare.h"
#include "check/check_parts.h"

#include <math.h>
#include <string.h>

enum { NR_POOL = 3 }; /* seeds of an expensive shape, so few that their references recur */

static const double scales[] = {1, 3, 0.01, -1};

uint64_t sets_pool_seed(unsigned shape, unsigned which)
{
    return rng_mix(0x6b656574 /* "keet" */, 64 * (uint64_t)shape + which);
}

static uint64_t seed_of(
    const struct checker *k, const struct candidate *c, unsigned shape, unsigned set)
{
    if (set == 0 || k->shapes[shape].kind == SHAPE_TIMED)
        return sets_pool_seed(shape, 0);
    if (k->costs[shape] > CHECK_BUDGET / 16)
        return sets_pool_seed(shape, 1 + (unsigned)(rng_mix(c->seed, set) % NR_POOL));
    return rng_mix(c->seed, 64 * (uint64_t)shape + set);
}

struct input_set sets_usual(
    const struct checker *k, const struct candidate *c, unsigned shape, unsigned set)
{
    return (struct input_set){
        .scale = k->shapes[shape].kind == SHAPE_TIMED ? 1 : scales[(2 * shape + set) % 4],
        .seed = c ? seed_of(k, c, shape, set) : sets_pool_seed(shape, 0)};
}

struct input_set sets_extra(
    const struct checker *k, const struct candidate *c, const struct extra_set *extra)
{
    const unsigned which = (unsigned)(rng_mix(c->seed, 500 + extra->style) % 2);

    return (struct input_set){.style = extra->style,
        .other_scalars = extra->other_scalars,
        .scale = extra->scale,
        .seed = sets_pool_seed(extra->shape,
            16 + 2 * (extra->style + NR_INPUT_STYLES * extra->other_scalars) + which)};
}

/* Other values that a kernel must take as well: neither the signs nor the magnitudes change. */
static void vary_scalars(struct checker *k)
{
    const struct task *task = k->task;
    struct task_scalar *scalars = arena_array(k->arena, task->nr_scalars + 1, sizeof(*scalars));

    for (unsigned i = 0; i < task->nr_scalars; i++) {
        double *value = &scalars[i].value;

        scalars[i] = task->scalars[i];
        if (scalars[i].is_fixed)
            continue;
        if (elem_is_float(scalars[i].elem))
            *value = *value == 0 ? 0.5 : *value * (0.625 + 0.03125 * (i % 4));
        else if (scalars[i].elem == ELEM_BOOL)
            *value = *value == 0;
        else
            *value = *value > 1 ? *value - 1 : *value + 1;
        k->vary_scalars = true;
    }
    k->varied = *task;
    k->varied.scalars = scalars;
}

static bool has_default_integers(const struct task *task)
{
    for (unsigned i = 0; i < task->nr_arrays; i++) {
        if (task->arrays[i].role != ROLE_OUT && !elem_is_float(task->arrays[i].elem) &&
            gen_is_default_integers(&task->arrays[i].gen))
            return true;
    }
    return false;
}

static bool has_float_input(const struct task *task)
{
    for (unsigned i = 0; i < task->nr_arrays; i++)
        if (task->arrays[i].role != ROLE_OUT &&
            (task->arrays[i].record || elem_is_float(task->arrays[i].elem)))
            return true;
    return false;
}

/* The most costly shapes that are still cheap: small ones have few rows and short ones. */
static unsigned pick_shapes(const struct checker *k, unsigned picked[2])
{
    const uint64_t most = CHECK_BUDGET / 16;
    unsigned nr = 0;

    for (unsigned round = 0; round < 2; round++) {
        unsigned best = UINT32_MAX;

        for (unsigned i = 0; i < k->nr_shapes; i++) {
            const enum shape_kind kind = k->shapes[i].kind;

            if (kind == SHAPE_LONG || kind == SHAPE_TIMED || k->costs[i] > most ||
                (nr > 0 && i == picked[0]))
                continue;
            if (best == UINT32_MAX || k->costs[i] > k->costs[best])
                best = i;
        }
        if (best != UINT32_MAX)
            picked[nr++] = best;
    }
    return nr;
}

/* Where every shape is costly: the cheapest. */
static unsigned cheapest(const struct checker *k)
{
    unsigned best = 0;

    for (unsigned i = 1; i < k->nr_shapes; i++)
        if (k->shapes[i].kind != SHAPE_LONG && k->costs[i] < k->costs[best])
            best = i;
    return best;
}

static bool is_wanted(const struct task *task, enum input_style style)
{
    switch (style) {
    case INPUT_DECLARED:
        return false;
    case INPUT_NAN:
        return task->inputs_nan;
    case INPUT_WIDE:
        return has_default_integers(task);
    case INPUT_HIGH:
    case INPUT_MIXED:
    case INPUT_BIG:
        return has_float_input(task);
    default:
        return true;
    }
}

static void add_extra(
    struct checker *k, enum input_style style, bool other_scalars, double scale, unsigned shape)
{
    k->extras[k->nr_extras++] = (struct extra_set){
        .style = style, .other_scalars = other_scalars, .scale = scale, .shape = shape};
}

void sets_choose(struct checker *k)
{
    static const enum input_style few[] = {INPUT_TIES, INPUT_ROWS, INPUT_ZEROS};
    unsigned picked[2], nr;

    vary_scalars(k);
    k->extras = arena_array(k->arena, NR_INPUT_STYLES + 3, sizeof(*k->extras));
    if (k->nr_shapes == 0)
        return;
    nr = pick_shapes(k, picked);
    for (int style = 0; nr > 0 && style < NR_INPUT_STYLES; style++)
        if (is_wanted(k->task, (enum input_style)style))
            add_extra(k, (enum input_style)style, false, 1, picked[(unsigned)style % nr]);
    if (nr == 0) {
        picked[0] = cheapest(k);
        for (unsigned i = 0; k->costs[picked[0]] <= CHECK_BUDGET && i < 3; i++)
            add_extra(k, few[i], false, 1, picked[0]);
    }
    /* A small addend to a variance shows where the inputs are small, too. */
    if (k->vary_scalars && (nr > 0 || k->costs[picked[0]] <= CHECK_BUDGET)) {
        add_extra(k, INPUT_DECLARED, true, 1, picked[0]);
        add_extra(k, INPUT_DECLARED, true, 0.01, picked[0]);
    }
}

void sets_note_typical(struct checker *k, const struct host_arrays *outputs)
{
    k->typical = arena_array(k->arena, k->task->nr_arrays + 1, sizeof(*k->typical));
    outputs_typical(k->task, outputs, k->typical);
    for (unsigned i = 0; i < k->task->nr_arrays; i++) {
        const struct task_array *array = &k->task->arrays[i];
        const struct tolerance t = compare_tolerance(k->task, array, 1);

        if (array->role == ROLE_IN || array->record || !(t.abs > k->typical[i]) ||
            k->typical[i] <= 0)
            continue;
        caveat_add(k, arena_printf(k->arena,
                          "the tolerance abs = %g exceeds what %s typically has (%.3g): nearly any "
                          "number is right there",
                          t.abs, array->name, k->typical[i]));
    }
}

/* Inputs made smaller make outputs smaller, and then `abs` must shrink, or it would allow anything.
 */
const double *sets_shrink(const struct checker *k, const struct input_set *set,
    const struct host_arrays *outputs, double *room)
{
    if (!k->typical || !input_set_is_usual(set) || fabs(set->scale) >= 1)
        return NULL;
    outputs_typical(k->task, outputs, room);
    for (unsigned i = 0; i < k->task->nr_arrays; i++) {
        const double ratio = k->typical[i] > 0 ? room[i] / k->typical[i] : 1;

        room[i] = ratio > 1 ? 1 : ratio < 0x1p-10 ? 0x1p-10 : ratio;
    }
    return room;
}
