/* Owns the course of a campaign: starts the next slices, and notes those that have ended. */
#include "campaign/conduct.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/str.h"
#include "campaign/executor.h"
#include "campaign/rounds.h"
#include "campaign/table.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POLL_MS = 100, TRIES = 3, MOST_PROBLEM = 600 };

/* A batch under way: the tasks of a round that have not ended. */
struct batch {
    struct arena *arena;
    struct round round;
    struct exec_item *items;
    struct campaign_task **tasks; /* of the items */
    bool *noted;
    unsigned nr;
};

struct conductor {
    struct campaign *c;
    const struct conduct_options *options;
    struct executor *executor;
    struct table table;
    unsigned *nr_tries; /* by task: ends by a signal in this round */
    uint64_t begun_ns;
    double elapsed_before_s;
};

static double elapsed_s(const struct conductor *k)
{
    return k->elapsed_before_s + (double)(clock_ns() - k->begun_ns) * 1e-9;
}

static bool out_of_time(const struct conductor *k)
{
    return k->options->time_s > 0 && elapsed_s(k) >= k->options->time_s;
}

/* ---- starting slices ---- */

static const char *number_text(struct arena *arena, double value, bool timed)
{
    return arena_printf(arena, timed ? "%.3fs" : "%.0f", value);
}

static double used_before(const struct campaign_task *t)
{
    return t->nr_slices ? t->slices[t->nr_slices - 1].used : 0;
}

/* The share of a slice in a limit on the whole campaign: the rest of the limit in equal shares over
 * the slices of this round and of the even rounds to come. The task's earlier spending is added. */
static double allowance(
    const struct conductor *k, const struct round *r, double limit, double spent)
{
    const unsigned left = r->number < k->c->nr_rounds ? k->c->nr_rounds - r->number + 1 : 1;

    return fmax(limit - spent, 0) / (r->nr_with_model ? r->nr_with_model : 1) / left;
}

static unsigned add_limits(const struct conductor *k, const struct batch *b,
    const struct campaign_task *t, const char **argv, unsigned nr)
{
    const struct campaign_slice *last = t->nr_slices ? &t->slices[t->nr_slices - 1] : NULL;

    if (!t->has_model)
        return nr;
    if (k->options->tokens) {
        double most =
            (last ? (double)last->tokens : 0) +
            fmax(1, allowance(k, &b->round, (double)k->options->tokens, (double)b->round.tokens));
        if (t->max_tokens && (double)t->max_tokens < most)
            most = (double)t->max_tokens;
        argv[nr++] = "--max-tokens";
        argv[nr++] = arena_printf(b->arena, "%.0f", most);
    }
    if (k->options->cost > 0) {
        double most = (last ? last->cost : 0) +
                      fmax(1e-6, allowance(k, &b->round, k->options->cost, b->round.cost));
        if (t->max_cost > 0 && t->max_cost < most)
            most = t->max_cost;
        argv[nr++] = "--max-cost";
        argv[nr++] = arena_printf(b->arena, "%.9f", most);
    }
    return nr;
}

static const char *const *arguments(
    const struct conductor *k, const struct batch *b, const struct campaign_task *t, double target)
{
    enum { OWN = 24 };
    const struct campaign *c = k->c;
    const char **argv = arena_array(b->arena, t->nr_words + OWN, sizeof(*argv));
    unsigned nr = 0;

    argv[nr++] = k->options->program;
    argv[nr++] = t->kernel;
    for (unsigned i = 0; i < t->nr_words; i++)
        argv[nr++] = t->words[i];
    argv[nr++] = "--db";
    argv[nr++] = campaign_path(c, b->arena, t->name, ".keet.db");
    argv[nr++] = "--output";
    argv[nr++] = campaign_path(c, b->arena, t->name, ".keet.cu");
    argv[nr++] = "--resume";
    argv[nr++] = "--json";
    argv[nr++] = "--quiet";
    argv[nr++] = "--budget";
    argv[nr++] = number_text(b->arena, t->timed ? target - used_before(t) : target, t->timed);
    if (!str_starts(t->device, "gpu")) {
        argv[nr++] = "--device";
        argv[nr++] = t->device;
    }
    add_limits(k, b, t, argv, nr);
    return argv;
}

static void make_batch(const struct conductor *k, struct batch *b)
{
    const struct campaign *c = k->c;

    b->items = arena_array(b->arena, c->nr_tasks, sizeof(*b->items));
    b->tasks = arena_array(b->arena, c->nr_tasks, sizeof(struct campaign_task *));
    b->noted = arena_array(b->arena, c->nr_tasks, sizeof(*b->noted));
    for (unsigned i = 0; i < c->nr_tasks; i++) {
        struct campaign_task *t = &c->tasks[i];

        if (b->round.targets[i] <= 0)
            continue;
        b->tasks[b->nr] = t;
        b->items[b->nr++] = (struct exec_item){
            .name = t->name,
            .argv = arguments(k, b, t, b->round.targets[i]),
            .gpu = str_starts(t->device, "gpu"),
            .out_path = campaign_path(c, b->arena, t->name, ".run.json"),
            .err_path = campaign_path(c, b->arena, t->name, ".log"),
            .deadline_s = k->options->task_time_s,
        };
    }
}

/* ---- noting slices ---- */

/* The last line that the process wrote on its standard error, without our name. */
static const char *last_words(struct conductor *k, const struct exec_item *item)
{
    static const char own[] = "keet-opt: ";
    struct err ignored;
    const char *found = NULL;
    char *text;
    size_t len;

    if (!file_read(item->err_path, 16 << 20, &text, &len, &ignored))
        return NULL;
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\0'))
        text[--len] = '\0';
    for (const char *at = text; *at; at = str_next_line(at))
        found = at;
    if (found && str_starts(found, own))
        found += strlen(own);
    if (found)
        found = arena_strndup(k->c->arena, found, strnlen(found, MOST_PROBLEM));
    free(text);
    return found;
}

/* Why the end of an item is a failure; NULL: the end is no failure. */
static const char *problem_of(struct conductor *k, const struct exec_item *item)
{
    struct arena *arena = k->c->arena;
    const char *said;

    if (item->late)
        return arena_printf(arena, "it was ended after %s (--task-time)", k->options->task_time);
    if (item->lost)
        return arena_strdup(arena, item->lost);
    if (item->signal)
        return arena_printf(arena, "its process was ended by signal %d (%s), %d times",
            item->signal, strsignal(item->signal), TRIES);
    if (item->status == 0)
        return NULL;
    said = last_words(k, item);
    return said ? said : arena_printf(arena, "its process ended with status %d", item->status);
}

static void fill_slice(struct campaign_slice *s, const struct campaign_task *t,
    const struct campaign_figures *f, double wall_s)
{
    const struct store_digest *d = &f->digest;
    const bool to_target = strcmp(s->why, "budget") == 0;

    s->nr_evaluated = (uint64_t)d->nr_evaluated;
    s->nr_ok = d->verdicts[VERDICT_OK];
    s->speedup = f->measured ? d->speedup : 0;
    s->tokens = d->tokens;
    s->cost = d->cost;
    if (t->timed)
        s->used = to_target ? s->target : fmin(s->target, used_before(t) + wall_s);
    else
        s->used = to_target ? fmax(s->target, (double)d->nr_evaluated) : (double)d->nr_evaluated;
}

/* Notes the end of a slice. A slice that was cut off is not noted, and is done again. A slice whose
 * process ended by a signal that nobody here sent is done again, too, twice at most. */
static bool note_end(struct conductor *k, struct batch *b, unsigned i, struct err *err)
{
    const struct exec_item *item = &b->items[i];
    struct campaign_task *t = b->tasks[i];
    const char *problem = NULL;
    struct campaign_slice slice = {
        .round = b->round.number, .target = b->round.targets[t - k->c->tasks]};
    struct campaign_figures figures;

    b->noted[i] = true;
    t->wall_s += item->wall_s;
    if (item->signal && !item->late &&
        (*k->options->stopped || out_of_time(k) || ++k->nr_tries[t - k->c->tasks] < TRIES))
        return true;
    problem = problem_of(k, item);
    if (!campaign_figures(k->c, t, b->arena, &figures, err)) {
        if (!problem)
            problem = arena_strdup(k->c->arena, err->text);
        figures = (struct campaign_figures){0};
    }
    slice.why = arena_strdup(k->c->arena, problem       ? "failed"
                                          : figures.why ? figures.why
                                                        : "failed");
    /* Also before its original was measured: then that is what its process ended with, perhaps
     * behind what it was about. */
    if (str_ends(problem ? problem : slice.why, "interrupted"))
        return true;
    if (!problem && !figures.measured)
        problem = "its database holds no measured original";
    slice.problem = problem;
    fill_slice(&slice, t, &figures, item->wall_s);
    campaign_add_slice(t, slice);
    k->nr_tries[t - k->c->tasks] = 0;
    k->c->elapsed_s = elapsed_s(k);
    table_ended(&k->table, k->c, t);
    return campaign_save_state(k->c, err);
}

static bool note_ends(struct conductor *k, struct batch *b, struct err *err)
{
    for (unsigned i = 0; i < b->nr; i++)
        if (!b->noted[i] && b->items[i].state == EXEC_ENDED && !note_end(k, b, i, err))
            return false;
    return true;
}

/* ---- the course ---- */

static bool run_batch(struct conductor *k, struct batch *b, struct err *err)
{
    const struct executor_ops *ops = k->executor->ops;

    make_batch(k, b);
    if (!ops->start(k->executor, b->items, b->nr, err))
        return false;
    while (!executor_all_ended(b->items, b->nr)) {
        if (!ops->poll(k->executor, POLL_MS, err) || !note_ends(k, b, err))
            return false;
        table_trouble(&k->table, k->executor->trouble);
        table_tick(&k->table, k->c, b->round.number);
        if (*k->options->stopped || out_of_time(k)) {
            if (!ops->cancel(k->executor, err))
                return false;
            break;
        }
    }
    return note_ends(k, b, err);
}

/* NULL: go on. */
static const char *reason_to_end(const struct conductor *k, const struct round *r)
{
    if (*k->options->stopped)
        return "interrupted";
    if (r->number == 0)
        return "complete";
    if (out_of_time(k))
        return "time";
    if (k->options->tokens && r->tokens >= k->options->tokens)
        return "tokens";
    if (k->options->cost > 0 && r->cost >= k->options->cost)
        return "cost";
    return NULL;
}

static bool go_on(struct conductor *k, struct err *err)
{
    struct campaign *c = k->c;
    bool ok = true;

    c->ended = NULL;
    while (ok && !c->ended) {
        struct batch b = {.arena = arena_create()};

        b.round = rounds_next(c, b.arena);
        c->ended = reason_to_end(k, &b.round);
        ok = c->ended || run_batch(k, &b, err);
        arena_destroy(b.arena);
    }
    c->elapsed_s = elapsed_s(k);
    return ok && campaign_save_state(c, err);
}

bool conduct(struct campaign *c, const struct conduct_options *options, struct err *err)
{
    const struct executor_options executor_options = {.jobs = options->jobs,
        .gpus = options->gpus,
        .folder = c->folder,
        .gres = options->gres,
        .slurm = options->slurm};
    const char *lock_path = campaign_path(c, c->arena, "campaign", ".lock");
    struct conductor k = {.c = c,
        .options = options,
        .begun_ns = clock_ns(),
        .elapsed_before_s = c->elapsed_s,
        .nr_tries = arena_array(c->arena, c->nr_tasks, sizeof(unsigned))};
    int lock;
    bool ok;

    if (!lock_take(lock_path, &lock, err))
        return false;
    table_init(&k.table, options->out);
    k.executor = executor_create(options->executor, &executor_options, err);
    ok = k.executor && go_on(&k, err);
    if (k.executor)
        k.executor->ops->destroy(k.executor);
    table_finish(&k.table, c);
    lock_release(lock_path, lock);
    return ok;
}
