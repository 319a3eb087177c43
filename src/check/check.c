/* Owns the check of a candidate: its runs, their order, and the meaning of their outcomes. */
#include "check/check_parts.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "check/check_compare.h"
#include "check/check_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_SEEDS = 2,
    DEAR_TIMES = 4,
    DEAR_SHARE = 16 /* what a set's own shape takes the original, over what another may take */
};

/* One candidate's check under way. */
struct check_state {
    struct checker *checker;
    struct candidate *c;
    struct device_module *module;
    struct errors errors;
    unsigned nr_runs, nr_styles;
    uint64_t *costs; /* thread instructions of the candidate, per shape; 0: not known */
    bool float_atomics, differed, sets_skipped, forgiven;
    bool oblivious;       /* the sanitizers find the same on all inputs of a size */
    uint64_t left_behind; /* bytes of the module's variables that some launches changed for good */
    const char *screened; /* the screening's sentence for the note; NULL: none */
};

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
    k->compared = *task;
    k->original = original;
    k->arena = arena_create();
    k->nr_seeds = options && options->nr_seeds ? options->nr_seeds : DEFAULT_SEEDS;
    k->step_limit = options ? options->step_limit : 0;
    k->widen = options ? options->widen : NULL;
    k->owner = options ? options->owner : NULL;
    k->timed_insts = options ? options->timed_insts : 0;
    k->caveat = "";
    k->sanitize = true;
    if (!set_oracle(k, err) || (options && options->screen && !set_screen(k, options, err)) ||
        !tied_keep_shapes(k, err) || !original_leave_out_clocks(k, err)) {
        checker_destroy(k);
        return NULL;
    }
    sets_choose(k);
    return k;
}

void checker_destroy(struct checker *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->nr_cache; i++)
        reference_finish(&k->cache[i]);
    free(k->cache);
    timed_destroy(k->timed);
    exact_destroy(k);
    screen_destroy(k->screen);
    device_unload(k->device, k->module);
    arena_destroy(k->arena);
    free(k);
}

bool checker_is_dear(const struct checker *k)
{
    return k->nr_shapes == 1 && k->shapes[0].kind == SHAPE_RESORT && k->costs[0] > CHECK_BUDGET;
}

/* A limit in warp instructions. A candidate may be slower than the reference: with one lane doing
 * the work of 32, or with a block of 1024 threads for each row of four elements. Past the limit we
 * take it to hang. */
static uint64_t step_limit(const struct checker *k, unsigned shape)
{
    return k->step_limit ? k->step_limit : 24000000 + 16 * k->costs[shape];
}

/* Does the candidate take many times what the original takes, and long, as where its tile is larger
 * than the arrays? Then a check would cost many times what it costs others. */
static bool is_dear_at(const struct check_state *t, unsigned shape)
{
    return t->costs[shape] > CHECK_BUDGET / 16 &&
           t->costs[shape] > DEAR_TIMES * t->checker->costs[shape];
}

static bool fail_at(struct check_state *t, enum verdict verdict, unsigned line, const char *text)
{
    const char *file = file_name(t->c->task->path);

    if (line)
        return candidate_fail(t->c, verdict, line, "%s:%u: %s", file, line, text);
    return candidate_fail(t->c, verdict, 0, "%s: %s", file, text);
}

/* One set under way. */
struct set_state {
    unsigned shape;
    bool again; /* the candidate runs a second time, in another order */
    struct input_set set;
    struct extra_set *extra; /* NULL: a usual one */
    struct host_arrays inputs, first, second;
    struct reference reference;
    bool kept, kept_inputs; /* the cache owns the reference, the inputs */
    bool skip;              /* the reference itself is not clean on these inputs */
};

static const char *where_text(const struct check_state *t, const struct set_state *s)
{
    const char *sizes = t->checker->shapes[s->shape].text;

    if (s->set.other_scalars)
        return arena_printf(t->c->arena, "%s, with other values of the scalars", sizes);
    if (s->set.style != INPUT_DECLARED)
        return arena_printf(t->c->arena, "%s, inputs: %s", sizes, input_style_name(s->set.style));
    if (s->set.scale != 1)
        return arena_printf(t->c->arena, "%s, inputs times %g", sizes, s->set.scale);
    return sizes;
}

/* The device's verdict becomes the candidate's. */
static bool fail_result(
    struct check_state *t, const struct device_result *result, const struct set_state *s)
{
    const struct task *task = t->checker->task;
    unsigned line = result->line;
    int end = 0;
    const char *text = result->text;

    /* the text of launch_resolve begins with the line, which stands in front already */
    if (sscanf(text, "line %*u: %n", &end) == 0 && end > 0)
        text += end;
    /* Writes to inputs are found after the run: the text begins with the element's name. */
    for (unsigned i = 0; result->verdict == VERDICT_WRONG && line == 0 && i < task->nr_arrays;
         i++) {
        size_t len = strlen(task->arrays[i].name);

        if (strncmp(result->text, task->arrays[i].name, len) == 0 && result->text[len] == '[')
            line = check_write_line(t->c, task->arrays[i].name);
    }
    return fail_at(
        t, result->verdict, line, arena_printf(t->c->arena, "%s (%s)", text, where_text(t, s)));
}

static bool fail_wrong(struct check_state *t, const struct mismatch *m,
    const struct host_arrays *got, const struct host_arrays *want, const struct set_state *s)
{
    struct arena *arena = t->c->arena;
    struct env env = t->checker->shapes[s->shape].shape.sizes;
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
            where_text(t, s), m->nr_wrong, m->nr));
}

static bool fail_nondeterministic(struct check_state *t, const struct mismatch *m,
    const struct host_arrays *a, const struct host_arrays *b, const struct set_state *s)
{
    struct arena *arena = t->c->arena;
    struct env env = t->checker->shapes[s->shape].shape.sizes;

    return fail_at(t, VERDICT_NONDETERMINISTIC, check_write_line(t->c, m->array->name),
        arena_printf(arena,
            "%s is %s in one run and %s in the next on the same input (%s; %" PRIu64 " of %" PRIu64
            " elements differ)",
            element_name(arena, m->array, &env, m->index),
            element_text(arena, m->array, a->bytes[m->which], m->index),
            element_text(arena, m->array, b->bytes[m->which], m->index), where_text(t, s),
            m->nr_wrong, m->nr));
}

/* Reads of what nothing has written are harmless where nothing comes of them: padding that a select
 * leaves out, a register that a shuffle hands round. So the candidate runs over several contents of
 * such memory: small numbers, huge ones of either sign and NaN. If the outputs stay the same, the
 * verdict is that of these runs. */
static bool forgive_unwritten(struct check_state *t, struct set_state *s, struct check_run *run,
    struct device_result *result, struct err *err)
{
    static const uint8_t poisons[] = {POISON_FIRST, 0x7f, 0xfe, POISON_SECOND};
    struct host_arrays *first = &s->first, *other = &s->second;
    struct mismatch m = {0};
    struct device_result lenient = *result;
    bool same = true, ok = true;

    if (!run->sanitize || result->verdict != VERDICT_FAULT ||
        strncmp(result->text, "uninitialised", strlen("uninitialised")) != 0)
        return true;
    run->lenient_init = true;
    for (unsigned i = 0; ok && same && i < sizeof(poisons); i++) {
        run->hidden_poison = run->poison = poisons[i];
        ok = check_run(run, t->c->arena, i ? other : first, &lenient, err);
        same = lenient.verdict == VERDICT_OK;
        if (ok && same && i) {
            compare_bits(&t->checker->compared, first, other, first, POISON_FIRST, &m);
            same = !m.array;
        }
    }
    run->poison = POISON_FIRST;
    run->hidden_poison = 0;
    run->lenient_init = false;
    if (ok && same) {
        t->forgiven = true;
        *result = lenient;
    }
    return ok;
}

/* A run of the candidate on the set's inputs. */
static struct check_run run_of(const struct check_state *t, const struct set_state *s)
{
    const struct checker *k = t->checker;

    return (struct check_run){.device = k->device,
        .task = s->set.other_scalars ? &k->varied : k->task,
        .plan = &t->c->plan,
        .compilation = &t->c->compilation,
        .module = t->module,
        .shape = &k->shapes[s->shape].shape,
        .inputs = &s->inputs,
        .poison = POISON_FIRST,
        .step_limit = step_limit(k, s->shape)};
}

/* Have the sanitizers seen all that they could see in this run? Each size has had a run with the
 * sanitizers before the sets that tell kernels apart. */
static bool is_known_clean(const struct check_state *t, const struct set_state *s)
{
    return t->oblivious && !s->set.other_scalars;
}

/* Runs the candidate into s->first; again: into s->second. */
static bool run_candidate(struct check_state *t, struct set_state *s, bool again,
    struct device_result *result, struct err *err)
{
    struct checker *k = t->checker;
    uint64_t left = 0;
    struct check_run run = run_of(t, s);

    run.left_behind = &left;
    run.poison = again ? POISON_SECOND : POISON_FIRST;
    run.sanitize = k->sanitize && !again && (s->again || (s->extra && !is_known_clean(t, s)));
    run.seed = rng_mix(rng_mix(t->c->seed, 1000 + s->shape), rng_mix(s->set.seed, again));
    if (!check_run(&run, t->c->arena, again ? &s->second : &s->first, result, err) ||
        !forgive_unwritten(t, s, &run, result, err))
        return false;
    t->float_atomics |= result->float_atomics;
    t->oblivious = result->oblivious;
    t->left_behind = left > t->left_behind ? left : t->left_behind;
    t->nr_runs++;
    if (result->thread_insts > t->costs[s->shape])
        t->costs[s->shape] = result->thread_insts;
    return true;
}

static void drop_inputs(struct set_state *s)
{
    if (!s->kept_inputs)
        host_finish(&s->inputs);
    s->inputs = (struct host_arrays){0};
    s->kept_inputs = false;
}

/* Makes the set's inputs, or takes those that were made for another candidate. */
static bool fill(struct check_state *t, struct set_state *s, struct err *err)
{
    struct checker *k = t->checker;
    const struct check_shape *shape = &k->shapes[s->shape];
    const struct env *env = &shape->shape.sizes;
    const struct host_arrays *kept = original_inputs(k, s->shape, &s->set);

    drop_inputs(s);
    if (kept)
        s->inputs = *kept;
    else if (!host_init(&s->inputs, k->task, env, err) ||
             !host_fill(
                 &s->inputs, k->task, env, &s->set, shape->kind == SHAPE_TIMED, shape->folder, err))
        return false;
    s->kept_inputs = kept || original_keep_inputs(k, s->shape, &s->set, &s->inputs);
    return true;
}

/* Runs the candidate first and then the reference, so that the candidate cannot find the
 * reference's results in memory. Where the reference fell back to scale 1, the candidate runs
 * again. */
static bool run_pair(struct check_state *t, struct set_state *s, struct err *err)
{
    struct checker *k = t->checker;
    const struct input_set asked = s->set;
    struct device_result result, reference_result;

    if (!fill(t, s, err) || !run_candidate(t, s, false, &result, err) ||
        !original_reference(
            k, s->shape, &asked, &s->inputs, &s->reference, &s->kept, &reference_result, err))
        return false;
    if (original_is_finer(result.verdict) && k->sanitize && k->unvetted &&
        (!original_vet(k, s->shape, &asked, err) ||
            (!k->sanitize && !run_candidate(t, s, false, &result, err))))
        return false;
    s->skip = reference_result.verdict != VERDICT_OK;
    if (s->extra)
        s->extra->left_out = s->skip;
    else
        t->sets_skipped |= s->skip;
    /* The cost of the original may depend on the inputs. */
    if (result.verdict == VERDICT_TIMEOUT && !s->skip &&
        reference_result.thread_insts > k->costs[s->shape]) {
        k->costs[s->shape] = reference_result.thread_insts;
        if (!run_candidate(t, s, false, &result, err))
            return false;
    }
    if (!s->skip && s->reference.set.scale != asked.scale) {
        s->set = s->reference.set;
        if (!fill(t, s, err) || !run_candidate(t, s, false, &result, err))
            return false;
    }
    if (result.verdict != VERDICT_OK && !s->skip)
        fail_result(t, &result, s);
    return true;
}

/* Compares outputs with the reference's. Where an element differs by more than the tolerance allows
 * and rounding may be why, the reference's own rounding decides. */
static bool compare(struct check_state *t, struct set_state *s, const struct host_arrays *got,
    uint8_t poison, struct errors *errors, struct mismatch *m, struct err *err)
{
    struct checker *k = t->checker;
    double *room = xcalloc(k->task->nr_arrays + 1, sizeof(*room));
    struct errors *before = xcalloc(1, sizeof(*before));
    struct comparison how = {.task = &k->compared,
        .scale = s->set.scale,
        .shrink = sets_shrink(k, &s->set, &s->reference.outputs, room)};
    bool ok = true;

    *before = *errors;
    compare_outputs(&how, got, &s->reference.outputs, poison, POISON_FIRST, errors, m);
    if (m->array && !m->unwritten && !input_style_is_exact(s->set.style)) {
        ok = exact_outputs(k, s->shape, &s->set, &how.exact, err);
        if (!how.exact && !input_set_is_usual(&s->set))
            how.slack = 16;
        if (ok && (how.exact || how.slack > 0)) {
            *errors = *before;
            compare_outputs(&how, got, &s->reference.outputs, poison, POISON_FIRST, errors, m);
        }
    }
    free(room);
    free(before);
    return ok;
}

static bool judge(struct check_state *t, struct set_state *s, const struct host_arrays *got,
    uint8_t poison, struct err *err)
{
    struct mismatch m;

    if (!compare(t, s, got, poison, &t->errors, &m, err))
        return false;
    if (m.array)
        fail_wrong(t, &m, got, &s->reference.outputs, s);
    return true;
}

/* Runs the same input again, at other addresses, over another poison, with the warps in another
 * order. */
static bool run_again(struct check_state *t, struct set_state *s, struct err *err)
{
    struct device_result result;
    struct mismatch m, wrong;
    struct errors *scratch;
    bool ok;

    if (!run_candidate(t, s, true, &result, err))
        return false;
    if (result.verdict != VERDICT_OK) {
        fail_result(t, &result, s);
        return true;
    }
    scratch = xcalloc(1, sizeof(*scratch));
    ok = compare(t, s, &s->first, POISON_FIRST, scratch, &wrong, err);
    free(scratch);
    if (!ok)
        return false;
    compare_bits(
        &t->checker->compared, &s->first, &s->second, &s->reference.outputs, POISON_FIRST, &m);
    /* Elements that were never written differ because the poison does. */
    if (!wrong.array || !wrong.unwritten) {
        bool allowed = t->float_atomics && !wrong.array;

        if (m.array && !allowed)
            return fail_nondeterministic(t, &m, &s->first, &s->second, s);
        t->differed |= m.array != NULL;
    }
    return judge(t, s, &s->first, POISON_FIRST, err) &&
           (t->c->verdict != VERDICT_OK || judge(t, s, &s->second, POISON_SECOND, err));
}

/* Where the order of warps may be why a candidate is wrong, the verdict names the race: two runs
 * differ, or races were not looked for, since the original has some. */
static bool name_race(struct check_state *t, const struct set_state *s, struct err *err)
{
    struct checker *k = t->checker;
    struct device_findings races = {0};
    struct device_result result;
    struct check_run run = run_of(t, s);
    struct host_arrays outputs = {0};
    bool ok = true;

    if (!k->device->ops->catches_stray)
        return true;
    run.races = &races;
    ok = host_init(&outputs, k->task, &k->shapes[s->shape].shape.sizes, err) &&
         check_run(&run, t->c->arena, &outputs, &result, err);
    for (unsigned i = 0; i < races.nr; i++) {
        if (races.items[i].check != DEVICE_CHECK_RACE)
            continue;
        t->c->verdict_text =
            arena_printf(t->c->arena, "%s; %s", t->c->verdict_text, races.items[i].text);
        break;
    }
    host_finish(&outputs);
    device_findings_finish(&races);
    return ok;
}

static bool is_derived(const struct checker *k, unsigned shape)
{
    return k->shapes[shape].kind == SHAPE_DERIVED;
}

static bool runs_once_at(const struct check_state *t, unsigned shape)
{
    return is_derived(t->checker, shape) && is_dear_at(t, shape);
}

static bool check_set(struct check_state *t, struct set_state *s, struct err *err)
{
    struct checker *k = t->checker;
    const struct env *env = &k->shapes[s->shape].shape.sizes;
    bool ok;

    s->kept = true;
    ok = host_init(&s->first, k->task, env, err) && host_init(&s->second, k->task, env, err) &&
         run_pair(t, s, err);
    if (ok && !s->skip && t->c->verdict == VERDICT_OK) {
        t->nr_styles += s->extra != NULL;
        ok = s->again && !runs_once_at(t, s->shape) ? run_again(t, s, err)
                                                    : judge(t, s, &s->first, POISON_FIRST, err);
        if (ok && (t->c->verdict == VERDICT_NONDETERMINISTIC ||
                      (t->c->verdict == VERDICT_WRONG && !k->sanitize)))
            ok = name_race(t, s, err);
    }
    drop_inputs(s);
    host_finish(&s->first);
    host_finish(&s->second);
    if (!s->kept)
        reference_finish(&s->reference);
    return ok;
}

/* Changes few elements of the inputs, so that no sample of them tells the old ones from the new
 * ones. Numbers of an array change places: an index stays one, and a permutation, too. */
static void change_few(
    struct check_state *t, const struct host_arrays *from, struct host_arrays *to)
{
    const struct task *task = t->checker->task;

    for (unsigned a = 0; a < task->nr_arrays; a++) {
        const struct task_array *array = &task->arrays[a];
        const uint64_t nr = from->nr[a] / (array->record ? array->record->nr : 1);
        const size_t bytes = array->record ? array->record->bytes : elem_bytes(array->elem);
        unsigned char *at = to->bytes[a], room[64];

        memcpy(at, from->bytes[a], array_bytes(array, from->nr[a]));
        if (array->role == ROLE_OUT || gen_rises(&array->gen) || bytes > sizeof(room))
            continue;
        for (unsigned i = 0; i < 3 && nr > 8; i++) {
            unsigned char *x = at + (nr / 3 + rng_mix(t->c->seed, i) % (nr / 3)) * bytes,
                          *y = at + (nr / 3 + rng_mix(t->c->seed, 9 + i) % (nr / 3)) * bytes;

            memcpy(room, x, bytes);
            memcpy(x, y, bytes);
            memcpy(y, room, bytes);
        }
    }
}

enum { SERIES = 130 };

/* A candidate that leaves something behind in its variables is launched again and again, at the
 * same addresses, with two sets of inputs in turn that differ in few elements. */
static bool run_series(struct check_state *t, struct set_state s[2],
    const struct host_arrays want[2], struct host_arrays *got, struct err *err)
{
    struct checker *k = t->checker;
    struct arena *arena = arena_create();
    struct check_run run = run_of(t, s);
    struct check_series series;
    struct device_result result;
    struct errors *scratch = xcalloc(1, sizeof(*scratch));
    struct mismatch m = {0};
    bool ok;

    run.keep_state = true;
    ok = check_series_open(&run, arena, &series, &result, err);
    for (unsigned i = 0; ok && i < SERIES && t->c->verdict == VERDICT_OK; i++) {
        run.inputs = &s[i % 2].inputs;
        ok = check_series_step(&run, &series, arena, got, &result, err);
        if (ok && result.verdict == VERDICT_OK)
            compare_outputs(&(struct comparison){.task = &k->compared, .scale = 1, .slack = 4}, got,
                &want[i % 2], POISON_FIRST, POISON_FIRST, scratch, &m);
        if (ok && (m.array || result.verdict != VERDICT_OK))
            fail_at(t, m.array ? VERDICT_WRONG : result.verdict, result.line,
                arena_printf(t->c->arena,
                    "launch %u of a series at the same addresses with other inputs %s (%s): the "
                    "kernel leaves %" PRIu64
                    " bytes of its variables changed from launch to launch",
                    i + 1,
                    m.array ? arena_printf(t->c->arena, "gives wrong numbers in %s", m.array->name)
                            : result.text,
                    k->shapes[s->shape].text, t->left_behind));
    }
    check_series_close(&run, &series);
    free(scratch);
    arena_destroy(arena);
    return ok || result.verdict != VERDICT_OK;
}

static bool check_state(struct check_state *t, struct err *err)
{
    struct checker *k = t->checker;
    struct set_state s[2] = {{.set = {.scale = 1, .seed = sets_pool_seed(0, 60)}}};
    struct host_arrays want[2] = {{0}}, got = {0};
    const struct env *env;
    struct device_result result = {0};
    bool ok = true;

    for (unsigned i = 1; i < k->nr_shapes; i++)
        if (k->costs[i] < k->costs[s->shape])
            s->shape = i;
    s[1].shape = s->shape;
    env = &k->shapes[s->shape].shape.sizes;
    ok = host_init(&got, k->task, env, err);
    for (unsigned i = 0; ok && i < 2; i++)
        ok = host_init(&want[i], k->task, env, err);
    ok = ok && fill(t, &s[0], err) && host_init(&s[1].inputs, k->task, env, err);
    if (ok)
        change_few(t, &s[0].inputs, &s[1].inputs);
    for (unsigned i = 0; ok && result.verdict == VERDICT_OK && i < 2; i++)
        ok = original_outputs(k, s->shape, &s[i].inputs, &want[i], &result, err);
    if (ok && result.verdict == VERDICT_OK)
        ok = run_series(t, s, want, &got, err);
    for (unsigned i = 0; i < 2; i++) {
        drop_inputs(&s[i]);
        host_finish(&want[i]);
    }
    host_finish(&got);
    return ok;
}

/* One set is enough where a set costs as much as a whole check should and no size is cheaper. */
static unsigned nr_sets_of(const struct checker *k, unsigned shape)
{
    const enum shape_kind kind = k->shapes[shape].kind;
    const bool costly =
        (kind == SHAPE_RESORT || kind == SHAPE_LESS) && k->costs[shape] > CHECK_BUDGET;

    return costly || kind == SHAPE_TIMED || kind == SHAPE_LONG ? 1 : k->nr_seeds;
}

static const char *note_text(const struct check_state *t)
{
    const struct checker *k = t->checker;
    struct str s = {0};
    const char *text, *separator = ", ";

    if (k->nr_shapes < 2 || k->nr_shapes == k->nr_explicit)
        str_addf(&s, "A THIN CHECK, at %s: ", k->nr_shapes < 2 ? "one size" : "given sizes alone");
    str_addf(&s, "%u runs at %u size%s (%u given, %u derived), %u input sets each", t->nr_runs,
        k->nr_shapes, k->nr_shapes == 1 ? "" : "s", k->nr_explicit, k->nr_shapes - k->nr_explicit,
        k->nr_shapes == 1 ? nr_sets_of(k, 0) : k->nr_seeds);
    for (unsigned i = 0; i < k->nr_shapes; i++) {
        if (k->shapes[i].kind != SHAPE_LONG)
            continue;
        str_addf(&s, "%s%s", separator, k->task->timed.sizes.bindings[k->shapes[i].size].name);
        separator = " and ";
    }
    if (*separator == ' ' && separator[1] == 'a')
        str_add(&s, " at the timed value by itself");
    if (t->nr_styles > 0)
        str_addf(&s, ", and %u sets unlike the declared ones", t->nr_styles);
    if (k->sanitize && k->device->ops->catches_stray)
        str_add(&s, ", races and uninitialised reads looked for");
    if (t->errors.worst > 0)
        str_addf(&s, "; the largest error is %.2g of what is allowed%s", t->errors.worst,
            t->errors.worst > 0.5 ? ", a margin under 2x" : "");
    if (t->forgiven)
        str_add(&s, "; it reads what nothing wrote, and nothing comes of that");
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

static void fill_result(struct check_state *t)
{
    t->c->check = (struct check_result){.nr_runs = t->nr_runs,
        .nr_shapes = t->checker->nr_shapes,
        .share = t->errors.worst,
        .max_abs = t->errors.max_abs,
        .max_rel = t->errors.max_rel,
        .q99_rel = errors_q99(&t->errors),
        .worst_array = t->errors.worst_array,
        .worst_index = t->errors.worst_index,
        .nondeterministic_allowed = t->differed,
        .note = note_text(t)};
}

/* The set's shape, or for a dear candidate the one that costs it least, of those where the original
 * still has something to do. */
static unsigned shape_of_extra(const struct check_state *t, const struct extra_set *extra)
{
    const struct checker *k = t->checker;
    unsigned best = extra->shape;

    for (unsigned i = 0; is_dear_at(t, extra->shape) && i < k->nr_shapes; i++)
        if ((k->shapes[i].kind == SHAPE_EXPLICIT || is_derived(k, i)) && t->costs[i] > 0 &&
            k->costs[i] >= k->costs[extra->shape] / DEAR_SHARE && t->costs[i] < t->costs[best])
            best = i;
    return best;
}

static bool check_extra(struct check_state *t, struct extra_set *extra, struct err *err)
{
    struct extra_set at = *extra;
    struct set_state s = {.extra = &at};
    bool ok;

    s.shape = at.shape = shape_of_extra(t, extra);
    s.set = sets_extra(t->checker, t->c, &at);
    ok = at.left_out || check_set(t, &s, err);
    if (at.shape == extra->shape)
        extra->left_out = at.left_out;
    return ok;
}

static bool check_all(struct check_state *t, struct err *err)
{
    const struct checker *k = t->checker;
    bool ok = true;

    for (unsigned shape = 0; ok && shape < k->nr_shapes; shape++) {
        unsigned nr_sets = nr_sets_of(k, shape);

        for (unsigned set = 0; ok && set < nr_sets && t->c->verdict == VERDICT_OK; set++) {
            struct set_state s = {.shape = shape,
                .again = set == 0 && k->shapes[shape].kind != SHAPE_LONG,
                .set = sets_usual(k, t->c, shape, set)};

            ok = check_set(t, &s, err);
            nr_sets = runs_once_at(t, shape) ? 1 : nr_sets;
        }
    }
    for (unsigned i = 0; ok && i < k->nr_extras && t->c->verdict == VERDICT_OK; i++)
        ok = check_extra(t, &k->extras[i], err);
    return ok && (t->left_behind == 0 || t->c->verdict != VERDICT_OK || check_state(t, err));
}

/* A kernel that looks at a clock or at its multiprocessor can behave otherwise when it is timed. */
static bool reads_what_original_does_not(struct check_state *t)
{
    static const char *const registers[] = {
        "%clock", "%globaltimer", "%smid", "%nsmid", "%warpid", "%gridid", "%pm"};
    const struct compilation *own = &t->c->compilation, *original = t->checker->original;

    for (unsigned i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
        if (own->ptx && strstr(own->ptx, registers[i]) &&
            !(original->ptx && strstr(original->ptx, registers[i])))
            return fail_at(t, VERDICT_SUSPICIOUS, 0,
                arena_printf(t->c->arena,
                    "reads %s, which the original does not: what it computes may depend on when or "
                    "where it runs",
                    registers[i]));
    return false;
}

bool check_kernel(struct checker *checker, struct candidate *c, struct err *err)
{
    struct check_state *t;
    struct device_result result;
    bool ok;

    if (candidate_evaluated(c))
        return true;
    t = arena_alloc(c->arena, sizeof(*t));
    *t = (struct check_state){0};
    t->checker = checker;
    t->c = c;
    t->costs = arena_array(c->arena, checker->nr_shapes + 1, sizeof(*t->costs));
    if (checker->screen && !screen_kernel(checker->screen, c, &t->screened, err))
        return false;
    if (c->verdict != VERDICT_OK || reads_what_original_does_not(t))
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
