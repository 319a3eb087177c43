/* Owns the checker's knowledge of the original: the sizes at which it runs cleanly, its outputs
 * there, and the cache of those outputs. */
#include "check/check_parts.h"

#include "base/mem.h"
#include "base/rng.h"
#include "check/check_compare.h"
#include "core/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_MAX_BYTES = 64 << 20 };

/* Limits on the original's warp instructions while sizes are tried; past its limit, a size is too
 * costly. Sizes that we chose get little, since the check needs none of them. The file's own sizes
 * (resort_limit) get more. A card runs that many instructions in little time. */
static const uint64_t derived_limit = UINT64_C(1) << 22, less_limit = UINT64_C(1) << 25,
                      resort_limit = UINT64_C(1) << 28, long_limit = UINT64_C(1) << 18;

enum {
    LARGE_ELEMS = 1 << 20, /* a task of more elements tries smaller sizes before its own */
    MOST_TOO_LONG = 5      /* smaller sizes that may take too long before we stop to try them */
};

void reference_finish(struct reference *r)
{
    host_finish(&r->outputs);
    host_finish(&r->inputs);
}

static struct check_run oracle_run(struct checker *k, unsigned shape, bool sanitize)
{
    return (struct check_run){.device = k->device,
        .task = k->task,
        .plan = &k->oracle,
        .compilation = k->original,
        .module = k->module,
        .shape = &k->shapes[shape].shape,
        .poison = POISON_FIRST,
        .sanitize = sanitize,
        .step_limit = k->try_limit,
        .seed = k->try_seed};
}

static bool is_chosen(enum shape_kind kind)
{
    return kind == SHAPE_DERIVED || kind == SHAPE_SCALED || kind == SHAPE_SHRUNK ||
           kind == SHAPE_LESS || kind == SHAPE_LONG;
}

/* Makes the inputs. Sizes that we chose may leave no valid inputs (an index into nothing): then the
 * original does not run at them, and the result is a verdict. */
static bool make_inputs(struct checker *k, unsigned shape, const struct env *env,
    const struct input_set *set, struct host_arrays *inputs, struct device_result *result,
    struct err *err)
{
    const struct check_shape *at = &k->shapes[shape];
    struct err why;

    if (host_fill(inputs, k->task, env, set, at->kind == SHAPE_TIMED, at->folder, &why))
        return true;
    if (!is_chosen(at->kind))
        return err_set(err, "%s", why.text);
    result->verdict = VERDICT_LAUNCH_FAILED;
    snprintf(result->text, sizeof(result->text), "%.300s", why.text);
    return true;
}

/* given: the set's inputs; NULL: they are made. */
static bool run_on(struct checker *k, unsigned shape, const struct input_set *set,
    const struct host_arrays *given, bool sanitize, struct host_arrays *outputs,
    struct device_result *result, struct err *err)
{
    struct arena *arena = arena_create();
    struct check_run run = oracle_run(k, shape, sanitize);
    struct env env = plan_env(arena, &k->oracle, run.shape);
    struct host_arrays inputs = {0};
    bool ok;

    run.inputs = given ? given : &inputs;
    if (set->other_scalars)
        run.task = &k->varied;
    *result = (struct device_result){0};
    ok = host_init(outputs, k->task, &env, err) &&
         (given || (host_init(&inputs, k->task, &env, err) &&
                       make_inputs(k, shape, &env, set, &inputs, result, err))) &&
         (result->verdict != VERDICT_OK || check_run(&run, arena, outputs, result, err));
    host_finish(&inputs);
    if (!ok)
        host_finish(outputs);
    arena_destroy(arena);
    return ok;
}

bool original_run(struct checker *k, unsigned shape, const struct input_set *set, bool sanitize,
    struct host_arrays *outputs, struct device_result *result, struct err *err)
{
    return run_on(k, shape, set, NULL, sanitize, outputs, result, err);
}

bool original_outputs(struct checker *k, unsigned shape, const struct host_arrays *inputs,
    struct host_arrays *outputs, struct device_result *result, struct err *err)
{
    struct arena *arena = arena_create();
    struct check_run run = oracle_run(k, shape, false);
    bool ok;

    run.inputs = inputs;
    ok = check_run(&run, arena, outputs, result, err);
    arena_destroy(arena);
    return ok;
}

static struct reference *cache_find(
    const struct checker *k, unsigned shape, const struct input_set *asked)
{
    for (size_t i = 0; i < k->nr_cache; i++) {
        struct reference *r = &k->cache[i];

        if (r->shape == shape && input_set_same(&r->asked, asked))
            return r;
    }
    return NULL;
}

static uint64_t bytes_of(const struct checker *k, const struct host_arrays *host)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < host->nr_arrays; i++)
        bytes += array_bytes(&k->task->arrays[i], host->nr[i]);
    return bytes;
}

const struct host_arrays *original_inputs(
    const struct checker *k, unsigned shape, const struct input_set *set)
{
    const struct reference *known = cache_find(k, shape, set);

    return known && known->inputs.bytes ? &known->inputs : NULL;
}

bool original_keep_inputs(struct checker *k, unsigned shape, const struct input_set *set,
    const struct host_arrays *inputs)
{
    struct reference *known = cache_find(k, shape, set);
    const uint64_t bytes = bytes_of(k, inputs);

    if (!known || known->inputs.bytes || k->inputs_bytes + bytes > CACHE_MAX_BYTES)
        return false;
    known->inputs = *inputs;
    k->inputs_bytes += bytes;
    return true;
}

/* Keeps the reference when there is room; *kept tells who frees it. */
static void cache_add(struct checker *k, struct reference *r, bool *kept)
{
    r->bytes = bytes_of(k, &r->outputs);
    *kept = k->cache_bytes + r->bytes <= CACHE_MAX_BYTES;
    if (!*kept)
        return;
    k->cache = grow(k->cache, &k->cap_cache, k->nr_cache + 1, sizeof(*k->cache));
    k->cache[k->nr_cache++] = *r;
    k->cache_bytes += r->bytes;
}

bool original_reference(struct checker *k, unsigned shape, const struct input_set *set,
    const struct host_arrays *inputs, struct reference *r, bool *kept, struct device_result *result,
    struct err *err)
{
    const struct reference *known = cache_find(k, shape, set);
    const bool usual = input_set_is_usual(set);

    *result = (struct device_result){0};
    *kept = true;
    if (known) {
        *r = *known;
        return true;
    }
    *r = (struct reference){.shape = shape, .asked = *set, .set = *set};
    *kept = false;
    /* Inputs that nobody declared may make the original race where it else does not. */
    const bool may_race = !usual && (!k->oblivious || set->other_scalars);

    if (!run_on(k, shape, set, inputs, may_race && k->sanitize, &r->outputs, result, err))
        return false;
    if (!usual && result->verdict == VERDICT_OK && set->style != INPUT_NAN &&
        !outputs_finite(k->task, &r->outputs))
        result->verdict = VERDICT_UNSUPPORTED;
    if (usual && set->scale != 1 &&
        (result->verdict != VERDICT_OK || !outputs_finite(k->task, &r->outputs))) {
        host_finish(&r->outputs);
        r->set.scale = 1;
        if (!original_run(k, shape, &r->set, false, &r->outputs, result, err))
            return false;
    }
    if (result->verdict == VERDICT_OK)
        cache_add(k, r, kept);
    return true;
}

bool original_hold_to_files(struct checker *k, const struct env *sizes, const char *folder,
    struct host_arrays *outputs, struct err *err)
{
    struct host_arrays expected;
    struct errors *errors = xcalloc(1, sizeof(*errors));
    struct mismatch m;
    bool ok = host_init(&expected, k->task, sizes, err);

    for (unsigned i = 0; ok && i < k->task->nr_arrays; i++) {
        const struct task_array *array = &k->task->arrays[i];

        memcpy(expected.bytes[i], outputs->bytes[i], array_bytes(array, expected.nr[i]));
        if (!array->expect_path)
            continue;
        ok = npy_read(file_of(k->arena, k->task, array->expect_path, folder), array->elem,
            expected.bytes[i], expected.nr[i], err);
    }
    if (ok) {
        compare_outputs(&(struct comparison){.task = k->task, .scale = 1}, outputs, &expected,
            POISON_FIRST, POISON_FIRST, errors, &m);
        if (m.array)
            ok = err_original(err,
                "%s:%u: the original does not compute what `expect` says%s%s: %s = %s, expected %s",
                k->task->path, m.array->line, folder ? " in case " : "", folder ? folder : "",
                element_name(k->arena, m.array, sizes, m.index),
                element_text(k->arena, m.array, outputs->bytes[m.which], m.index),
                element_text(k->arena, m.array, expected.bytes[m.which], m.index));
        for (unsigned i = 0; ok && i < k->task->nr_arrays; i++)
            memcpy(outputs->bytes[i], expected.bytes[i],
                array_bytes(&k->task->arrays[i], expected.nr[i]));
    }
    host_finish(&expected);
    free(errors);
    return ok;
}

/* Runs the reference on a shape's first input set; at scale 1 where the set's own scale gives
 * nothing to compare. */
static bool run_first(struct checker *k, unsigned shape, struct reference *r,
    struct device_result *result, struct err *err)
{
    const bool sanitize = k->sanitize && k->shapes[shape].kind != SHAPE_LONG;
    bool ok;

    *r = (struct reference){.shape = shape,
        .asked = sets_usual(k, NULL, shape, 0),
        .set = sets_usual(k, NULL, shape, 0)};
    ok = original_run(k, shape, &r->set, sanitize, &r->outputs, result, err);
    if (!ok || r->set.scale == 1 ||
        (result->verdict == VERDICT_OK && outputs_finite(k->task, &r->outputs)))
        return ok;
    host_finish(&r->outputs);
    r->set.scale = 1;
    return original_run(k, shape, &r->set, sanitize, &r->outputs, result, err);
}

bool original_is_finer(enum verdict verdict)
{
    return verdict == VERDICT_RACE || verdict == VERDICT_FAULT;
}

void caveat_add(struct checker *k, const char *text)
{
    k->caveat = *k->caveat ? arena_printf(k->arena, "%s; %s", k->caveat, text) : text;
}

static void leave_out_finer(struct checker *k, const struct device_result *original)
{
    k->sanitize = false;
    caveat_add(k, arena_printf(k->arena,
                      "races and uninitialised reads are not checked, since the original has one "
                      "(line %u: %.300s)",
                      original->line, original->text));
}

/* An original may fail under the finer checks only (races, uninitialised reads). Then neither the
 * original nor a candidate is rejected for that: the finer checks are left out, and the note says
 * so. */
static bool run_first_leniently(struct checker *k, unsigned shape, struct reference *r,
    struct device_result *result, struct err *err)
{
    struct device_result strict;

    if (!run_first(k, shape, r, result, err))
        return false;
    strict = *result;
    if (!k->sanitize || k->shapes[shape].kind == SHAPE_DERIVED ||
        k->shapes[shape].kind == SHAPE_LONG || !original_is_finer(strict.verdict))
        return true;
    host_finish(&r->outputs);
    k->sanitize = false;
    if (!run_first(k, shape, r, result, err))
        return false;
    k->sanitize = true;
    if (result->verdict == VERDICT_OK)
        leave_out_finer(k, &strict);
    return true;
}

/* The finer checks need several times the memory that they watch. */
static bool is_too_large_for_finer(const struct checker *k, unsigned shape)
{
    enum { FINER_MAX_BYTES = 128 << 20 };

    return task_bytes(k->task, &k->shapes[shape].shape.sizes) > FINER_MAX_BYTES;
}

/* Runs the reference without the finer checks first. Where that run is costly already, the original
 * runs under the finer checks only once a candidate fails under them. */
static bool run_first_at_own(struct checker *k, unsigned shape, struct reference *r,
    struct device_result *result, struct err *err)
{
    const bool sanitize = k->sanitize;
    bool ok;

    k->sanitize = false;
    ok = run_first(k, shape, r, result, err);
    k->sanitize = sanitize;
    if (!ok || result->verdict != VERDICT_OK || !sanitize)
        return ok;
    if (is_too_large_for_finer(k, shape)) {
        k->sanitize = false;
        caveat_add(
            k, "races and uninitialised reads are not checked: arrays so large leave no room");
        return true;
    }
    k->unvetted = result->thread_insts > CHECK_BUDGET;
    if (k->unvetted)
        return true;
    host_finish(&r->outputs);
    return run_first_leniently(k, shape, r, result, err);
}

bool original_vet(struct checker *k, unsigned shape, const struct input_set *set, struct err *err)
{
    struct host_arrays outputs = {0};
    struct device_result result;

    k->unvetted = false;
    if (!original_run(k, shape, set, true, &outputs, &result, err))
        return false;
    host_finish(&outputs);
    if (original_is_finer(result.verdict))
        leave_out_finer(k, &result);
    return true;
}

static uint64_t limit_of(enum shape_kind kind)
{
    return kind == SHAPE_LESS     ? less_limit
           : kind == SHAPE_LONG   ? long_limit
           : is_chosen(kind)      ? derived_limit
           : kind == SHAPE_RESORT ? resort_limit
                                  : 0;
}

/* Does the original run cleanly at a shape? Also notes its cost there. */
static bool try_shape(
    struct checker *k, unsigned shape, bool *clean, struct device_result *result, struct err *err)
{
    enum shape_kind kind = k->shapes[shape].kind;
    struct reference r;
    bool kept = false, ok;

    k->try_limit = limit_of(kind);
    ok = (kind == SHAPE_RESORT || kind == SHAPE_LESS ? run_first_at_own : run_first_leniently)(
        k, shape, &r, result, err);
    k->try_limit = 0;
    if (!ok)
        return false;
    k->costs[shape] = result->thread_insts;
    k->oblivious = result->oblivious;
    *clean = result->verdict == VERDICT_OK &&
             (kind == SHAPE_DERIVED || kind == SHAPE_LONG
                     ? outputs_written(k->task, &r.outputs, POISON_FIRST)
                     : !is_chosen(kind) || outputs_begun(k->task, &r.outputs, POISON_FIRST));
    if (*clean && kind == SHAPE_TIMED &&
        !original_hold_to_files(
            k, &k->shapes[shape].shape.sizes, k->shapes[shape].folder, &r.outputs, err)) {
        reference_finish(&r);
        return false;
    }
    if (*clean && shape == 0 && r.set.scale == 1)
        sets_note_typical(k, &r.outputs);
    if (*clean)
        cache_add(k, &r, &kept);
    if (!kept)
        reference_finish(&r);
    return true;
}

/* Cached references carry shape numbers: the references of the dropped shape go, the numbers of
 * later shapes move down. */
void original_drop_shape(struct checker *k, unsigned shape)
{
    size_t left = 0;

    for (size_t i = 0; i < k->nr_cache; i++) {
        if (k->cache[i].shape == shape) {
            k->cache_bytes -= k->cache[i].bytes;
            reference_finish(&k->cache[i]);
        } else {
            k->cache[left++] = k->cache[i];
        }
    }
    k->nr_cache = left;
    k->nr_shapes--;
    for (unsigned i = shape; i < k->nr_shapes; i++) {
        k->shapes[i] = k->shapes[i + 1];
        k->costs[i] = k->costs[i + 1];
    }
}

/* Why no shape was kept; the failure at the file's own sizes says more than the others. */
static bool none_kept(
    const struct checker *k, const char *own, unsigned line, const char *why, struct err *err)
{
    if (own)
        return err_original(err, "%s:%u: the original does not run cleanly at its own sizes %s",
            k->task->path, line, own);
    return err_set(err,
        "%s: no sizes at which the original runs cleanly were found; add a `check` line with "
        "small sizes (%s)",
        k->task->path, why ? why : "all are too large to try");
}

static bool is_large(const struct checker *k)
{
    return task_elems(k->task, &k->task->timed.sizes) > LARGE_ELEMS;
}

/* Must a smaller shape wait until the timed sizes turn out to take too long? */
static bool waits(const struct checker *k, unsigned shape, unsigned too_long)
{
    if (k->shapes[shape].kind != SHAPE_LESS || shape > 0 || too_long > 0 || is_large(k))
        return false;
    for (unsigned i = 1; i < k->nr_shapes; i++)
        if (k->shapes[i].kind == SHAPE_RESORT)
            return true;
    return false;
}

/* Moves a shape behind the last one. */
static void postpone_shape(struct checker *k, unsigned shape)
{
    const struct check_shape it = k->shapes[shape];

    for (unsigned i = shape; i + 1 < k->nr_shapes; i++)
        k->shapes[i] = k->shapes[i + 1];
    k->shapes[k->nr_shapes - 1] = it;
}

/* Is there no shape but those with a long size, or one with the same size long? */
static bool long_is_needless(const struct checker *k, unsigned shape)
{
    for (unsigned i = 0; i < shape; i++)
        if (k->shapes[i].kind == SHAPE_LONG && k->shapes[i].size == k->shapes[shape].size)
            return true;
    return shape == 0 || k->shapes[0].kind == SHAPE_LONG;
}

/* Do the shapes so far make a shape of this kind needless? nr_held: those of them that are held to
 * files, whose inputs are one data set; too_long: the number of shapes at which the original took
 * too long; less_too_long: those of kind SHAPE_LESS. */
static bool is_needless(const struct checker *k, enum shape_kind kind, unsigned nr_before,
    unsigned nr_held, unsigned nr_scaled, unsigned too_long, unsigned less_too_long)
{
    switch (kind) {
    case SHAPE_LESS:
        return nr_before > 0 || less_too_long >= MOST_TOO_LONG || (too_long == 0 && !is_large(k));
    case SHAPE_SCALED:
        return nr_before > nr_scaled;
    case SHAPE_RESORT:
        return nr_before > nr_held;
    case SHAPE_SHRUNK:
        return nr_before > 0;
    default:
        return false;
    }
}

/* What was not compared with the task's files does not stay unsaid. */
static void note_files(struct checker *k, unsigned nr_held, unsigned nr_not_held)
{
    if (nr_not_held > 0)
        caveat_add(k, arena_printf(k->arena,
                          "NOT HELD TO THE FILES of %u of %u cases: too costly, or the original "
                          "fails on them",
                          nr_not_held, nr_held + nr_not_held));
    else if (nr_held == 0 && shapes_use_files(k->task))
        caveat_add(k,
            "NOT HELD TO THE TASK'S FILES, which are large: a variant that leads is, where "
            "the original runs whole at the timed size");
}

bool original_try_shapes(struct checker *k, unsigned first, bool *slow, struct err *err)
{
    struct device_result result;
    const char *why = NULL, *own = NULL;
    uint64_t total = 0;
    unsigned nr_derived = 0, nr_scaled = 0, shape = first, own_line = 0, too_long = 0,
             less_too_long = 0, nr_held = 0, nr_not_held = 0;
    bool clean, costly;

    *slow = false;
    while (shape < k->nr_shapes) {
        const enum shape_kind kind = k->shapes[shape].kind;

        if (waits(k, shape, too_long)) {
            postpone_shape(k, shape);
            continue;
        }
        if (is_needless(k, kind, shape, nr_held, nr_scaled, too_long, less_too_long) ||
            (kind == SHAPE_LONG && long_is_needless(k, shape))) {
            original_drop_shape(k, shape);
            continue;
        }
        if (!try_shape(k, shape, &clean, &result, err))
            return false;
        too_long += result.verdict == VERDICT_TIMEOUT;
        *slow |= result.verdict == VERDICT_TIMEOUT && kind == SHAPE_DERIVED;
        less_too_long += result.verdict == VERDICT_TIMEOUT && kind == SHAPE_LESS;
        if (!clean) /* later shapes are more likely to run, so the last reason stays */
            why = arena_printf(k->arena, "%s: %s, line %u: %.300s", k->shapes[shape].text,
                result.verdict == VERDICT_OK ? "outputs are not written"
                                             : verdict_name(result.verdict),
                result.line, result.text);
        if (!clean && !is_chosen(kind)) {
            own = why;
            own_line = k->shapes[shape].shape.line;
            if (kind != SHAPE_RESORT && !shapes_read_files(k->task))
                return none_kept(k, own, own_line, why, err);
        }
        costly = is_chosen(kind) && kind != SHAPE_LONG && nr_derived >= LEAST_DERIVED &&
                 total + 3 * k->costs[shape] > CHECK_BUDGET;
        if (kind == SHAPE_TIMED) {
            costly = costly && nr_held > 0; /* the first is held to its files whatever it costs */
            nr_held += clean && !costly;
            nr_not_held += !clean || costly;
        }
        if (!clean || costly) {
            original_drop_shape(k, shape);
            continue;
        }
        total += (kind == SHAPE_LONG ? 1 : 3) * k->costs[shape];
        nr_derived += is_chosen(kind) && kind != SHAPE_LONG;
        nr_scaled += kind == SHAPE_SCALED;
        k->nr_explicit += !is_chosen(kind);
        shape++;
    }
    note_files(k, nr_held, nr_not_held);
    return k->nr_shapes > 0 || none_kept(k, own, own_line, why, err);
}

bool original_runs_at(
    struct checker *k, unsigned shape, bool *clean, struct device_result *result, struct err *err)
{
    struct reference r;
    bool ok;

    k->try_limit = limit_of(k->shapes[shape].kind);
    ok = run_first(k, shape, &r, result, err);
    k->try_limit = 0;
    if (!ok)
        return false;
    *clean = result->verdict == VERDICT_OK && outputs_written(k->task, &r.outputs, POISON_FIRST);
    reference_finish(&r);
    return true;
}

static bool reads_clock(const struct compilation *original)
{
    static const char *const clocks[] = {"%clock", "%globaltimer"};

    for (unsigned i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
        if (original->ptx && strstr(original->ptx, clocks[i]))
            return true;
    return false;
}

/* Runs the first set of inputs twice, with two orders of the warps. */
static bool run_twice(
    struct checker *k, struct host_arrays outputs[2], bool *clean, struct err *err)
{
    const struct input_set set = {.scale = 1, .seed = sets_pool_seed(0, 0)};
    bool ok = true;

    *clean = true;
    for (unsigned i = 0; ok && *clean && i < 2; i++) {
        struct device_result result;

        k->try_seed = 1 + i;
        ok = original_run(k, 0, &set, false, &outputs[i], &result, err);
        *clean = ok && result.verdict == VERDICT_OK;
    }
    k->try_seed = 0;
    return ok;
}

bool original_leave_out_clocks(struct checker *k, struct err *err)
{
    struct host_arrays outputs[2] = {{0}};
    const char *names = "";
    unsigned nr_left = 0;
    bool clean, ok;

    if (!reads_clock(k->original))
        return true;
    struct task_array *arrays = arena_array(k->arena, k->task->nr_arrays + 1, sizeof(*arrays));

    ok = run_twice(k, outputs, &clean, err);
    for (unsigned i = 0; ok && clean && i < k->task->nr_arrays; i++) {
        arrays[i] = k->task->arrays[i];
        if (arrays[i].role != ROLE_OUT && arrays[i].role != ROLE_INOUT)
            continue;
        if (memcmp(outputs[0].bytes[i], outputs[1].bytes[i],
                array_bytes(&arrays[i], outputs[0].nr[i])) == 0) {
            nr_left++;
            continue;
        }
        arrays[i].role = ROLE_IN;
        names = arena_printf(k->arena, "%s%s%s", names, *names ? ", " : "", arrays[i].name);
    }
    if (ok && nr_left > 0 && *names) {
        k->compared.arrays = arrays;
        caveat_add(k, arena_printf(k->arena,
                          "%s not compared, since no two runs of the original agree there: it "
                          "reads a clock",
                          names));
    }
    host_finish(&outputs[0]);
    host_finish(&outputs[1]);
    return ok;
}
