/* Owns the profile stage: one set of inputs of the timed shape for all candidates of a run, the
 * measurement of each candidate, and the verdict on times below the roofline. */
#include "profile/profile.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "core/elem.h"
#include "core/inputs.h"
#include "core/objective.h"
#include "core/roofline.h"
#include "device/run.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TRIES = 3 }; /* of a measurement whose ratio is refused */

/* One period of an array's bytes; NULL: not kept, since nothing changes them. */
struct initial_bytes {
    void *bytes;
    uint64_t period;
};

struct profiler {
    struct device *device;
    const struct task *task;
    struct profiler_options options;
    double baseline_ns; /* 0: nobody has told it yet */
    double fastest_ns;  /* so far; 0: none */
    struct arena *arena;
    struct run_buffers buffers;    /* the task's arrays, at the timed shape; temps come and go */
    struct initial_bytes *initial; /* of each array, before a run */
    bool whole;                    /* the profile under way runs all blocks */
    bool untouched;                /* nothing has run since the arrays were filled */
    uint64_t *restore;             /* addresses of arrays that are both read and written */
    unsigned nr_restore;
    struct device_rotation *rotate; /* inputs whose order means nothing */
    unsigned nr_rotate;
    struct device_module *original; /* NULL: candidates are not compared with it */
    struct device_launch *original_launches;
    unsigned nr_original;
    struct run_buffers original_temps;
};

/* The inputs depend on the task only, so that every candidate of a run, and of a later run of the
 * same task, is timed on the same data. */
static const uint64_t inputs_seed = UINT64_C(0x6b6565742d6f7074);

static char *folder_of(const char *path)
{
    size_t len = (size_t)(file_name(path) - path);
    char *folder;

    if (len == 0)
        return xstrdup(".");
    folder = xstrdup(path);
    folder[len > 1 ? len - 1 : 1] = '\0';
    return folder;
}

/* Random values repeat after this many elements. That does not change a kernel's time, and drawing
 * tens of millions of values takes seconds. The check, where values matter, draws each one. */
static const uint64_t inputs_period = UINT64_C(1) << 20;

static double bound(const struct expr *expr, double literal, const struct env *env)
{
    int64_t value;
    struct err ignored;

    return expr && expr_eval(expr, env, &value, &ignored) ? (double)value : literal;
}

/* May an array's random values repeat? They may where kernels hardly use them as addresses, so that
 * caches see no difference. */
static bool is_repeatable(const struct gen *gen, const struct env *env)
{
    switch (gen->kind) {
    case GEN_UNIFORM:
    case GEN_NORMAL:
    case GEN_CONSTANT:
    case GEN_VALUES:
        return true;
    case GEN_INTEGERS:
        return bound(gen->b_int, gen->b, env) - bound(gen->a_int, gen->a, env) <
               (double)inputs_period;
    default:
        return false;
    }
}

/* Elements of one period. */
static uint64_t period_of(const struct run_buffer *buffer, const struct env *env)
{
    const enum role role = buffer->array->role;
    const bool repeats =
        role == ROLE_OUT || role == ROLE_TEMP || is_repeatable(&buffer->array->gen, env);

    return repeats && buffer->nr > inputs_period ? inputs_period : buffer->nr;
}

/* Bytes by which an input's contents may be rotated to give another input of the same kind: a third
 * of a period. 0: its order means something, or the kernel writes it. */
static uint64_t rotation_of(const struct run_buffer *buffer, const struct env *env)
{
    if (buffer->array->role != ROLE_IN || !is_repeatable(&buffer->array->gen, env))
        return 0;
    return array_bytes(buffer->array, period_of(buffer, env) / 3);
}

/* Data for arrays that a kernel should write before it reads them. On the emulator an earlier
 * launch may have been run for a sample of its blocks only, so that a later launch finds parts of
 * its input unwritten; such parts must hold values that indexing and arithmetic survive. */
static void fill_plausible(const struct task_array *array, void *elems, uint64_t nr)
{
    struct rng rng;
    enum elem elem;

    memset(elems, 0, array_bytes(array, nr));
    rng_seed(&rng, inputs_seed, 1);
    for (uint64_t i = 0; i < nr; i++) {
        const uint64_t at = array_place(array, i, &elem);

        if (elem_is_float(elem))
            elem_set(elem, (char *)elems + at, 0, rng_unit(&rng));
        else if (!array->record)
            break;
    }
}

static bool write_periods(struct profiler *p, const struct run_buffer *buffer,
    const struct initial_bytes *contents, struct err *err)
{
    return device_repeat(
        p->device, buffer->address, buffer->bytes, contents->bytes, contents->period, err);
}

static bool make_initial(struct profiler *p, unsigned nr_array, const char *folder, struct err *err)
{
    const struct run_buffer *buffer = &p->buffers.buffers[nr_array];
    const struct task_array *array = buffer->array;
    struct initial_bytes *contents = &p->initial[nr_array];
    const uint64_t nr = period_of(buffer, &p->task->timed.sizes);

    contents->period = array_bytes(array, nr);
    contents->bytes = xmalloc(contents->period > 0 ? contents->period : 1);
    if (array->role == ROLE_OUT)
        fill_plausible(array, contents->bytes, nr);
    else if (!inputs_fill(array, &p->task->timed.sizes, folder, rng_mix(inputs_seed, nr_array), 1.0,
                 contents->bytes, nr, err))
        return err_wrap(err, "inputs of the timed size");
    if (!write_periods(p, buffer, contents, err))
        return false;
    if (array->role == ROLE_IN && !p->options.after) {
        free(contents->bytes);
        contents->bytes = NULL;
    }
    return true;
}

static bool profiler_init(struct profiler *p, struct err *err)
{
    static const struct plan no_plan;
    struct device_result ignored; /* only temps set a verdict, and there are none */
    char *folder;
    bool ok = true;

    if (!run_alloc(p->device, p->task, &no_plan, &p->task->timed.sizes, 0, p->arena, &p->buffers,
            &ignored, err))
        return false;
    p->initial = xcalloc(p->buffers.nr + 1, sizeof(*p->initial));
    p->restore = arena_array(p->arena, p->buffers.nr + 1, sizeof(*p->restore));
    p->rotate = arena_array(p->arena, p->buffers.nr + 1, sizeof(*p->rotate));
    for (unsigned i = 0; i < p->buffers.nr; i++) {
        if (p->buffers.buffers[i].array->role == ROLE_INOUT)
            p->restore[p->nr_restore++] = p->buffers.buffers[i].address;
        if (rotation_of(&p->buffers.buffers[i], &p->task->timed.sizes) > 0)
            p->rotate[p->nr_rotate++] = (struct device_rotation){p->buffers.buffers[i].address,
                rotation_of(&p->buffers.buffers[i], &p->task->timed.sizes)};
    }
    folder = folder_of(p->task->path);
    for (unsigned i = 0; i < p->buffers.nr && ok; i++)
        ok = make_initial(p, i, folder, err);
    p->untouched = ok;
    free(folder);
    return ok;
}

struct profiler *profiler_create(struct device *device, const struct task *task,
    const struct profiler_options *options, struct err *err)
{
    struct profiler *p = xcalloc(1, sizeof(*p));

    p->device = device;
    p->task = task;
    p->options = *options;
    p->arena = arena_create();
    if (!profiler_init(p, err)) {
        profiler_destroy(p);
        return NULL;
    }
    return p;
}

void profiler_destroy(struct profiler *p)
{
    if (p == NULL)
        return;
    for (unsigned i = 0; p->initial != NULL && i < p->task->nr_arrays; i++)
        free(p->initial[i].bytes);
    free(p->initial);
    device_unload(p->device, p->original);
    run_free(p->device, &p->original_temps);
    run_free(p->device, &p->buffers);
    arena_destroy(p->arena);
    free(p);
}

void profiler_baseline(struct profiler *p, double time_ns)
{
    p->baseline_ns = time_ns;
    if (p->fastest_ns <= 0)
        p->fastest_ns = time_ns;
}

/* Lays out all buffers of a candidate: the profiler's own for the task's arrays, fresh ones for its
 * temps. The caller frees the fresh ones, from index task->nr_arrays on. */
static bool place_buffers(struct profiler *p, const struct candidate *c, const struct env *env,
    struct arena *arena, struct run_buffers *all, struct run_buffers *temps,
    struct device_result *result, struct err *err)
{
    struct task no_arrays = *p->task;

    no_arrays.nr_arrays = 0;
    if (!run_alloc(p->device, &no_arrays, &c->plan, env, 0, arena, temps, result, err))
        return false;
    if (result->verdict != VERDICT_OK)
        return true;
    all->nr = p->buffers.nr + temps->nr;
    all->buffers = arena_array(arena, all->nr + 1, sizeof(*all->buffers));
    for (unsigned i = 0; i < all->nr; i++)
        all->buffers[i] =
            i < p->buffers.nr ? p->buffers.buffers[i] : temps->buffers[i - p->buffers.nr];
    return true;
}

/* Every candidate starts from the same contents, whatever the one before it wrote. */
static bool restore_contents(struct profiler *p, const struct run_buffers *temps, struct err *err)
{
    for (unsigned i = 0; !p->untouched && i < p->buffers.nr; i++)
        if (p->initial[i].bytes && !write_periods(p, &p->buffers.buffers[i], &p->initial[i], err))
            return false;
    p->untouched = false;
    for (unsigned i = 0; i < temps->nr; i++) {
        const struct run_buffer *buffer = &temps->buffers[i];
        const uint64_t nr = period_of(buffer, &p->task->timed.sizes);
        struct initial_bytes contents = {.period = array_bytes(buffer->array, nr)};
        bool ok;

        contents.bytes = xmalloc(contents.period > 0 ? contents.period : 1);
        fill_plausible(buffer->array, contents.bytes, nr);
        ok = write_periods(p, buffer, &contents, err);
        free(contents.bytes);
        if (!ok)
            return false;
    }
    return true;
}

static bool fail_as(
    const struct profiler *p, struct candidate *c, const struct device_result *result)
{
    if (result->line == 0)
        return candidate_fail(c, result->verdict, 0, "when timed: %s", result->text);
    return candidate_fail(c, result->verdict, result->line, "%s:%u: when timed: %s",
        file_name(c->task->path), result->line, result->text);
}

static bool judge(struct profiler *p, struct candidate *c)
{
    const struct roofline roofline = task_roofline(p->device->chip, p->task, &c->profile);
    const double least_ns = roofline.source == ROOFLINE_STATED ? roofline.least_ns : 0;
    const double time_ns = c->profile.time_ns;

    c->profiled = true;
    candidate_count_sass(c);
    if (p->nr_original > 0)
        c->speedup = c->profile.timing.refused ? 0 : c->profile.timing.ratio;
    else if (p->baseline_ns > 0 && time_ns > 0)
        c->speedup = p->baseline_ns / time_ns;
    else
        c->speedup = 1;
    if (time_ns > 0 && time_ns >= 0.9 * least_ns)
        return true;
    c->speedup = 0;
    return candidate_fail(c, VERDICT_SUSPICIOUS, 0,
        "too fast to be true: %.3g us, but the chip needs %.3g us for the task's work (%.3g flops, "
        "%.3g bytes)",
        time_ns / 1e3, least_ns / 1e3, roofline.flops, roofline.bytes);
}

/* Measures up to MAX_TRIES times: by then, wandering clocks may have settled. */
static bool measure_until_taken(struct profiler *p, struct candidate *c,
    struct device_module *module, const struct device_measure *measure,
    const struct run_buffers *temps, struct device_result *result, struct err *err)
{
    for (unsigned try = 0; try < MAX_TRIES; try++) {
        p->device->ops->reset(p->device, module);
        if (measure->baseline_module)
            p->device->ops->reset(p->device, measure->baseline_module);
        if (!restore_contents(p, temps, err) ||
            !device_measure(p->device, module, measure, c->arena, &c->profile, result, err))
            return false;
        if (result->verdict != VERDICT_OK || !c->profile.timing.refused)
            break;
    }
    return true;
}

/* Speed first: energy matters for the fast variants only. */
static bool measure_energy(struct profiler *p, struct candidate *c, struct device_module *module,
    const struct device_measure *measure, const struct run_buffers *temps, struct err *err)
{
    struct device_result result = {0};

    if (!p->options.energy || p->device->ops->energy == NULL || c->profile.timing.refused ||
        !objective_is_fast(c->profile.time_ns, p->fastest_ns))
        return true;
    if (p->fastest_ns <= 0 || c->profile.time_ns < p->fastest_ns)
        p->fastest_ns = c->profile.time_ns;
    if (!restore_contents(p, temps, err) ||
        !p->device->ops->energy(p->device, module, measure, &c->profile, &result, err))
        return false;
    if (result.text[0] != '\0')
        c->profile.no_energy = arena_strdup(c->arena, result.text);
    return true;
}

/* The candidate whose launches are measured. */
struct under_way {
    const struct profiler_options *options;
    struct candidate *c;
};

static uint32_t wanted(void *owner)
{
    const struct under_way *now = owner;

    return now->options->wanted(now->options->owner, now->c);
}

static bool measure_bound(struct profiler *p, struct candidate *c, struct device_module *module,
    const struct env *env, struct device_result *result, struct err *err)
{
    struct run_buffers all = {0}, temps = {0};
    struct under_way now = {&p->options, c};
    struct device_measure measure = {.nr_launches = c->plan.nr_launches,
        .sample_blocks = p->whole ? UINT64_MAX : p->options.sample_blocks,
        .quick_cures = p->options.quick_cures,
        .wanted = p->options.wanted ? wanted : NULL,
        .owner = &now,
        .baseline_module = p->original,
        .baseline = p->original_launches,
        .nr_baseline = p->nr_original,
        .restore = p->restore,
        .nr_restore = p->nr_restore,
        .rotate = p->rotate,
        .nr_rotate = p->nr_rotate};
    struct device_launch *launches;
    bool ok;

    if (!run_temps_fit(&c->plan, env, result))
        return true;
    if (!place_buffers(p, c, env, c->arena, &all, &temps, result, err))
        return false;
    if (result->verdict != VERDICT_OK)
        return true;
    ok = run_bind(p->task, &c->plan, &c->compilation, env, &all, c->arena, &launches, result, err);
    if (ok && result->verdict == VERDICT_OK) {
        /* One seed for all: candidates are compared on the same sample of blocks. */
        for (unsigned i = 0; i < c->plan.nr_launches; i++)
            launches[i].seed = inputs_seed;
        measure.launches = launches;
        ok = measure_until_taken(p, c, module, &measure, &temps, result, err);
        if (ok && result->verdict == VERDICT_OK)
            ok = measure_energy(p, c, module, &measure, &temps, err);
        if (ok && result->verdict == VERDICT_OK && p->device->ops->compares && p->options.after)
            ok = p->options.after(p->options.owner, c, module, launches, &all, err);
    }
    run_free(p->device, &temps);
    return ok;
}

bool profiler_original(struct profiler *p, const struct candidate *original, struct err *err)
{
    struct env env = plan_env(p->arena, &original->plan, &p->task->timed);
    struct run_buffers all = {0};
    struct device_result result;

    if (!p->device->ops->compares)
        return true;
    if (!place_buffers(p, original, &env, p->arena, &all, &p->original_temps, &result, err))
        return err_wrap(err, "timing beside the original");
    if (result.verdict == VERDICT_OK &&
        (!restore_contents(p, &p->original_temps, err) ||
            !device_load(p->device, &original->compilation, &p->original, &result, err)))
        return err_wrap(err, "timing beside the original");
    if (result.verdict == VERDICT_OK &&
        !run_bind(p->task, &original->plan, &original->compilation, &env, &all, p->arena,
            &p->original_launches, &result, err))
        return false;
    if (result.verdict != VERDICT_OK)
        return err_set(err, "timing beside the original: %s", result.text);
    for (unsigned i = 0; i < original->plan.nr_launches; i++)
        p->original_launches[i].seed = inputs_seed;
    p->nr_original = original->plan.nr_launches;
    return true;
}

static bool take_profile(struct profiler *p, struct candidate *c, struct err *err)
{
    struct env env;
    struct device_module *module;
    struct device_result result;
    bool ok;

    env = plan_env(c->arena, &c->plan, &p->task->timed);
    if (!device_load(p->device, &c->compilation, &module, &result, err))
        return err_wrap(err, "profile");
    ok = true;
    if (result.verdict == VERDICT_OK)
        ok = measure_bound(p, c, module, &env, &result, err);
    device_unload(p->device, module);
    if (!ok)
        return err_wrap(err, "profile");
    if (c->verdict != VERDICT_OK)
        return true;
    return result.verdict == VERDICT_OK ? judge(p, c) : fail_as(p, c, &result);
}

bool profile_kernel(struct profiler *p, struct candidate *c, struct err *err)
{
    return candidate_evaluated(c) || take_profile(p, c, err);
}

bool profile_whole(struct profiler *p, struct candidate *c, struct err *err)
{
    bool ok;

    c->profile = (struct profile){0};
    p->whole = true;
    ok = take_profile(p, c, err);
    p->whole = false;
    return ok;
}

bool profile_is_off(const struct candidate *c, uint64_t thread_insts)
{
    const double counted = (double)thread_insts,
                 sampled = counters_get(&c->profile.total, METRIC_THREAD_INST);

    return counted > 0 && sampled > 0 && (counted > 1.25 * sampled || sampled > 1.25 * counted);
}
