/* Owns the comparison at the timed sizes: what the original computes there, whole or in a sample of
 * its blocks, and what a candidate computes there. */
#include "check/check_timed.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check/check_compare.h"
#include "check/check_line.h"
#include "check/check_parts.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Warp instructions that a run of the original may take before a sample of its blocks stands for
 * it: in a search a run of a tenth of a second, since every variant that would be the fastest runs
 * as well. A sample may take a quarter of that. */
static uint64_t whole_limit(const struct checker *k)
{
    return k->timed_insts ? k->timed_insts : UINT64_C(1) << 22;
}

enum {
    TIMED_MAX_BYTES = 384 << 20, /* the host holds five copies */
    NR_STRETCHES = 8 /* of consecutive blocks, in a sample; fewer where blocks are long */
};

struct timed {
    const char *why_not;                /* nothing can be compared; NULL: something can */
    struct host_arrays inputs, outputs; /* the original's */
    struct host_arrays got;             /* the last candidate's */
    struct host_arrays want;            /* scratch: see wanted */
    struct arena *arena;
    uint64_t thread_insts;
    double stretch; /* a sample: the share of the grid that each stretch has; 0: whole */
    double at[NR_STRETCHES];
    unsigned step;      /* every so many of the stretches run */
    bool done_by_shape; /* one of the checked sizes is the timed one */
    const char *whose;  /* for the note, of a task with files: whose outputs `outputs` are */
};

void timed_destroy(struct timed *t)
{
    if (!t)
        return;
    host_finish(&t->inputs);
    host_finish(&t->outputs);
    host_finish(&t->got);
    host_finish(&t->want);
    arena_destroy(t->arena);
    free(t);
}

static uint64_t timed_seed(void)
{
    return rng_mix(0x6b656574 /* "keet" */, UINT64_C(1) << 40);
}

/* Does the check of each candidate compare at the timed sizes anyway, and with the task's files? */
static bool is_covered(const struct checker *k)
{
    const bool files = shapes_use_files(k->task);

    for (unsigned i = 0; i < k->nr_shapes; i++) {
        const struct env *sizes = &k->shapes[i].shape.sizes;
        bool same = !files || k->shapes[i].kind == SHAPE_TIMED;

        for (size_t s = 0; s < sizes->nr; s++)
            same = same && sizes->bindings[s].value == k->task->timed.sizes.bindings[s].value;
        if (same)
            return true;
    }
    return false;
}

/* The blocks of the stretches, where the grid of the plan's one launch is cut into. Whole rows of
 * blocks where a stretch is as long as one: blocks of other shapes in the same rows write the same
 * outputs. */
static bool list_blocks(const struct timed *t, const struct plan *plan, const struct env *env,
    struct arena *arena, struct block_list *list)
{
    struct launch_config config;
    struct err ignored;
    uint64_t nr, last = 0;

    if (!launch_resolve(&plan->launches[0], env, &config, &ignored))
        return false;
    nr = (uint64_t)config.grid[0] * config.grid[1] * config.grid[2];
    *list = (struct block_list){arena_array(arena, nr + 1, sizeof(uint64_t)), 0};
    for (unsigned s = 0; s < NR_STRETCHES; s += t->step) {
        uint64_t from = (uint64_t)(t->at[s] * (double)nr),
                 to = (uint64_t)((t->at[s] + t->stretch) * (double)nr) + 1;

        if (t->stretch * (double)nr >= (double)config.grid[0]) {
            from -= from % config.grid[0];
            to += config.grid[0] - 1;
            to -= to % config.grid[0];
        }
        from = from < last ? last : from;
        to = to > nr ? nr : to;
        for (uint64_t b = from; b < to; b++)
            list->blocks[list->nr++] = b;
        last = to > last ? to : last;
    }
    return true;
}

/* sampled: only the blocks of the stretches. */
static bool run_at(struct checker *k, const struct plan *plan, const struct compilation *code,
    struct device_module *module, bool sampled, uint64_t step_limit, uint64_t seed,
    struct arena *arena, struct host_arrays *outputs, struct device_result *result, struct err *err)
{
    const struct timed *t = k->timed;
    const struct env env = plan_env(arena, plan, &k->task->timed);
    struct block_list list;
    struct check_run run = {.device = k->device,
        .task = k->task,
        .plan = plan,
        .compilation = code,
        .module = module,
        .shape = &k->task->timed,
        .inputs = &t->inputs,
        .poison = POISON_FIRST,
        .step_limit = step_limit,
        .seed = seed};

    if (sampled && list_blocks(t, plan, &env, arena, &list))
        run.blocks = &list;
    return check_run(&run, arena, outputs, result, err);
}

/* Fewer blocks: an eighth of each stretch, and where these have one block, half the stretches.
 * False: no smaller sample than this. */
static bool shrink_sample(struct timed *t, double nr_blocks)
{
    if (t->stretch <= 0) {
        t->stretch = 1.0 / (16 * NR_STRETCHES);
        t->step = 1;
    } else if (t->stretch * nr_blocks > 1) {
        t->stretch /= 8;
    } else if (t->step < NR_STRETCHES) {
        t->step *= 2;
    } else {
        return false;
    }
    return true;
}

/* The first sample, or the next smaller one, that should not take too long. */
static bool next_sample(const struct checker *k, struct timed *t)
{
    const struct env env = plan_env(t->arena, &k->oracle, &k->task->timed);
    struct launch_config config;
    struct err ignored;
    double nr;
    bool more;

    if (!launch_resolve(&k->oracle.launches[0], &env, &config, &ignored))
        return false;
    nr = (double)config.grid[0] * config.grid[1] * config.grid[2];
    do {
        more = shrink_sample(t, nr);
    } while (more && (t->step < NR_STRETCHES) &&
             k->original_insts * fmax(t->stretch, 1 / nr) * NR_STRETCHES / t->step >
                 (double)(whole_limit(k) / 4));
    return more;
}

/* The task's files, where it has any for outputs, are what a candidate is compared with, unless the
 * original disagrees with them. Such files belong to inputs from files. */
static void hold_to_files(struct checker *k)
{
    struct timed *t = k->timed;
    bool expects = false;
    struct err why;

    for (unsigned i = 0; i < k->task->nr_arrays; i++) {
        const struct task_array *array = &k->task->arrays[i];

        expects = expects || array->expect_path;
        if (array->role != ROLE_OUT && array->gen.kind != GEN_FILE &&
            array->gen.kind != GEN_CONSTANT && array->gen.kind != GEN_IOTA)
            return;
    }
    if (!expects)
        return;
    t->whose = original_hold_to_files(k, &k->task->timed.sizes, NULL, &t->outputs, &why)
                   ? " with the task's files"
                   : arena_printf(
                         t->arena, " with the original's, not with the task's files: %s", why.text);
}

/* Runs the original whole, or where that takes too long a sample of its blocks. */
static bool run_original(struct checker *k, struct err *err)
{
    struct timed *t = k->timed;
    const bool can_sample = k->device->ops->catches_stray && k->oracle.nr_launches == 1;
    struct device_result result = {.verdict = VERDICT_TIMEOUT};
    struct arena *arena = arena_create();
    bool ok = true;

    for (unsigned s = 0; s < NR_STRETCHES; s++)
        t->at[s] = ((double)s + (double)(rng_mix(timed_seed(), s) >> 11) * 0x1p-53) / NR_STRETCHES;
    if (!can_sample || k->original_insts <= (double)whole_limit(k))
        ok = run_at(k, &k->oracle, k->original, k->module, false,
            can_sample ? whole_limit(k) : 8 * whole_limit(k), 0, arena, &t->outputs, &result, err);
    while (ok && can_sample && result.verdict == VERDICT_TIMEOUT && next_sample(k, t)) {
        for (unsigned i = 0; i < k->task->nr_arrays; i++) /* what the run before left */
            memset(t->outputs.bytes[i], POISON_FIRST,
                array_bytes(&k->task->arrays[i], t->outputs.nr[i]));
        ok = run_at(k, &k->oracle, k->original, k->module, true, whole_limit(k) / 4, 0, arena,
            &t->outputs, &result, err);
    }
    t->thread_insts = result.thread_insts;
    if (ok && result.verdict != VERDICT_OK)
        t->why_not = arena_printf(t->arena, "the original does not run there (%s: %.200s)",
            verdict_name(result.verdict), result.text);
    else if (ok && t->stretch <= 0)
        hold_to_files(k);
    arena_destroy(arena);
    return ok;
}

static bool prepare(struct checker *k, struct err *err)
{
    struct timed *t = k->timed = xcalloc(1, sizeof(*t));
    const struct env *env = &k->task->timed.sizes;
    const struct input_set set = {.scale = 1, .seed = timed_seed()};
    struct err why;

    t->arena = arena_create();
    t->done_by_shape = k->device->ops->catches_stray && is_covered(k);
    if (t->done_by_shape)
        return true;
    if (task_bytes(k->task, env) > TIMED_MAX_BYTES) {
        t->why_not = "the arrays are too large";
        return true;
    }
    if (!host_init(&t->inputs, k->task, env, err) || !host_init(&t->outputs, k->task, env, err) ||
        !host_init(&t->got, k->task, env, err) || !host_init(&t->want, k->task, env, err))
        return false;
    if (!host_fill(&t->inputs, k->task, env, &set, true, NULL, &why)) {
        t->why_not = arena_strdup(t->arena, why.text);
        return true;
    }
    return run_original(k, err);
}

/* Has the original's sample changed none of elements i to i + nr? False where that is not known. */
static bool are_untouched(const struct timed *t, const struct task_array *array, unsigned a,
    const void *want, uint64_t i, uint64_t nr)
{
    const uint64_t at = array_bytes(array, i);

    return array->role == ROLE_OUT ? elements_are_poison(array, want, i, nr, POISON_FIRST)
                                   : !array->record && memcmp((const char *)want + at,
                                                           (const char *)t->inputs.bytes[a] + at,
                                                           array_bytes(array, nr)) == 0;
}

/* In a sample, an output counts where the original has written, and the candidate too if it ran in
 * a sample: the others become what compare_outputs leaves out. Those of `inout` count where both
 * have changed them. */
static void leave_out_unwritten(
    const struct checker *k, bool sampled, struct host_arrays *got, struct host_arrays *want)
{
    const struct timed *t = k->timed;

    for (unsigned a = 0; a < k->task->nr_arrays; a++) {
        const struct task_array *array = &k->task->arrays[a];

        for (uint64_t i = 0; array->role != ROLE_IN && i < want->nr[a]; i++) {
            const uint64_t together = elements_together(i, want->nr[a]);
            enum elem elem;
            const uint64_t at = array_place(array, i, &elem);
            const size_t bytes = elem_bytes(elem);
            unsigned char *g = (unsigned char *)got->bytes[a] + at,
                          *w = (unsigned char *)want->bytes[a] + at;
            unsigned char poison[8], *before = poison;

            if (together > 0 && are_untouched(t, array, a, want->bytes[a], i, together)) {
                memcpy(g, w, array_bytes(array, together));
                i += together - 1;
                continue;
            }
            memset(poison, POISON_FIRST, sizeof(poison));
            if (array->role == ROLE_INOUT)
                before = (unsigned char *)t->inputs.bytes[a] + at;
            if ((!sampled || memcmp(g, before, bytes) != 0) && memcmp(w, before, bytes) != 0)
                continue;
            memcpy(w, before, bytes);
            memcpy(g, before, bytes);
        }
    }
}

/* What the candidate is compared with: of a sample a copy, from which elements are left out. */
static struct host_arrays *wanted(const struct checker *k)
{
    struct timed *t = k->timed;

    if (t->stretch <= 0)
        return &t->outputs;
    for (unsigned a = 0; a < k->task->nr_arrays; a++)
        if (k->task->arrays[a].role != ROLE_IN)
            memcpy(t->want.bytes[a], t->outputs.bytes[a],
                array_bytes(&k->task->arrays[a], t->outputs.nr[a]));
    return &t->want;
}

static void add_note(struct candidate *c, const char *text)
{
    c->check.note = c->check.note && *c->check.note
                        ? arena_printf(c->arena, "%s; %s", c->check.note, text)
                        : text;
}

static const char said[] = "the timed size";

bool check_has_timed(const struct candidate *c)
{
    return c->check.timed;
}

static void fail_timed(const struct checker *k, struct candidate *c, const struct mismatch *m,
    const char *when, const struct host_arrays *got, const struct host_arrays *want)
{
    const struct env *env = &k->task->timed.sizes;
    const unsigned line = check_write_line(c, m->array->name);
    const char *name = element_name(c->arena, m->array, env, m->index),
               *reference = element_text(c->arena, m->array, want->bytes[m->which], m->index),
               *mine = m->unwritten
                           ? "is never written"
                           : arena_printf(c->arena, "= %s",
                                 element_text(c->arena, m->array, got->bytes[m->which], m->index));

    candidate_fail(c, VERDICT_WRONG, line,
        "%s:%u: %s %s but the reference has %s (at %s%s; %" PRIu64 " of %" PRIu64
        " elements differ)",
        file_name(c->task->path), line, name, mine, reference, said, when, m->nr_wrong, m->nr);
}

/* sampled: the candidate ran in a sample, as the original did. when: for the texts, or "". */
static bool judge(struct checker *k, struct candidate *c, bool sampled, const char *when,
    struct host_arrays *want, struct err *err)
{
    struct host_arrays *got = &k->timed->got;
    struct errors *errors = xcalloc(1, sizeof(*errors));
    struct comparison how = {.task = &k->compared, .scale = 1};
    const struct input_set set = {.scale = 1, .seed = timed_seed()};
    struct mismatch m;
    uint64_t all = 0;
    bool ok = true;

    errors->rough = true;
    if (k->timed->stretch > 0)
        leave_out_unwritten(k, sampled, got, want);
    compare_outputs(&how, got, want, POISON_FIRST, POISON_FIRST, errors, &m);
    if (m.array && !m.unwritten) { /* long sums round more than short ones */
        ok = exact_outputs(k, UINT_MAX, &set, &how.exact, err);
        how.slack = how.exact ? 0 : 16;
        *errors = (struct errors){0};
        compare_outputs(&how, got, want, POISON_FIRST, POISON_FIRST, errors, &m);
    }
    c->check.share = errors->worst > c->check.share ? errors->worst : c->check.share;
    c->check.max_abs = errors->max_abs > c->check.max_abs ? errors->max_abs : c->check.max_abs;
    c->check.max_rel = errors->max_rel > c->check.max_rel ? errors->max_rel : c->check.max_rel;
    for (unsigned a = 0; a < k->task->nr_arrays; a++)
        all += k->compared.arrays[a].role != ROLE_IN ? want->nr[a] : 0;
    if (m.array)
        fail_timed(k, c, &m, when, got, want);
    else if (k->timed->stretch > 0)
        add_note(c,
            arena_printf(c->arena,
                "%" PRIu64 " of the %" PRIu64 " outputs at %s compared, by a sample of blocks: a "
                "run of the original takes too long",
                errors->nr, all, said));
    else
        add_note(c, arena_printf(c->arena, "all %" PRIu64 " outputs at %s compared%s%s", errors->nr,
                        said, k->timed->whose ? k->timed->whose : "", when));
    free(errors);
    return ok;
}

/* As in the check of small sizes, within what the original itself may take there. */
static uint64_t candidate_limit(const struct checker *k)
{
    const uint64_t most = UINT64_C(1) << 29, limit = 64000000 + 16 * k->timed->thread_insts;

    return limit < most ? limit : most;
}

/* Where the original has run in a sample, the candidate runs whole as long as that takes no longer
 * than a whole run of the original may, and in the same sample else. *thread_insts: what a whole
 * run takes at least, where that turned out to be too long. */
static bool run_whole_or_sample(struct checker *k, struct candidate *c,
    struct device_module *module, bool *sampled, uint64_t *thread_insts,
    struct device_result *result, struct err *err)
{
    struct timed *t = k->timed;
    const uint64_t seed = rng_mix(c->seed, 77);
    const double known = counters_get(&c->profile.total, METRIC_WARP_INST);

    *sampled = t->stretch > 0 && known > (double)whole_limit(k);
    *result = (struct device_result){.verdict = VERDICT_TIMEOUT};
    if (!*sampled && !run_at(k, &c->plan, &c->compilation, module, false,
                         t->stretch > 0 ? whole_limit(k) : candidate_limit(k), seed, c->arena,
                         &t->got, result, err))
        return false;
    if (t->stretch <= 0 || result->verdict != VERDICT_TIMEOUT || c->plan.nr_launches != 1)
        return true;
    *sampled = true;
    *thread_insts = result->thread_insts;
    return run_at(k, &c->plan, &c->compilation, module, true, candidate_limit(k), seed, c->arena,
        &t->got, result, err);
}

static bool run_candidate(struct checker *k, struct candidate *c, struct device_module *module,
    uint64_t *thread_insts, struct err *err)
{
    struct timed *t = k->timed;
    struct device_result result;
    bool sampled, ok;

    ok = run_whole_or_sample(k, c, module, &sampled, thread_insts, &result, err);
    if (ok && t->stretch > 0 && result.verdict == VERDICT_TIMEOUT)
        add_note(
            c, arena_printf(c->arena,
                   "nothing compared at %s: the original takes too long there, and so does this "
                   "kernel",
                   said));
    else if (ok && result.verdict != VERDICT_OK)
        candidate_fail(c, result.verdict, result.line, "%s:%u: %s (at %s)",
            file_name(c->task->path), result.line, result.text, said);
    else if (ok)
        ok = judge(k, c, sampled, "", wanted(k), err);
    if (ok && !sampled)
        *thread_insts = result.thread_insts;
    return ok;
}

bool check_timed(struct checker *k, struct candidate *c, uint64_t *thread_insts, struct err *err)
{
    struct device_module *module;
    struct device_result result;
    bool ok;

    *thread_insts = 0;
    if (c->verdict != VERDICT_OK || check_has_timed(c))
        return true;
    if (!k->timed && !prepare(k, err))
        return err_wrap(err, "comparing at %s", said);
    c->check.timed = true;
    if (k->timed->done_by_shape) {
        add_note(c, arena_printf(c->arena, "%s is one of these", said));
        return true;
    }
    if (k->timed->why_not) {
        add_note(c, arena_printf(c->arena, "nothing compared at %s: %s", said, k->timed->why_not));
        return true;
    }
    if (!device_load(k->device, &c->compilation, &module, &result, err))
        return false;
    ok = result.verdict != VERDICT_OK || run_candidate(k, c, module, thread_insts, err);
    device_unload(k->device, module);
    return ok;
}

/* Other inputs than those that were timed, in the buffers that were timed. */
static bool write_other_inputs(
    struct checker *k, const struct run_buffers *buffers, struct err *err)
{
    bool ok = true;

    for (unsigned i = 0; ok && i < buffers->nr; i++) {
        const struct run_buffer *b = &buffers->buffers[i];

        ok = i >= k->task->nr_arrays || b->array->role == ROLE_OUT
                 ? device_fill(k->device, b->address, POISON_FIRST, b->bytes, false, err)
                 : device_write(k->device, b->address, k->timed->inputs.bytes[i], b->bytes, err);
    }
    return ok;
}

static bool read_outputs(struct checker *k, const struct run_buffers *buffers, struct err *err)
{
    bool ok = true;

    for (unsigned i = 0; ok && i < k->task->nr_arrays; i++)
        ok = device_read(k->device, buffers->buffers[i].address, k->timed->got.bytes[i],
            buffers->buffers[i].bytes, err);
    return ok;
}

bool check_after_timing(struct checker *k, struct candidate *c, struct device_module *module,
    const struct device_launch *launches, const struct run_buffers *buffers, struct err *err)
{
    static const char *const when = " after the last timed run, on inputs that were not timed";
    struct device_result result = {0};

    if (c->verdict != VERDICT_OK)
        return true;
    if (!k->timed && !prepare(k, err))
        return err_wrap(err, "comparing after timing");
    if (k->timed->done_by_shape || k->timed->why_not)
        return true;
    if (!write_other_inputs(k, buffers, err) ||
        !run_launches(k->device, module, launches, c->plan.nr_launches, &result, err))
        return err_wrap(err, "comparing after timing");
    if (result.verdict != VERDICT_OK)
        return candidate_fail(c, result.verdict, result.line, "%s:%u: %s (at %s%s)",
            file_name(c->task->path), result.line, result.text, said, when);
    return read_outputs(k, buffers, err) && judge(k, c, false, when, &k->timed->outputs, err);
}

void check_original_takes(struct checker *k, double warp_insts)
{
    if (!k->task->reference && warp_insts > 0)
        k->original_insts = warp_insts;
}

bool check_prepare(struct checker *k, struct err *err)
{
    const struct input_set set = {.scale = 1, .seed = timed_seed()};
    double *const *ignored;

    return (k->timed || prepare(k, err)) && exact_outputs(k, 0, &set, &ignored, err);
}
