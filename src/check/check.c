/* Owns the check of a candidate: which runs, in which order, and what their outcomes mean. */
#include "check/check.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "check/check_compare.h"
#include "check/check_line.h"
#include "check/check_run.h"
#include "check/check_screen.h"
#include "check/check_shapes.h"
#include "core/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_SEEDS = 2,
    LEAST_DERIVED = 2,
    NR_POOL = 3, /* seeds that expensive shapes share, so that references recur */
    CACHE_MAX_BYTES = 64 << 20,
    POISON_FIRST = 0xAA, /* as run_alloc's */
    POISON_SECOND = 0xFF /* NaN in every float format but e4m3's sign, -1 in every integer */
};

/* Thread instructions that checking one candidate should cost about, when it is no slower than the
 * reference. */
static const uint64_t check_budget = 40 * 1000 * 1000;

/* Warp instructions of the original after which sizes that were chosen here are too costly; none is
 * needed of these, and a file's own sizes are worth more patience. A card is that fast. */
static const uint64_t derived_limit = UINT64_C(1) << 22, resort_limit = UINT64_C(1) << 28;

static const double scales[] = {1, 3, 0.01, -1};

struct reference {
    unsigned shape;
    uint64_t seed;
    double asked, scale; /* asked for, and used: 1 where the other gave no finite numbers */
    struct host_arrays outputs;
    uint64_t bytes;
};

struct checker {
    struct device *device;
    struct screen *screen; /* NULL: none */
    const struct task *task;
    const struct compilation *original;
    struct device_module *module;
    struct arena *arena;
    struct plan oracle; /* the original's plan, or its reference launch */
    unsigned nr_seeds;
    uint64_t step_limit;
    uint64_t try_limit; /* of the reference, while sizes are tried; 0: none */
    bool sanitize;
    bool unvetted; /* sanitize, but the original has not run so: that is dear */
    struct check_shape *shapes;
    uint64_t *costs; /* thread instructions of the reference, per shape */
    unsigned nr_shapes, nr_explicit;
    struct reference *cache;
    size_t nr_cache, cap_cache;
    uint64_t cache_bytes;
    const char *caveat; /* what could not be checked, for the note; "" */
};

/* One candidate's check under way. */
struct trial {
    struct checker *checker;
    struct candidate *c;
    struct device_module *module;
    struct errors errors;
    unsigned nr_runs;
    bool float_atomics, differed, sets_skipped;
    const char *screened; /* what came of the screening, for the note; NULL */
};

static void reference_finish(struct reference *r)
{
    host_finish(&r->outputs);
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
        .step_limit = k->try_limit};
}

/* The reference's outputs for one input set; the outputs are the caller's. */
static bool run_reference(struct checker *k, unsigned shape, uint64_t seed, double scale,
    bool sanitize, struct host_arrays *outputs, struct device_result *result, struct err *err)
{
    struct arena *arena = arena_create();
    struct check_run run = oracle_run(k, shape, sanitize);
    struct env env = plan_env(arena, &k->oracle, run.shape);
    struct host_arrays inputs = {0};
    bool ok;

    run.inputs = &inputs;
    ok = host_init(&inputs, k->task, &env, err) && host_init(outputs, k->task, &env, err) &&
         host_fill(&inputs, k->task, &env, seed, scale, k->shapes[shape].kind == SHAPE_TIMED,
             k->shapes[shape].folder, err) &&
         check_run(&run, arena, outputs, result, err);
    host_finish(&inputs);
    if (!ok)
        host_finish(outputs);
    arena_destroy(arena);
    return ok;
}

static struct reference *cache_find(struct checker *k, unsigned shape, uint64_t seed, double asked)
{
    for (size_t i = 0; i < k->nr_cache; i++) {
        struct reference *r = &k->cache[i];

        if (r->shape == shape && r->seed == seed && r->asked == asked)
            return r;
    }
    return NULL;
}

/* Keeps the reference when there is room; *kept tells who frees it. */
static void cache_add(struct checker *k, struct reference *r, bool *kept)
{
    r->bytes = 0;
    for (unsigned i = 0; i < r->outputs.nr_arrays; i++)
        r->bytes += array_bytes(&k->task->arrays[i], r->outputs.nr[i]);
    *kept = k->cache_bytes + r->bytes <= CACHE_MAX_BYTES;
    if (!*kept)
        return;
    k->cache = grow(k->cache, &k->cap_cache, k->nr_cache + 1, sizeof(*k->cache));
    k->cache[k->nr_cache++] = *r;
    k->cache_bytes += r->bytes;
}

/* What the reference computes. A scale that takes it out of the finite numbers (a root of a
 * negative) proves nothing; then scale 1 stands in. */
static bool get_reference(struct checker *k, unsigned shape, uint64_t seed, double scale,
    struct reference *r, bool *kept, struct device_result *result, struct err *err)
{
    const struct reference *known = cache_find(k, shape, seed, scale);

    *result = (struct device_result){0};
    *kept = true;
    if (known) {
        *r = *known;
        return true;
    }
    *r = (struct reference){.shape = shape, .seed = seed, .asked = scale, .scale = scale};
    *kept = false;
    if (!run_reference(k, shape, seed, scale, false, &r->outputs, result, err))
        return false;
    if (scale != 1 && (result->verdict != VERDICT_OK || !outputs_finite(k->task, &r->outputs))) {
        host_finish(&r->outputs);
        r->scale = 1;
        if (!run_reference(k, shape, seed, 1, false, &r->outputs, result, err))
            return false;
    }
    if (result->verdict == VERDICT_OK)
        cache_add(k, r, kept);
    return true;
}

/* Put the values of expect files in place of the reference's. The original must agree with them. */
static bool use_expected(struct checker *k, unsigned shape, struct reference *r, struct err *err)
{
    struct env env = k->shapes[shape].shape.sizes;
    struct host_arrays expected;
    struct errors *errors = xcalloc(1, sizeof(*errors));
    struct mismatch m;
    bool ok = host_init(&expected, k->task, &env, err);

    for (unsigned i = 0; ok && i < k->task->nr_arrays; i++) {
        const struct task_array *array = &k->task->arrays[i];

        memcpy(expected.bytes[i], r->outputs.bytes[i], array_bytes(array, expected.nr[i]));
        if (!array->expect_path)
            continue;
        ok = npy_read(file_of(k->arena, k->task, array->expect_path, k->shapes[shape].folder),
            array->elem, expected.bytes[i], expected.nr[i], err);
    }
    if (ok) {
        compare_outputs(k->task, &r->outputs, &expected, POISON_FIRST, POISON_FIRST, 1, errors, &m);
        if (m.array)
            ok = err_set(err,
                "%s:%u: the original does not compute what `expect` says%s%s: %s = %s, expected %s",
                k->task->path, m.array->line, k->shapes[shape].folder ? " in case " : "",
                k->shapes[shape].folder ? k->shapes[shape].folder : "",
                element_name(k->arena, m.array, &env, m.index),
                element_text(k->arena, m.array, r->outputs.bytes[m.which], m.index),
                element_text(k->arena, m.array, expected.bytes[m.which], m.index));
        for (unsigned i = 0; ok && i < k->task->nr_arrays; i++)
            memcpy(r->outputs.bytes[i], expected.bytes[i],
                array_bytes(&k->task->arrays[i], expected.nr[i]));
        host_finish(&expected);
    }
    free(errors);
    return ok;
}

static double scale_of(const struct checker *k, unsigned shape, unsigned set)
{
    return k->shapes[shape].kind == SHAPE_TIMED ? 1 : scales[(2 * shape + set) % 4];
}

static uint64_t pool_seed(unsigned shape, unsigned which)
{
    return rng_mix(0x6b656574 /* "keet" */, 64 * (uint64_t)shape + which);
}

/* Cheap shapes get numbers that nobody has seen; expensive ones choose from a pool, so that the
 * reference need not run again each time. The first set is always the same. */
static uint64_t seed_of(
    const struct checker *k, const struct candidate *c, unsigned shape, unsigned set)
{
    if (set == 0 || k->shapes[shape].kind == SHAPE_TIMED)
        return pool_seed(shape, 0);
    if (k->costs[shape] > check_budget / 16)
        return pool_seed(shape, 1 + (unsigned)(rng_mix(c->seed, set) % NR_POOL));
    return rng_mix(c->seed, 64 * (uint64_t)shape + set);
}

/* The reference on a shape's first input set, at scale 1 where another gives nothing to compare. */
static bool run_first(struct checker *k, unsigned shape, struct reference *r,
    struct device_result *result, struct err *err)
{
    bool ok;

    *r = (struct reference){.shape = shape,
        .seed = pool_seed(shape, 0),
        .asked = scale_of(k, shape, 0),
        .scale = scale_of(k, shape, 0)};
    ok = run_reference(k, shape, r->seed, r->scale, k->sanitize, &r->outputs, result, err);
    if (!ok || r->scale == 1 ||
        (result->verdict == VERDICT_OK && outputs_finite(k->task, &r->outputs)))
        return ok;
    host_finish(&r->outputs);
    r->scale = 1;
    return run_reference(k, shape, r->seed, 1, k->sanitize, &r->outputs, result, err);
}

static bool is_finer(enum verdict verdict)
{
    return verdict == VERDICT_RACE || verdict == VERDICT_FAULT;
}

static void leave_out_finer(struct checker *k, const struct device_result *original)
{
    k->sanitize = false;
    k->caveat = arena_printf(k->arena,
        "races and uninitialised reads are not checked, since the original has one "
        "(line %u: %.300s)",
        original->line, original->text);
}

/* An original that is not clean under the finer checks alone is not rejected for it, and neither
 * are its candidates: those checks are then left out, and the note says so. */
static bool run_first_leniently(struct checker *k, unsigned shape, struct reference *r,
    struct device_result *result, struct err *err)
{
    struct device_result strict;

    if (!run_first(k, shape, r, result, err))
        return false;
    strict = *result;
    if (!k->sanitize || k->shapes[shape].kind == SHAPE_DERIVED || !is_finer(strict.verdict))
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

/* Without the finer checks first. Where that costs much already, they wait for a candidate that
 * fails under them. */
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
    k->unvetted = result->thread_insts > check_budget;
    if (k->unvetted)
        return true;
    host_finish(&r->outputs);
    return run_first_leniently(k, shape, r, result, err);
}

/* Is it the original's, what the finer checks found in a candidate? Then they are left out. */
static bool vet(struct checker *k, unsigned shape, uint64_t seed, double scale, struct err *err)
{
    struct host_arrays outputs = {0};
    struct device_result result;

    k->unvetted = false;
    if (!run_reference(k, shape, seed, scale, true, &outputs, &result, err))
        return false;
    host_finish(&outputs);
    if (is_finer(result.verdict))
        leave_out_finer(k, &result);
    return true;
}

static bool is_chosen(enum shape_kind kind)
{
    return kind == SHAPE_DERIVED || kind == SHAPE_SCALED || kind == SHAPE_SHRUNK;
}

/* Does the original run cleanly here? Learns what it costs. */
static bool try_shape(
    struct checker *k, unsigned shape, bool *clean, struct device_result *result, struct err *err)
{
    enum shape_kind kind = k->shapes[shape].kind;
    struct reference r;
    bool kept = false, ok;

    k->try_limit = is_chosen(kind) ? derived_limit : kind == SHAPE_RESORT ? resort_limit : 0;
    ok = (kind == SHAPE_RESORT ? run_first_at_own : run_first_leniently)(k, shape, &r, result, err);
    k->try_limit = 0;
    if (!ok)
        return false;
    k->costs[shape] = result->thread_insts;
    *clean = result->verdict == VERDICT_OK &&
             (kind != SHAPE_DERIVED || outputs_written(k->task, &r.outputs, POISON_FIRST)) &&
             ((kind != SHAPE_SCALED && kind != SHAPE_SHRUNK) ||
                 outputs_begun(k->task, &r.outputs, POISON_FIRST));
    if (*clean && kind == SHAPE_TIMED && !use_expected(k, shape, &r, err)) {
        reference_finish(&r);
        return false;
    }
    if (*clean)
        cache_add(k, &r, &kept);
    if (!kept)
        reference_finish(&r);
    return true;
}

static bool has_files(const struct task *task)
{
    for (unsigned i = 0; i < task->nr_arrays; i++) {
        if (task->arrays[i].role != ROLE_OUT && task->arrays[i].gen.kind == GEN_FILE)
            return true;
    }
    return false;
}

/* Cached references carry shape numbers: those of dropped shapes go, later ones move down. */
static void drop_shape(struct checker *k, unsigned shape)
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

/* Why nothing was kept: the file's own sizes say more than others. */
static bool none_kept(
    const struct checker *k, const char *own, unsigned line, const char *why, struct err *err)
{
    if (own)
        return err_set(err, "%s:%u: the original does not run cleanly at its own sizes %s",
            k->task->path, line, own);
    return err_set(err,
        "%s: no sizes at which the original runs cleanly were found; add a `check` line with "
        "small sizes (%s)",
        k->task->path, why ? why : "all are too large to try");
}

/* Is a shape left out that others make needless? */
static bool is_needless(enum shape_kind kind, unsigned nr_before, unsigned nr_scaled)
{
    switch (kind) {
    case SHAPE_SCALED:
        return nr_before > nr_scaled;
    case SHAPE_RESORT:
    case SHAPE_SHRUNK:
        return nr_before > 0;
    default:
        return false;
    }
}

/* Keep the shapes at which the original is clean, and as many derived ones as the budget buys. */
static bool keep_shapes(struct checker *k, struct err *err)
{
    struct device_result result;
    const char *why = NULL, *own = NULL;
    uint64_t total = 0;
    unsigned nr_derived = 0, nr_scaled = 0, shape = 0, own_line = 0;
    bool clean;

    while (shape < k->nr_shapes) {
        const enum shape_kind kind = k->shapes[shape].kind;

        if (is_needless(kind, shape, nr_scaled)) {
            drop_shape(k, shape);
            continue;
        }
        if (!try_shape(k, shape, &clean, &result, err))
            return false;
        if (!clean) /* of the last: the more likely it was to run */
            why = arena_printf(k->arena, "%s: %s, line %u: %.300s", k->shapes[shape].text,
                result.verdict == VERDICT_OK ? "outputs are not written"
                                             : verdict_name(result.verdict),
                result.line, result.text);
        if (!clean && !is_chosen(kind)) {
            own = why;
            own_line = k->shapes[shape].shape.line;
            if (kind != SHAPE_RESORT && !has_files(k->task))
                return none_kept(k, own, own_line, why, err);
        }
        if (!clean || (is_chosen(kind) && nr_derived >= LEAST_DERIVED &&
                          total + 3 * k->costs[shape] > check_budget)) {
            drop_shape(k, shape);
            continue;
        }
        total += 3 * k->costs[shape];
        nr_derived += is_chosen(kind);
        nr_scaled += kind == SHAPE_SCALED;
        k->nr_explicit += !is_chosen(kind);
        shape++;
    }
    return k->nr_shapes > 0 || none_kept(k, own, own_line, why, err);
}

static bool set_oracle(struct checker *k, struct err *err)
{
    struct device_result result;

    k->oracle = k->task->plan;
    if (k->task->reference) {
        struct launch *launch = arena_alloc(k->arena, sizeof(*launch));

        *launch = *k->task->reference;
        k->oracle.launches = launch;
        k->oracle.nr_launches = 1;
    }
    if (!device_load(k->device, k->original, &k->module, &result, err))
        return false;
    if (result.verdict != VERDICT_OK)
        return err_set(err, "%s:%u: the original cannot be the reference: %s: %s", k->task->path,
            result.line, verdict_name(result.verdict), result.text);
    return true;
}

/* The emulator needs no screening: it is the screen. */
static bool set_screen(struct checker *k, const struct checker_options *options, struct err *err)
{
    if (k->device->ops->catches_stray)
        return true;
    k->screen = screen_create(k->task, &k->oracle, k->original, options->nr_threads, err);
    return k->screen != NULL;
}

struct checker *checker_create(struct device *device, const struct task *task,
    const struct compilation *original, const struct checker_options *options, struct err *err)
{
    struct checker *k = xcalloc(1, sizeof(*k));

    k->device = device;
    k->task = task;
    k->original = original;
    k->arena = arena_create();
    k->nr_seeds = options && options->nr_seeds ? options->nr_seeds : DEFAULT_SEEDS;
    k->step_limit = options ? options->step_limit : 0;
    k->caveat = "";
    k->sanitize = true;
    shapes_choose(task, k->arena, &k->shapes, &k->nr_shapes);
    k->costs = arena_array(k->arena, k->nr_shapes + 1, sizeof(*k->costs));
    if (!set_oracle(k, err) || (options && options->screen && !set_screen(k, options, err)) ||
        !keep_shapes(k, err)) {
        checker_destroy(k);
        return NULL;
    }
    return k;
}

void checker_destroy(struct checker *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->nr_cache; i++)
        reference_finish(&k->cache[i]);
    free(k->cache);
    screen_destroy(k->screen);
    device_unload(k->device, k->module);
    arena_destroy(k->arena);
    free(k);
}

/* A candidate may be slower than the reference, one lane doing the work of 32 included; past that
 * it is taken to hang. In warp instructions. */
static uint64_t step_limit(const struct checker *k, unsigned shape)
{
    return k->step_limit ? k->step_limit : 4000000 + 4 * k->costs[shape];
}

static bool fail_at(struct trial *t, enum verdict verdict, unsigned line, const char *text)
{
    const char *file = file_name(t->checker->task->path);

    if (line)
        return candidate_fail(t->c, verdict, line, "%s:%u: %s", file, line, text);
    return candidate_fail(t->c, verdict, 0, "%s: %s", file, text);
}

static const char *where_text(const struct trial *t, unsigned shape, double scale)
{
    if (scale == 1)
        return t->checker->shapes[shape].text;
    return arena_printf(t->c->arena, "%s, inputs times %g", t->checker->shapes[shape].text, scale);
}

/* The device's verdict becomes the candidate's. */
static bool fail_result(
    struct trial *t, const struct device_result *result, unsigned shape, double scale)
{
    const struct task *task = t->checker->task;
    unsigned line = result->line;
    int end = 0;
    const char *text = result->text;

    /* launch_resolve begins with the line, which stands in front already */
    if (sscanf(text, "line %*u: %n", &end) == 0 && end > 0)
        text += end;
    /* Writes to inputs are found afterwards: the text begins with the element's name. */
    for (unsigned i = 0; result->verdict == VERDICT_WRONG && line == 0 && i < task->nr_arrays;
         i++) {
        size_t len = strlen(task->arrays[i].name);

        if (strncmp(result->text, task->arrays[i].name, len) == 0 && result->text[len] == '[')
            line = check_write_line(t->c, task->arrays[i].name);
    }
    return fail_at(t, result->verdict, line,
        arena_printf(t->c->arena, "%s (%s)", text, where_text(t, shape, scale)));
}

static bool fail_wrong(struct trial *t, const struct mismatch *m, const struct host_arrays *got,
    const struct host_arrays *want, unsigned shape, double scale)
{
    struct arena *arena = t->c->arena;
    struct env env = t->checker->shapes[shape].shape.sizes;
    const char *name = element_name(arena, m->array, &env, m->index);
    const char *reference = element_text(arena, m->array, want->bytes[m->which], m->index);
    const char *what =
        m->unwritten
            ? arena_printf(
                  arena, "%s: element never written; the reference has %s", name, reference)
            : arena_printf(arena, "%s = %s but the reference has %s", name,
                  element_text(arena, m->array, got->bytes[m->which], m->index), reference);

    return fail_at(t, VERDICT_WRONG, check_write_line(t->c, m->array->name),
        arena_printf(arena, "%s (%s; %" PRIu64 " of %" PRIu64 " elements differ)", what,
            where_text(t, shape, scale), m->nr_wrong, m->nr));
}

static bool fail_nondeterministic(struct trial *t, const struct mismatch *m,
    const struct host_arrays *a, const struct host_arrays *b, unsigned shape, double scale)
{
    struct arena *arena = t->c->arena;
    struct env env = t->checker->shapes[shape].shape.sizes;

    return fail_at(t, VERDICT_NONDETERMINISTIC, check_write_line(t->c, m->array->name),
        arena_printf(arena,
            "%s is %s in one run and %s in the next on the same input (%s; %" PRIu64 " of %" PRIu64
            " elements differ)",
            element_name(arena, m->array, &env, m->index),
            element_text(arena, m->array, a->bytes[m->which], m->index),
            element_text(arena, m->array, b->bytes[m->which], m->index),
            where_text(t, shape, scale), m->nr_wrong, m->nr));
}

static bool run_candidate(struct trial *t, unsigned shape, unsigned set, bool again,
    const struct host_arrays *inputs, struct host_arrays *outputs, struct device_result *result,
    struct err *err)
{
    struct checker *k = t->checker;
    struct check_run run = {.device = k->device,
        .task = k->task,
        .plan = &t->c->plan,
        .compilation = &t->c->compilation,
        .module = t->module,
        .shape = &k->shapes[shape].shape,
        .inputs = inputs,
        .poison = again ? POISON_SECOND : POISON_FIRST,
        .sanitize = k->sanitize && set == 0 && !again,
        .step_limit = step_limit(k, shape),
        .seed = rng_mix(t->c->seed, 1000 + 4 * (uint64_t)shape + 2 * set + again)};

    if (!check_run(&run, t->c->arena, outputs, result, err))
        return false;
    t->float_atomics |= result->float_atomics;
    t->nr_runs++;
    return true;
}

struct set_state {
    unsigned shape, set;
    uint64_t seed;
    double scale;
    struct host_arrays inputs, first, second;
    struct reference reference;
    bool kept; /* the reference is the cache's */
    bool skip; /* the reference itself is not clean on these inputs */
};

/* First the candidate, then the reference, so that nothing of the reference's is left lying around
 * for the candidate to find. Where the reference had to fall back to scale 1, the candidate runs
 * again. */
static bool run_pair(struct trial *t, struct set_state *s, struct err *err)
{
    struct checker *k = t->checker;
    const struct env *env = &k->shapes[s->shape].shape.sizes;
    bool timed = k->shapes[s->shape].kind == SHAPE_TIMED;
    const char *folder = k->shapes[s->shape].folder;
    struct device_result result, reference_result;
    double scale = s->scale;

    if (!host_fill(&s->inputs, k->task, env, s->seed, scale, timed, folder, err) ||
        !run_candidate(t, s->shape, s->set, false, &s->inputs, &s->first, &result, err) ||
        !get_reference(
            k, s->shape, s->seed, scale, &s->reference, &s->kept, &reference_result, err))
        return false;
    if (is_finer(result.verdict) && k->sanitize && k->unvetted &&
        (!vet(k, s->shape, s->seed, s->scale, err) ||
            (!k->sanitize &&
                !run_candidate(t, s->shape, s->set, false, &s->inputs, &s->first, &result, err))))
        return false;
    s->skip = reference_result.verdict != VERDICT_OK;
    t->sets_skipped |= s->skip;
    if (!s->skip && s->reference.scale != scale) {
        s->scale = s->reference.scale;
        if (!host_fill(&s->inputs, k->task, env, s->seed, s->scale, timed, folder, err) ||
            !run_candidate(t, s->shape, s->set, false, &s->inputs, &s->first, &result, err))
            return false;
    }
    if (result.verdict != VERDICT_OK && !s->skip)
        fail_result(t, &result, s->shape, s->scale);
    return true;
}

static bool judge(
    struct trial *t, struct set_state *s, const struct host_arrays *got, uint8_t poison)
{
    struct mismatch m;

    compare_outputs(t->checker->task, got, &s->reference.outputs, poison, POISON_FIRST, s->scale,
        &t->errors, &m);
    if (m.array)
        fail_wrong(t, &m, got, &s->reference.outputs, s->shape, s->scale);
    return t->c->verdict == VERDICT_OK;
}

/* The same input again, at other addresses, over other garbage, with the warps in another order. */
static bool run_again(struct trial *t, struct set_state *s, struct err *err)
{
    const struct task *task = t->checker->task;
    struct device_result result;
    struct mismatch m, wrong;
    struct errors *scratch;

    if (!run_candidate(t, s->shape, s->set, true, &s->inputs, &s->second, &result, err))
        return false;
    if (result.verdict != VERDICT_OK) {
        fail_result(t, &result, s->shape, s->scale);
        return true;
    }
    scratch = xcalloc(1, sizeof(*scratch));
    compare_outputs(task, &s->first, &s->reference.outputs, POISON_FIRST, POISON_FIRST, s->scale,
        scratch, &wrong);
    free(scratch);
    compare_bits(task, &s->first, &s->second, &s->reference.outputs, POISON_FIRST, &m);
    /* What was never written differs because the poison does. */
    if (!wrong.array || !wrong.unwritten) {
        bool allowed = t->float_atomics && !wrong.array;

        if (m.array && !allowed)
            return fail_nondeterministic(t, &m, &s->first, &s->second, s->shape, s->scale);
        t->differed |= m.array != NULL;
    }
    if (judge(t, s, &s->first, POISON_FIRST))
        judge(t, s, &s->second, POISON_SECOND);
    return true;
}

static bool check_set(struct trial *t, unsigned shape, unsigned set, struct err *err)
{
    struct checker *k = t->checker;
    const struct env *env = &k->shapes[shape].shape.sizes;
    struct set_state s = {.shape = shape,
        .set = set,
        .seed = seed_of(k, t->c, shape, set),
        .scale = scale_of(k, shape, set),
        .kept = true};
    bool ok = host_init(&s.inputs, k->task, env, err) && host_init(&s.first, k->task, env, err) &&
              host_init(&s.second, k->task, env, err) && run_pair(t, &s, err);

    if (ok && !s.skip && t->c->verdict == VERDICT_OK) {
        if (set == 0)
            ok = run_again(t, &s, err);
        else
            judge(t, &s, &s.first, POISON_FIRST);
    }
    host_finish(&s.inputs);
    host_finish(&s.first);
    host_finish(&s.second);
    if (!s.kept)
        reference_finish(&s.reference);
    return ok;
}

/* Of a file's own sizes one set is enough where each costs what all of a check should. */
static unsigned nr_sets_of(const struct checker *k, unsigned shape)
{
    const bool costly = k->shapes[shape].kind == SHAPE_RESORT && k->costs[shape] > check_budget;

    return costly || k->shapes[shape].kind == SHAPE_TIMED ? 1 : k->nr_seeds;
}

static const char *note_text(const struct trial *t)
{
    const struct checker *k = t->checker;
    struct str s = {0};
    const char *text;

    str_addf(&s, "%u runs at %u sizes (%u given, %u derived), %u input sets each", t->nr_runs,
        k->nr_shapes, k->nr_explicit, k->nr_shapes - k->nr_explicit,
        k->nr_shapes == 1 ? nr_sets_of(k, 0) : k->nr_seeds);
    if (k->sanitize && k->device->ops->catches_stray)
        str_add(&s, ", races and uninitialised reads looked for");
    if (t->differed)
        str_add(&s, "; runs differ within the tolerance, as float atomics explain");
    if (t->sets_skipped)
        str_add(&s, "; some inputs left out, at which the original itself fails");
    if (*k->caveat)
        str_addf(&s, "; %s", k->caveat);
    if (t->screened)
        str_addf(&s, "; %s", t->screened);
    text = arena_strdup(t->c->arena, str_text(&s));
    str_finish(&s);
    return text;
}

static void fill_result(struct trial *t)
{
    t->c->check = (struct check_result){.nr_runs = t->nr_runs,
        .nr_shapes = t->checker->nr_shapes,
        .max_abs = t->errors.max_abs,
        .max_rel = t->errors.max_rel,
        .q99_rel = errors_q99(&t->errors),
        .worst_array = t->errors.worst_array,
        .worst_index = t->errors.worst_index,
        .nondeterministic_allowed = t->differed,
        .note = note_text(t)};
}

static bool check_all(struct trial *t, struct err *err)
{
    const struct checker *k = t->checker;
    bool ok = true;

    for (unsigned shape = 0; ok && shape < k->nr_shapes; shape++) {
        const unsigned nr_sets = nr_sets_of(k, shape);

        for (unsigned set = 0; ok && set < nr_sets && t->c->verdict == VERDICT_OK; set++)
            ok = check_set(t, shape, set, err);
    }
    return ok;
}

bool check_kernel(struct checker *checker, struct candidate *c, struct err *err)
{
    struct trial *t;
    struct device_result result;
    bool ok;

    if (candidate_evaluated(c))
        return true;
    t = arena_alloc(c->arena, sizeof(*t));
    t->checker = checker;
    t->c = c;
    if (checker->screen && !screen_kernel(checker->screen, c, &t->screened, err))
        return false;
    if (c->verdict != VERDICT_OK)
        return true;
    if (!device_load(checker->device, &c->compilation, &t->module, &result, err))
        return false;
    if (result.verdict != VERDICT_OK)
        return fail_at(t, result.verdict, result.line, result.text);
    ok = check_all(t, err);
    device_unload(checker->device, t->module);
    if (ok)
        fill_result(t);
    return ok;
}
