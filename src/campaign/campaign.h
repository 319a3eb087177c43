/* Campaigns: many kernels, each brought to its end, whatever happens to the others.
 *
 * A campaign is a folder, which holds all that is known of it:
 *
 *     campaign.json     the manifest: the tasks with their options; written once
 *     state.json        which slices have ended and how; written anew, whole, after each
 *     campaign.lock     held by the process that conducts the campaign
 *     NAME.keet.db      one database per task, written by the task's own process
 *     NAME.keet.cu      the best kernel of the task;  NAME.json, NAME.log: output of its process
 *
 * A campaign proceeds in rounds (rounds.h). In each round every task that goes on gets a slice of
 * budget: a child process `keet-opt KERNEL ... --resume --budget N`, started through an executor
 * (executor.h). The next round follows from the ended slices alone, never from their timing or
 * order. A slice that was cut off is done again upon its database, with the same outcome. So a
 * campaign that was killed, however often, ends like one that was not, except for limits in wall
 * time.
 *
 *     struct campaign c;
 *     campaign_init(&c);
 *     ok = campaign_read(&c, "list.txt", parse, user, &err)
 *         && campaign_create(&c, "out", false, &err) && conduct(&c, &options, &err);
 *     campaign_finish(&c);
 */
#ifndef KEET_CAMPAIGN_CAMPAIGN_H
#define KEET_CAMPAIGN_CAMPAIGN_H

#include "base/arena.h"
#include "base/err.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

enum { CAMPAIGN_MOST_TASKS = 10000, CAMPAIGN_MOST_ROUNDS = 64 };

/* The outcome of one slice; the sums are of the whole task up to its end. */
struct campaign_slice {
    unsigned round; /* 1, 2, ... */
    double target;  /* budget of the whole task: variants, or seconds */
    double used;    /* of that budget */
    uint64_t nr_evaluated, nr_ok;
    double speedup; /* of the best so far; 0: nothing was measured */
    uint64_t tokens;
    double cost;
    const char *why;     /* the run's reason for its end; or "failed" */
    const char *problem; /* of a failure; else NULL */
};

struct campaign_task {
    const char *name;         /* unique; file names are made of it */
    const char *kernel;       /* absolute path */
    const char *const *words; /* further options for keet-opt, as given */
    unsigned nr_words;
    double budget; /* variants, or seconds where timed */
    bool timed;
    uint64_t seed, max_tokens; /* max_tokens 0, max_cost 0: no limit of its own */
    double max_cost;
    bool has_model;
    const char *device; /* as keet-opt takes it */
    const char *level;  /* a label for scores; NULL: none */
    /* state */
    struct campaign_slice *slices;
    unsigned nr_slices;
    size_t cap_slices;
    double wall_s; /* of its processes, over all slices */
};

struct campaign {
    struct arena *arena; /* owned; of all strings */
    const char *folder;
    const char *source; /* the list or directory that the campaign was made of */
    const char *started;
    struct campaign_task *tasks;
    unsigned nr_tasks;
    size_t cap_tasks;
    unsigned nr_rounds; /* rounds that give out the tasks' own budgets */
    double elapsed_s;   /* of conducting, over all resumes */
    const char *ended;  /* "complete", "time", "tokens", "cost", "interrupted"; NULL: going on */
};

void campaign_init(struct campaign *c);
void campaign_finish(struct campaign *c);

/* ---- the list ---- */

/* Reads the words of a line by the program's own reader of options. words[0..nr) are the options,
 * without the kernel. Fills budget, timed, seed, max_tokens, max_cost, has_model and device of the
 * task, and moves the other words to task->words. */
typedef bool campaign_parse(void *user, struct campaign *c, struct campaign_task *task,
    const char *const *words, unsigned nr, struct err *err);

/* Reads the tasks of a list, or of all .cu files in a directory, by name. The format:
 *
 *     # a comment
 *     --budget 60 --policy mcts             options for all lines below that do not say otherwise
 *     kernels/matmul.cu --budget 100        a task; its path is relative to the list's folder
 *     kernels/softmax.cu --seeds 1,2,3      one task per seed: softmax-1, softmax-2, softmax-3
 *     "a b.cu" --name ab --level 2          quotes as in a shell; a name; a label for scores
 *
 * Errors begin with "PATH:LINE: ". `parse` is called for each task. `common` are the options of the
 * command line, which stand before all others. */
bool campaign_read(struct campaign *c, const char *path, const char *const *common,
    unsigned nr_common, campaign_parse *parse, void *user, struct err *err);

/* ---- the folder ---- */

bool campaign_is_folder(const char *path); /* the folder holds a manifest */
/* Makes the folder and writes the manifest of a campaign that was read. An error: the folder has a
 * manifest. */
bool campaign_create(struct campaign *c, const char *folder, struct err *err);
/* Reads manifest and state of a folder. */
bool campaign_open(struct campaign *c, const char *folder, struct err *err);
/* The same tasks? The error names the first difference. */
bool campaign_same(const struct campaign *stored, const struct campaign *wanted, struct err *err);
bool campaign_save_state(const struct campaign *c, struct err *err);
void campaign_add_slice(struct campaign_task *task, struct campaign_slice slice);
/* FOLDER/NAME<suffix>; arena memory. */
const char *campaign_path(
    const struct campaign *c, struct arena *arena, const char *name, const char *suffix);

/* ---- what is known of a task now ---- */

struct campaign_figures {
    struct store_digest digest;
    bool measured; /* the original ran correctly, so that the speedup means something */
    const char *device, *version;
    enum { TASK_WAITING, TASK_RUNNING, TASK_DONE, TASK_FAILED } state; /* as of the folder */
    const char *why; /* the reason for the end; NULL: the task has not ended */
    const char *problem;
};
/* Reads the figures from the task's database and slices; strings are in the arena. The figures of a
 * task that has not begun are zero. */
bool campaign_figures(const struct campaign *c, const struct campaign_task *task,
    struct arena *arena, struct campaign_figures *figures, struct err *err);
const char *campaign_state_name(const struct campaign_figures *figures);

#endif
