/* Owns check lines for numbers that depend on each other: from which smaller numbers a program is
 * read again, and whether the original passes the check at the sizes that result. */
#include "infer/infer_check_sizes.h"

#include "base/mem.h"
#include "base/str.h"
#include "check/check.h"
#include "infer/infer_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_STARTS = 24,        /* arguments and numbers of the text together */
    MAX_TRIALS = 6,         /* on the emulator */
    MAX_ELEMS = 2 << 20,    /* of all arrays in a short trial */
    PATIENT_ELEMS = 8 << 20 /* of all arrays in a long trial */
};

/* A way to make starts smaller. Either one start alone is reduced to at most `most`, or all starts
 * are halved `times` times. The largest values come first: the program at these values differs
 * least from the program as it is. */
static const struct way {
    int64_t most;
    unsigned times;
} ways[] = {{4096, 0}, {512, 0}, {64, 0}, {0, 3}, {0, 5}, {0, 7}, {0, 9}};

/* Warp instructions of one trial: of a cheap trial, and of a trial where cheap trials are too
 * short; then thread instructions of all trials. */
static const uint64_t trial_steps = UINT64_C(1) << 21, patient_steps = UINT64_C(1) << 25,
                      trial_insts = UINT64_C(4000000000);

struct start {
    int arg; /* >= 0: the argument's number; -1: a number of the text */
    const struct intake_seed *text;
    int64_t value, instead;
};

struct smaller {
    struct intake *in;
    struct task task;
    const struct intake_args *args;
    const char *source;
    size_t bytes;
    struct start starts[MAX_STARTS];
    unsigned nr_starts, nr_args, nr_trials;
    bool patient;
    struct inference *s; /* NULL: not needed yet */
};

/* ---- numbers to start from ---- */

static bool parse(struct arena *arena, const struct intake *in, struct task *task)
{
    struct err ignored;

    return task_parse(task, arena, in->path, in->text, strlen(in->text), &ignored);
}

/* The value is a number of threads in a block, and the code may have been written for that number.
 * */
static bool is_block(const struct task *task, int64_t value)
{
    const struct env env = task->timed.sizes;
    struct err ignored;
    int64_t block;

    for (unsigned l = 0; l < task->plan.nr_launches; l++)
        for (unsigned d = 0; d < 3; d++)
            if (expr_eval(task->plan.launches[l].block[d], &env, &block, &ignored) &&
                block == value)
                return true;
    return false;
}

static void find_starts(struct smaller *m, const struct task *task)
{
    for (unsigned i = 0; i < m->args->nr && m->nr_starts < MAX_STARTS; i++) {
        char *end;
        const int64_t value = strtoll(m->args->args[i], &end, 10);

        if (*end == 0 && value >= INTAKE_LEAST_SEED)
            m->starts[m->nr_starts++] = (struct start){.arg = (int)i, .value = value};
    }
    m->nr_args = m->nr_starts;
    for (unsigned i = 0; i < m->in->nr_seeds && m->nr_starts < MAX_STARTS; i++) {
        if (is_block(task, m->in->seeds[i].value))
            continue;
        m->starts[m->nr_starts++] =
            (struct start){.arg = -1, .text = &m->in->seeds[i], .value = m->in->seeds[i].value};
    }
}

/* The new value is small enough to stand in the text where the old value stood. */
static int64_t fitting(const struct start *start, int64_t value)
{
    char digits[24];

    while (start->text && value > 1 &&
           (size_t)snprintf(digits, sizeof(digits), "%" PRId64, value) > strlen(start->text->text))
        value /= 2;
    return value;
}

/* Make the starts from..to-1 smaller in one way. False: no start became smaller. */
static bool choose(struct smaller *m, unsigned from, unsigned to, const struct way *way)
{
    bool any = false;

    for (unsigned i = 0; i < m->nr_starts; i++) {
        struct start *start = &m->starts[i];
        int64_t value = start->value;

        for (unsigned k = 0;
             way->times ? k < way->times && value >= INTAKE_LEAST_SEED : value > way->most; k++)
            value /= 2;
        start->instead = i >= from && i < to ? fitting(start, value) : start->value;
        any |= start->instead != start->value;
    }
    return any;
}

static const char *chosen_text(const struct smaller *m, struct arena *arena)
{
    const char *text = "";

    for (unsigned i = 0; i < m->nr_starts; i++) {
        const struct start *s = &m->starts[i];

        if (s->instead == s->value)
            continue;
        text =
            arena_printf(arena, "%s%s%s %" PRId64 " in place of %" PRId64, text, *text ? ", " : "",
                s->arg >= 0 ? arena_printf(arena, "argument %d:", s->arg + 1)
                            : arena_printf(arena, "%s =", s->text->name),
                s->instead, s->value);
    }
    return text;
}

/* ---- one reading ---- */

static bool read_smaller(const struct smaller *m, struct arena *arena, struct intake *small)
{
    struct intake_args args = *m->args;
    const char **texts = arena_array(arena, args.nr + 1, sizeof(*texts));
    struct intake_seed *instead = arena_array(arena, MAX_STARTS, sizeof(*instead));
    struct err ignored;

    for (unsigned i = 0; i < args.nr; i++)
        texts[i] = args.args[i];
    for (unsigned i = 0; i < m->nr_starts; i++) {
        const struct start *s = &m->starts[i];

        if (s->instead == s->value)
            continue;
        if (s->arg >= 0) {
            texts[s->arg] = arena_printf(arena, "%" PRId64, s->instead);
            continue;
        }
        instead[args.nr_instead] = *s->text;
        instead[args.nr_instead++].value = s->instead;
    }
    args.args = texts;
    args.instead = instead;
    return intake_read(small, arena, m->in->path, m->source, m->bytes, &args, &ignored);
}

/* ---- trials ---- */

/* The contract as it stands has no check, or its only check is at sizes that take long. */
static bool needs_check(const struct inference *s)
{
    struct err ignored;
    struct checker *checker = checker_create(s->device, &s->task, &s->c.compilation,
        &(struct checker_options){.nr_threads = s->options->device.nr_threads}, &ignored);
    const bool needs = !checker || checker_is_dear(checker);

    checker_destroy(checker);
    return needs;
}

/* Open the workbench. *need: a check line is wanted. */
static bool begin(struct smaller *m, struct arena *arena, const struct workbench_options *options,
    bool *need, struct err *err)
{
    struct inference *s = arena_alloc(arena, sizeof(*s));

    *need = false;
    m->s = s;
    *s = (struct inference){
        .options = options, .arena = arena, .in = m->in, .most_insts = trial_insts};
    err->text[0] = 0;
    s->task = m->task;
    s->c.plan = s->task.plan;
    if (!infer_open(s, err))
        return err->text[0] == 0;
    *need = needs_check(s);
    return true;
}

/* Run once at the sizes of the check line, which must be cheap; then check as a run would check. */
static bool try_contract(struct smaller *m, const struct intake *in, bool *passed, struct err *err)
{
    struct inference *s = m->s;
    enum outcome outcome;

    *passed = false;
    s->c.plan = s->task.plan;
    s->shape = s->task.checks[0];
    s->steps = m->patient ? patient_steps : trial_steps;
    m->nr_trials++;
    return trial_run(s, &outcome, err) &&
           (outcome != CLEAN || infer_passes(s, in, false, passed, err));
}

/* Try the contract that follows from the chosen numbers. *done: the contract has its check line, or
 * needs none. */
static bool attempt(struct smaller *m, struct arena *arena, const struct workbench_options *options,
    bool *done, struct err *err)
{
    struct arena *reading = arena_create();
    struct intake small, in = *m->in;
    struct task task;
    bool ok = true, need = true, passed = false;
    const bool hangs =
        read_smaller(m, reading, &small) && intake_add_check(&in, arena, &small,
                                                arena_printf(arena,
                                                    "assumed: what the program computes from "
                                                    "smaller numbers (%s); at these sizes the "
                                                    "original passes the check",
                                                    chosen_text(m, arena)));

    arena_destroy(reading);
    if (!hangs)
        return true;
    if (!m->s)
        ok = begin(m, arena, options, &need, err);
    if (!ok || !need) {
        *done = true;
        return ok;
    }
    intake_compose(&in, arena);
    if (!parse(arena, &in, &task) || task.nr_checks != 1 ||
        task_elems(&task, &task.checks[0].sizes) > (m->patient ? PATIENT_ELEMS : MAX_ELEMS))
        return true;
    m->s->task = task;
    ok = try_contract(m, &in, &passed, err);
    if (passed)
        *m->in = in;
    *done = passed || trials_spent(m->s);
    return ok;
}

/* Arguments are made smaller first, then numbers of the text. */
static bool attempt_all(struct smaller *m, struct arena *arena,
    const struct workbench_options *options, bool *done, struct err *err)
{
    const unsigned ends[][2] = {{0, m->nr_args}, {m->nr_args, m->nr_starts}};

    for (unsigned k = 0; k < 2 * ARRAY_SIZE(ways) && m->nr_trials < MAX_TRIALS; k++) {
        const struct way *way = &ways[k % ARRAY_SIZE(ways)];
        const unsigned *end = ends[k / ARRAY_SIZE(ways)];

        for (unsigned i = end[0]; i < end[1] && (way->most || i == end[0]); i++) {
            if (!choose(m, i, way->most ? i + 1 : end[1], way))
                continue;
            if (!attempt(m, arena, options, done, err))
                return false;
            if (*done)
                return true;
        }
    }
    return true;
}

static bool is_settled(const struct intake *in)
{
    for (unsigned i = 0; i < in->nr_lines; i++)
        if (in->lines[i].assumed)
            return true;
    return in->nr_missing > 0;
}

bool infer_check_sizes(struct intake *in, struct arena *arena,
    const struct workbench_options *options, const char *source, size_t bytes,
    const struct intake_args *args, struct err *err)
{
    struct smaller *m = arena_alloc(arena, sizeof(*m));

    *m = (struct smaller){.in = in, .args = args, .source = source, .bytes = bytes};
    if (is_settled(in) || !parse(arena, in, &m->task))
        return true;
    find_starts(m, &m->task);
    bool done = false, ok = attempt_all(m, arena, options, &done, err);

    if (ok && m->s && !done && !trials_spent(m->s)) {
        m->patient = true;
        m->nr_trials = 0;
        ok = attempt_all(m, arena, options, &done, err);
    }
    if (m->s)
        infer_close(m->s);
    return ok;
}
