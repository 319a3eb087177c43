/* Owns a batch on a cluster: which items were submitted, have ended, were lost. */
#include "campaign/exec_slurm.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "campaign/slurm_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_IN_ARRAY = 1000, /* Slurm's MaxArraySize is 1001 where nobody changed it */
    TRIES = 4,            /* how often an item is submitted at most */
    LOOKS = 2 /* in a row without a job before it counts as gone: files of other machines
                 may come late */
};
static const double look_s = 5, exits_s = 0.5, cancel_s = 120, patience_s = 3600;

struct slurm_task {
    struct exec_item *item;
    const char *key;
    size_t list;                   /* the newest list with the item, in s->lists */
    uint32_t index;                /* of the task in that array, as Slurm has it */
    unsigned tries;                /* the number of lists with the item */
    unsigned gone;                 /* looks in a row in which Slurm had no live job of the item */
    bool submit;                   /* to be submitted now */
    bool held;                     /* by Slurm, at the last look */
    char word[SLURM_REASON_BYTES]; /* Slurm's last word for the item; "" when it has none */
};

struct slurm {
    struct executor base;
    char *folder;
    const char *gres, *extra; /* borrowed */
    unsigned most;
    struct arena *arena; /* of a batch and its lists */
    struct slurm_lists lists;
    bool has_read; /* the lists of earlier processes */
    struct slurm_task *tasks;
    unsigned nr_tasks;
    uint64_t looked_ns, exits_ns;
    struct err why;      /* why the last look failed; "" when the look succeeded */
    bool accepted;       /* sbatch took an array of this campaign before */
    uint64_t refused_ns; /* since when sbatch refuses arrays; 0: sbatch takes them */
    struct err refusal;  /* the last refusal */
    struct err held;     /* tasks that do not start by themselves; "" when there are none */
    struct err trouble;  /* what base.trouble shows */
};

static double since_s(uint64_t ns)
{
    return (double)(clock_ns() - ns) * 1e-9;
}

static struct executor *slurm_create(const struct executor_options *options, struct err *err)
{
    struct slurm *s;
    char *folder;

    if (options->slurm && strpbrk(options->slurm, "\r\n")) {
        err_set(err, "--slurm: the options of sbatch go on one line");
        return NULL;
    }
    if (!slurm_check(err))
        return NULL;
    folder = realpath(options->folder, NULL);
    if (!folder) {
        err_errno(err, "%s", options->folder);
        return NULL;
    }
    s = xcalloc(1, sizeof(*s));
    s->base.ops = &exec_slurm_ops;
    s->folder = folder;
    s->gres = options->gres;
    s->extra = options->slurm;
    s->most = options->jobs;
    s->arena = arena_create();
    return &s->base;
}

/* ---- submitting ---- */

/* The resources that the item asks Slurm for; NULL: none. */
static const char *gres_of(const struct slurm *s, const struct exec_item *item)
{
    if (s->gres)
        return *s->gres ? s->gres : NULL;
    return item->gpu ? "gpu:1" : NULL;
}

/* The names of the lists in which an item has not ended; arena memory. */
static unsigned live_names(const struct slurm *s, const char ***names)
{
    bool *live = arena_array(s->arena, s->lists.nr + 1, sizeof(*live));
    unsigned nr = 0;

    *names = arena_array(s->arena, s->lists.nr + 1, sizeof(**names));
    for (unsigned i = 0; i < s->nr_tasks; i++)
        if (s->tasks[i].item->state != EXEC_ENDED && s->tasks[i].tries > 0)
            live[s->tasks[i].list] = true;
    for (size_t i = 0; i < s->lists.nr; i++)
        if (live[i])
            (*names)[nr++] = s->lists.at[i].name;
    return nr;
}

/* sbatch failed. Perhaps only its answer was lost, and the job is there. */
static bool was_taken(const char *name)
{
    struct slurm_rows rows = {0};
    struct err ignored;
    const bool taken = slurm_queue(&name, 1, &rows, &ignored) && rows.nr > 0;

    slurm_rows_finish(&rows);
    return taken;
}

static bool submit_array(
    struct slurm *s, struct slurm_task *const *tasks, unsigned nr, struct err *err)
{
    struct exec_item **items = arena_array(s->arena, nr, sizeof(struct exec_item *));
    const char **keys = arena_array(s->arena, nr, sizeof(*keys));
    struct slurm_array array = {.nr = nr, .most = s->most, .gres = gres_of(s, tasks[0]->item)};
    const struct slurm_list *list;
    uint64_t job = 0;

    for (unsigned i = 0; i < nr; i++) {
        items[i] = tasks[i]->item;
        keys[i] = tasks[i]->key;
    }
    if (!slurm_list_add(s->folder, s->arena, &s->lists, items, keys, nr, s->extra, err))
        return false;
    list = &s->lists.at[s->lists.nr - 1];
    array.name = list->name;
    array.script = slurm_list_path(s->folder, s->arena, list, ".sh");
    array.log = slurm_list_path(s->folder, s->arena, list, "_%a.log");
    if (!slurm_submit(&array, &job, err) && !was_taken(list->name)) {
        slurm_list_drop(s->folder, &s->lists);
        return false;
    }
    log_note("slurm: job %llu (%s): %u tasks", (unsigned long long)job, list->name, nr);
    for (unsigned i = 0; i < nr; i++) {
        struct slurm_task *task = tasks[i];

        task->list = s->lists.nr - 1;
        task->index = i;
        task->tries++;
        task->gone = 0;
        task->submit = false;
        task->item->state = EXEC_WAITING;
    }
    return true;
}

/* Items with GPUs and items without go into two arrays: all tasks of an array ask for the same. */
static bool submit_all(struct slurm *s, struct err *err)
{
    struct slurm_task *chosen[MOST_IN_ARRAY];

    for (int gpu = 0; gpu < 2; gpu++) {
        unsigned nr = 0;

        for (unsigned i = 0; i < s->nr_tasks; i++) {
            struct slurm_task *task = &s->tasks[i];

            if (task->submit && task->item->state != EXEC_ENDED && task->item->gpu == gpu)
                chosen[nr++] = task;
            if (nr == MOST_IN_ARRAY || (nr > 0 && i + 1 == s->nr_tasks)) {
                if (!submit_array(s, chosen, nr, err))
                    return false;
                nr = 0;
            }
        }
    }
    return true;
}

/* The first refusal is an error for the user; a later one is waited out. */
static bool submit_or_wait(struct slurm *s, struct err *err)
{
    struct err *why = &s->refusal;

    if (submit_all(s, why)) {
        s->accepted = true;
        s->refused_ns = 0;
        return true;
    }
    if (!s->refused_ns)
        s->refused_ns = clock_ns();
    if (!s->accepted || since_s(s->refused_ns) > patience_s)
        return err_set(err, "%s", why->text);
    return true;
}

/* ---- a batch ---- */

static void take_exits(struct slurm *s)
{
    s->exits_ns = clock_ns();
    for (unsigned i = 0; i < s->nr_tasks; i++)
        if (s->tasks[i].item->state != EXEC_ENDED && s->tasks[i].tries > 0)
            slurm_take_exit(s->folder, s->tasks[i].key, s->tasks[i].item);
}

/* Finds the newest list that holds the item, as a process that was killed left the list. Counts all
 * such lists. */
static void find_task(const struct slurm *s, struct slurm_task *task)
{
    for (size_t l = 0; l < s->lists.nr; l++) {
        const struct slurm_list *list = &s->lists.at[l];

        for (unsigned i = 0; i < list->nr; i++) {
            if (strcmp(list->keys[i], task->key) != 0)
                continue;
            task->list = l;
            task->index = i;
            task->tries++;
        }
    }
}

static bool slurm_start(struct executor *e, struct exec_item *items, unsigned nr, struct err *err)
{
    struct slurm *s = (struct slurm *)e;

    if (s->has_read) { /* the campaign has noted how the batch before this one ended */
        slurm_lists_forget(s->folder, &s->lists);
        arena_reset(s->arena);
    } else if (!slurm_lists_read(s->folder, s->arena, &s->lists, err)) {
        return false;
    }
    s->accepted = s->accepted || s->lists.nr > 0;
    s->has_read = true;
    s->tasks = arena_array(s->arena, nr, sizeof(*s->tasks));
    s->nr_tasks = nr;
    for (unsigned i = 0; i < nr; i++) {
        struct slurm_task *task = &s->tasks[i];

        task->item = &items[i];
        task->key = slurm_key(s->arena, &items[i]);
        items[i].state = EXEC_WAITING;
        find_task(s, task);
        task->submit = task->tries == 0;
    }
    s->looked_ns = clock_ns();
    take_exits(s);
    return submit_or_wait(s, err);
}

/* Submits an item once more, or gives the item up, when Slurm has no live job of the item and no
 * file tells its end. */
static void lose(struct slurm *s, struct slurm_task *task, bool cancelled)
{
    const char *log = slurm_list_path(s->folder, s->arena, &s->lists.at[task->list], "");

    if (slurm_take_exit(s->folder, task->key, task->item))
        return;
    if (!cancelled && task->tries < TRIES) {
        log_note("slurm: %s was %s (%s); once more", task->item->name, task->held ? "held" : "lost",
            task->word);
        task->submit = true;
        return;
    }
    task->item->state = EXEC_ENDED;
    if (cancelled)
        task->item->lost = "its job was cancelled by someone (scancel)";
    else if (task->held)
        task->item->lost = arena_printf(s->arena,
            "Slurm held its job %u times (last: %s); `sinfo --list-reasons` and the controller's "
            "log say why; when that is mended, or asked for otherwise with --slurm or --gres, "
            "--resume --retry",
            task->tries, task->word);
    else
        task->item->lost =
            arena_printf(s->arena, "its job was lost %u times (last: %s); see %s_%u.log",
                task->tries, *task->word ? task->word : "gone", log, task->index);
}

/* Notes a task that does not start by itself in s->held, which names the first one. */
static void say_held(struct slurm *s, const struct slurm_row *row, enum slurm_hold hold)
{
    const unsigned long long job = row->job;

    if (*s->held.text)
        return;
    if (hold == SLURM_HELD)
        err_set(&s->held,
            "job %llu_%u is held (%s): `scontrol release %llu_%u` lets it go on, "
            "`scancel %llu_%u` gives the task up",
            job, row->index, row->reason, job, row->index, job, row->index);
    else
        err_set(&s->held,
            "Slurm holds job %llu_%u (%s); it is submitted again, %d times at most; see `sinfo "
            "--list-reasons`",
            job, row->index, row->reason, TRIES - 1);
}

/* Notes a row of squeue. A job that Slurm put aside is lost, too, as soon as the job surely cannot
 * begin any more. */
static void note_row(struct slurm *s, struct slurm_task *task, const struct slurm_row *row)
{
    const bool live = row && (row->state == SLURM_WAITING || row->state == SLURM_RUNNING);
    const enum slurm_hold hold = live && row->index != SLURM_REST ? slurm_hold_of(row) : SLURM_FREE;
    struct err ignored;

    task->held = hold == SLURM_STUCK;
    snprintf(task->word, sizeof(task->word), "%s",
        !row         ? ""
        : task->held ? row->reason
                     : row->word);
    if (hold != SLURM_FREE)
        say_held(s, row, hold);
    if (live)
        task->item->state = row->state == SLURM_RUNNING ? EXEC_RUNNING : EXEC_WAITING;
    if (live && !task->held)
        task->gone = 0;
    else if (++task->gone >= LOOKS && (!live || slurm_cancel_task(row, &ignored)))
        lose(s, task, row && row->state == SLURM_CANCELLED);
}

static int by_place(const void *a, const void *b)
{
    const struct slurm_row *x = a, *y = b;
    const int order = strcmp(x->name, y->name);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* The row of a task; NULL: there is none. rows are ordered by place. */
static const struct slurm_row *row_of(
    const struct slurm *s, const struct slurm_rows *rows, const struct slurm_task *task)
{
    const uint32_t indices[] = {task->index, SLURM_REST};
    const struct slurm_row *row = NULL;

    for (int i = 0; i < 2 && !row && rows->nr > 0; i++) {
        struct slurm_row wanted = {.index = indices[i]};

        snprintf(wanted.name, sizeof(wanted.name), "%s", s->lists.at[task->list].name);
        row = bsearch(&wanted, rows->at, rows->nr, sizeof(wanted), by_place);
    }
    return row;
}

static void note_rows(struct slurm *s, struct slurm_rows *rows)
{
    s->held.text[0] = '\0';
    if (rows->nr > 0)
        qsort(rows->at, rows->nr, sizeof(*rows->at), by_place);
    for (unsigned i = 0; i < s->nr_tasks; i++)
        if (s->tasks[i].item->state != EXEC_ENDED && !s->tasks[i].submit)
            note_row(s, &s->tasks[i], row_of(s, rows, &s->tasks[i]));
}

/* We wait for a controller that does not answer; jobs go on without it. */
static bool look(struct slurm *s, struct slurm_rows *rows)
{
    const char **names;
    const unsigned nr = live_names(s, &names);
    struct err why = {0};

    s->looked_ns = clock_ns();
    if (nr > 0)
        slurm_queue(names, nr, rows, &why);
    s->why = why;
    return !*why.text;
}

/* Sets base.trouble to the worst trouble that is known. */
static void say_trouble(struct slurm *s)
{
    if (s->refused_ns)
        err_set(&s->trouble, "Slurm takes no job: %s; trying again for %.0f minutes",
            s->refusal.text, patience_s / 60);
    else if (*s->why.text)
        err_set(&s->trouble, "%s; jobs go on meanwhile", s->why.text);
    else
        s->trouble = s->held;
    s->base.trouble = *s->trouble.text ? s->trouble.text : NULL;
}

static void sleep_ms(int ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&time, NULL); /* shorter, when a signal comes */
}

static bool slurm_poll(struct executor *e, int wait_ms, struct err *err)
{
    struct slurm *s = (struct slurm *)e;
    struct slurm_rows rows = {0};

    sleep_ms(wait_ms);
    if (since_s(s->exits_ns) >= exits_s)
        take_exits(s);
    if (since_s(s->looked_ns) < look_s)
        return true;
    if (look(s, &rows))
        note_rows(s, &rows);
    slurm_rows_finish(&rows);
    if (!submit_or_wait(s, err))
        return false;
    say_trouble(s);
    return true;
}

/* ---- ending ---- */

static bool is_live(const struct slurm_rows *rows)
{
    for (size_t i = 0; i < rows->nr; i++)
        if (rows->at[i].state == SLURM_WAITING || rows->at[i].state == SLURM_RUNNING)
            return true;
    return false;
}

static bool slurm_cancel_all(struct executor *e, struct err *err)
{
    struct slurm *s = (struct slurm *)e;
    const char **names;
    const unsigned nr = live_names(s, &names);
    const uint64_t start_ns = clock_ns();
    struct slurm_rows rows = {0};
    bool live = nr > 0;

    if (nr > 0 && !slurm_cancel(names, nr, err))
        return err_wrap(err, "ending the campaign's jobs");
    while (live) {
        sleep_ms(500);
        live = !look(s, &rows) || is_live(&rows);
        slurm_rows_finish(&rows);
        if (live && since_s(start_ns) > cancel_s)
            return err_set(err,
                "jobs %s... were cancelled %.0f s ago, and Slurm does not say that "
                "they have ended: see `squeue --name %s`%s%s",
                names[0], cancel_s, names[0], *s->why.text ? "; " : "", s->why.text);
    }
    take_exits(s);
    slurm_lists_forget(s->folder, &s->lists);
    s->nr_tasks = 0;
    return true;
}

static void slurm_destroy(struct executor *e)
{
    struct slurm *s = (struct slurm *)e;
    const char **names;
    const unsigned nr = live_names(s, &names);
    struct err ignored;

    if (nr > 0)
        slurm_cancel(names, nr, &ignored);
    slurm_lists_forget(s->folder, &s->lists);
    slurm_lists_finish(&s->lists);
    arena_destroy(s->arena);
    free(s->folder);
    free(s);
}

const struct executor_ops exec_slurm_ops = {
    "slurm", slurm_create, slurm_start, slurm_poll, slurm_cancel_all, slurm_destroy};
