/* Owns the numbers that a file does not give: the choice of values to try, and what the contract
 * says after the trials. */
#include "infer/infer_sizes.h"

#include "base/mem.h"
#include "base/str.h"
#include "check/check.h"
#include "infer/infer_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_PASSES = 4,    /* choices of values that may go through the check */
    SCALAR_TRIES = 8,  /* choices tried with other values of real scalars */
    PATIENT_TRIES = 4, /* choices tried where trials may be long */
    SCALED_LEAST = 64  /* smaller sizes of the file stay when larger ones are scaled */
};

/* The value that the largest size of the file is scaled to. 0: all sizes stay as they are. */
static const int64_t scales[] = {256, 0, 1024, 64};
enum { NR_SCALES = sizeof(scales) / sizeof(scales[0]) };

/* ---- what is missing ---- */

/* Every line is there, or lacks nothing but a number. */
static bool only_numbers(const struct intake *in)
{
    for (unsigned i = 0; i < in->nr_lines; i++)
        if (in->lines[i].missing && !intake_lacks_number(&in->lines[i]))
            return false;
    return in->nr_missing <= INFER_MAX_NUMBERS;
}

/* The file writes through names that the intake does not follow: inline assembler, macros,
 * templates of other libraries. */
static bool no_outputs(const struct intake *in)
{
    bool arrays = false;

    for (unsigned i = 0; i < in->nr_lines; i++) {
        const char *role = in->lines[i].role;

        if (role && (strcmp(role, "out") == 0 || strcmp(role, "inout") == 0))
            return false;
        arrays |= in->lines[i].kind == INTAKE_ARRAY && strcmp(role, "in") == 0;
    }
    return arrays;
}

/* A copy of the contract whose lines may be changed. */
static struct intake copy_of(const struct intake *in, struct arena *arena)
{
    struct intake copy = *in;

    copy.lines = arena_array(arena, in->nr_lines, sizeof(*copy.lines));
    memcpy(copy.lines, in->lines, in->nr_lines * sizeof(*copy.lines));
    return copy;
}

static bool is_block(const struct plan *plan, const char *name)
{
    for (unsigned i = 0; i < plan->nr_launches; i++)
        for (unsigned d = 0; d < 3; d++)
            if (expr_uses(plan->launches[i].block[d], name))
                return true;
    return false;
}

/* Along how many dimensions one block extends: the numbers of threads multiply. */
static unsigned nr_block_dims(const struct inference *s)
{
    unsigned most = 0;

    for (unsigned i = 0; i < s->task.plan.nr_launches; i++) {
        unsigned nr = 0;

        for (unsigned d = 0; d < 3; d++) {
            bool uses = false;

            for (unsigned k = 0; k < s->nr_numbers; k++)
                uses |= s->numbers[k].kind == A_BLOCK &&
                        expr_uses(s->task.plan.launches[i].block[d], s->numbers[k].name);
            nr += uses;
        }
        most = nr > most ? nr : most;
    }
    return most;
}

static bool is_launched(const struct plan *plan, const char *name)
{
    for (unsigned i = 0; i < plan->nr_launches; i++)
        if (launch_uses(&plan->launches[i], name))
            return true;
    return false;
}

/* Count the dimensions of arrays and temps that use a name, and the dimensions that are that name
 * alone. */
static unsigned nr_dims_of(const struct task *task, const char *name, unsigned *nr_bare)
{
    unsigned nr = 0;

    *nr_bare = 0;
    for (unsigned i = 0; i < task->nr_arrays + task->plan.nr_temps; i++) {
        const struct task_array *a =
            i < task->nr_arrays ? &task->arrays[i] : &task->plan.temps[i - task->nr_arrays];

        for (unsigned d = 0; d < a->nr_dims; d++) {
            nr += expr_uses(a->dims[d], name);
            *nr_bare += strcmp(expr_text(a->dims[d]), name) == 0;
        }
    }
    return nr;
}

static enum number_kind kind_of(const struct task *task, const char *name)
{
    const bool launched = is_launched(&task->plan, name);
    unsigned nr_bare;
    const unsigned nr = nr_dims_of(task, name, &nr_bare);

    if (is_block(&task->plan, name))
        return A_BLOCK;
    if (nr == 0 && !launched)
        return A_SPARE; /* a branch that was not taken asked for the number */
    return nr > 0 && nr == nr_bare && !launched ? AN_EXTENT : A_SIZE;
}

static void find_numbers(struct inference *s)
{
    const size_t nr = s->task.timed.sizes.nr;
    struct binding *sizes = arena_array(s->arena, nr + 1, sizeof(*sizes));

    memcpy(sizes, s->task.timed.sizes.bindings, nr * sizeof(*sizes));
    s->shape = (struct shape){{sizes, nr}, 0};
    s->sizes = sizes;
    for (unsigned i = 0; i < s->in->nr_lines; i++) {
        const char *name = s->in->lines[i].name;
        struct missing_number *n = &s->numbers[s->nr_numbers];

        if (!intake_lacks_number(&s->in->lines[i]))
            continue;
        *n = (struct missing_number){.name = name, .kind = A_SCALAR};
        for (size_t k = 0; k < nr; k++)
            if (strcmp(sizes[k].name, name) == 0) {
                n->at = k;
                n->kind = kind_of(&s->task, name);
            }
        s->nr_numbers++;
    }
}

/* ---- choices ---- */

/* Sizes that are tried one after another. Each row serves between `least` and `most` sizes.
 * Distinct round sizes come first, so that forms with equal values are told apart; then come sizes
 * that suit tiles, squares and small problems. The product of many sizes is large, so many sizes
 * begin small and are enlarged when a trial succeeds. */
static const struct choice {
    unsigned least, most;
    int64_t values[4];
} choices[] = {
    {0, 1, {1024, 0, 0, 0}},
    {0, 2, {128, 192, 0, 0}},
    {4, INFER_MAX_NUMBERS, {8, 12, 16, 4}},
    {0, INFER_MAX_NUMBERS, {32, 48, 64, 16}},
    {0, INFER_MAX_NUMBERS, {128, 256, 384, 64}},
    {0, INFER_MAX_NUMBERS, {64, 64, 64, 64}},
    {0, INFER_MAX_NUMBERS, {256, 256, 256, 256}},
    {0, 2, {1024, 1024, 0, 0}},
    {0, INFER_MAX_NUMBERS, {96, 64, 48, 32}},
    {0, 3, {8, 12, 16, 4}},
    {0, INFER_MAX_NUMBERS, {16, 16, 16, 16}},
    {0, INFER_MAX_NUMBERS, {4, 4, 4, 4}},
    {0, INFER_MAX_NUMBERS, {2, 2, 2, 2}},
    {0, INFER_MAX_NUMBERS, {1, 1, 1, 1}},
};
enum { NR_CHOICES = sizeof(choices) / sizeof(choices[0]) };

/* False: the row does not serve that many sizes, or scaling changes nothing. */
static bool choose(struct inference *s, unsigned choice, int64_t most)
{
    const struct binding *given = s->task.timed.sizes.bindings;
    const int64_t block = nr_block_dims(s) > 1 ? 16 : 128;
    unsigned nr = 0, shift = 0;
    int64_t largest = 0;

    for (size_t i = 0; i < s->shape.sizes.nr; i++)
        largest = given[i].value > largest ? given[i].value : largest;
    while (most && largest >> shift > most)
        shift++;
    for (size_t i = 0; i < s->shape.sizes.nr; i++)
        s->sizes[i].value =
            given[i].value < SCALED_LEAST ? given[i].value : given[i].value >> shift;
    for (unsigned i = 0; i < s->nr_numbers; i++) {
        if (s->numbers[i].kind == A_BLOCK)
            s->sizes[s->numbers[i].at].value = block;
        else if (s->numbers[i].kind == A_SIZE)
            s->sizes[s->numbers[i].at].value = choices[choice].values[nr++ % 4];
    }
    return nr >= choices[choice].least && nr <= choices[choice].most && (nr > 0 || choice == 0) &&
           (shift > 0 || !most);
}

/* The contract with the chosen numbers written into it. */
static struct intake complete(const struct inference *s)
{
    struct intake in = copy_of(s->in, s->arena);
    const char *ran = "with it the original passes the check";

    for (unsigned i = 0; i < s->nr_numbers; i++) {
        const struct missing_number *n = &s->numbers[i];
        const char *value = n->kind == A_SCALAR  ? s->scalar
                            : n->kind == A_SPARE ? "spare" /* the number belongs to no line */
                            : n->form            ? n->form
                                      : arena_printf(s->arena, "%" PRId64, s->sizes[n->at].value);

        intake_assume(&in, s->arena, n->name, value,
            n->kind != AN_EXTENT ? ran
            : n->widened
                ? "assumed: twice what the kernel needed or more; how much it needs follows "
                  "from the data, and with seven inputs it stayed inside"
            : n->form ? "assumed: the least product of sizes with which the kernel stays "
                        "inside, found by running it"
                      : "the least with which the kernel stays inside, found by running it");
    }
    for (unsigned i = 0; s->seek_outputs && i < s->task.nr_arrays; i++)
        if (s->task.arrays[i].role == ROLE_OUT || s->outputs[i])
            intake_set_role(&in, s->arena, s->task.arrays[i].name,
                s->task.arrays[i].role == ROLE_OUT ? "out" : "inout",
                s->task.arrays[i].role == ROLE_OUT
                    ? "but written, and not read before, when it was run"
                    : "but written when it was run");
    intake_compose(&in, s->arena);
    return in;
}

/* An array that a trial writes is an output; the array is an input too if a trial reads it first.
 * */
static bool find_outputs(struct inference *s, struct err *err)
{
    enum outcome outcome;

    memcpy(s->outputs, s->written, s->task.nr_arrays * sizeof(*s->outputs));
    for (unsigned i = 0; i < s->task.nr_arrays; i++) {
        if (!s->outputs[i])
            continue;
        s->task.arrays[i].role = ROLE_OUT;
        s->sanitize = true;
        if (!trial_run(s, &outcome, err))
            return false;
        s->sanitize = false;
        if (outcome != CLEAN)
            s->task.arrays[i].role = ROLE_INOUT;
    }
    return true;
}

/* *stays: no access strays with other inputs. An access that strays shows that an extent depends on
 * data and not on sizes. */
static bool stays_inside(struct inference *s, const struct candidate *c, const struct task *task,
    bool *stays, struct err *err)
{
    enum { SEEDS = 6 };
    struct inference other = *s;
    enum outcome outcome;
    bool ok = true;

    other.task = *task;
    other.c = *c;
    other.shape = task->timed;
    other.why = NULL;
    *stays = true;
    for (other.seed = 1; ok && *stays && other.seed <= SEEDS; other.seed++) {
        ok = trial_run(&other, &outcome, err);
        *stays = outcome != STRAY;
    }
    s->insts = other.insts;
    if (!*stays) {
        static const char end[] = "past the end of ";
        const char *at = other.why ? strstr(other.why, end) : NULL;

        s->strayed =
            at ? arena_strndup(s->arena, at + strlen(end), strcspn(at + strlen(end), " ")) : NULL;
    }
    if (!*stays)
        s->why = arena_printf(s->arena,
            "an extent follows from the data in other arrays, not from sizes; with other inputs %s",
            other.why);
    return ok;
}

bool infer_passes(struct inference *s, const struct intake *in, bool with_more_inputs, bool *passed,
    struct err *err)
{
    struct arena *arena = arena_create();
    struct candidate c = s->c;
    struct err why = {0};
    struct task task;
    struct checker *checker;
    bool ok = true;

    c.arena = arena;
    c.task = &task;
    *passed = task_parse(&task, arena, in->path, in->text, strlen(in->text), &why);
    checker =
        *passed ? checker_create(s->device, &task, &c.compilation,
                      &(struct checker_options){.nr_threads = s->options->device.nr_threads}, &why)
                : NULL;
    *passed = checker != NULL;
    if (checker) {
        c.plan = task.plan;
        ok = check_kernel(checker, &c, err);
        *passed = ok && c.verdict == VERDICT_OK;
        if (!*passed)
            trial_note(s, verdict_name(c.verdict), c.verdict_line, c.verdict_text);
        else if (with_more_inputs)
            ok = stays_inside(s, &c, &task, passed, err);
    } else {
        trial_note(s, "check", 0, why.text);
    }
    checker_destroy(checker);
    arena_destroy(arena);
    return ok;
}

/* ---- what follows from data ---- */

/* Parse the contract with a stand-in for each missing number. The stand-ins differ, because a
 * difference of two numbers may be the size of a grid. */
static bool parse_with(struct inference *s, unsigned base, bool falling, struct err *why)
{
    struct intake trial = copy_of(s->in, s->arena);
    unsigned nr = 0;

    for (unsigned i = 0; i < s->in->nr_lines; i++) {
        const struct intake_line *l = &s->in->lines[i];

        if (s->seek_outputs && l->kind == INTAKE_ARRAY)
            intake_set_role(&trial, s->arena, l->name, "inout", "");
        if (!intake_lacks_number(l))
            continue;
        nr++;
        intake_assume(&trial, s->arena, l->name,
            l->kind == INTAKE_SCALAR
                ? s->scalar
                : arena_printf(s->arena, "%u", base * (falling ? s->in->nr_missing + 1 - nr : nr)),
            "");
    }
    intake_compose(&trial, s->arena);
    return task_parse(&s->task, s->arena, trial.path, trial.text, strlen(trial.text), why);
}

static bool parse_numbers(struct inference *s, struct err *why)
{
    const bool ok = parse_with(s, 512, false, why) || parse_with(s, 512, true, why) ||
                    parse_with(s, 16, false, why) || parse_with(s, 16, true, why) ||
                    parse_with(s, 1, false, why) || parse_with(s, 1, true, why);

    s->c.plan = s->task.plan;
    return ok;
}

/* Where indices lead out of an array, bound the indices lower and lower: a kernel may multiply an
 * index. */
static bool infer_indices(struct inference *s, enum outcome *outcome, struct err *err)
{
    enum { MAX_DIVIDED = 2 }; /* numbers of choices */
    static const unsigned divisors[] = {2, 3, 4, 8, 16, 64};
    const struct intake *given = s->in;
    bool ok = true;

    if (s->divided || *outcome != STRAY || s->nr_divided++ >= MAX_DIVIDED)
        return true;
    for (size_t i = 0; ok && *outcome == STRAY && i < ARRAY_SIZE(divisors); i++) {
        struct intake *divided = arena_alloc(s->arena, sizeof(*divided));
        struct err why;

        *divided = copy_of(given, s->arena);
        if (!intake_divide_indices(divided, s->arena, divisors[i]))
            break;
        s->in = divided;
        ok = !parse_numbers(s, &why) || infer_room(s, outcome, err);
        s->divided = ok && *outcome == CLEAN;
    }
    if (ok && *outcome != CLEAN && s->in != given && !s->divided) {
        struct err why;

        s->in = given;
        parse_numbers(s, &why);
    }
    return ok;
}

/* Double the room of the array that was too short for other inputs. False: the extent of that array
 * is known. */
static bool widen(struct inference *s)
{
    bool any = false;

    for (unsigned a = 0; s->strayed && a < s->task.nr_arrays; a++)
        for (unsigned i = 0; i < s->nr_numbers; i++) {
            const struct task_array *array = &s->task.arrays[a];
            struct missing_number *n = &s->numbers[i];

            if (strcmp(array->name, s->strayed) != 0 || n->kind != AN_EXTENT ||
                array->nr_dims == 0 || !expr_uses(array->dims[0], n->name))
                continue;
            n->form = n->form ? arena_printf(s->arena, "2*(%s)", n->form) : NULL;
            s->sizes[n->at].value *= 2;
            n->widened = any = true;
        }
    return any;
}

/* Check one choice. Where an extent depends on data in other arrays, check again with more room. */
static bool check_choice(struct inference *s, bool *passed, struct intake *done, struct err *err)
{
    enum { MAX_WIDER = 3 };

    s->nr_passes++;
    for (unsigned wider = 0; wider <= MAX_WIDER; wider++) {
        s->strayed = NULL;
        *done = complete(s);
        if (!infer_passes(s, done, true, passed, err))
            return false;
        if (*passed || !widen(s))
            break;
    }
    return true;
}

/* Try up to `most` choices, one after another, until one passes the check. */
static bool try_choices(
    struct inference *s, unsigned most, bool *passed, struct intake *in, struct err *err)
{
    enum outcome outcome;

    for (unsigned i = 0; !*passed && i < NR_SCALES * NR_CHOICES && s->nr_passes < MAX_PASSES; i++) {
        if (!choose(s, i / NR_SCALES, scales[i % NR_SCALES]))
            continue;
        const uint64_t before = s->insts;

        if (!infer_room(s, &outcome, err))
            return false;
        if (s->insts > before && most-- == 1) /* this was the last choice */
            i = NR_SCALES * NR_CHOICES;
        if (!infer_indices(s, &outcome, err))
            return false;
        if (outcome != CLEAN)
            continue;
        if ((s->seek_outputs && !find_outputs(s, err)) || !infer_extents(s, err))
            return false;
        if (trials_spent(s)) /* the extents that were found may not be the least */
            break;
        struct intake done;

        if (!check_choice(s, passed, &done, err))
            return false;
        if (*passed)
            *in = done;
    }
    return true;
}

static bool has_scalars(const struct inference *s)
{
    for (unsigned i = 0; i < s->nr_numbers; i++)
        if (s->numbers[i].kind == A_SCALAR)
            return true;
    return false;
}

/* Make short trials first. Where a trial was too short, make a few long ones. */
static bool try_all(struct inference *s, struct intake *in, struct err *err)
{
    bool passed = false;

    s->steps = UINT64_C(1) << 21;
    if (!try_choices(s, NR_SCALES * NR_CHOICES, &passed, in, err))
        return false;
    if (!passed && has_scalars(s)) { /* a real scalar may be a step or a part of an index */
        struct err why;

        s->scalar = "0.0";
        if (parse_numbers(s, &why) && !try_choices(s, SCALAR_TRIES, &passed, in, err))
            return false;
        if (!passed) {
            s->scalar = "1.0";
            parse_numbers(s, &why);
        }
    }
    if (passed || !s->timed_out)
        return true;
    s->steps = UINT64_C(1) << 25;
    s->why = NULL;
    return try_choices(s, PATIENT_TRIES, &passed, in, err);
}

/* ---- the parts ---- */

bool infer_open(struct inference *s, struct err *err)
{
    struct workbench_options options = *s->options;
    struct device_result result = {0};
    struct err why;

    options.device.name = "emu";
    options.gpus = NULL;
    s->written = arena_array(s->arena, s->task.nr_arrays + 1, sizeof(*s->written));
    s->outputs = arena_array(s->arena, s->task.nr_arrays + 1, sizeof(*s->outputs));
    s->bench = workbench_open(&options, &why);
    if (!s->bench) {
        s->why = arena_strdup(s->arena, why.text);
        return false;
    }
    s->device = workbench_device(s->bench, 0);
    candidate_begin(&s->c, s->arena, &s->task, 0);
    if (!compile_kernel(workbench_compiler(s->bench), &s->c, err))
        return false;
    s->hopeless = s->c.verdict != VERDICT_OK;
    if (s->hopeless) {
        s->why = arena_strdup(s->arena, s->c.verdict_text);
        return false;
    }
    if (!device_load(s->device, &s->c.compilation, &s->module, &result, err))
        return false;
    if (result.verdict != VERDICT_OK)
        s->why = arena_strdup(s->arena, result.text);
    return result.verdict == VERDICT_OK;
}

void infer_close(struct inference *s)
{
    if (s->module)
        device_unload(s->device, s->module);
    workbench_close(s->bench);
}

/* Parse the contract and open the workbench. False with *err empty: there is nothing to try. */
static bool open_parts(struct inference *s, struct err *err)
{
    struct err why;

    s->seek_outputs = no_outputs(s->in);
    if (parse_numbers(s, &why))
        return infer_open(s, err);
    s->why = arena_strdup(s->arena, why.text);
    return false;
}

bool infer_sizes(struct intake *in, struct arena *arena, const struct workbench_options *options,
    uint64_t *insts, struct err *err)
{
    struct inference *s;
    bool ok;

    if (!only_numbers(in) || (in->nr_missing == 0 && !no_outputs(in))) {
        *insts = 0;
        return true;
    }
    s = arena_alloc(arena, sizeof(*s));
    *s = (struct inference){
        .options = options, .arena = arena, .in = in, .most_insts = *insts, .scalar = "1.0"};
    err->text[0] = 0;
    ok = open_parts(s, err);
    if (ok) {
        find_numbers(s);
        ok = try_all(s, in, err);
    } else {
        ok = err->text[0] == 0;
    }
    infer_close(s);
    *insts = s->hopeless || s->insts > *insts ? 0 : *insts - s->insts;
    if (ok && (in->nr_missing || no_outputs(in)))
        in->note = arena_printf(arena, "%s%sno sizes were found at which the original runs: %s",
            in->note ? in->note : "", in->note ? "; " : "", s->why ? s->why : "it takes too long");
    return ok;
}
